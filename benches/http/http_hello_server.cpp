// A server with handlers but no database behind them, for the load scripts beside it.
//   http_hello_server [--threads N] [--tls CERT KEY] [--file PATH] [--reply-bytes N]
// Prints the port it listens on and ends on SIGTERM.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "welkin/core/bytes.hpp"
#include "welkin/http/body.hpp"
#include "welkin/http/router.hpp"
#include "welkin/http/server.hpp"

int main(int argc, char** argv) {
  using namespace welkin;
  Config config;
  config.listen = "127.0.0.1:0";
  config.access_log = false;
  unsigned threads = 1;
  std::string file;
  std::string reply = "hello, world\n";
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--threads" && i + 1 < argc) {
      threads = static_cast<unsigned>(std::atoi(argv[++i]));
    } else if (option == "--tls" && i + 2 < argc) {
      config.tls_cert = argv[++i];
      config.tls_key = argv[++i];
    } else if (option == "--file" && i + 1 < argc) {
      file = argv[++i];
    } else if (option == "--reply-bytes" && i + 1 < argc) {
      reply.assign(static_cast<std::size_t>(std::atoll(argv[++i])), 'x');
    } else {
      std::fprintf(stderr, "unknown option %s\n", argv[i]);
      return 2;
    }
  }
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);

  http::Router router;
  auto scope = router.scope({});
  scope.on({http::Method::get, "/hello", "bench.hello", http::Access::open, "-", "-"},
           [&reply](http::Request&, http::Reply& rp) -> Task<> {
             co_await rp.send(http::Status::ok, "text/plain; charset=utf-8", reply);
           });
  scope.on({http::Method::get, "/file", "bench.file", http::Access::open, "-", "-"},
           [&file](http::Request& rq, http::Reply& rp) -> Task<> {
             const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
             struct stat about{};
             if (!fd || ::fstat(fd.get(), &about) != 0)
               throw Error(Errc::not_found, "no_file", "no such file");
             http::UserBody body{.name = "file.bin",
                                 .mime_type = "application/octet-stream",
                                 .etag = "\"bench\"",
                                 .last_modified = 0,
                                 .size_bytes = static_cast<std::uint64_t>(about.st_size),
                                 .feed = {}};
             body.feed = [&fd](Slice slice, ByteSink& sink) {
               return sink.write_file(fd.get(), slice.offset, slice.length);
             };
             co_await http::serve_body(rq, rp, body);
           });
  scope.on({http::Method::put, "/sink", "bench.sink", http::Access::open, "-", "-"},
           [](http::Request& rq, http::Reply& rp) -> Task<> {
             std::uint64_t bytes = 0;
             for (auto piece = co_await rq.read(); !piece.empty(); piece = co_await rq.read())
               bytes += piece.size();
             co_await rp.send(http::Status::ok, "text/plain", std::to_string(bytes) + "\n");
           });

  http::IoThreads io(threads);
  http::Server server(io, config, router);
  const auto port = server.listen();
  io.start();
  std::printf("%u\n", port);
  std::fflush(stdout);
  int signal = 0;
  sigwait(&ending, &signal);
  server.drain(std::chrono::seconds(2));
  io.stop_and_join();
  return 0;
}
