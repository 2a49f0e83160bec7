#include "welkin/wire/multipart.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <random>
#include <vector>

#include "welkin/core/error.hpp"

namespace welkin::wire {
namespace {

template <class T>
T run(Task<T> task) {
  boost::asio::io_context io;
  auto result = boost::asio::co_spawn(io, std::move(task), boost::asio::use_future);
  io.run();
  return result.get();
}

/// Gives a text in pieces of `step` bytes, each in memory of its own, so that a view kept too long is found
/// by ASan.
class Pieces final : public ByteSource {
 public:
  Pieces(std::string text, std::size_t step) : text_(std::move(text)), step_(step) {}
  Task<ByteView> read() override {
    piece_ = std::make_unique<std::string>(text_.substr(at_, step_));
    at_ += piece_->size();
    co_return as_bytes(*piece_);
  }

 private:
  std::string text_;
  std::size_t step_, at_ = 0;
  std::unique_ptr<std::string> piece_;
};

struct Seen {
  FormPart part;
  std::string body;
};

Task<std::vector<Seen>> read_all(ByteSource& source, std::string content_type) {
  MultipartReader form(source, content_type);
  std::vector<Seen> seen;
  while (auto part = co_await form.next()) {
    Seen one{std::move(*part), {}};
    while (true) {
      const auto piece = co_await form.read();
      if (piece.empty()) break;
      one.body += as_text(piece);
    }
    seen.push_back(std::move(one));
  }
  EXPECT_FALSE((co_await form.next()).has_value());
  co_return seen;
}

const std::string kType = "multipart/form-data; boundary=BOUND";

std::vector<Seen> parse(const std::string& body, std::size_t step = 1 << 20,
                        const std::string& type = kType) {
  Pieces source(body, step);
  return run(read_all(source, type));
}

/// "" when all is well, else the slug.
std::string slug(const std::string& body, std::size_t step = 1 << 20, const std::string& type = kType) {
  try {
    parse(body, step, type);
    return "";
  } catch (const Error& e) {
    return e.slug();
  }
}

std::string part(const std::string& disposition, const std::string& body) {
  return "--BOUND\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + body + "\r\n";
}
const std::string kEnd = "--BOUND--\r\n";

std::string filename_of(const std::string& parameters) {
  return parse(part("name=\"file\"; " + parameters, "") + kEnd).at(0).part.filename.value();
}

TEST(Multipart, ReadsPartsInPiecesOfAnySize) {
  const std::string binary = std::string("\r\n--BOUN\r\n-\r\r\n--BOUNx\0\xff\r", 24) + "\n--\r\n";
  const std::string body =
      "preamble\r\n" + part("name=\"folder_id\"", "abc") +
      "--BOUND  \t\r\ncontent-TYPE: image/png\r\nX-Other: y\r\nContent-Disposition: form-data; "
      "name=file; filename=\"a b.png\"\r\n\r\n" +
      binary + "\r\n" + part("name=\"empty\"", "") + "--BOUND--\r\nepilogue";
  for (const std::size_t step : {1u, 2u, 3u, 7u, 16u, 61u, 1u << 20}) {
    const auto seen = parse(body, step);
    ASSERT_EQ(seen.size(), 3u) << step;
    EXPECT_EQ(seen[0].part.name, "folder_id");
    EXPECT_FALSE(seen[0].part.filename);
    EXPECT_EQ(seen[0].body, "abc");
    EXPECT_EQ(seen[1].part.name, "file");
    EXPECT_EQ(seen[1].part.filename, "a b.png");
    EXPECT_EQ(seen[1].part.content_type, "image/png");
    EXPECT_EQ(seen[1].body, binary) << step;
    EXPECT_EQ(seen[2].body, "");
  }
}

TEST(Multipart, KeepsRandomBodiesThatLookLikeBoundaries) {
  std::mt19937 random(11);
  const std::vector<std::string> atoms = {"\r",     "\n",         "-",       "B",    "\r\n",
                                          "\r\n--", "\r\n--BOUN", "--BOUND", "OUND", "x"};
  for (int i = 0; i < 500; ++i) {
    std::string data;
    for (auto n = random() % 50; n > 0; --n) data += atoms[random() % atoms.size()];
    if (data.find("\r\n--BOUND") != std::string::npos || data.starts_with("--BOUND")) continue;
    const auto seen = parse(part("name=a", data) + kEnd, 1 + random() % 20);
    ASSERT_EQ(seen.size(), 1u);
    ASSERT_EQ(seen[0].body, data);
  }
}

TEST(Multipart, SkipsWhatIsNotRead) {
  Pieces source(part("name=a", std::string(100'000, 'x')) + part("name=b", "y") + kEnd, 1000);
  const auto name = run([](ByteSource& from) -> Task<std::string> {
    MultipartReader form(from, kType);
    co_await form.next();
    co_await form.read();
    co_return (co_await form.next())->name;
  }(source));
  EXPECT_EQ(name, "b");
}

TEST(Multipart, AnEmptyFormHasNoParts) { EXPECT_TRUE(parse(kEnd).empty()); }

TEST(Multipart, RefusesWhatEndsEarly) {
  const std::string whole = "pre\r\n" + part("name=a; filename=b", "data") + "--BOUND--";
  ASSERT_EQ(slug(whole), "");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(slug(whole.substr(0, n)), "bad_multipart") << n;
    EXPECT_EQ(slug(whole.substr(0, n), 1), "bad_multipart") << n;
  }
}

TEST(Multipart, RefusesBrokenHeads) {
  const auto head = [](const std::string& lines) {
    return slug("--BOUND\r\n" + lines + "\r\n\r\nx\r\n" + kEnd);
  };
  EXPECT_EQ(head("Content-Disposition: form-data; name=a"), "");
  EXPECT_EQ(head("Content-Disposition: form-data; name=a;"), "");
  for (const char* lines :
       {"Content-Type: text/plain", "Content-Disposition: attachment; name=a",
        "Content-Disposition form-data", ": form-data", "Content Disposition: form-data",
        "Content-Disposition: form-data; name=\"a", "Content-Disposition: form-data; name=\"a\"x",
        "Content-Disposition: form-data; name", "Content-Disposition: form-data; =a",
        "Content-Disposition: form-data; name=a; name=b", "Content-Disposition: form-data; name=a; NAME=b",
        "Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b",
        "Content-Disposition: form-data; name=a\r\nContent-Type: a/b\r\nContent-Type: a/b",
        "Content-Disposition: form-data; name=a\r\n folded: yes",
        "Content-Disposition: form-data; name=a\nX: y",
        "Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64",
        "Content-Disposition: form-data; name=\"\xff\"",
        "Content-Disposition: form-data; name=a; filename=\"\xff\""}) {
    EXPECT_EQ(head(lines), "bad_multipart") << lines;
  }
  EXPECT_EQ(slug("--BOUND\r\n\r\nno head\r\n" + kEnd), "bad_multipart");
  EXPECT_EQ(slug("--BOUNDx\r\n"), "bad_multipart");
  EXPECT_EQ(slug("--BOUND-\r\n"), "bad_multipart");
  EXPECT_EQ(slug("--BOUND\nContent-Disposition: form-data; name=a\n\nx\n--BOUND--\n"), "bad_multipart");
}

TEST(Multipart, KeepsItsLimits) {
  const std::string long_line = "X: " + std::string(MultipartReader::kHeadBytesMax, 'y');
  EXPECT_EQ(slug("--BOUND\r\n" + long_line + "\r\n\r\n\r\n" + kEnd), "bad_multipart");
  EXPECT_EQ(slug(std::string(MultipartReader::kOutsideBytesMax + 1, 'p') + "\r\n" + kEnd), "bad_multipart");
  EXPECT_EQ(slug(kEnd + std::string(MultipartReader::kOutsideBytesMax + 1, 'e')), "bad_multipart");
  EXPECT_EQ(slug("--BOUND" + std::string(100'000, ' ') + "\r\n"), "bad_multipart");
  std::string many;
  for (std::size_t i = 0; i < MultipartReader::kPartsMax; ++i) many += part("name=a", "");
  EXPECT_EQ(slug(many + kEnd), "");
  EXPECT_EQ(slug(many + part("name=a", "") + kEnd), "bad_multipart");

  Pieces source(part("name=a", std::string(65, 'x')) + kEnd, 10);
  try {
    run([](ByteSource& from) -> Task<std::string> {
      MultipartReader form(from, kType);
      co_await form.next();
      co_return co_await form.text(64);
    }(source));
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.slug(), "field_too_large");
    EXPECT_EQ(e.code(), Errc::too_large);
  }
}

TEST(Multipart, DecodesFileNames) {
  EXPECT_EQ(filename_of("filename=\"a.txt\""), "a.txt");
  EXPECT_EQ(filename_of("filename=a.txt"), "a.txt");
  EXPECT_EQ(filename_of("filename=\"\""), "");
  EXPECT_EQ(filename_of("filename=\"é漢😀.txt\""), "é漢😀.txt");
  EXPECT_EQ(filename_of("filename=\"a;b=c.txt\""), "a;b=c.txt");
  EXPECT_EQ(filename_of("filename=\"5\\\" nail.txt\""), "5\" nail.txt");
  EXPECT_EQ(filename_of("filename=\"5%22 nail.txt\""), "5\" nail.txt");
  EXPECT_EQ(filename_of("filename=\"100%25.txt\""), "100%25.txt");
  EXPECT_EQ(filename_of("filename=\"x\"; filename*=UTF-8''%e2%82%ac%20rates.txt"), "€ rates.txt");
  EXPECT_EQ(filename_of("filename*=utf-8'en'a%2Bb; filename=x"), "a+b");
  EXPECT_EQ(filename_of("filename*=iso-8859-1''caf%E9"), "café");
  EXPECT_EQ(filename_of("filename=\"C:\\dir\\sub\\a.txt\""), "a.txt");
  EXPECT_EQ(filename_of("filename=\"../../etc/passwd\""), "passwd");
  EXPECT_EQ(filename_of("filename*=UTF-8''..%2F..%5Cx"), "x");
  EXPECT_EQ(filename_of("filename=\"a/\""), "");
  for (const char* bad : {"filename*=a", "filename*=UTF-8'a", "filename*=UTF-8''%zz", "filename*=UTF-8''%ff",
                          "filename*=koi8-r''a", "filename*=''a"}) {
    EXPECT_EQ(slug(part(std::string("name=f; ") + bad, "") + kEnd), "bad_multipart") << bad;
  }
}

TEST(Multipart, ReadsTheBoundary) {
  const auto with = [](const std::string& type, const std::string& boundary) {
    return slug(
        "--" + boundary + "\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--" + boundary + "--", 5,
        type);
  };
  EXPECT_EQ(with("Multipart/Form-Data;boundary=\"a b:c\"; charset=utf-8", "a b:c"), "");
  EXPECT_EQ(with("multipart/form-data; charset=utf-8; Boundary=x", "x"), "");
  EXPECT_EQ(with("multipart/form-data; boundary=" + std::string(70, 'b'), std::string(70, 'b')), "");
  EXPECT_EQ(with("multipart/form-data; boundary=" + std::string(71, 'b'), std::string(71, 'b')),
            "bad_multipart");
  EXPECT_EQ(with("multipart/form-data", "x"), "bad_multipart");
  EXPECT_EQ(with("multipart/form-data; boundary=", "x"), "bad_multipart");
  EXPECT_EQ(with("multipart/form-data; boundary=\"x \"", "x "), "bad_multipart");
  EXPECT_EQ(with("multipart/form-data; boundary=\"x@\"", "x@"), "bad_multipart");
  for (const char* type :
       {"", "text/plain", "multipart/mixed; boundary=x", "multipart/form-datax; boundary=x"}) {
    EXPECT_EQ(with(type, "x"), "not_multipart") << type;
  }
}

}  // namespace
}  // namespace welkin::wire
