#include "http/web_socket_frames.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace welkin::http {
namespace {

/// As a client sends it (RFC 6455 §5.2).
std::string masked(unsigned first, std::string_view payload, std::string_view mask = "\x37\xfa\x21\x3d") {
  std::string out(1, static_cast<char>(first));
  if (payload.size() < 126) {
    out += static_cast<char>(0x80 | payload.size());
  } else {
    out += static_cast<char>(0x80 | 126);
    out += static_cast<char>(payload.size() >> 8);
    out += static_cast<char>(payload.size());
  }
  out += mask;
  for (std::size_t i = 0; i < payload.size(); ++i) out += static_cast<char>(payload[i] ^ mask[i % 4]);
  return out;
}

struct Outcome {
  std::vector<WebSocketFrame> frames;
  std::uint16_t error = 0;
  std::size_t unread = 0;
};

Outcome read_all(std::string_view bytes, std::size_t piece, std::size_t message_bytes_max = 1000) {
  FrameReader reader(message_bytes_max);
  Outcome out;
  while (!bytes.empty() && reader.error() == 0) {
    auto part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    while (auto frame = reader.read(part)) out.frames.push_back(std::move(*frame));
    out.unread = part.size() + bytes.size();
  }
  out.error = reader.error();
  return out;
}

TEST(WebSocketFrames, TheExampleOfTheRfc) {
  const auto out = read_all("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 1);
  ASSERT_EQ(out.frames.size(), 1u);
  EXPECT_EQ(out.frames[0].payload, "Hello");
  EXPECT_EQ(out.frames[0].opcode, Opcode::text);
  EXPECT_EQ(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocketFrames, ComeOutTheSameInWhateverPiecesTheyArrive) {
  const std::string bytes = masked(0x01, "one ") + masked(0x89, "are you there") + masked(0x00, "two ") +
                            masked(0x80, "three") + masked(0x82, std::string(300, 'x')) +
                            masked(0x88, "\x03\xe8");
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const auto out = read_all(bytes, piece);
    ASSERT_EQ(out.frames.size(), 4u) << piece;
    EXPECT_EQ(out.frames[0].opcode, Opcode::ping);
    EXPECT_EQ(out.frames[0].payload, "are you there");
    EXPECT_EQ(out.frames[1].payload, "one two three");
    EXPECT_EQ(out.frames[2].opcode, Opcode::binary);
    EXPECT_EQ(out.frames[2].payload, std::string(300, 'x'));
    EXPECT_EQ(out.frames[3].opcode, Opcode::close);
    EXPECT_EQ(out.error, 0);
  }
}

TEST(WebSocketFrames, WhatBreaksTheRulesEndsTheReading) {
  const std::string good = masked(0x81, "x");
  const struct {
    const char* what;
    std::string bytes;
    std::uint16_t code;
  } cases[] = {
      {"not masked", std::string("\x81\x01x", 3), close_codes::kProtocolError},
      {"a reserved bit", masked(0xc1, "x"), close_codes::kProtocolError},
      {"an unknown opcode", masked(0x83, "x"), close_codes::kProtocolError},
      {"an unknown control opcode", masked(0x8b, "x"), close_codes::kProtocolError},
      {"a continuation of nothing", masked(0x80, "x"), close_codes::kProtocolError},
      {"a message inside of another", masked(0x01, "x") + masked(0x81, "y"), close_codes::kProtocolError},
      {"a ping in pieces", masked(0x09, "x"), close_codes::kProtocolError},
      {"a long ping", masked(0x89, std::string(126, 'x')), close_codes::kProtocolError},
      {"a length that is longer than need be", std::string("\x81\xfe\x00\x01", 4) + "abcdx",
       close_codes::kProtocolError},
      {"no UTF-8", masked(0x81, "\xff"), close_codes::kBadData},
      {"UTF-8 broken over frames", masked(0x01, "\xc3") + masked(0x80, "x"), close_codes::kBadData},
      {"too long", masked(0x82, std::string(1001, 'x')), close_codes::kTooBig},
      {"too long in pieces", masked(0x02, std::string(600, 'x')) + masked(0x80, std::string(600, 'x')),
       close_codes::kTooBig},
      {"the longest length there is", std::string("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10) + "abcd",
       close_codes::kTooBig},
      {"half a close code", masked(0x88, "\x03"), close_codes::kProtocolError},
      {"a close code nobody may send", masked(0x88, "\x03\xed"), close_codes::kProtocolError},
      {"a close reason that is no UTF-8", masked(0x88, "\x03\xe8\xff"), close_codes::kProtocolError},
  };
  for (const auto& c : cases) {
    for (const std::size_t piece : {std::size_t{1}, c.bytes.size() + good.size()}) {
      const auto out = read_all(c.bytes + good, piece);
      EXPECT_EQ(out.error, c.code) << c.what;
      EXPECT_TRUE(out.frames.empty()) << c.what;
    }
  }
}

TEST(WebSocketFrames, UtfEightMayBeCutBetweenFrames) {
  const auto out = read_all(masked(0x01, "\xc3") + masked(0x80, "\xa9"), 1);
  ASSERT_EQ(out.frames.size(), 1u);
  EXPECT_EQ(out.frames[0].payload, "\xc3\xa9");
}

TEST(WebSocketFrames, AreWrittenWithTheShortestLength) {
  for (const std::size_t length : {0UL, 125UL, 126UL, 65535UL, 65536UL}) {
    std::string out;
    append_frame(out, Opcode::text, std::string(length, 'x'));
    const std::size_t head = length < 126 ? 2 : length < 65536 ? 4 : 10;
    ASSERT_EQ(out.size(), length + head);
    EXPECT_EQ(static_cast<unsigned char>(out[0]), 0x81);
    EXPECT_EQ(static_cast<unsigned char>(out[1]), length < 126 ? length : length < 65536 ? 126 : 127);
  }
  std::string close;
  append_close(close, close_codes::kGoingAway, "bye");
  EXPECT_EQ(close, std::string("\x88\x05\x03\xe9") + "bye");
}

TEST(WebSocketFrames, KeysAreSixteenBytes) {
  EXPECT_TRUE(is_web_socket_key("dGhlIHNhbXBsZSBub25jZQ=="));
  for (const char* key : {"", "dGhl", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZTEyMw==", "!!!"})
    EXPECT_FALSE(is_web_socket_key(key)) << key;
}

}  // namespace
}  // namespace welkin::http
