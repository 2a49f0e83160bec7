// The only translation unit that sees Asio's TLS: it costs seconds to compile.
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl.hpp>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "http/socket.hpp"
#include "http/stream.hpp"

namespace welkin::http {
namespace {

namespace asio = boost::asio;

// What one encrypted write is handed: enough records that the loop around it is cheap, short enough that
// others get a turn.
constexpr std::size_t kWriteBytesMax = std::size_t{256} * 1024;
constexpr std::size_t kKeptBytes = std::size_t{4} * 1024;

/// Chooses http/1.1. A client that offers other protocols only is told so instead of being answered in a
/// language it did not ask for; one that offers nothing gets HTTP/1.1.
int select_protocol(SSL*, const unsigned char** out, unsigned char* out_bytes, const unsigned char* offered,
                    unsigned offered_bytes, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  for (unsigned at = 0; at < offered_bytes; at += 1u + offered[at]) {
    if (at + 1u + offered[at] > offered_bytes) break;
    if (offered[at] != 8 || std::memcmp(offered + at + 1, kHttp11 + 1, 8) != 0) continue;
    *out = offered + at + 1;
    *out_bytes = 8;
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

std::string last_openssl_error() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  return text ? text : "unknown error";
}

}  // namespace

struct TlsContext::Impl {
  asio::ssl::context context{asio::ssl::context::tls_server};
};

TlsContext::TlsContext(const std::string& certificate_file, const std::string& key_file)
    : impl_(std::make_unique<Impl>()) {
  auto* ctx = impl_->context.native_handle();
  SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
  SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                               SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_cipher_list(ctx, "ECDHE+AESGCM:ECDHE+CHACHA20");
  // Resumption by tickets only: a session cache would be memory that clients fill.
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  static constexpr unsigned char kSessionContext[] = "welkin";
  SSL_CTX_set_session_id_context(ctx, kSessionContext, sizeof kSessionContext - 1);
  SSL_CTX_set_alpn_select_cb(ctx, select_protocol, nullptr);
  // An encrypted key fails instead of asking on a terminal nobody looks at.
  SSL_CTX_set_default_passwd_cb(ctx, [](char*, int, int, void*) { return -1; });
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(ctx, certificate_file.c_str()) != 1)
    throw std::runtime_error("TLS certificate " + certificate_file +
                             " cannot be used: " + last_openssl_error());
  if (SSL_CTX_use_PrivateKey_file(ctx, key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    throw std::runtime_error("TLS key " + key_file + " cannot be used: " + last_openssl_error());
  if (SSL_CTX_check_private_key(ctx) != 1)
    throw std::runtime_error("TLS key " + key_file + " does not belong to certificate " + certificate_file);
}
TlsContext::~TlsContext() = default;

namespace {

/// A BIO that appends what OpenSSL writes to a std::string.
const BIO_METHOD* collector_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "collector");
    if (!made) throw std::bad_alloc();
    BIO_meth_set_write_ex(made, [](BIO* bio, const char* data, std::size_t bytes, std::size_t* written) {
      *written = 0;
      try {
        static_cast<std::string*>(BIO_get_data(bio))->append(data, bytes);
      } catch (const std::exception&) {  // out of memory: OpenSSL is C and passes no exceptions on
        return 0;
      }
      *written = bytes;
      return 1;
    });
    BIO_meth_set_ctrl(made, [](BIO*, int command, long, void*) -> long { return command == BIO_CTRL_FLUSH; });
    return made;
  }();
  return method;
}

class TlsStream final : public Stream {
 public:
  TlsStream(Socket socket, std::shared_ptr<TlsContext> context)
      : context_(std::move(context)), stream_(std::move(socket), context_->impl().context) {}

  Task<bool> handshake() override {
    const auto [error] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kTuple);
    co_return !error;
  }

