// GET /api/search/suggest, 200 rows made ready for one key stroke. BEFORE: each row is copied, scored again
// and given its icon as texts of its own, put into a tree and dumped. AFTER: what the server does. The two
// must give the same JSON. Aim: at least 1.3 times, at most 7 allocations a row.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rest/icons.hpp"
#include "rest/search.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};
}

void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace {

using namespace welkin;
using nlohmann::ordered_json;

constexpr std::array<std::uint8_t, 16> kKey{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr int kRows = 200;

struct Sample {
  PublicIds ids{kKey};
  Caller caller;
  std::vector<files::SearchHit> hits;

  Sample() {
    caller.user = UserId{7};
    caller.name = "alice";
    const char* const types[] = {"image/jpeg", "application/pdf", "text/plain", "application/octet-stream"};
    const char* const endings[] = {".jpg", ".pdf", ".txt", ".zip"};
    for (int i = 0; i < kRows; ++i) {
      files::SearchHit hit;
      auto& n = hit.node;
      n.id = NodeId{100'000 + i};
      n.parent = NodeId{99'999};
      n.kind = i < 20 ? files::Kind::folder : files::Kind::file;
      n.name = "Report \"résumé\" " + std::to_string(1000 + i) + (n.is_folder() ? "" : endings[i % 4]);
      n.path = "/Documents/2026/Österreich/" + n.name;
      if (!n.is_folder()) n.mime_type = types[i % 4];
      hit.relevance = 80 - i / 10;
      hits.push_back(std::move(hit));
    }
  }
};

/// As a service that hands rows on by value would hold one.
struct Suggestion {
  std::string name, item_type, id, path, icon_class, icon_special_class, category;
  int relevance = 0;
};

std::vector<Suggestion> suggestions_of(const Sample& s) {
  std::vector<Suggestion> out;
  for (const auto& each : s.hits) {
    const files::SearchHit hit = each;  // a copy of each row
    Suggestion one;
    one.name = hit.node.name;
    one.item_type = hit.node.is_folder() ? "folder" : "file";
    one.id = s.ids.encode(hit.node.is_folder() ? IdKind::folder : IdKind::file, hit.node.id.value);
    one.path = hit.node.path.value_or("");
    const auto& icon =
        hit.node.is_folder() ? rest::folder_icon() : rest::icon_of(hit.node.mime_type, hit.node.name);
    one.icon_class = std::string(icon.icon_class);
    one.icon_special_class = std::string(icon.icon_special_class);
    one.category = std::string(icon.category);
    one.relevance = hit.relevance;
    out.push_back(one);
  }
  return out;
}

std::string before(const Sample& s) {
  ordered_json all;
  all["suggestions"] = ordered_json::array();
  for (const auto& one : suggestions_of(s)) {
    all["suggestions"].push_back({{"name", one.name},
                                  {"item_type", one.item_type},
                                  {"id", one.id},
                                  {"path", one.path},
                                  {"icon_class", one.icon_class},
                                  {"icon_special_class", one.icon_special_class},
                                  {"category", one.category},
                                  {"relevance_score", one.relevance}});
  }
  all["query_time_ms"] = 3;
  return all.dump();
}

std::string after(const Sample& s) {
  std::string out;
  rest::write_suggestions(s.ids, s.caller, s.hits, 3, out);
  return out;
}

void run(benchmark::State& state, std::string (*write)(const Sample&)) {
  const Sample sample;
  const auto start = allocations.load();
  for (auto _ : state) {
    const auto out = write(sample);
    benchmark::DoNotOptimize(out.data());
  }
  const double rows = static_cast<double>(state.iterations()) * kRows;
  state.counters["allocs/row"] = static_cast<double>(allocations.load() - start) / rows;
  state.counters["ns/row"] =
      benchmark::Counter(rows / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
void BM_Suggest200_Before_Tree(benchmark::State& state) { run(state, before); }
void BM_Suggest200_After_Appender(benchmark::State& state) { run(state, after); }
BENCHMARK(BM_Suggest200_Before_Tree)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Suggest200_After_Appender)->Unit(benchmark::kMicrosecond);

}  // namespace

int main(int argc, char** argv) {
  const Sample sample;
  if (before(sample) != after(sample)) {
    std::fprintf(stderr, "the two do not give the same JSON\n");
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
