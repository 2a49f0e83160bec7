#include "welkin/http/fetch.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>

#include "http/fetch_url.hpp"
#include "welkin/core/task.hpp"
#include "welkin/core/text.hpp"

namespace welkin::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;
using Response = beast::http::response_parser<beast::http::string_body>;
constexpr asio::use_awaitable_t<Executor> kAwait;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable_t<Executor>());
constexpr auto kSlice = std::chrono::milliseconds(100);
constexpr std::uint32_t kHeaderBytesMax = 16 * 1024;
constexpr std::size_t kValueBytesMax = 1024;  // of a tag or a date that is kept

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

bool is_allowed(const FetchOptions& options, const Address& address, std::uint16_t port) {
  const auto names_it = [&](const std::string& name) {
    const auto colon = name.rfind(':');
    if (colon == std::string::npos) return false;
    auto host = name.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const auto known = parse_address(host);
    return known && *known == address && text::number(name.substr(colon + 1)) == std::uint64_t{port};
  };
  if (std::any_of(options.allowed.begin(), options.allowed.end(), names_it)) return true;
  return (port == 80 || port == 443) && is_public(address);
}

Address address_of(const tcp::endpoint& endpoint) {
  if (endpoint.address().is_v4()) return Address::from_v4(endpoint.address().to_v4().to_bytes().data());
  return Address::from_v6(endpoint.address().to_v6().to_bytes().data());
}

/// One use of the network: everything of it ends with the io_context, which is destroyed first.
class Exchange {
 public:
  Exchange(asio::io_context& io, const FetchOptions& options, const FetchRequest& request)
      : io_(io), options_(options), request_(request) {}

  Task<Fetched> run() {
    auto url = parse_fetch_url(request_.url);
    for (unsigned hop = 0; url; ++hop) {
      if (hop > options_.redirects_max) throw Failure("too many redirects");
      co_await ask(*url);
      const auto& message = parser_->get();
      const auto status = message.result_int();
      const bool leads_on = status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
      if (!leads_on) co_return answer(status);
      url = follow(*url, message[beast::http::field::location]);
    }
    throw Failure("an address that cannot be asked");
  }

 private:
  Task<tcp::socket> connect(const FetchUrl& url) {
    tcp::resolver resolver(io_);
    const auto [error, found] = co_await resolver.async_resolve(url.host, std::to_string(url.port), kTuple);
    if (error || found.empty()) throw Failure("the name has no address");
    // All of them, because which one is taken is not in our hand alone.
    for (const auto& entry : found)
      if (!is_allowed(options_, address_of(entry.endpoint()), url.port))
        throw Failure("the address lies inside: " + address_of(entry.endpoint()).text());
    for (const auto& entry : found) {
      tcp::socket socket(io_);
      const auto [refused] = co_await socket.async_connect(entry.endpoint(), kTuple);
      if (!refused) co_return socket;
    }
    throw Failure("nobody answers");
  }

  Task<> ask(const FetchUrl& url) {
    auto socket = co_await connect(url);
    if (!url.secure) {
      co_await converse(socket, url);
      co_return;
    }
    asio::ssl::context context(asio::ssl::context::tls_client);
    context.set_default_verify_paths();
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    asio::ssl::stream<tcp::socket> stream(std::move(socket), context);
    stream.set_verify_mode(asio::ssl::verify_peer);
    stream.set_verify_callback(asio::ssl::host_name_verification(url.host));
    if (!parse_address(url.host)) SSL_set_tlsext_host_name(stream.native_handle(), url.host.c_str());
    co_await stream.async_handshake(asio::ssl::stream_base::client, kAwait);
    co_await converse(stream, url);
  }

  template <class Stream>
  Task<> converse(Stream& stream, const FetchUrl& url) {
    namespace http = beast::http;
    http::request<http::empty_body> question(http::verb::get, url.target, 11);
    question.set(http::field::host, url.authority());
    question.set(http::field::user_agent, "Welkin/" WELKIN_VERSION);
    question.set(http::field::accept, "text/calendar, */*;q=0.1");
    question.set(http::field::connection, "close");
    if (!request_.etag.empty()) question.set(http::field::if_none_match, request_.etag);
    if (!request_.last_modified.empty()) question.set(http::field::if_modified_since, request_.last_modified);
    co_await http::async_write(stream, question, kAwait);
    parser_.emplace();
    parser_->header_limit(kHeaderBytesMax);
    parser_->body_limit(options_.bytes_max);
    beast::flat_buffer buffer;
    const auto [error, size] = co_await http::async_read(stream, buffer, *parser_, kTuple);
    if (error == http::error::body_limit) {
      too_large_ = true;
      co_return;
    }
    // A body without a length ends with the connection; what ends before its length was cut.
    if (error && !parser_->is_done()) throw Failure(error.message());
  }

  Fetched answer(unsigned status) {
    Fetched out;
    out.status = status;
    if (too_large_) {
      out.outcome = Fetched::Outcome::too_large;
      return out;
    }
    auto& message = parser_->get();
    out.outcome = status == 200   ? Fetched::Outcome::fetched
                  : status == 304 ? Fetched::Outcome::not_modified
                                  : Fetched::Outcome::refused;
    const auto kept = [&](beast::http::field field) {
      const std::string value(message[field]);
      return value.size() <= kValueBytesMax && text::is_utf8(value) ? value : std::string();
    };
    out.etag = kept(beast::http::field::etag);
    out.last_modified = kept(beast::http::field::last_modified);
    if (status == 200) out.body = std::move(message.body());
    return out;
  }

  asio::io_context& io_;
  const FetchOptions& options_;
  const FetchRequest& request_;
  std::optional<Response> parser_;
  bool too_large_ = false;
};

std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace

Fetched fetch(const FetchOptions& options, const FetchRequest& request, const std::atomic<bool>& stop) {
  Fetched out;
  out.why = "it took too long";
  bool done = false;
  std::optional<Exchange> exchange;
  asio::io_context io(1);  // the last to be made: what waits in it refers to the rest
  exchange.emplace(io, options, request);
  asio::co_spawn(io.get_executor(), exchange->run(), [&](const std::exception_ptr& failure, Fetched result) {
    done = true;
    if (failure)
      out.why = message_of(failure);
    else
      out = std::move(result);
  });
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
  while (!done && !stop.load() && std::chrono::steady_clock::now() < limit) {
    if (io.run_for(kSlice) == 0 && io.stopped()) break;
  }
  return out;
}

std::string fetch_refusal(const FetchOptions& options, std::string_view url) {
  const auto parsed = parse_fetch_url(url);
  if (!parsed) return "It is no http, https or webcal address without credentials";
  const auto address = parse_address(parsed->host);
  if (address && !is_allowed(options, *address, parsed->port))
    return "Addresses inside of networks are not asked";
  const auto is_listed = [&](const std::string& name) {
    return name == parsed->host + ':' + std::to_string(parsed->port);
  };
  if (!address && parsed->port != 80 && parsed->port != 443 &&
      std::none_of(options.allowed.begin(), options.allowed.end(), is_listed))
    return "Only the ports 80 and 443 are asked";
  const auto last = parsed->host.substr(parsed->host.rfind('.') + 1);
  const bool is_number = !last.empty() && last.find_first_not_of("0123456789") == std::string::npos;
  if (!address && (is_number || last.starts_with("0x"))) return "A number is no name of a host";
  if (parsed->host == "localhost" || parsed->host.ends_with(".localhost") || parsed->host == "localhost.")
    return "Addresses inside of networks are not asked";
  return "";
}

}  // namespace welkin::http
