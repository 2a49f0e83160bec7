#include "http/encoding.hpp"

#include <gtest/gtest.h>

#include <random>

#include "http/inflate.hpp"

namespace welkin::http {
namespace {

TEST(AcceptEncoding, TheHighestWeightWins) {
  using enum Encoding;
  const std::pair<const char*, Encoding> cases[] = {
      {"", identity},
      {"gzip", gzip},
      {"zstd", zstd},
      {"gzip, deflate, br, zstd", zstd},
      {"gzip;q=1.0, zstd;q=0.5", gzip},
      {"gzip;q=0.5, zstd;q=0.501", zstd},
      {"gzip;q=0", identity},
      {"gzip;q=0, zstd;q=0", identity},
      {"x-gzip", gzip},
      {"GZIP", gzip},
      {"*", gzip},
      {"*;q=0", identity},
      {"gzip;q=0, *", identity},
      {"br, deflate", identity},
      {"gzip;q=2", identity},
      {"gzip;q=x", identity},
      {"gzip; q=0.8 , identity;q=1", gzip},
      {"gzip;q=0.0001", identity},
      {"gzipx", identity},
      {";;;,,,=", identity},
  };
  for (const auto& [value, expected] : cases) EXPECT_EQ(choose_encoding(value), expected) << value;
}

TEST(Compressible, TextLikeOnly) {
  for (const auto* type :
       {"text/html", "text/plain; charset=utf-8", "application/json", "application/xml", "text/xml",
        "image/svg+xml", "application/javascript", "application/manifest+json", "TEXT/CSS"})
    EXPECT_TRUE(is_compressible(type)) << type;
  for (const auto* type : {"image/png", "application/zip", "application/octet-stream", "application/pdf",
                           "video/mp4", "text/event-stream", "", "multipart/byteranges", "application/jsonx"})
    EXPECT_FALSE(is_compressible(type)) << type;
}

std::string decode(Encoding e, const std::string& coded, bool* whole) {
  return e == Encoding::gzip ? test::gunzip(coded, whole) : test::unzstd(coded, whole);
}

TEST(Encoder, WhatGoesInComesOut) {
  std::mt19937 random(3);
  for (const auto e : {Encoding::gzip, Encoding::zstd}) {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{70'000}, std::size_t{3'000'000}}) {
      std::string body(size, '\0');
      for (auto& c : body) c = static_cast<char>(random() % 20 < 15 ? 'a' + random() % 3 : random());
      std::string coded;
      const auto encoder = make_encoder(e);
      for (std::size_t at = 0; at < size; at += 10'000)
        encoder->add(std::string_view(body).substr(at, 10'000), coded);
      encoder->finish(coded);
      bool whole = false;
      EXPECT_EQ(decode(e, coded, &whole), body) << to_string(e) << size;
      EXPECT_TRUE(whole);
    }
  }
}

TEST(Encoder, FlushMakesEverythingSoFarReadable) {
  for (const auto e : {Encoding::gzip, Encoding::zstd}) {
    std::string coded;
    const auto encoder = make_encoder(e);
    encoder->add("the first page", coded);
    encoder->flush(coded);
    bool whole = true;
    EXPECT_EQ(decode(e, coded, &whole), "the first page");
    EXPECT_FALSE(whole);
    encoder->add(", the second", coded);
    encoder->finish(coded);
    EXPECT_EQ(decode(e, coded, &whole), "the first page, the second");
    EXPECT_TRUE(whole);
  }
}

TEST(Encoder, OneGivenUpHalfWayLeavesNothingToTheNext) {
  for (const auto e : {Encoding::gzip, Encoding::zstd}) {
    {
      std::string dropped;
      make_encoder(e)->add(std::string(100'000, 'z'), dropped);
    }
    std::string coded;
    const auto encoder = make_encoder(e);
    encoder->add("clean", coded);
    encoder->finish(coded);
    EXPECT_EQ(decode(e, coded, nullptr), "clean");
  }
}

}  // namespace
}  // namespace welkin::http
