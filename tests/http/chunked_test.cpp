#include "http/chunked.hpp"

#include <gtest/gtest.h>

#include <string>

namespace welkin::http {
namespace {

struct Decoded {
  std::string payload;
  std::string rest;
  bool finished = false;
  bool failed = false;
};

/// Feeds `coded` in pieces of `step` bytes.
Decoded decode(const std::string& coded, std::size_t step) {
  ChunkDecoder decoder;
  Decoded out;
  for (std::size_t at = 0; at < coded.size(); at += step) {
    std::string piece = coded.substr(at, step);
    const auto result = decoder.decode(piece);
    out.payload.append(piece, 0, result.produced);
    if (decoder.error()) {
      out.failed = true;
      return out;
    }
    if (decoder.finished()) {
      out.finished = true;
      out.rest = coded.substr(at + result.consumed);
      return out;
    }
    EXPECT_EQ(result.consumed, piece.size());
  }
  return out;
}

TEST(Chunked, DecodesInAnyPieces) {
  const std::string coded =
      "5\r\nhello\r\n1;name=\"va;lue\"\r\n,\r\n0006\r\n world\r\n0;last\r\nX-Trailer: 1\r\nY:\r\n\r\nGET / "
      "HTTP/1.1";
  for (std::size_t step = 1; step <= coded.size(); ++step) {
    const auto out = decode(coded, step);
    ASSERT_TRUE(out.finished) << step;
    EXPECT_EQ(out.payload, "hello, world") << step;
    EXPECT_EQ(out.rest, "GET / HTTP/1.1") << step;
  }
}

TEST(Chunked, EmptyBody) {
  EXPECT_TRUE(decode("0\r\n\r\n", 1).finished);
  EXPECT_TRUE(decode("00\r\n\r\n", 100).finished);
  EXPECT_EQ(decode("0\r\n\r\n", 1).payload, "");
}

TEST(Chunked, UnfinishedIsNeitherFinishedNorFailed) {
  const std::string coded = "5\r\nhello\r\n0\r\n\r\n";
  for (std::size_t n = 0; n < coded.size(); ++n) {
    const auto out = decode(coded.substr(0, n), 3);
    EXPECT_FALSE(out.finished) << n;
    EXPECT_FALSE(out.failed) << n;
  }
}

TEST(Chunked, RefusesWhatIsNotChunked) {
  const std::string long_extension(kChunkExtensionBytesMax + 1, 'x');
  std::string many_extensions;
  for (int i = 0; i < 20; ++i) many_extensions += "1;" + std::string(1000, 'x') + "\r\na\r\n";
  std::string many_trailers = "0\r\n";
  for (std::size_t i = 0; i <= kTrailersMax; ++i) many_trailers += "X: y\r\n";
  const std::string bad[] = {
      "\r\n",
      "g\r\n",
      " 5\r\nhello\r\n",
      "5 \r\nhello\r\n",
      "+5\r\nhello\r\n",
      "-1\r\n",
      "0x5\r\nhello\r\n",
      "5\nhello\r\n",
      "5\rhello\r\n",
      "5\r\nhello!\r\n",
      "5\r\nhello\n",
      "5\r\nhello\r\r\n",
      "5;a\nhello\r\n",
      std::string("5;a\0b\r\nhello\r\n", 14),
      "10000000000000000\r\n",
      "8000000000000000\r\n",
      "00000000000000005\r\nhello\r\n",
      "5;" + long_extension + "\r\nhello\r\n",
      many_extensions,
      "0\r\nbad trailer\r\n\r\n",
      "0\r\n folded: x\r\n\r\n",
      "0\r\nX : y\r\n\r\n",
      "0\r\nX: y\n\r\n",
      "0\r\nX: \x01\r\n\r\n",
      "0\r\nX: " + std::string(kTrailerBytesMax, 'y') + "\r\n\r\n",
      many_trailers + "\r\n",
      "0\r\nX\r: y\r\n\r\n",
  };
  for (const auto& coded : bad)
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, coded.size()})
      EXPECT_TRUE(decode(coded, step).failed) << coded.substr(0, 40) << " by " << step;
}

}  // namespace
}  // namespace welkin::http
