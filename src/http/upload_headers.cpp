#include "welkin/http/upload_headers.hpp"

#include "http/ascii.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::http {
namespace {

constexpr std::int64_t kMtimeMax = 253'402'300'799;  // the last second of the year 9999

struct Algorithm {
  std::string_view name;      // ours
  std::string_view field;     // in Repr-Digest; "" where it counts for nothing
  std::string_view older[3];  // in Digest and OC-Checksum
  std::size_t bytes;
};
constexpr Algorithm kAlgorithms[] = {
    {"sha-256", "sha-256", {"sha-256", "sha256", ""}, 32},
    {"sha-512", "sha-512", {"sha-512", "sha512", ""}, 64},
    {"sha-1", "", {"sha", "sha1", "sha-1"}, 20},
    {"md5", "", {"md5", "", ""}, 16},
    {"adler32", "", {"adler32", "", ""}, 4},
};

const Algorithm* older_algorithm(std::string_view name) {
  for (const auto& known : kAlgorithms) {
    for (const auto alias : known.older)
      if (!alias.empty() && ascii::iequals(name, alias)) return &known;
  }
  return nullptr;
}

DeclaredDigest checked(const Algorithm& algorithm, std::optional<Bytes> value) {
  if (!value || value->size() != algorithm.bytes)
    throw Error(Errc::invalid, "bad_digest", "The " + std::string(algorithm.name) + " digest cannot be read");
  return {algorithm.name, std::move(*value)};
}

/// `sha-512=:...:, sha-256=:...:` (RFC 9651 §3.2)
void read_dictionary(std::string_view field, std::vector<DeclaredDigest>& out) {
  for (const auto part : text::split(field, ',')) {
    const auto member = ascii::trim(part);
    const auto equals = member.find('=');
    if (equals == member.npos) continue;
    for (const auto& known : kAlgorithms) {
      if (known.field.empty() || member.substr(0, equals) != known.field) continue;
      auto value = member.substr(equals + 1);
      value = value.substr(0, value.find(';'));  // parameters mean nothing here
      const bool framed = value.size() >= 2 && value.front() == ':' && value.back() == ':';
      out.push_back(
          checked(known, framed ? text::from_base64(value.substr(1, value.size() - 2)) : std::nullopt));
    }
  }
}

}  // namespace

std::vector<DeclaredDigest> declared_digests(const Fields& headers) {
  std::vector<DeclaredDigest> out;
  read_dictionary(headers.joined("repr-digest"), out);
  read_dictionary(headers.joined("content-digest"), out);
  return out;
}

std::vector<DeclaredDigest> declared_checksums(const Fields& headers) {
  std::vector<DeclaredDigest> out;
  const auto add = [&](std::string_view member, char separator, bool base64) {
    const auto at = member.find(separator);
    if (at == member.npos) return;
    const auto* known = older_algorithm(ascii::trim(member.substr(0, at)));
    if (!known) return;
    const auto value = ascii::trim(member.substr(at + 1));
    out.push_back(checked(*known, base64 ? text::from_base64(value) : text::from_hex(value)));
  };
  for (const auto member : text::split(headers.get("oc-checksum"), ' ')) add(member, ':', false);
  const std::string digest = headers.joined("digest");
  // RFC 3230 §4.1.1: Adler-32 alone is in hex.
  for (const auto member : text::split(digest, ','))
    add(member, '=', !ascii::iequals(ascii::trim(member).substr(0, 8), "adler32="));
  if (headers.has("content-md5"))
    out.push_back(
        checked(*older_algorithm("md5"), text::from_base64(ascii::trim(headers.get("content-md5")))));
  return out;
}

std::optional<Micros> client_mtime(const Fields& headers) {
  if (!headers.has("x-oc-mtime")) return std::nullopt;
  const auto value = ascii::trim(headers.get("x-oc-mtime"));
  const auto seconds = text::signed_number(value.substr(0, value.find('.')));
  if (!seconds || *seconds < 0 || *seconds > kMtimeMax)
    throw Error(Errc::invalid, "bad_mtime", "X-OC-MTime must be a time in seconds since 1970");
  return *seconds * 1'000'000;
}

void require_plain_body(const Fields& headers) {
  const auto coding = headers.get("content-encoding");
  if (!coding.empty() && !ascii::iequals(coding, "identity"))
    throw Error(Errc::unsupported_media_type, "content_encoding",
                "Bodies with a content coding are not stored");
  if (headers.has("content-range"))
    throw Error(Errc::invalid, "content_range", "Content-Range is not supported here; send the whole file");
}

}  // namespace welkin::http
