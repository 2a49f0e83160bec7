// GET /api/folders/{id}/resources, a page of 200 rows rendered. BEFORE: a tree of nlohmann::ordered_json, ids
// and texts made anew for each row, and dump. AFTER: what the server does. The two must give the same bytes.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include "rest/icons.hpp"
#include "rest/listing.hpp"
#include "rest/objects.hpp"
#include "welkin/core/text.hpp"

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

struct Sample {
  PublicIds ids{kKey};
  Caller caller;
  files::Page page;
  std::string path = "/Photos/2026 \"best\"/Sommer in Österreich";

  Sample() {
    caller.user = UserId{7};
    caller.name = "alice";
    const char* const types[] = {"image/jpeg", "application/pdf", "text/plain", "application/octet-stream"};
    const char* const endings[] = {".jpg", ".pdf", ".txt", ".zip"};
    for (int i = 0; i < 200; ++i) {
      files::Node n;
      n.id = NodeId{100'000 + i};
      n.parent = NodeId{99'999};
      n.drive = DriveId{3};
      n.kind = i < 20 ? files::Kind::folder : files::Kind::file;
      n.name = "IMG_2026 résumé " + std::to_string(1000 + i) + (n.is_folder() ? "" : endings[i % 4]);
      n.size_bytes = static_cast<std::uint64_t>(i) * 1'234'567;
      n.modified_at = n.created_at = 1'790'000'000'000'000 + i;
      if (!n.is_folder()) {
        n.mime_type = types[i % 4];
        n.sha256.emplace().fill(static_cast<std::uint8_t>(i));
      }
      n.etag = "0000000300000000000010e100018" + std::to_string(100 + i);
      n.creator = n.author = UserId{7};
      n.author_name = "alice";
      n.rights = rights::kOwner;
      page.items.push_back(std::move(n));
    }
    page.next = "MTBmYWxzZXRydWV0cnVlHzEfaW1nXzIwMjYfSU1HXzIwMjY";
  }
};

ordered_json tree_of(const Sample& s, const files::Node& n) {
  ordered_json o;
  const auto id = [&](IdKind kind, std::int64_t key) { return s.ids.encode(kind, key); };
  o["id"] = id(n.is_folder() ? IdKind::folder : IdKind::file, n.id.value);
  o["name"] = n.name;
  o["path"] = s.path + "/" + n.name;
  if (n.is_folder()) {
    o["parent_id"] = id(IdKind::folder, n.parent.value);
    o["owner_id"] = id(IdKind::user, s.caller.user.value);
    o["created_by"] = id(IdKind::user, n.creator.value);
    o["updated_by"] = id(IdKind::user, n.author.value);
    o["created_at"] = times::seconds(n.created_at);
    o["modified_at"] = times::seconds(n.modified_at);
    o["is_root"] = false;
    o["icon_class"] = std::string("fas fa-folder");
    o["icon_special_class"] = std::string("folder-icon");
    o["category"] = std::string("Folder");
    o["drive_id"] = id(IdKind::drive, n.drive.value);
    o["etag"] = n.etag;
  } else {
    const auto& icon = rest::icon_of(n.mime_type, n.name);
    char size[rest::kSizeTextMax];
    o["size"] = n.size_bytes;
    o["mime_type"] = n.mime_type;
    o["folder_id"] = id(IdKind::folder, n.parent.value);
    o["created_at"] = times::seconds(n.created_at);
    o["modified_at"] = times::seconds(n.modified_at);
    o["icon_class"] = std::string(icon.icon_class);
    o["icon_special_class"] = std::string(icon.icon_special_class);
    o["category"] = std::string(icon.category);
    o["size_formatted"] = std::string(rest::format_size(n.size_bytes, size));
    o["owner_id"] = id(IdKind::user, s.caller.user.value);
    o["created_by"] = id(IdKind::user, n.creator.value);
    o["updated_by"] = id(IdKind::user, n.author.value);
    o["drive_id"] = id(IdKind::drive, n.drive.value);
    o["etag"] = n.etag;
    o["content_hash"] = text::hex(std::as_bytes(std::span(*n.sha256)));
  }
  o["is_favorite"] = false;
  o["is_shared"] = false;
  return o;
}

std::string before(const Sample& s) {
  ordered_json all;
  all["items"] = ordered_json::array();
  for (const auto& n : s.page.items) {
    all["items"].push_back(
        {{"resource_type", n.is_folder() ? "folder" : "file"}, {"resource", tree_of(s, n)}});
  }
  all["next_cursor"] = s.page.next;
  return all.dump();
}

std::string after(const Sample& s) {
  std::string out;
  rest::write_resources(s.ids, s.caller, s.page, s.path, out);
  return out;
}

void run(benchmark::State& state, std::string (*write)(const Sample&)) {
  const Sample sample;
  std::size_t bytes = 0;
  const auto start = allocations.load();
  for (auto _ : state) {
    const auto out = write(sample);
    bytes += out.size();
    benchmark::DoNotOptimize(out.data());
  }
  const double rows = static_cast<double>(state.iterations()) * 200;
  state.counters["allocs/row"] = static_cast<double>(allocations.load() - start) / rows;
  state.counters["ns/row"] =
      benchmark::Counter(rows / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
void BM_Page200_Before_Tree(benchmark::State& state) { run(state, before); }
void BM_Page200_After_Appender(benchmark::State& state) { run(state, after); }
BENCHMARK(BM_Page200_Before_Tree)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Page200_After_Appender)->Unit(benchmark::kMicrosecond);

/// Gate 5.2: icon, category and type of a row, no allocation.
void BM_Icon(benchmark::State& state) {
  const Sample sample;
  std::size_t i = 20;
  for (auto _ : state) {
    const auto& n = sample.page.items[i];
    benchmark::DoNotOptimize(rest::icon_of(n.mime_type, n.name).json.data());
    if (++i == sample.page.items.size()) i = 20;
  }
}
BENCHMARK(BM_Icon);

}  // namespace

int main(int argc, char** argv) {
  const Sample sample;
  if (before(sample) != after(sample)) {
    std::fputs("the two pages differ\n", stderr);
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
