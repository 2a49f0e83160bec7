#include "http/session.hpp"

#include <utility>

#include "http/access_log.hpp"
#include "http/http_metrics.hpp"
#include "http/path.hpp"
#include "http/request_id.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/http/problem.hpp"

namespace welkin::http {
namespace {

using std::chrono::steady_clock;
constexpr std::size_t kHeadBufferMax = kHeadBytesMax + 4096;
constexpr unsigned kClientLeft = 499;  // in the log only

Ticks deadline_in(unsigned seconds, Ticks from = steady_clock::now()) {
  return seconds == 0 ? Ticks::max() : from + std::chrono::seconds(seconds);
}

class InFlight {
 public:
  InFlight() { server_metrics().in_flight.add(1); }
  ~InFlight() { server_metrics().in_flight.add(-1); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
};

}  // namespace

Session::Session(std::unique_ptr<Stream> stream, const Settings& settings, const Router& router,
                 LoopState& loop, Address peer, std::string local_authority, bool tls)
    : settings_(settings),
      router_(router),
      loop_(loop),
      peer_(peer),
      peer_text_(peer.text()),
      tls_(tls),
      peer_trusted_(contains(settings.trusted, peer)),
      connection_(std::move(stream), settings),
      body_(connection_),
      request_(settings, &body_),
      reply_(connection_, loop, request_, body_) {
  request_.local_authority = std::move(local_authority);
}

Task<> Session::run() {
  idle_since_ = steady_clock::now();
  connection_.set_deadline(deadline_in(settings_.header_seconds));
  if (!co_await connection_.handshake()) {
    if (tls_) server_metrics().tls_failures.add();
    connection_.close();
    co_return;
  }
  for (bool goes_on = true; goes_on;) {
    const auto step = co_await read_head();
    if (step == HeadParser::Step::need_more) break;  // the client has left, or was idle for too long
    if (step == HeadParser::Step::refused) server_metrics().refused_heads.add();
    goes_on = co_await serve(step == HeadParser::Step::refused ? &parser_.refusal() : nullptr);
    if (goes_on) connection_.set_deadline(deadline_in(settings_.idle_seconds, idle_since_));
  }
  connection_.close();
}

/// Ends with `need_more` when no request came.
Task<HeadParser::Step> Session::read_head() {
  parser_.reset();
  // On a new connection the deadline of the accept stands; a kept-alive one gets a new one with the first
  // byte.
  bool timed = std::exchange(fresh_, false);
  for (;;) {
    if (!connection_.received().empty()) {
      const auto step = parser_.parse(connection_.received());
      if (step == HeadParser::Step::complete) connection_.consume(parser_.consumed());
      if (step != HeadParser::Step::need_more) co_return step;
      if (!timed) connection_.set_deadline(deadline_in(settings_.header_seconds));
      timed = true;
    } else {
      connection_.shrink();
      if (loop_.draining) co_return HeadParser::Step::need_more;
    }
    const auto n = co_await connection_.fill(parser_.begun() ? Wait::head : Wait::idle, kHeadBufferMax);
    if (n > 0) continue;
    if (n < 0 && connection_.cut() == Cut::timeout && parser_.begun()) {
      static constexpr Refusal kTooSlow{Status::request_timeout, "header_too_slow",
                                        "the request header took too long"};
      connection_.forgive();
      parser_.refuse(kTooSlow);
      co_return HeadParser::Step::refused;
    }
    co_return HeadParser::Step::need_more;
  }
}

const char* Session::split_target(std::string_view target) {
  const auto question = target.find('?');
  request_.raw_path = target.substr(0, question);
  request_.raw_query = question == target.npos ? std::string_view{} : target.substr(question + 1);
  if (target == "*") {
    request_.segments.clear();
    return nullptr;
  }
  const std::string_view base = settings_.base_path;
  if (!base.empty()) {
    auto& path = request_.raw_path;
    if (!path.starts_with(base) || (path.size() > base.size() && path[base.size()] != '/')) return "";
    path.remove_prefix(base.size());
    if (path.empty()) path = "/";
  }
  return nullptr;
}

void Session::read_client() {
  request_.address = peer_;
  request_.secure = tls_;
  if (!peer_trusted_) {
    request_.address_text = peer_text_;
    return;
  }
  const auto& fields = request_.head.fields;
  const auto said = read_forwarding(peer_, settings_.trusted, fields.joined("x-forwarded-for"),
                                    fields.joined("forwarded"), fields.joined("x-forwarded-proto"));
  request_.address = said.client;
  request_.address_text = said.client.text();
  if (said.secure) request_.secure = *said.secure;
  request_.forwarded_hosts =
      read_forwarded_hosts(fields.joined("x-forwarded-host"), fields.joined("forwarded"));
}

std::optional<Session::Failure> Session::prepare() {
  const auto& head = request_.head;
  if (!settings_.serves(head.authority, peer_))
    return Failure{Status::misdirected, "misdirected", "this server does not serve that host"};
  if (split_target(head.target))
    return Failure{Status::not_found, "not_found", "there is nothing at this address"};
  if (head.target != "*") {
    if (const char* wrong = decode_path(request_.raw_path, request_.segments, request_.trailing_slash)) {
      request_.segments.clear();
      return Failure{Status::bad_request, "bad_path", wrong};
    }
  }
  if (!request_.raw_query.empty())
    if (const char* wrong = check_query(request_.raw_query))
      return Failure{Status::bad_request, "bad_query", wrong};
  return std::nullopt;
}

Task<bool> Session::serve(const Refusal* refusal) {
  const InFlight in_flight;
  const auto began = steady_clock::now();
  const auto bytes_before = connection_.bytes_out();
  connection_.begin_request();
  request_.clear();
  std::swap(request_.head, parser_.head);
  read_client();
  if (const auto given = request_.head.fields.get("x-request-id"); is_request_id(given))
    request_.id.assign(given);
  else
    make_request_id(request_.id);
  reply_.start(request_.head.method == Method::head);
  if (refusal) {
    reply_.close = true;
    request_.head.content_length.reset();
    request_.head.chunked = false;
  }
  body_.start(request_.head, settings_.upload_bytes_max);

  std::optional<Failure> failure;
  if (!refusal) failure = prepare();
  co_await answer(failure, refusal);

  const bool whole = reply_.ended && !reply_.broken;
  bool goes_on = whole && !reply_.close;
  if (goes_on) goes_on = co_await body_.drain();
  record(began, bytes_before, !whole);
  if (!goes_on && whole) co_await connection_.linger();
  co_return goes_on;
}

Task<> Session::answer(std::optional<Failure>& failure, const Refusal* refusal) {
  Request rq(request_);
  Reply rp(reply_);
  bool gone = false;
  if (refusal) failure = Failure{refusal->status, refusal->slug, refusal->message};
  if (!failure) {
    try {
      co_await router_.dispatch(rq, rp);
      if (!reply_.ended) {
        log::error("{} {}: handler {} ended without a whole answer", request_.id, request_.head.method_token,
                   rq.route_name());
        server_metrics().failures.add();
        failure = Failure{Status::internal, "internal", "the server failed"};
      }
    } catch (const ClientGone&) {
      gone = true;
    } catch (const Error& e) {
      failure = Failure{status_of(e.code()), e.slug(), e.what(), e.retry_after_seconds()};
      if (e.code() == Errc::internal) {
        log::error("{} {} {}: {}", request_.id, request_.head.method_token, request_.raw_path, e.what());
        server_metrics().failures.add();
        failure->message = "the server failed";
      }
    } catch (const std::exception& e) {
      gone = loop_.cutting;  // cancelled: whatever was thrown is that
      if (!gone) {
        log::error("{} {} {}: {}", request_.id, request_.head.method_token, request_.raw_path, e.what());
        server_metrics().failures.add();
      }
      failure = Failure{Status::internal, "internal", "the server failed"};
    } catch (...) {
      log::error("{} {} {}: unknown exception", request_.id, request_.head.method_token, request_.raw_path);
      server_metrics().failures.add();
      failure = Failure{Status::internal, "internal", "the server failed"};
    }
  }
  if (gone && connection_.cut() == Cut::timeout && !reply_.sent) {
    connection_.forgive();
    reply_.close = true;
    failure = Failure{Status::request_timeout, "body_too_slow", "the request body came too slowly"};
    gone = false;
  }
  if (!failure || gone) co_return;
  if (reply_.sent) {  // an error can then only be told by not finishing
    if (!reply_.ended && failure->status != Status::internal)
      log::warn("{} {}: answer cut off: {}", request_.id, request_.head.method_token, failure->message);
    co_return;
  }
  try {
    co_await answer_failure(*failure);
  } catch (const ClientGone&) {
    reply_.broken = true;
  }
}

Task<> Session::answer_failure(const Failure& failure) {
  Reply rp(reply_);
  const bool close = reply_.close;
  reply_.start(reply_.head_only);
  reply_.close = close;
  if (failure.retry_after_seconds != 0) rp.set("Retry-After", std::to_string(failure.retry_after_seconds));
  std::string_view path = request_.head.target;
  if (path.starts_with(settings_.base_path)) path.remove_prefix(settings_.base_path.size());
  if (const auto* form = router_.failure_form(path)) {
    co_await rp.send(failure.status, form->content_type, form->body(failure.slug, failure.message));
    co_return;
  }
  co_await rp.send(failure.status, "application/json",
                   error_json(failure.status, failure.slug, failure.message, request_.id));
}

void Session::record(Ticks began, std::uint64_t bytes_before, bool cut) {
  idle_since_ = steady_clock::now();
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(idle_since_ - began);
  // Nothing sent: the client left before the answer.
  const unsigned status = reply_.begun ? static_cast<unsigned>(reply_.status) : kClientLeft;
  server_metrics().by_status(status).add();
  if (request_.route) {
    request_.route->metrics->requests.add();
    request_.route->metrics->seconds.add(static_cast<std::uint64_t>(took.count()));
  }
  if (settings_.access_log)
    log::access(render_access(request_, status, connection_.bytes_out() - bytes_before, took, cut));
}

}  // namespace welkin::http
