#include "welkin/http/router.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <stdexcept>

#include "http/path.hpp"
#include "http/reply_state.hpp"
#include "http/request_state.hpp"
#include "http/settings.hpp"
#include "welkin/core/error.hpp"

namespace welkin::http {
namespace {

/// A stream whose client has heard enough: what is sent is kept.
class Sink final : public Stream {
 public:
  std::string sent;
  Task<bool> handshake() override { co_return true; }
  Task<std::ptrdiff_t> read_some(std::span<char>) override { co_return 0; }
  std::ptrdiff_t write_now(std::span<const std::string_view> pieces, bool) override {
    std::size_t n = 0;
    for (const auto p : pieces) {
      sent += p;
      n += p.size();
    }
    return static_cast<std::ptrdiff_t>(n);
  }
  Task<std::ptrdiff_t> write_some(std::string_view) override { co_return -1; }
  std::ptrdiff_t send_file(int, std::uint64_t, std::size_t) override { return -1; }
  Task<> finish_sending() override { co_return; }
  void cancel() override {}
  void close() noexcept override {}
  int native_handle() override { return -1; }
};

class RouterTest : public ::testing::Test {
 protected:
  /// Runs one request. @return what the handler left in `said`, or the status of what was answered or thrown
  std::string ask(std::string_view method, std::string_view path) {
    const Settings settings;
    auto sink = std::make_unique<Sink>();
    auto& sent = sink->sent;
    Connection connection(std::move(sink), settings);
    BodyReader body(connection);
    LoopState loop;
    Request::State request(settings, &body);
    Reply::State reply(connection, loop, request, body);
    request.head.method_token = method;
    request.head.method = method_from(method);
    request.head.target = path;
    request.raw_path = request.head.target;
    if (path != "*") {
      EXPECT_EQ(decode_path(path, request.segments, request.trailing_slash), nullptr);
    }
    reply.start(method == "HEAD");
    body.start(request.head, 0);
    said.clear();
    std::string thrown;
    boost::asio::io_context io(1);
    boost::asio::co_spawn(
        io,
        [&]() -> Task<> {
          Request rq(request);
          Reply rp(reply);
          try {
            co_await router.dispatch(rq, rp);
          } catch (const Error& e) {
            thrown = "throws " + std::to_string(static_cast<int>(status_of(e.code())));
          }
        },
        [](const std::exception_ptr& e) {
          if (e) std::rethrow_exception(e);
        });
    io.run();
    answer = sent;
    if (!thrown.empty()) return thrown;
    if (!said.empty()) return said;
    return sent.substr(9, 3);
  }

  void on(Method method, const std::string& pattern, std::vector<Middleware> around = {}) {
    router.scope(std::move(around))
        .on({method, pattern, "test." + pattern + std::string(to_string(method)), Access::open, "-", "-"},
            [this, pattern](Request& rq, Reply& rp) -> Task<> {
              said += pattern;
              for (const auto* name : {"id", "name"}) {
                try {
                  said += " " + std::string(name) + "=" + rq.param(name);
                } catch (const std::logic_error&) {
                }
              }
              if (!rq.rest().empty() && pattern.find("{*") != pattern.npos) {
                said += " rest=";
                for (const auto& s : rq.rest()) said += "[" + s + "]";
              }
              co_await rp.send(Status::no_content);
            });
  }

