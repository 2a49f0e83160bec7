#include "welkin/mail/message.hpp"

#include <algorithm>
#include <cstdint>

#include "welkin/core/bytes.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

namespace welkin::mail {
namespace {

constexpr std::size_t kAddressBytesMax = 254;
constexpr std::size_t kLine = 76;  // of base64 (RFC 2045 §6.8)
constexpr std::size_t kWord = 45;  // bytes in one encoded word: 75 letters at most (RFC 2047 §2)
constexpr std::size_t kWordsMax = 1024;
constexpr std::size_t kTextMax = 16'384;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_host(std::string_view host) {
  if (host.empty() || host.front() == '.' || host.back() == '.' || host.find("..") != host.npos) return false;
  return std::all_of(host.begin(), host.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-'; });
}

/// Base64 in lines.
void append_body(std::string& out, std::string_view body) {
  const auto encoded = text::base64(as_bytes(body));
  for (std::size_t from = 0; from < encoded.size(); from += kLine)
    (out += std::string_view(encoded).substr(from, kLine)) += "\r\n";
}

/// Encoded words (RFC 2047), each of whole code points, folded.
void append_words(std::string& out, std::string_view words) {
  if (words.size() > kWordsMax) {
    auto length = kWordsMax;
    while ((static_cast<unsigned char>(words[length]) & 0xC0) == 0x80) --length;
    words = words.substr(0, length);
  }
  for (bool first = true; !words.empty(); first = false) {
    auto length = std::min(kWord, words.size());
    while (length < words.size() && length > 1 && (static_cast<unsigned char>(words[length]) & 0xC0) == 0x80)
      --length;
    if (!first) out += "\r\n ";
    ((out += "=?UTF-8?B?") += text::base64(as_bytes(words.substr(0, length)))) += "?=";
    words.remove_prefix(length);
  }
}

void append_html(std::string& out, std::string_view plain) {
  for (const char c : plain) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\n')
      out += "<br>\n";
    else if (c != '\r')
      out += c;
  }
}

struct Part {
  std::string type, more;
  std::string_view body;
};

void append_part(std::string& out, const std::string& boundary, const Part& part) {
  (out += "--" + boundary + "\r\nContent-Type: " + part.type + "\r\nContent-Transfer-Encoding: base64\r\n");
  (out += part.more) += "\r\n";
  append_body(out, part.body);
}

/// "Mon, 30 Nov 2026 10:00:00 +0000" (RFC 5322 §3.3).
std::string date_of(std::int64_t seconds) {
  auto date = times::http_date(seconds * 1'000'000);
  return date.replace(date.size() - 3, 3, "+0000");
}

}  // namespace

bool is_address(std::string_view address) {
  const auto at = address.find('@');
  if (address.size() > kAddressBytesMax || at == address.npos || at == 0 || at > 64) return false;
  constexpr std::string_view kMarks = ".!#$%&'*+-/=?^_{|}~";
  const auto local = address.substr(0, at);
  return local.front() != '.' && local.back() != '.' && local.front() != '-' &&
         std::all_of(local.begin(), local.end(),
                     [&](char c) { return is_letter_or_digit(c) || kMarks.find(c) != kMarks.npos; }) &&
         is_host(address.substr(at + 1));
}

std::string render(const Message& message) {
  // Never in base64, and nobody can guess it.
  const auto token = crypto::random_token(12);
  const std::string outer = "=_w" + token, inner = "=_v" + token;
  std::string out = "From: ";
  if (!message.from_name.empty()) append_words(out, message.from_name), out += "\r\n ";
  out += "<" + message.from + ">\r\nTo: <" + message.to + ">\r\n";
  if (!message.reply_to.empty()) out += "Reply-To: <" + message.reply_to + ">\r\n";
  out += "Subject: ";
  append_words(out, message.subject);
  out += "\r\nDate: " + date_of(message.at) + "\r\nMessage-ID: <" + message.id +
         ">\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
         "Content-Type: multipart/mixed; boundary=\"" +
         outer + "\"\r\n\r\n--" + outer + "\r\nContent-Type: multipart/alternative; boundary=\"" + inner +
         "\"\r\n\r\n";
  const auto words = std::string_view(message.text).substr(0, kTextMax);
  std::string html = "<!DOCTYPE html><html><body><p>";
  append_html(html, words);
  html += "</p></body></html>\n";
  append_part(out, inner, {"text/plain; charset=utf-8", "", words});
  append_part(out, inner, {"text/html; charset=utf-8", "", html});
  append_part(out, inner, {"text/calendar; charset=utf-8; method=" + message.method, "", message.calendar});
  out += "--" + inner + "--\r\n";
  append_part(out, outer,
              {"application/ics; name=\"invite.ics\"",
               "Content-Disposition: attachment; filename=\"invite.ics\"\r\n", message.calendar});
  return out += "--" + outer + "--\r\n";
}

}  // namespace welkin::mail
