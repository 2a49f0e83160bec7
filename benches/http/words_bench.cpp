// What every request pays before and after its handler, without a socket.
//   head:  HeadParser (which reads strictly, and lets Beast read again) against Beast alone
//   reply: our head writer against Beast's message and serializer
//   range: parsing of Range
#include <benchmark/benchmark.h>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "http/head.hpp"
#include "http/reply_head.hpp"
#include "http/request_id.hpp"
#include "welkin/http/range.hpp"

namespace welkin::http {
namespace {

namespace beast = boost::beast;

const std::string kSmall = "GET /hello HTTP/1.1\r\nHost: 127.0.0.1:8086\r\n\r\n";
const std::string kBrowser =
    "GET /api/folders/0190a2b4-7c1d-4e5f-8a9b-0c1d2e3f4a5b/contents?limit=100&order_by=name HTTP/1.1\r\n"
    "Host: cloud.example.org\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n"
    "Accept: application/json\r\nAccept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, "
    "zstd\r\n"
    "Referer: https://cloud.example.org/\r\nX-CSRF-Token: 5f2b8c1e9d7a4b3c\r\nConnection: keep-alive\r\n"
    "Cookie: welkin_access=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFy; welkin_csrf=5f2b8c1e9d7a4b3c\r\n"
    "Sec-Fetch-Dest: empty\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Site: same-origin\r\nIf-None-Match: "
    "\"abc-17\"\r\n\r\n";

void head_before(benchmark::State& state, const std::string& bytes) {
  for (auto _ : state) {
    beast::http::request_parser<beast::http::empty_body> parser;
    beast::error_code error;
    parser.put(boost::asio::buffer(bytes), error);
    benchmark::DoNotOptimize(parser.is_header_done());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
}

void head_after(benchmark::State& state, const std::string& bytes) {
  HeadParser parser;
  for (auto _ : state) {
    parser.reset();
    benchmark::DoNotOptimize(parser.parse(bytes));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
}

void BM_HeadSmallBefore(benchmark::State& state) { head_before(state, kSmall); }
void BM_HeadSmallAfter(benchmark::State& state) { head_after(state, kSmall); }
void BM_HeadBrowserBefore(benchmark::State& state) { head_before(state, kBrowser); }
void BM_HeadBrowserAfter(benchmark::State& state) { head_after(state, kBrowser); }
BENCHMARK(BM_HeadSmallBefore);
BENCHMARK(BM_HeadSmallAfter);
BENCHMARK(BM_HeadBrowserBefore);
BENCHMARK(BM_HeadBrowserAfter);

constexpr auto kDate = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr auto kId = "0190a2b4-7c1d-7e5f-8a9b-0c1d2e3f4a5b";
constexpr std::pair<const char*, const char*> kFields[] = {
    {"Content-Type", "application/json"},
    {"Content-Length", "1234"},
    {"Date", kDate},
    {"X-Request-Id", kId},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Content-Security-Policy",
     "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
    {"Cache-Control", "private, no-store"},
};

std::string reply_before() {
  beast::http::response<beast::http::string_body> reply{beast::http::status::ok, 11};
  for (const auto& [name, value] : kFields) reply.insert(name, value);
  beast::http::response_serializer<beast::http::string_body> serializer{reply};
  serializer.split(true);
  std::string out;
  beast::error_code error;
  while (!serializer.is_header_done()) {
    serializer.next(error, [&](beast::error_code&, const auto& buffers) {
      for (auto at = boost::asio::buffer_sequence_begin(buffers);
           at != boost::asio::buffer_sequence_end(buffers); ++at)
        out.append(static_cast<const char*>((*at).data()), (*at).size());
      serializer.consume(beast::buffer_bytes(buffers));
    });
  }
  return out;
}

void reply_after(std::string& out) {
  static const Fields kNone;
  ReplyHead head;
  head.fields = &kNone;
  head.content_type = "application/json";
  head.framing = Framing::length;
  head.length = 1234;
  head.date = kDate;
  head.request_id = kId;
  write_head(out, head);
}

void BM_ReplyHeadBefore(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(reply_before());
}
void BM_ReplyHeadAfter(benchmark::State& state) {
  std::string out;
  for (auto _ : state) {
    out.clear();
    reply_after(out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(BM_ReplyHeadBefore);
BENCHMARK(BM_ReplyHeadAfter);

void BM_RangeSingle(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parse_range("bytes=1048576-2097151", 1ull << 30));
}
void BM_RangeFlood(benchmark::State& state) {
  std::string value = "bytes=0-0";
  while (value.size() < 30'000) value += ",1-1";
  for (auto _ : state) benchmark::DoNotOptimize(parse_range(value, 1ull << 30));
}
BENCHMARK(BM_RangeSingle);
BENCHMARK(BM_RangeFlood);

void BM_RequestId(benchmark::State& state) {
  std::string id;
  for (auto _ : state) {
    make_request_id(id);
    benchmark::DoNotOptimize(id.data());
  }
}
BENCHMARK(BM_RequestId);

/// Both arms must do the same work, or their times mean nothing.
void check_equivalence() {
  for (const auto* bytes : {&kSmall, &kBrowser}) {
    HeadParser ours;
    ours.reset();
    beast::http::request_parser<beast::http::empty_body> theirs;
    beast::error_code error;
    theirs.put(boost::asio::buffer(*bytes), error);
    bool same = ours.parse(*bytes) == HeadParser::Step::complete && !error;
    for (const auto& field : ours.head.fields) same &= theirs.get()[field.name] == field.value;
    if (!same) {
      std::fprintf(stderr, "the two head parsers differ\n");
      std::exit(1);
    }
  }
  std::string out;
  reply_after(out);
  if (out != reply_before()) {
    std::fprintf(stderr, "the two writers differ:\n%s\n%s\n", out.c_str(), reply_before().c_str());
    std::exit(1);
  }
}

}  // namespace
}  // namespace welkin::http

int main(int argc, char** argv) {
  welkin::http::check_equivalence();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
