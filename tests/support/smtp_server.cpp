#include "support/smtp_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <stdexcept>

namespace welkin::test {

/// One conversation.
struct SmtpServer::Talk {
  explicit Talk(int s) : socket(s) {}
  ~Talk() {
    if (tls != nullptr) SSL_free(tls);
    if (context != nullptr) SSL_CTX_free(context);
    ::close(socket);
  }
  bool start_tls(const Options& options) {
    context = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(context, options.certificate_file.c_str()) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
      throw std::runtime_error("no certificate");
    tls = SSL_new(context);
    SSL_set_fd(tls, socket);
    return SSL_accept(tls) == 1;
  }
  void say(const std::string& line) {
    const auto bytes = line + "\r\n";
    if (tls != nullptr)
      SSL_write(tls, bytes.data(), static_cast<int>(bytes.size()));
    else if (::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0)
      ended = true;
  }
  std::optional<std::string> line() {
    for (;;) {
      if (const auto at = buffer.find("\r\n"); at != std::string::npos) {
        auto out = buffer.substr(0, at);
        buffer.erase(0, at + 2);
        return out;
      }
      std::array<char, 4096> piece{};
      const auto got = tls != nullptr ? SSL_read(tls, piece.data(), static_cast<int>(piece.size()))
                                      : static_cast<int>(::recv(socket, piece.data(), piece.size(), 0));
      if (got <= 0) return std::nullopt;
      buffer.append(piece.data(), static_cast<std::size_t>(got));
    }
  }

  int socket;
  SSL_CTX* context = nullptr;
  SSL* tls = nullptr;
  bool ended = false;
  std::string buffer;
};

SmtpServer::SmtpServer(Options options) : options_(std::move(options)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 8) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("no port for a mail relay");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

SmtpServer::~SmtpServer() {
  stopping_ = true;
  thread_.join();
  ::close(listener_);
}

std::vector<SmtpServer::Mail> SmtpServer::mails() const {
  const std::lock_guard hold(mutex_);
  return mails_;
}

std::vector<std::string> SmtpServer::lines() const {
  const std::lock_guard hold(mutex_);
  return lines_;
}

void SmtpServer::set_rcpt_reply(std::string reply) {
  const std::lock_guard hold(mutex_);
  options_.rcpt_reply = std::move(reply);
}

void SmtpServer::run() {
  while (!stopping_) {
    pollfd one{listener_, POLLIN, 0};
    if (::poll(&one, 1, 50) != 1) continue;
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const timeval limit{10, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    serve(socket);
  }
}

void SmtpServer::serve(int socket) {
  Talk talk(socket);
  Options options;
  {
    const std::lock_guard hold(mutex_);
    options = options_;
  }
  if (options.implicit_tls && !talk.start_tls(options)) return;
  talk.say(options.greeting);
  Mail mail;
  mail.secret = talk.tls != nullptr;
  while (const auto line = talk.line()) {
    {
      const std::lock_guard hold(mutex_);
      lines_.push_back(*line);
    }
    const auto is = [&](const char* word) { return line->rfind(word, 0) == 0; };
    if (is("EHLO")) {
      if (options.starttls && !mail.secret) talk.say("250-STARTTLS");
      if (!options.user.empty()) talk.say("250-AUTH " + options.auth);
      talk.say("250 SIZE 10000000");
    } else if (is("STARTTLS")) {
      if (options.before_tls.empty()) {
        talk.say("220 go");
      } else {
        talk.say("220 go\r\n" + options.before_tls);
      }
      if (!talk.start_tls(options)) return;
      mail.secret = true;
    } else if (is("AUTH")) {
      if (*line == "AUTH LOGIN") {
        talk.say("334 VXNlcm5hbWU6");
        mail.user = talk.line().value_or("");
        talk.say("334 UGFzc3dvcmQ6");
        const auto secret = talk.line().value_or("");
        talk.say(secret == options.password ? "235 welcome" : "535 no");
      } else {
        mail.user = *line;
        talk.say(*line == "AUTH PLAIN " + options.password ? "235 welcome" : "535 no");
      }
    } else if (is("MAIL FROM:")) {
      mail.from = line->substr(10);
      talk.say(options.starttls && !mail.secret ? "530 TLS first" : "250 ok");
    } else if (is("RCPT TO:")) {
      mail.to = line->substr(8);
      talk.say(options.rcpt_reply);
    } else if (is("DATA")) {
      talk.say("354 go");
      mail.data.clear();
      while (const auto text = talk.line()) {
        if (*text == ".") break;
        mail.data += (text->rfind('.', 0) == 0 ? text->substr(1) : *text) + "\r\n";
      }
      if (options.data_reply[0] == '2') {
        const std::lock_guard hold(mutex_);
        mails_.push_back(mail);
      }
      talk.say(options.data_reply);
    } else if (is("QUIT")) {
      talk.say("221 bye");
      return;
    } else {
      talk.say("500 what");
    }
  }
}

}  // namespace welkin::test
