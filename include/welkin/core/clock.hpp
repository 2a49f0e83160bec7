#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace welkin {

/// Microseconds since 1970-01-01T00:00:00Z, as the database keeps times of nodes.
using Micros = std::int64_t;

/// Wall time. Tests set it; everything that compares times asks here, everything that waits uses steady_clock.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Micros now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Micros now() const override;
};

class ManualClock final : public Clock {
 public:
  explicit ManualClock(Micros at) : at_(at) {}
  Micros now() const override { return at_; }
  void advance(std::chrono::microseconds by) { at_ += by.count(); }

 private:
  Micros at_;
};

namespace times {
/// IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 §5.6.7).
std::string http_date(Micros at);
/// All three forms of RFC 9110 §5.6.7; nullopt for anything else.
std::optional<Micros> from_http_date(std::string_view s);
/// "2026-11-30T10:07:52Z" (RFC 3339), whole seconds.
std::string rfc3339(Micros at);
std::optional<Micros> from_rfc3339(std::string_view s);
inline std::int64_t seconds(Micros at) { return at >= 0 ? at / 1'000'000 : (at - 999'999) / 1'000'000; }
}  // namespace times

}  // namespace welkin
