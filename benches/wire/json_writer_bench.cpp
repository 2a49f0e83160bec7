// A page of 200 rows as JSON: BEFORE a tree of nlohmann::ordered_json and dump, AFTER the appender. The two
// must give the same bytes, else the bench ends with an error.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "welkin/wire/json_writer.hpp"

namespace {

using welkin::wire::JsonWriter;

struct Row {
  std::string id, name, path;
  std::uint64_t size;
  std::int64_t modified_at;
  bool is_shared;
};

std::vector<Row> rows(std::size_t n) {
  std::vector<Row> out;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string name = "Résumé \"final\" " + std::to_string(i) + ".pdf";
    out.push_back({"0f3e2d1c-aaaa-bbbb-cccc-" + std::to_string(100'000'000'000 + i), name,
                   "/Documents/2026/" + name, i * 12'345, 1'790'000'000 + static_cast<std::int64_t>(i),
                   i % 3 == 0});
  }
  return out;
}

std::string before(const std::vector<Row>& rows) {
  auto items = nlohmann::ordered_json::array();
  for (const auto& row : rows) {
    items.push_back({{"id", row.id},
                     {"name", row.name},
                     {"path", row.path},
                     {"size", row.size},
                     {"mime_type", "application/pdf"},
                     {"modified_at", row.modified_at},
                     {"folder_id", nullptr},
                     {"is_shared", row.is_shared}});
  }
  return items.dump();
}

std::string after(const std::vector<Row>& rows) {
  std::string out;
  JsonWriter json(out);
  json.begin_array();
  for (const auto& row : rows) {
    json.begin_object();
    json.field("id", row.id);
    json.field("name", row.name);
    json.field("path", row.path);
    json.field("size", row.size);
    json.field("mime_type", "application/pdf");
    json.field("modified_at", row.modified_at);
    json.null_field("folder_id");
    json.field("is_shared", row.is_shared);
    json.end_object();
  }
  json.end_array();
  return out;
}

void run(benchmark::State& state, std::string (*write)(const std::vector<Row>&)) {
  const auto page = rows(200);
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto out = write(page);
    bytes += out.size();
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
void BM_Page200_Before_Tree(benchmark::State& state) { run(state, before); }
void BM_Page200_After_Appender(benchmark::State& state) { run(state, after); }
BENCHMARK(BM_Page200_Before_Tree)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Page200_After_Appender)->Unit(benchmark::kMicrosecond);

}  // namespace

int main(int argc, char** argv) {
  if (before(rows(200)) != after(rows(200))) {
    std::fputs("the two writers differ\n", stderr);
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
