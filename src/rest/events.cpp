#include <chrono>

#include "rest/routes.hpp"
#include "welkin/core/error.hpp"
#include "welkin/files/events.hpp"
#include "welkin/wire/json_writer.hpp"

// Live events as a stream of server-sent events (WHATWG HTML §9.2).
namespace welkin::rest {
namespace {

using files::EventBatch;
using files::EventHub;
using http::Access;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kReconnect{2000};

/// `change` names the folders whose children are others now; `resync`: look at everything anew; `ready`: from
/// here on nothing is missed. The id is where a reconnecting client goes on.
std::string event_text(const Services& services, const EventBatch& batch, const char* name,
                       const std::string& position) {
  std::string out = "id: " + position + "\nevent: " + name + "\ndata: ";
  wire::JsonWriter json(out);
  json.begin_object();
  if (!batch.folders.empty()) {
    json.key("folders");
    json.begin_array();
    for (const auto id : batch.folders) json.string(services.ids.encode(IdKind::folder, id.value));
    json.end_array();
  }
  json.end_object();
  return out + "\n\n";
}

Task<> tell(const Services& services, Reply& rp, const EventBatch& batch, const std::string& position) {
  if (!batch.any()) co_return;
  co_await rp.write(event_text(services, batch, batch.resync ? "resync" : "change", position));
  co_await rp.flush();
}

/// False when the credentials of this request are no longer good for anything.
Task<bool> is_still_signed_in(const Services& services, Request& rq) {
  bool good = true;
  try {
    co_await authenticate(services, rq);
  } catch (const Error&) {
    good = false;
  }
  co_return good;
}

Task<> tell_until_the_end(const Services& services, Request& rq, Reply& rp, EventHub::Stream& stream) {
  const std::chrono::seconds heartbeat(services.config.event_heartbeat_seconds);
  auto due = steady_clock::now() + heartbeat;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(due - steady_clock::now());
    const auto batch = co_await stream.next(std::max(left, milliseconds(0)));
    if (batch.ended) co_return;
    co_await tell(services, rp, batch, stream.position());
    if (steady_clock::now() < due) continue;
    if (!co_await is_still_signed_in(services, rq)) co_return;
    const auto anew = co_await stream.refresh(rq.caller());
    co_await tell(services, rp, anew, stream.position());
    co_await rp.write(std::string_view(":\n\n"));
    co_await rp.flush();
    due = steady_clock::now() + heartbeat;
  }
}

/// GET /api/events: an endless text/event-stream. `Last-Event-ID` (or ?last_event_id) goes on where a stream
/// broke off.
Task<> stream_events(const Services& services, Request& rq, Reply& rp) {
  rp.set("Cache-Control", "no-store, no-transform");
  rp.set("X-Accel-Buffering", "no");
  if (rq.method() == Method::head) {
    co_await rp.begin(Status::ok, "text/event-stream", std::nullopt);
    co_await rp.end();
    co_return;
  }
  std::string since(rq.header("last-event-id"));
  if (since.empty()) since = rq.query("last_event_id").value_or("");
  const auto stream = co_await EventHub::subscribe(services.files.events(), rq.caller(), std::move(since));
  rp.close_after();
  co_await rp.begin(Status::ok, "text/event-stream", std::nullopt);
  co_await rp.write("retry: " + std::to_string(kReconnect.count()) + "\n\n" +
                    event_text(services, {}, "ready", stream->position()));
  co_await rp.flush();
  co_await tell_until_the_end(services, rq, rp, *stream);
  co_await rp.end();
}

}  // namespace

void mount_events(Scopes& s, const Services& services) {
  s.user.on({Method::get, "/api/events", "events.stream", Access::user, "event", "read"},
            [&services](Request& rq, Reply& rp) { return stream_events(services, rq, rp); });
}

}  // namespace welkin::rest
