#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "nextcloud/web.hpp"
#include "welkin/core/error.hpp"
#include "welkin/files/events.hpp"
#include "welkin/http/web_socket.hpp"
#include "welkin/people/devices.hpp"

// notify_push: a WebSocket that says when something has changed, so that clients need not ask. It tells what
// the change log tells, to whom may read it, after the commit.
namespace welkin::nextcloud {
namespace {

using http::Reply;
using http::Request;
using http::WebSocket;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kToSignIn{15'000};
constexpr milliseconds kForEver{3'600'000};
// Between two frames: the first while it is calm, the last while changes do not stop.
constexpr milliseconds kQuietMin{1'000}, kQuietMax{15'000};
constexpr unsigned kTicketSeconds = 15;
constexpr std::uint16_t kPolicyViolation = 1008, kGoingAway = 1001, kTryAgainLater = 1013;

/// What is still to be told.
struct Pending {
  std::set<std::int64_t> ids;
  bool any = false, unknown = false;

  void add(const files::EventBatch& batch, bool moved) {
    any |= moved || batch.any();
    unknown |= batch.resync || (moved && batch.folders.empty());
    for (const auto id : batch.folders) ids.insert(id.value);
    if (ids.size() > files::EventHub::kFoldersMax) unknown = true;
    if (unknown) ids.clear();
  }
};

/// One client. Its two coroutines run on one io thread.
struct Client {
  const Services& services;
  WebSocket& socket;
  people::Standing standing;
  std::unique_ptr<files::EventHub::Stream> stream;
  bool wants_ids = false;
  bool over = false;
};

/// Takes what has changed within `limit`. @return false: it is over
Task<bool> gather(Client& client, milliseconds limit, Pending& pending) {
  const auto before = client.stream->position();
  const auto batch = co_await client.stream->next(std::max(limit, milliseconds(0)));
  pending.add(batch, client.stream->position() != before);
  if (batch.ended) co_await client.socket.close(kGoingAway, "the server is stopping");
  co_return !client.over && !batch.ended;
}

Task<> tell(Client& client, Pending& pending) {
  std::string frame = "notify_file";
  if (client.wants_ids && !pending.unknown && !pending.ids.empty())
    frame =
        "notify_file_id " + Json(std::vector<std::int64_t>(pending.ids.begin(), pending.ids.end())).dump();
  pending = {};
  co_await client.socket.send_text(frame);
}

/// Looks whether the client is still let in, and as whom. @return false, having said goodbye, when not
Task<bool> is_still_welcome(Client& client, Pending& pending) {
  auto caller = co_await client.services.people.devices().renew(client.standing);
  if (!caller) {
    co_await client.socket.close(kPolicyViolation, "signed out");
    co_return false;
  }
  pending.add(co_await client.stream->refresh(std::move(*caller)), false);
  co_return true;
}

/// Tells of changes until one side has had enough.
Task<> speak(Client& client) {
  const std::chrono::seconds heartbeat(client.services.config.event_heartbeat_seconds);
  auto quiet = kQuietMin;
  auto look_at = steady_clock::now() + heartbeat;
  Pending pending;
  const auto until = [](steady_clock::time_point when) {
    return std::chrono::duration_cast<milliseconds>(when - steady_clock::now());
  };
  for (;;) {
    if (!pending.any && !co_await gather(client, until(look_at), pending)) co_return;
    if (pending.any || steady_clock::now() >= look_at) {
      if (!co_await is_still_welcome(client, pending)) co_return;
      look_at = steady_clock::now() + heartbeat;
    }
    if (!pending.any) continue;
    co_await tell(client, pending);
    // What comes now is told together at the end of this; under load it comes seldom, but it comes.
    const auto end = steady_clock::now() + quiet;
    while (steady_clock::now() < std::min(end, look_at)) {
      if (!co_await gather(client, until(std::min(end, look_at)), pending)) co_return;
    }
    quiet = pending.any ? std::min(quiet * 2, kQuietMax) : kQuietMin;
  }
}

/// Ends the speaker with the listener, whatever ended that.
struct Hangup {
  Client& client;
  ~Hangup() {
    client.over = true;
    client.stream->wake();
  }
};

Task<> listen(Client& client) {
  const Hangup hangup{client};
  for (;;) {
    const auto message = co_await client.socket.receive(kForEver);
    if (message.what == WebSocket::What::closed) co_return;
    if (message.what == WebSocket::What::text && message.data == "listen notify_file_id")
      client.wants_ids = true;
  }
}

/// The two, of which either ends the other.
Task<> speak_to_the_end(Client& client) {
  std::exception_ptr failed;
  try {
    co_await speak(client);
  } catch (...) {
    failed = std::current_exception();
  }
  co_await client.socket.close(failed ? kTryAgainLater : kGoingAway);
  if (failed) std::rethrow_exception(failed);
}

/// Reads a name and a password, or nothing and a ticket, as two messages.
Task<std::optional<Caller>> sign_in(const Services& services, const Request& rq, WebSocket& socket) {
  const auto deadline = steady_clock::now() + kToSignIn;
  std::string said[2];
  for (auto& text : said) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    auto message = co_await socket.receive(std::max(left, milliseconds(0)));
    if (message.what == WebSocket::What::nothing) co_await socket.close(kPolicyViolation, "too slow");
    if (message.what != WebSocket::What::text) co_return std::nullopt;
    text = std::move(message.data);
  }
  std::optional<Caller> caller;
  if (said[0].empty()) {
    auto ticket = co_await services.people.devices().redeem(said[1], people::Purpose::push);
    if (ticket) caller = std::move(ticket->caller);
  } else {
    caller = co_await services.people.by_basic(said[0], said[1], protocols::kNextcloud, origin_of(rq));
  }
  if (!caller) {
    co_await socket.send_text("err: Invalid credentials");
    co_await socket.close(kPolicyViolation, "invalid credentials");
  }
  co_return caller;
}

Task<> talk(const Services& services, const Request& rq, WebSocket& socket) {
  std::string refused;
  try {
    const auto caller = co_await sign_in(services, rq, socket);
    if (!caller) co_return;
    Client client{services, socket, people::standing_of(*caller), {}};
    client.stream = co_await files::EventHub::subscribe(services.files.events(), *caller, "");
    co_await socket.send_text("authenticated");
    co_await http::side_by_side(listen(client), speak_to_the_end(client));
  } catch (const Error& e) {
    refused = e.code() == Errc::internal ? "the server failed" : e.what();
  }
  if (refused.empty()) co_return;
  co_await socket.send_text("err: " + refused);
  co_await socket.close(kTryAgainLater, refused);
}

/// GET /push/ws
Task<> serve(const Services& services, Request& rq, Reply& rp) {
  services.people.count_attempt("push", rq.limit_key(), services.config.login_attempts_per_minute * 12, 60);
  const http::WebSocketLimits limits{.silence = std::chrono::seconds(30)};
  co_await http::serve_web_socket(rq, rp, limits,
                                  [&](WebSocket& socket) { return talk(services, rq, socket); });
}

/// POST /index.php/apps/notify_push/pre_auth -> a token for the socket, as text
Task<> pre_auth(const Services& services, Request& rq, Reply& rp) {
  const auto token =
      co_await services.people.devices().issue(rq.caller(), people::Purpose::push, NodeId{}, kTicketSeconds);
  co_await rp.send(http::Status::ok, "text/plain; charset=utf-8", token);
}

}  // namespace

void mount_push(WebScopes& s, const Kept& services) {
  using http::Access;
  s.open.on({http::Method::get, "/push/ws", "nextcloud.push", Access::open, "-", "-"},
            [services](Request& rq, Reply& rp) { return serve(*services, rq, rp); });
  at_both("/apps/notify_push/pre_auth", [&](const std::string& path, const std::string& suffix) {
    s.user.on({http::Method::post, path, "nextcloud.push_pre_auth" + suffix, Access::dav, "event", "read"},
              [services](Request& rq, Reply& rp) { return pre_auth(*services, rq, rp); });
  });
}

}  // namespace welkin::nextcloud
