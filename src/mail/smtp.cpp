#include "welkin/mail/smtp.hpp"

#include <algorithm>
#include <vector>

#include "mail/wire.hpp"
#include "welkin/core/bytes.hpp"
#include "welkin/core/text.hpp"
#include "welkin/mail/message.hpp"

namespace welkin::mail {
namespace {

constexpr int kReplyLinesMax = 100;

struct Reply {
  int code = 0;
  std::vector<std::string> lines;
};

/// A word of the relay's that ends it: 4yz may go well another time, 5yz will not (RFC 5321 §4.2.1).
struct Refused {
  Outcome outcome;
};

std::string shown(std::string_view line) {
  std::string out(line.substr(0, 200));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return out;
}

class Session {
 public:
  explicit Session(const Relay& relay) : relay_(relay), wire_(relay) {}

  void run(const std::string& to, const std::string& data) {
    require(answer(), 220);
    greet();
    if (relay_.tls == Tls::starttls) {
      if (!offers("STARTTLS")) stop(Outcome::Kind::later, "the relay offers no STARTTLS");
      require(ask("STARTTLS"), 220);
      wire_.start_tls();
      greet();
    }
    if (!relay_.user.empty()) sign_in();
    require(ask("MAIL FROM:<" + relay_.from + ">"), 250);
    const auto taken = ask("RCPT TO:<" + to + ">");
    if (taken.code != 251) require(taken, 250);
    require(ask("DATA"), 354);
    send_body(data);
    require(answer(), 250);
  }

  /// The mail is theirs by now; whether they hear this does not matter.
  void leave() {
    try {
      wire_.write("QUIT\r\n");
    } catch (const WireError&) {
      return;
    }
  }

 private:
  [[noreturn]] static void stop(Outcome::Kind kind, std::string why) {
    throw Refused{{kind, std::move(why)}};
  }

  Reply answer() {
    Reply out;
    for (int i = 0; i < kReplyLinesMax; ++i) {
      const auto line = wire_.line();
      const auto code = line.size() >= 3 ? text::number(std::string_view(line).substr(0, 3)) : std::nullopt;
      if (!code || (line.size() > 3 && line[3] != '-' && line[3] != ' '))
        throw WireError("what answers is no mail relay");
      out.code = static_cast<int>(*code);
      out.lines.push_back(line.size() > 4 ? line.substr(4) : std::string());
      if (line.size() == 3 || line[3] == ' ') return out;
    }
    throw WireError("the relay's answer does not end");
  }

  Reply ask(const std::string& command) {
    wire_.write(command + "\r\n");
    return answer();
  }

  static void require(const Reply& reply, int code) {
    if (reply.code == code) return;
    const auto kind = reply.code >= 500 && reply.code < 600 ? Outcome::Kind::refused : Outcome::Kind::later;
    stop(kind, std::to_string(reply.code) + ' ' + shown(reply.lines.empty() ? "" : reply.lines.front()));
  }

  void greet() {
    const auto reply = ask("EHLO " + relay_.helo);
    require(reply, 250);
    offered_ = reply.lines;
  }

  bool offers(std::string_view word, std::string_view argument = {}) const {
    return std::any_of(offered_.begin(), offered_.end(), [&](const std::string& line) {
      const auto words = text::split(line, ' ');
      if (!text::iequals(words.front(), word)) return false;
      return argument.empty() || std::any_of(words.begin() + 1, words.end(), [&](std::string_view one) {
               return text::iequals(one, argument);
             });
    });
  }

  /// A wrong password is the operator's affair: the mail waits until it is put right.
  void sign_in() {
    Reply reply;
    if (offers("AUTH", "PLAIN")) {
      const auto secret = std::string(1, '\0') + relay_.user + std::string(1, '\0') + relay_.password;
      reply = ask("AUTH PLAIN " + text::base64(as_bytes(secret)));
    } else if (offers("AUTH", "LOGIN")) {
      reply = ask("AUTH LOGIN");
      if (reply.code == 334) reply = ask(text::base64(as_bytes(relay_.user)));
      if (reply.code == 334) reply = ask(text::base64(as_bytes(relay_.password)));
    } else {
      stop(Outcome::Kind::later, "the relay offers no way to sign in that we know");
    }
    if (reply.code != 235) stop(Outcome::Kind::later, "the relay does not take the user and password");
  }

  /// A line that begins with a dot gets another one (RFC 5321 §4.5.2).
  void send_body(const std::string& data) {
    std::string out;
    out.reserve(data.size() + 64);
    bool begins = true;
    for (const char c : data) {
      if (begins && c == '.') out += '.';
      out += c;
      begins = c == '\n';
    }
    if (!out.ends_with("\r\n")) out += "\r\n";
    wire_.write(out += ".\r\n");
  }

  const Relay& relay_;
  Wire wire_;
  std::vector<std::string> offered_;
};

}  // namespace

Outcome send(const Relay& relay, const std::string& to, const std::string& data) {
  if (!is_address(to) || !is_address(relay.from))
    return {Outcome::Kind::refused, "the address cannot be sent to"};
  try {
    Session session(relay);
    session.run(to, data);
    session.leave();
    return {};
  } catch (const Refused& e) {
    return e.outcome;
  } catch (const WireError& e) {
    return {Outcome::Kind::later, shown(e.what())};
  }
}

}  // namespace welkin::mail