  Task<std::ptrdiff_t> read_some(std::span<char> into) override {
    if (sealed_.empty() && sealed_.capacity() > kKeptBytes) std::string().swap(sealed_);  // idle connections hold little
    if (finished_) {  // only to drop what still comes: no need to decrypt it
      const auto [error, n] =
          co_await stream_.next_layer().async_read_some(asio::buffer(into.data(), into.size()), kTuple);
      co_return error ? -1 : static_cast<std::ptrdiff_t>(n);
    }
    const auto [error, n] = co_await stream_.async_read_some(asio::buffer(into.data(), into.size()), kTuple);
    if (!error) co_return static_cast<std::ptrdiff_t>(n);
    // A peer that hangs up without close_notify may have been cut off by somebody else; lengths and last
    // chunks tell.
    co_return error == asio::error::eof || error == asio::ssl::error::stream_truncated ? 0 : -1;
  }

  std::ptrdiff_t write_now(std::span<const std::string_view>, bool) override { return 0; }

  /// Asio would encrypt, copy twice and send one record of 16 KiB at a time. Here many records go out
  /// together.
  Task<std::ptrdiff_t> write_some(std::string_view bytes) override {
    if (bytes.empty()) co_return 0;
    const auto want = std::min(bytes.size(), kWriteBytesMax);
    if (!encrypt(bytes.substr(0, want))) co_return -1;
    std::string_view left = sealed_;
    while (!left.empty()) {
      const auto n = ::send(native_handle(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n >= 0) {
        left.remove_prefix(static_cast<std::size_t>(n));
        continue;
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) co_return -1;
      const auto [error] = co_await stream_.next_layer().async_wait(Socket::wait_write, kTuple);
      if (error) co_return -1;
    }
    sealed_.clear();
    co_return static_cast<std::ptrdiff_t>(want);
  }

  std::ptrdiff_t send_file(int, std::uint64_t, std::size_t) override { return kUnsupported; }

  Task<> finish_sending() override {
    // Waits for the client's close_notify, for its end or, through `cancel`, for the connection's deadline.
    finished_ = true;
    co_await stream_.async_shutdown(kTuple);
    boost::system::error_code ignored;
    stream_.next_layer().shutdown(Socket::shutdown_send, ignored);
  }

  void cancel() override {
    boost::system::error_code ignored;
    stream_.next_layer().cancel(ignored);
  }
  void close() noexcept override {
    boost::system::error_code ignored;
    stream_.next_layer().close(ignored);
  }
  int native_handle() override { return stream_.next_layer().native_handle(); }

 private:
  /// Appends the records of `bytes` to `sealed_`. Between calls OpenSSL writes to Asio's pair as ever;
  /// nothing is left in there, because one operation of a connection ends before the next begins.
  bool encrypt(std::string_view bytes) {
    SSL* const ssl = stream_.native_handle();
    BIO* const pair = SSL_get_rbio(ssl);
    BIO* const collector = BIO_new(collector_method());
    if (!collector || BIO_up_ref(pair) != 1) {
      BIO_free(collector);
      return false;
    }
    BIO_set_data(collector, &sealed_);
    BIO_set_init(collector, 1);
    SSL_set0_wbio(ssl, collector);
    ERR_clear_error();
    bool done = true;
    while (done && !bytes.empty()) {  // a record at a time: Asio has allowed partial writes
      std::size_t written = 0;
      done = SSL_write_ex(ssl, bytes.data(), bytes.size(), &written) == 1;
      bytes.remove_prefix(written);
    }
    SSL_set0_wbio(ssl, pair);
    return done;
  }

  std::shared_ptr<TlsContext> context_;
  asio::ssl::stream<Socket> stream_;
  std::string sealed_;  // encrypted, not yet sent
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Stream> make_tls_stream(asio::io_context& io, int fd, bool v6,
                                        std::shared_ptr<TlsContext> context) {
  return std::make_unique<TlsStream>(adopt_socket(io, fd, v6), std::move(context));
}

}  // namespace welkin::http
