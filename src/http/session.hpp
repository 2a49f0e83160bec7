#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/body_reader.hpp"
#include "http/connection.hpp"
#include "http/head.hpp"
#include "http/reply_state.hpp"
#include "http/request_state.hpp"
#include "welkin/http/router.hpp"

namespace welkin::http {

/// One connection's life: handshake, then request after request until one side has had enough.
class Session {
 public:
  Session(std::unique_ptr<Stream> stream, const Settings& settings, const Router& router, LoopState& loop,
          Address peer, std::string local_authority, bool tls);

  Task<> run();

  Connection& connection() { return connection_; }
  const Address& peer() const { return peer_; }
  /// Nothing of ours is lost when it is closed now.
  bool is_waiting_for_client() const {
    const auto wait = connection_.waiting();
    return wait == Wait::idle || wait == Wait::head || wait == Wait::handshake || wait == Wait::linger;
  }
  Ticks idle_since() const { return idle_since_; }

 private:
  struct Failure {
    Status status;
    std::string slug;
    std::string message;
    unsigned retry_after_seconds = 0;
  };

  Task<HeadParser::Step> read_head();
  /// @return whether the connection goes on
  Task<bool> serve(const Refusal* refusal);
  Task<> answer(std::optional<Failure>& failure, const Refusal* refusal);
  Task<> answer_failure(const Failure& failure);
  /// Splits and decodes the target, finds out who asks. @return what is wrong with the request
  std::optional<Failure> prepare();
  const char* split_target(std::string_view target);
  void read_client();
  void record(Ticks began, std::uint64_t bytes_before, bool cut);

  const Settings& settings_;
  const Router& router_;
  LoopState& loop_;
  const Address peer_;
  const std::string peer_text_;
  const bool tls_;
  const bool peer_trusted_;
  Connection connection_;
  HeadParser parser_;
  BodyReader body_;
  Request::State request_;
  Reply::State reply_;
  Ticks idle_since_{};
  bool fresh_ = true;  // no request has begun yet
};

}  // namespace welkin::http