  Router router;
  std::string said;
  std::string answer;
};

TEST_F(RouterTest, LiteralsWinOverParametersOverTheRest) {
  on(Method::get, "/files/{id}");
  on(Method::get, "/files/new");
  on(Method::get, "/files/{id}/content");
  on(Method::get, "/{*path}");
  on(Method::get, "/");
  EXPECT_EQ(ask("GET", "/files/7"), "/files/{id} id=7");
  EXPECT_EQ(ask("GET", "/files/new"), "/files/new");
  EXPECT_EQ(ask("GET", "/files/7/content"), "/files/{id}/content id=7");
  EXPECT_EQ(ask("GET", "/files/new/content"), "/files/{id}/content id=new") << "a literal that leads nowhere";
  EXPECT_EQ(ask("GET", "/files"), "/{*path} rest=[files]");
  EXPECT_EQ(ask("GET", "/files/7/other"), "/{*path} rest=[files][7][other]");
  EXPECT_EQ(ask("GET", "/"), "/");
  EXPECT_EQ(ask("GET", "/files/a%2e%20b/"), "/files/{id} id=a. b") << "a trailing slash does not matter";
}

TEST_F(RouterTest, TheRestMayBeEmpty) {
  on(Method::propfind, "/webdav/{*path}");
  EXPECT_EQ(ask("PROPFIND", "/webdav"), "/webdav/{*path}");
  EXPECT_EQ(ask("PROPFIND", "/webdav/"), "/webdav/{*path}");
  EXPECT_EQ(ask("PROPFIND", "/webdav/a/b"), "/webdav/{*path} rest=[a][b]");
  EXPECT_EQ(ask("PROPFIND", "/webdavx"), "throws 404");
}

TEST_F(RouterTest, NamesOfParametersBelongToTheRoute) {
  on(Method::get, "/a/{id}");
  on(Method::put, "/a/{name}");
  EXPECT_EQ(ask("GET", "/a/1"), "/a/{id} id=1");
  EXPECT_EQ(ask("PUT", "/a/1"), "/a/{name} name=1");
}

TEST_F(RouterTest, HeadIsServedByGet) {
  on(Method::get, "/a");
  EXPECT_EQ(ask("HEAD", "/a"), "/a");
  on(Method::put, "/b");
  EXPECT_EQ(ask("HEAD", "/b"), "405");
}

TEST_F(RouterTest, WrongMethodsAreToldWhatIsAllowed) {
  on(Method::get, "/a/{id}");
  on(Method::del, "/a/{id}");
  on(Method::post, "/a/batch");
  EXPECT_EQ(ask("PUT", "/a/1"), "405");
  EXPECT_NE(answer.find("\r\nAllow: DELETE, GET, HEAD, OPTIONS\r\n"), answer.npos) << answer;
  EXPECT_EQ(ask("OPTIONS", "/a/1"), "204");
  EXPECT_NE(answer.find("\r\nAllow: DELETE, GET, HEAD, OPTIONS\r\n"), answer.npos) << answer;
  EXPECT_EQ(ask("DELETE", "/a/batch"), "405") << "the literal is what is meant";
  EXPECT_EQ(ask("GET", "/b"), "throws 404");
  EXPECT_EQ(ask("OPTIONS", "/b"), "throws 404");
  EXPECT_EQ(ask("BREW", "/a/1"), "throws 501");
  EXPECT_EQ(ask("OPTIONS", "*"), "204");
  EXPECT_NE(answer.find("\r\nAllow: DELETE, GET, HEAD, OPTIONS, POST\r\n"), answer.npos) << answer;
}

TEST_F(RouterTest, TheLongestFallbackAnswers) {
  on(Method::get, "/api/files");
  const auto says = [this](std::string what) {
    return [this, what](Request&, Reply& rp, const std::string& allowed) -> Task<> {
      said = what + "(" + allowed + ")";
      co_await rp.send(Status::not_found);
    };
  };
  router.set_fallback("", says("all"));
  router.set_fallback("/api/", says("api"));
  router.set_fallback("/api/admin", says("admin"));
  EXPECT_EQ(ask("GET", "/x"), "all()");
  EXPECT_EQ(ask("GET", "/api"), "api()");
  EXPECT_EQ(ask("GET", "/api/x"), "api()");
  EXPECT_EQ(ask("GET", "/apix"), "all()");
  EXPECT_EQ(ask("GET", "/api/admin/x"), "admin()");
  EXPECT_EQ(ask("PUT", "/api/files"), "api(GET, HEAD, OPTIONS)");
}

TEST_F(RouterTest, MiddlewaresWrapOutermostFirst) {
  const auto marks = [this](std::string mark) -> Middleware {
    return [this, mark](const Handler& next, Request& rq, Reply& rp) -> Task<> {
      said += mark + ">";
      co_await next(rq, rp);
      said += "<" + mark;
    };
  };
  on(Method::get, "/a", {marks("1"), marks("2")});
  EXPECT_EQ(ask("GET", "/a"), "1>2>/a<2<1");
}

TEST_F(RouterTest, RefusesRoutesThatDoNotSayWhatTheyAre) {
  const Handler handler = [](Request&, Reply&) -> Task<> { co_return; };
  const auto add = [&](Route route) { router.scope({}).on(std::move(route), handler); };
  const Route good{Method::get, "/a", "a", Access::open, "-", "-"};
  EXPECT_NO_THROW(add(good));
  EXPECT_THROW(add(good), std::logic_error) << "exists";
  EXPECT_THROW(add({.method = Method::get, .pattern = "/b", .name = "b", .resource = "-", .action = "-"}),
               std::logic_error);
  EXPECT_THROW(add({Method::get, "/c", "c", Access::open, "", "-"}), std::logic_error);
  EXPECT_THROW(add({Method::get, "/d", "d", Access::open, "-", ""}), std::logic_error);
  EXPECT_THROW(add({Method::get, "/e", "", Access::open, "-", "-"}), std::logic_error);
  EXPECT_THROW(add({Method::other, "/f", "f", Access::open, "-", "-"}), std::logic_error);
  for (const auto* pattern : {"a", "/{", "/{}", "/{*}", "/{*a}/b", "/{a"})
    EXPECT_THROW(add({Method::get, pattern, "x", Access::open, "-", "-"}), std::logic_error) << pattern;
  EXPECT_THROW(router.scope({}).on({Method::get, "/g", "g", Access::open, "-", "-"}, Handler()),
               std::logic_error);
  EXPECT_EQ(router.routes().size(), 1u);
}

}  // namespace
}  // namespace welkin::http
