#include "welkin/http/reply.hpp"

#include <unistd.h>

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <charconv>
#include <ctime>

#include "http/ascii.hpp"
#include "http/reply_state.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/error.hpp"

namespace welkin::http {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kCoalesceBytes = std::size_t{16} * 1024;
constexpr std::size_t kAppendBytes =
    4 * 1024;  // smaller bodies are copied behind the head: one piece to send
constexpr std::size_t kKeptOutBytes = std::size_t{64} * 1024;
constexpr std::size_t kEncodeTurnBytes = std::size_t{256} * 1024;

bool has_no_body(Status s) { return s == Status::no_content || s == Status::not_modified; }

bool lists(const Fields& fields, std::string_view name, std::string_view token) {
  bool found = false;
  for (const auto& field : fields)
    if (ascii::iequals(field.name, name))
      ascii::each_element(field.value,
                          [&](std::string_view e) { found |= ascii::iequals(e, token) || e == "*"; });
  return found;
}

void shed(std::string& s) {
  s.clear();
  if (s.capacity() > kKeptOutBytes) std::string().swap(s);
}

}  // namespace

std::string_view LoopState::date() {
  const auto second = static_cast<std::int64_t>(std::time(nullptr));
  if (second != date_second_) {
    date_second_ = second;
    date_ = times::http_date(second * 1'000'000);
  }
  return date_;
}

void Reply::State::start(bool is_head) {
  headers.clear();
  status = Status::internal;
  begun = sent = ended = close = broken = false;
  head_only = is_head;
  framing = Framing::none;
  announced = written = 0;
  shed(head_out);
  shed(pending);
  encoder.reset();
}

void Reply::State::take_back() {
  if (sent || ended) throw Error(Errc::internal, "reply_order", "a second answer was begun");
  if (encoder) headers.remove("content-encoding");
  encoder.reset();
  begun = broken = false;
  announced = written = 0;
  head_out.clear();
  pending.clear();
}

void Reply::State::make_head(Status s, std::string_view content_type, Framing how, std::uint64_t length) {
  // A body nobody wants to read to its end would stand between this request and the next one.
  const bool unread =
      !body.can_drain() || (!body.finished() && static_cast<int>(s) >= 400 && request.head.chunked);
  close |= unread || loop.draining || !request.head.keep_alive || how == Framing::until_close;
  ReplyHead head;
  head.status = s;
  head.fields = &headers;
  head.content_type = content_type;
  head.framing = how;
  head.length = length;
  head.close = close;
  head.say_keep_alive = request.head.minor == 0;
  head.strict_transport = request.settings.base_secure;
  head.date = loop.date();
  head.request_id = request.id;
  head_out.clear();
  write_head(head_out, head);
  status = s;
  framing = how;
  announced = length;
  begun = true;
}

/// The coding of a body that may be coded; adds Vary when the answer would have been another for another
/// client.
Encoding Reply::State::coding_for(Status s, std::string_view content_type) {
  const auto type = content_type.empty() ? headers.get("content-type") : content_type;
  if (s == Status::partial_content || !is_compressible(type) || headers.has("content-encoding") ||
      headers.has("content-range") || lists(headers, "cache-control", "no-transform"))
    return Encoding::identity;
  if (!lists(headers, "vary", "accept-encoding")) headers.add("Vary", "Accept-Encoding");
  if (!request.head.fields.has("accept-encoding")) return Encoding::identity;
  return choose_encoding(request.head.fields.joined("accept-encoding"));
}

void Reply::State::announce_coding(Encoding coding) {
  headers.set("Content-Encoding", to_string(coding));
  const std::string etag(headers.get("etag"));
  if (etag.starts_with('"')) headers.set("ETag", "W/" + etag);
}

Task<> Reply::State::encode_whole(Encoding coding, std::string_view whole, std::string& out) {
  const auto coder = make_encoder(coding);
  while (!whole.empty()) {
    const auto part = whole.substr(0, kEncodeTurnBytes);
    whole.remove_prefix(part.size());
    coder->add(part, out);
    if (!whole.empty())
      co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable_t<Executor>());
  }
  coder->finish(out);
}

void Reply::State::account(std::uint64_t bytes) {
  if (!begun || ended) throw Error(Errc::internal, "reply_order", "a body was written outside begin and end");
  written += bytes;
  if (framing == Framing::length && written > announced) {
    broken = true;
    throw Error(Errc::internal, "reply_length", "more was written than announced");
  }
}

Task<> Reply::State::push(std::string_view direct, bool last, bool more) {
  if (head_only) {
    pending.clear();
    direct = {};
  }
  char size_line[24];
  std::string_view opening;
  std::string_view closing;
  const auto body_bytes = pending.size() + direct.size();
  if (framing == Framing::chunked && !head_only) {
    if (body_bytes > 0) {
      auto* end = std::to_chars(size_line, size_line + 20, body_bytes, 16).ptr;
      *end++ = '\r';
      *end++ = '\n';
      opening = {size_line, static_cast<std::size_t>(end - size_line)};
      closing = last ? "\r\n0\r\n\r\n" : "\r\n";
    } else if (last) {
      closing = "0\r\n\r\n";
    }
  }
  std::array<std::string_view, 5> pieces = {head_out, opening, pending, direct, closing};
  sent = true;
  if (!connection.send_now(pieces, more && !last)) throw ClientGone();
  for (const auto& piece : pieces) {
    if (piece.empty()) continue;
    if (!co_await connection.send(pieces, more && !last)) throw ClientGone();
    break;
  }
  head_out.clear();
  pending.clear();
}

Reply::~Reply() = default;

