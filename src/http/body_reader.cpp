#include "http/body_reader.hpp"

#include <algorithm>
#include <array>

#include "welkin/core/error.hpp"
#include "welkin/http/reply.hpp"

namespace welkin::http {
namespace {

constexpr std::size_t kPieceBytesMax = std::size_t{256} * 1024;
constexpr std::size_t kChunkedBufferBytes = std::size_t{64} * 1024;
constexpr std::chrono::seconds kDrainTime{2};

}  // namespace

void BodyReader::start(const Head& head, std::uint64_t bytes_max) {
  chunks_.reset();
  chunked_ = head.chunked;
  expect_ = head.expect_continue;
  finished_ = !head.has_body();
  lost_ = false;
  left_ = length_ = head.content_length.value_or(0);
  bytes_max_ = bytes_max;
  received_ = 0;
  given_ = 0;
}

Task<> BodyReader::ask_to_continue() {
  expect_ = false;
  if (!connection_.received().empty()) co_return;  // the client did not wait (RFC 9110 §10.1.1)
  std::array pieces = {std::string_view("HTTP/1.1 100 Continue\r\n\r\n")};
  if (!co_await connection_.send(pieces, false)) throw ClientGone();
}

Task<> BodyReader::receive(Wait wait) {
  connection_.reserve(chunked_ ? kChunkedBufferBytes
                               : static_cast<std::size_t>(std::min<std::uint64_t>(left_, kPieceBytesMax)));
  const auto n = co_await connection_.fill(wait, kPieceBytesMax);
  if (n > 0) co_return;
  lost_ = true;
  if (n < 0) throw ClientGone();
  throw Error(Errc::invalid, "truncated_body", "the request body ended before its announced end");
}

void BodyReader::count(std::uint64_t bytes) {
  received_ += bytes;
  if (bytes_max_ != 0 && received_ > bytes_max_)
    throw Error(Errc::too_large, "body_too_large", "the request body is too large");
}

Task<ByteView> BodyReader::read() {
  connection_.consume(given_);
  given_ = 0;
  if (finished_) co_return ByteView{};
  if (lost_) throw ClientGone();
  if (bytes_max_ != 0 && length_ > bytes_max_)
    throw Error(Errc::too_large, "body_too_large", "the request body is too large");
  if (expect_) co_await ask_to_continue();
  for (;;) {
    if (connection_.received().empty()) co_await receive(Wait::body);
    if (!chunked_) {
      const auto piece = connection_.received().substr(0, std::min<std::uint64_t>(left_, kPieceBytesMax));
      left_ -= piece.size();
      finished_ = left_ == 0;
      given_ = piece.size();
      count(piece.size());
      co_return as_bytes(piece);
    }
    const auto coded = connection_.received_bytes();
    const auto result = chunks_.decode(coded);
    if (chunks_.error()) {
      lost_ = true;
      throw Error(Errc::invalid, "bad_chunk", chunks_.error());
    }
    finished_ = chunks_.finished();
    if (result.produced > 0 || finished_) {
      given_ = result.consumed;
      count(result.produced);
      co_return as_bytes({coded.data(), result.produced});
    }
    connection_.consume(result.consumed);
  }
}

bool BodyReader::can_drain() const {
  return finished_ || (!lost_ && !expect_ && (chunked_ || left_ <= kDrainBytesMax));
}

Task<bool> BodyReader::drain() {
  connection_.consume(given_);
  given_ = 0;
  if (finished_) co_return true;
  if (!can_drain()) co_return false;
  connection_.set_deadline(std::chrono::steady_clock::now() + kDrainTime);
  std::uint64_t dropped = 0;
  while (!finished_ && dropped <= kDrainBytesMax) {
    if (connection_.received().empty() && co_await connection_.fill(Wait::linger, kPieceBytesMax) <= 0) break;
    if (chunked_) {
      const auto result = chunks_.decode(connection_.received_bytes());
      if (chunks_.error()) break;
      connection_.consume(result.consumed);
      dropped += result.consumed;
      finished_ = chunks_.finished();
    } else {
      const auto n = std::min<std::uint64_t>(left_, connection_.received().size());
      connection_.consume(n);
      dropped += n;
      left_ -= n;
      finished_ = left_ == 0;
    }
  }
  if (!finished_) lost_ = true;
  co_return finished_;
}

}  // namespace welkin::http
