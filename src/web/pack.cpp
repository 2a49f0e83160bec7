#include "web/pack.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "welkin/core/text.hpp"

namespace welkin::web {
namespace {

std::runtime_error broken(std::string_view why) {
  return std::runtime_error("the web app in this binary cannot be read: " + std::string(why));
}

std::string_view take_line(std::string_view& bytes) {
  const auto end = bytes.find('\n');
  if (end == std::string_view::npos) throw broken("a line does not end");
  const auto line = bytes.substr(0, end);
  bytes.remove_prefix(end + 1);
  return line;
}

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) throw broken("a length is no number");
  return value;
}

/// How much a client wants a coding: 0 for not at all; unsaid ones are not wanted.
double weight(std::string_view accept_encoding, std::string_view coding) {
  double any = 0;
  for (auto element : text::split(accept_encoding, ',')) {
    const auto semicolon = element.find(';');
    const auto name = text::trim(element.substr(0, semicolon));
    double q = 1;
    if (semicolon != std::string_view::npos) {
      const auto parameter = text::trim(element.substr(semicolon + 1));
      if (parameter.size() > 2 && (parameter[0] == 'q' || parameter[0] == 'Q') && parameter[1] == '=')
        std::from_chars(parameter.data() + 2, parameter.data() + parameter.size(), q);
    }
    if (text::iequals(name, coding)) return q;
    if (name == "*") any = q;
  }
  return any;
}

}  // namespace

Coding Asset::choose(std::string_view accept_encoding) const {
  if (!br.empty() && weight(accept_encoding, "br") > 0) return Coding::br;
  if (!gzip.empty() && weight(accept_encoding, "gzip") > 0) return Coding::gzip;
  return Coding::identity;
}

std::string_view Asset::form(Coding coding) const {
  if (coding == Coding::br) return br;
  return coding == Coding::gzip ? gzip : plain;
}

const Asset* Pack::find(std::string_view path) const {
  const auto at = std::lower_bound(assets.begin(), assets.end(), path,
                                   [](const Asset& a, std::string_view p) { return a.path < p; });
  return at != assets.end() && at->path == path ? &*at : nullptr;
}

Pack read_pack(std::string_view bytes) {
  Pack pack;
  if (take_line(bytes) != "welkin-web 1") throw broken("it is of another version");
  std::vector<std::array<std::size_t, 3>> lengths;
  for (auto line = take_line(bytes); !line.empty(); line = take_line(bytes)) {
    const auto fields = text::split(line, '\t');
    if (fields.size() == 2 && fields[0] == "page") {
      pack.pages.emplace_back(fields[1]);
    } else if (fields.size() == 7 && fields[0] == "file") {
      Asset asset;
      asset.path = fields[1];
      asset.type = fields[2];
      asset.tag = fields[3];
      pack.assets.push_back(asset);
      lengths.push_back({number(fields[4]), number(fields[5]), number(fields[6])});
    } else {
      throw broken("a line of its list is none");
    }
  }
  for (std::size_t i = 0; i < pack.assets.size(); ++i) {
    auto& asset = pack.assets[i];
    const std::array forms = {&asset.plain, &asset.gzip, &asset.br};
    for (std::size_t form = 0; form < forms.size(); ++form) {
      if (lengths[i][form] > bytes.size()) throw broken("it ends early");
      *forms[form] = bytes.substr(0, lengths[i][form]);
      bytes.remove_prefix(lengths[i][form]);
    }
  }
  if (!bytes.empty()) throw broken("something follows its end");
  std::sort(pack.assets.begin(), pack.assets.end(),
            [](const Asset& a, const Asset& b) { return a.path < b.path; });
  return pack;
}

}  // namespace welkin::web