Fields& Reply::headers() { return state_.headers; }
bool Reply::begun() const { return state_.sent; }
void Reply::reset() {
  state_.take_back();
  state_.headers.clear();
}
Status Reply::status() const { return state_.status; }
void Reply::close_after() { state_.close = true; }

Task<> Reply::send(Status status) { return send(status, {}, {}); }

Task<> Reply::send(Status status, std::string_view content_type, std::string body) {
  auto& s = state_;
  s.take_back();
  if (has_no_body(status)) {
    s.make_head(status, {}, Framing::none, 0);
    co_await s.push({}, true, false);
    s.ended = true;
    co_return;
  }
  if (body.size() >= kCompressBytesMin) {
    const std::string type(content_type);  // may be a view into headers, which coding_for changes
    if (const auto coding = s.coding_for(status, type); coding != Encoding::identity) {
      std::string coded;
      co_await s.encode_whole(coding, body, coded);
      if (coded.size() < body.size()) {
        s.announce_coding(coding);
        body = std::move(coded);
      }
    }
    s.make_head(status, type, Framing::length, body.size());
  } else {
    s.make_head(status, content_type, Framing::length, body.size());
  }
  s.written = body.size();
  if (s.head_only) body.clear();
  if (body.size() <= kAppendBytes) {
    s.head_out += body;
    body.clear();
  }
  // Nearly always the socket takes it all, without another coroutine.
  std::array<std::string_view, 2> pieces = {s.head_out, body};
  s.sent = true;
  if (!s.connection.send_now(pieces, false)) throw ClientGone();
  if (!(pieces[0].empty() && pieces[1].empty()) && !co_await s.connection.send(pieces, false))
    throw ClientGone();
  s.head_out.clear();
  s.ended = true;
}

Task<> Reply::begin(Status status, std::string_view content_type, std::optional<std::uint64_t> length,
                    bool may_compress) {
  auto& s = state_;
  s.take_back();
  auto coding = Encoding::identity;
  const std::string type(content_type);
  if (!length && may_compress && !has_no_body(status)) coding = s.coding_for(status, type);
  if (coding != Encoding::identity) {
    s.announce_coding(coding);
    s.encoder = make_encoder(coding);
  }
  if (has_no_body(status))
    s.make_head(status, {}, Framing::none, 0);
  else if (length)
    s.make_head(status, type, Framing::length, *length);
  else
    s.make_head(status, type, s.request.head.minor == 0 ? Framing::until_close : Framing::chunked, 0);
  co_return;
}

Task<> Reply::write(ByteView bytes) {
  auto& s = state_;
  s.account(bytes.size());
  if (s.head_only || bytes.empty() || s.framing == Framing::none) co_return;
  if (s.encoder) {
    s.encoder->add(as_text(bytes), s.pending);
    if (s.pending.size() >= kCoalesceBytes) co_await s.push({}, false, false);
    co_return;
  }
  if (s.pending.size() + bytes.size() < kCoalesceBytes) {
    s.pending.append(as_text(bytes));
    co_return;
  }
  co_await s.push(as_text(bytes), false, false);
}

Task<> Reply::write_file(int fd, std::uint64_t offset, std::uint64_t length) {
  auto& s = state_;
  if (s.encoder) {
    std::string piece(std::min<std::uint64_t>(length, kEncodeTurnBytes), '\0');
    while (length > 0) {
      const auto n = ::pread(fd, piece.data(), std::min<std::uint64_t>(length, piece.size()),
                             static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        s.broken = true;
        throw Error(Errc::internal, "file_ended", "a file ended before its announced length");
      }
      co_await write(as_bytes(std::string_view(piece).substr(0, static_cast<std::size_t>(n))));
      offset += static_cast<std::uint64_t>(n);
      length -= static_cast<std::uint64_t>(n);
    }
    co_return;
  }
  s.account(length);
  if (s.head_only || length == 0 || s.framing == Framing::none) co_return;
  if (!s.pending.empty()) co_await s.push({}, false, true);
  if (s.framing == Framing::chunked) {
    char size_line[24];
    const auto end = std::to_chars(size_line, size_line + sizeof size_line, length, 16).ptr;
    s.head_out.append(size_line, static_cast<std::size_t>(end - size_line)).append("\r\n");
  }
  std::array pieces = {std::string_view(s.head_out)};
  s.sent = true;
  if (!co_await s.connection.send(pieces, true)) throw ClientGone();
  s.head_out.clear();
  const auto result = co_await s.connection.send_file(fd, offset, length);
  if (result == Connection::FileResult::gone) throw ClientGone();
  if (result == Connection::FileResult::ended_early) {
    s.broken = true;
    throw Error(Errc::internal, "file_ended", "a file ended before its announced length");
  }
  if (s.framing == Framing::chunked) s.head_out = "\r\n";
}

Task<> Reply::flush() {
  auto& s = state_;
  if (!s.begun || s.ended) throw Error(Errc::internal, "reply_order", "nothing is being written");
  if (s.encoder && !s.head_only) s.encoder->flush(s.pending);
  co_await s.push({}, false, false);
}

Task<> Reply::end() {
  auto& s = state_;
  if (!s.begun || s.ended) throw Error(Errc::internal, "reply_order", "nothing is being written");
  if (s.framing == Framing::length && s.written != s.announced && !(s.head_only && s.written == 0)) {
    s.broken = true;
    throw Error(Errc::internal, "reply_length", "less was written than announced");
  }
  if (s.encoder && !s.head_only) s.encoder->finish(s.pending);
  co_await s.push({}, true, false);
  s.ended = true;
}

}  // namespace welkin::http
