#pragma once
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "welkin/mail/smtp.hpp"

namespace welkin::mail {

/// The way to the relay does not work (any more).
class WireError final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Lines to and from a relay over a socket, in the open or in TLS. Every wait has the relay's limit.
class Wire {
 public:
  /// Connects; with Tls::implicit TLS is up. @throws WireError
  explicit Wire(const Relay& relay);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void write(std::string_view bytes);
  /// Without its CRLF, at most 2,000 bytes.
  std::string line();
  /// After the relay has agreed to STARTTLS. What came before that is not the relay's word and ends it.
  void start_tls();
  bool is_secret() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::mail
