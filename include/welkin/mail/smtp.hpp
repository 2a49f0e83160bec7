#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace welkin::mail {

enum class Tls : std::uint8_t {
  none,      // as it is; for a relay on this machine or a network of one's own
  starttls,  // begun in the open, then TLS, or nothing is sent
  implicit   // TLS from the first byte
};

/// Where mails are handed over.
struct Relay {
  std::string host;
  std::uint16_t port = 587;
  Tls tls = Tls::starttls;
  std::string ca_file;         // PEM; "": what the system trusts
  std::string user, password;  // "": no AUTH
  std::string from;            // of the envelope
  std::string helo = "localhost";
  std::chrono::seconds timeout{30};  // for each wait
};

struct Outcome {
  enum class Kind : std::uint8_t {
    sent,
    later,   // the relay or the way to it did not work; worth another try
    refused  // the relay will not take this mail from us, now or later
  };
  Kind kind = Kind::sent;
  std::string reason;  // one line, for the log
};

/// Hands one mail to the relay (RFC 5321) and waits for its answer. Blocks the calling thread. Never throws
/// for what a relay does.
/// @param to  as is_address; @param data  as render
Outcome send(const Relay& relay, const std::string& to, const std::string& data);

}  // namespace welkin::mail
