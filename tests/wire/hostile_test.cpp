// Whatever comes in is read or refused with an Error; nothing else may happen. The seeds are fixed, so a
// failure repeats.
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "welkin/core/error.hpp"
#include "welkin/wire/json.hpp"
#include "welkin/wire/multipart.hpp"

namespace welkin::wire {
namespace {

/// A few bytes changed, dropped, doubled or put in, mostly such as mean something.
std::string mutated(std::string text, std::mt19937& random, std::string_view meaningful) {
  for (auto n = 1 + random() % 6; n > 0 && !text.empty(); --n) {
    const auto at = random() % text.size();
    const char byte =
        random() % 3 == 0 ? static_cast<char>(random()) : meaningful[random() % meaningful.size()];
    switch (random() % 5) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.erase(at, 1 + random() % 8);
        break;
      case 3:
        text.insert(at, text.substr(random() % text.size(), random() % 40));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

TEST(Hostile, JsonIsReadOrRefused) {
  std::mt19937 random(1);
  const std::string seed =
      R"({"name":"a\u00e9\n","list":[1,-2.5e3,true,null,{"x":[[]]}],"é":"😀","n":18446744073709551615})";
  int read = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto text = mutated(seed, random, "{}[]\",:\\u0eE-+.\xEF\xBB\xBF");
    try {
      const auto value = parse_json(text);
      ++read;
      // What was accepted can be said again: it is UTF-8 through and through.
      EXPECT_EQ(parse_json(value.dump()).dump(), value.dump()) << text;
      if (!value.is_object()) continue;
      JsonObject object(value);
      try {
        object.string("name");
        object.strings("list");
        object.done();
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::unprocessable);
      }
    } catch (const Error& e) {
      ++refused;
      EXPECT_STREQ(e.slug(), "bad_json");
    }
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(refused, 500);
}

class Text final : public ByteSource {
 public:
  Text(std::string text, std::size_t step) : text_(std::move(text)), step_(step) {}
  Task<ByteView> read() override {
    const auto piece = std::string_view(text_).substr(at_, step_);
    at_ += piece.size();
    co_return as_bytes(piece);
  }

 private:
  std::string text_;
  std::size_t step_, at_ = 0;
};

/// Everything the reader gives, as one text.
Task<std::string> read_form(std::string text, std::size_t step) {
  Text source(std::move(text), step);
  MultipartReader form(source, "multipart/form-data; boundary=B");
  std::string out;
  while (const auto part = co_await form.next()) {
    out += part->name + '|' + part->filename.value_or("-") + '|' + part->content_type + '|';
    while (true) {
      const auto piece = co_await form.read();
      if (piece.empty()) break;
      out += as_text(piece);
    }
    out += '\n';
  }
  co_return out;
}

/// "error: <slug>" for a refusal.
std::string outcome(const std::string& text, std::size_t step) {
  boost::asio::io_context io;
  auto result = boost::asio::co_spawn(io, read_form(text, step), boost::asio::use_future);
  io.run();
  try {
    return result.get();
  } catch (const Error& e) {
    return std::string("error: ") + e.slug();
  }
}

TEST(Hostile, FormsAreReadOrRefusedTheSameInPiecesOfAnySize) {
  std::mt19937 random(2);
  const std::string seed =
      "--B\r\nContent-Disposition: form-data; name=\"folder_id\"\r\n\r\nabc\r\n--B\r\nContent-Disposition: "
      "form-data; "
      "name=\"file\"; filename=\"a\\\"b.txt\"; filename*=UTF-8''%e2%82%ac\r\nContent-Type: "
      "text/plain\r\n\r\nline\r\n--\r\n"
      "--X\r\n\r\n--B--\r\n";
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto text = mutated(seed, random, "\r\n-B;=\"%'*: \t\\");
    const auto whole = outcome(text, 1 << 20);
    ASSERT_EQ(outcome(text, 1 + i % 7), whole) << text;
    if (!whole.starts_with("error: ")) {
      ++read;
    } else {
      EXPECT_EQ(whole, "error: bad_multipart") << text;
    }
  }
  EXPECT_GT(read, 500);
  EXPECT_LT(read, 19'000);
}

}  // namespace
}  // namespace welkin::wire
