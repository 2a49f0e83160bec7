#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace welkin::test {

/// A mail relay on a port of its own that keeps what it is given. One connection after another. It knows
/// nothing of the server's code.
class SmtpServer {
 public:
  struct Options {
    bool starttls = false;  // offered, and demanded before MAIL
    bool implicit_tls = false;
    std::string certificate_file, key_file;
    std::string user, password;        // "": AUTH is not offered
    std::string auth = "PLAIN LOGIN";  // ways that are offered
    std::string greeting = "220 test ESMTP";
    std::string rcpt_reply = "250 ok", data_reply = "250 taken";
    std::string before_tls;  // sent right behind the answer to STARTTLS, in the open
  };
  struct Mail {
    std::string from, to, data;  // data without dots that were added
    bool secret = false;         // came in TLS
    std::string user;            // signed in as
  };
  SmtpServer() : SmtpServer(Options()) {}
  explicit SmtpServer(Options options);
  ~SmtpServer();
  SmtpServer(const SmtpServer&) = delete;
  SmtpServer& operator=(const SmtpServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::vector<Mail> mails() const;
  /// Every line that a client has sent.
  std::vector<std::string> lines() const;
  void set_rcpt_reply(std::string reply);

 private:
  struct Talk;
  void run();
  void serve(int socket);

  Options options_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<Mail> mails_;
  std::vector<std::string> lines_;
  std::thread thread_;
};

}  // namespace welkin::test
