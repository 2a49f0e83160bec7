#include "http/encoding.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <vector>

#include "http/ascii.hpp"

namespace welkin::http {
namespace {

// Level 1 of both: 20- and 40-fold on multistatus at more than half a gigabyte a second; higher levels cost
// more CPU than the bytes they save are worth on a link of this decade.
constexpr int kGzipLevel = 1;
constexpr int kZstdLevel = 1;
constexpr int kZstdWindowLog = 18;         // 256 KiB: bounds the memory of a stream
constexpr std::size_t kKeptPerThread = 4;  // idle compressors
constexpr std::size_t kStepBytes = std::size_t{16} * 1024;

/// Weight of a coding in thousandths; -1: malformed.
int weight_of(std::string_view parameters) {
  while (!parameters.empty()) {
    parameters.remove_prefix(1);  // the semicolon
    const auto end = std::min(parameters.find(';'), parameters.size());
    const auto parameter = ascii::trim(parameters.substr(0, end));
    parameters.remove_prefix(end);
    if (parameter.size() < 3 || ascii::lower(parameter[0]) != 'q' || parameter[1] != '=') continue;
    const auto value = parameter.substr(2);
    if (value.size() > 5 || (value[0] != '0' && value[0] != '1') || (value.size() > 1 && value[1] != '.'))
      return -1;
    int thousandths = (value[0] - '0') * 1000;
    int place = 100;
    for (const char c : value.substr(std::min<std::size_t>(2, value.size()))) {
      if (c < '0' || c > '9') return -1;
      thousandths += (c - '0') * place;
      place /= 10;
    }
    return thousandths > 1000 ? -1 : thousandths;
  }
  return 1000;
}

struct GzipState {
  z_stream z{};
  GzipState() {
    if (deflateInit2(&z, kGzipLevel, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~GzipState() { deflateEnd(&z); }
  GzipState(const GzipState&) = delete;
  GzipState& operator=(const GzipState&) = delete;
  void reset() { deflateReset(&z); }
};

struct ZstdState {
  ZSTD_CCtx* z = ZSTD_createCCtx();
  ZstdState() {
    if (!z) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, kZstdWindowLog);
  }
  ~ZstdState() { ZSTD_freeCCtx(z); }
  ZstdState(const ZstdState&) = delete;
  ZstdState& operator=(const ZstdState&) = delete;
  void reset() { ZSTD_CCtx_reset(z, ZSTD_reset_session_only); }
};

template <class State>
std::vector<std::unique_ptr<State>>& idle_states() {
  thread_local std::vector<std::unique_ptr<State>> idle;
  return idle;
}

/// Borrows a compressor's state from the thread, gives it back reset.
template <class State>
class Borrowed {
 public:
  Borrowed() {
    auto& idle = idle_states<State>();
    if (idle.empty()) {
      state_ = std::make_unique<State>();
    } else {
      state_ = std::move(idle.back());
      idle.pop_back();
    }
  }
  ~Borrowed() {
    state_->reset();
    if (auto& idle = idle_states<State>(); idle.size() < kKeptPerThread) idle.push_back(std::move(state_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  State* operator->() { return state_.get(); }

 private:
  std::unique_ptr<State> state_;
};

class GzipEncoder final : public Encoder {
 public:
  void add(std::string_view bytes, std::string& out) override { run(bytes, Z_NO_FLUSH, out); }
  void flush(std::string& out) override { run({}, Z_SYNC_FLUSH, out); }
  void finish(std::string& out) override { run({}, Z_FINISH, out); }

 private:
  void run(std::string_view bytes, int mode, std::string& out) {
    auto& z = state_->z;
    std::array<char, kStepBytes> step;
    // zlib counts in 32 bits.
    do {
      const auto part = bytes.substr(0, 1u << 30);
      bytes.remove_prefix(part.size());
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      z.avail_in = static_cast<uInt>(part.size());
      do {
        z.next_out = reinterpret_cast<Bytef*>(step.data());
        z.avail_out = step.size();
        const int result = deflate(&z, mode);
        if (result == Z_STREAM_ERROR) throw std::runtime_error("gzip failed");
        out.append(step.data(), step.size() - z.avail_out);
      } while (z.avail_out == 0);
    } while (!bytes.empty());
  }
  Borrowed<GzipState> state_;
};

class ZstdEncoder final : public Encoder {
 public:
  void add(std::string_view bytes, std::string& out) override { run(bytes, ZSTD_e_continue, out); }
  void flush(std::string& out) override { run({}, ZSTD_e_flush, out); }
  void finish(std::string& out) override { run({}, ZSTD_e_end, out); }

 private:
  void run(std::string_view bytes, ZSTD_EndDirective mode, std::string& out) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    std::array<char, kStepBytes> step;
    for (;;) {
      ZSTD_outBuffer to{step.data(), step.size(), 0};
      const auto left = ZSTD_compressStream2(state_->z, &to, &in, mode);
      if (ZSTD_isError(left)) throw std::runtime_error("zstd failed");
      out.append(step.data(), to.pos);
      if (mode == ZSTD_e_continue ? in.pos == in.size : left == 0) return;
    }
  }
  Borrowed<ZstdState> state_;
};

}  // namespace

std::string_view to_string(Encoding e) {
  return e == Encoding::gzip ? "gzip" : e == Encoding::zstd ? "zstd" : "identity";
}

Encoding choose_encoding(std::string_view accept_encoding) {
  int gzip = -1;
  int zstd = -1;
  int any = -1;
  ascii::each_element(accept_encoding, [&](std::string_view element) {
    const auto end = std::min(element.find(';'), element.size());
    const auto coding = ascii::trim(element.substr(0, end));
    const int weight = std::max(0, weight_of(element.substr(end)));
    if (ascii::iequals(coding, "gzip") || ascii::iequals(coding, "x-gzip"))
      gzip = weight;
    else if (ascii::iequals(coding, "zstd"))
      zstd = weight;
    else if (coding == "*")
      any = weight;
  });
  if (gzip < 0) gzip = std::max(any, 0);
  if (zstd < 0) zstd = 0;  // "*" comes from old clients: they mean gzip
  if (zstd == 0 && gzip == 0) return Encoding::identity;
  return zstd >= gzip ? Encoding::zstd : Encoding::gzip;
}

bool is_compressible(std::string_view content_type) {
  const auto type = ascii::trim(content_type.substr(0, content_type.find(';')));
  const auto begins = [&](std::string_view with) {
    return type.size() >= with.size() && ascii::iequals(type.substr(0, with.size()), with);
  };
  const auto ends = [&](std::string_view with) {
    return type.size() > with.size() && ascii::iequals(type.substr(type.size() - with.size()), with);
  };
  if (begins("text/")) return !ascii::iequals(type, "text/event-stream");
  if (ends("+json") || ends("+xml")) return true;
  for (const auto known :
       {"application/json", "application/xml", "application/javascript", "application/wasm"})
    if (ascii::iequals(type, known)) return true;
  return false;
}

std::unique_ptr<Encoder> make_encoder(Encoding e) {
  if (e == Encoding::gzip) return std::make_unique<GzipEncoder>();
  if (e == Encoding::zstd) return std::make_unique<ZstdEncoder>();
  return nullptr;
}

}  // namespace welkin::http
