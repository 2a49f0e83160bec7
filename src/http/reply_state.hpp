#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "http/body_reader.hpp"
#include "http/connection.hpp"
#include "http/encoding.hpp"
#include "http/reply_head.hpp"
#include "http/request_state.hpp"
#include "welkin/http/reply.hpp"

namespace welkin::http {

/// What every connection of an io thread shares.
struct LoopState {
  /// The value of Date, made once a second.
  std::string_view date();
  bool draining = false;  // answers say Connection: close
  bool cutting = false;   // handlers are being cancelled

 private:
  std::int64_t date_second_ = 0;
  std::string date_;
};

/// What stands behind a Reply. One per connection, used again for each of its requests.
struct Reply::State {
  State(Connection& connection_, LoopState& loop_, Request::State& request_, BodyReader& body_)
      : connection(connection_), loop(loop_), request(request_), body(body_) {}

  Connection& connection;
  LoopState& loop;
  Request::State& request;
  BodyReader& body;

  Fields headers;
  Status status = Status::internal;
  bool begun = false;  // there is a head
  bool sent = false;   // bytes of it have been handed to the socket: no way back
  bool ended = false;
  bool close = false;   // the connection closes after this answer
  bool broken = false;  // the answer can no longer be made whole: cut
  bool head_only = false;

  Framing framing = Framing::none;
  std::uint64_t announced = 0;
  std::uint64_t written = 0;  // body bytes, before coding
  std::string head_out;       // the head, until it has left
  std::string pending;        // body bytes, coded, not yet sent
  std::unique_ptr<Encoder> encoder;

  void start(bool is_head);
  /// Takes back a head that has not left yet.
  void take_back();
  /// Renders the head into `head_out`. Decides whether the connection goes on.
  void make_head(Status s, std::string_view content_type, Framing how, std::uint64_t length);
  Encoding coding_for(Status s, std::string_view content_type);
  void announce_coding(Encoding coding);
  /// Sends head and pending bytes, as a chunk where chunks are spoken; `direct` follows the pending bytes
  /// uncopied.
  Task<> push(std::string_view direct, bool last, bool more);
  void account(std::uint64_t bytes);
  Task<> encode_whole(Encoding coding, std::string_view body, std::string& out);
};

}  // namespace welkin::http
