#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace welkin::mail {

/// An address that can stand in an envelope and a header as it is: one "@", letters, digits and
/// `.!#$%&'*+-/=?^_{|}~` before it, a host name behind it, at most 254 bytes. Everything else, quoted forms
/// too, is not sent to: no list, no comment, no line end can hide in it.
bool is_address(std::string_view address);

/// A mail about an event: words for people and the iCalendar for programs (RFC 6047).
struct Message {
  std::string from, from_name;  // an address; the name may be any text
  std::string reply_to;         // an address, "" for none
  std::string to;               // an address
  std::string subject;          // any text
  std::string text;             // plain, any text
  std::string method;           // REQUEST, CANCEL, REPLY
  std::string calendar;         // iCalendar, CRLF
  std::string id;               // of Message-ID, without the brackets; stays the same when it is sent again
  std::int64_t at = 0;          // seconds; Date
};

/// The message as it goes over the wire (RFC 5322, RFC 2045): ASCII, CRLF, no line longer than 300 bytes.
/// Texts are encoded, never copied into a header, so that none of them can make another header.
std::string render(const Message& message);

}  // namespace welkin::mail
