#include "welkin/core/metrics.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

namespace welkin::metrics {
namespace {

struct Sample {
  const void* owner;
  std::string labels;
  double scale;
  std::function<double()> read;
};
struct Family {
  std::string help;
  const char* type;
  std::vector<Sample> samples;  // in order of declaration
};
struct Registry {
  std::mutex mutex;
  std::map<std::string, Family, std::less<>> families;
};

/// Never destroyed: counters in other translation units may die later than any static here would.
Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

void declare(std::string_view name, std::string_view help, const char* type, Sample sample) {
  auto& all = registry();
  const std::lock_guard lock(all.mutex);
  auto& family = all.families[std::string(name)];
  family.help = std::string(help);
  family.type = type;
  family.samples.push_back(std::move(sample));
}

void forget(const void* owner) {
  auto& all = registry();
  const std::lock_guard lock(all.mutex);
  for (auto family = all.families.begin(); family != all.families.end();) {
    std::erase_if(family->second.samples, [owner](const Sample& s) { return s.owner == owner; });
    family = family->second.samples.empty() ? all.families.erase(family) : std::next(family);
  }
}

}  // namespace

Counter::Counter(std::string_view name, std::string_view help, std::string_view labels, double scale) {
  declare(name, help, "counter",
          {this, std::string(labels), scale, [this] { return static_cast<double>(value()); }});
}
Counter::~Counter() { forget(this); }

Gauge::Gauge(std::string_view name, std::string_view help, std::string_view labels) {
  declare(name, help, "gauge",
          {this, std::string(labels), 1, [this] { return static_cast<double>(value()); }});
}
Gauge::~Gauge() { forget(this); }

std::string label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

std::string render() {
  auto& all = registry();
  const std::lock_guard lock(all.mutex);
  std::string out;
  for (const auto& [name, family] : all.families) {
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, family.help, name, family.type);
    for (const auto& sample : family.samples) {
      out += name;
      if (!sample.labels.empty()) out += "{" + sample.labels + "}";
      const double value = sample.read();
      if (sample.scale == 1)
        out += fmt::format(" {:.0f}\n", value);
      else
        out += fmt::format(" {:.9g}\n", value * sample.scale);
    }
  }
  return out;
}

}  // namespace welkin::metrics
