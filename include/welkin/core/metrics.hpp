#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

/// Numbers an operator watches, in the Prometheus text format. Counters and gauges live for the whole process
/// and are declared as namespace-scope objects beside the code that moves them.
namespace welkin::metrics {

class Counter {
 public:
  /// @param name   e.g. "welkin_http_requests_total"
  /// @param help   one line
  /// @param labels `a="b",c="d"` or empty
  /// @param scale  what one count is worth in the unit of the name: 1e-6 for a sum of seconds counted in
  /// microseconds
  Counter(std::string_view name, std::string_view help, std::string_view labels = "", double scale = 1);
  ~Counter();
  void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  Gauge(std::string_view name, std::string_view help, std::string_view labels = "");
  ~Gauge();
  void set(std::int64_t v) noexcept { value_.store(v, std::memory_order_relaxed); }
  void add(std::int64_t n) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
  std::int64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

/// `text` as a label value: backslash, quote and line end escaped, its quotes not added.
std::string label(std::string_view text);

/// Everything declared so far, in Prometheus text exposition format 0.0.4. Objects of one name stand
/// together.
std::string render();

}  // namespace welkin::metrics
