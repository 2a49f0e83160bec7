// PROPFIND of 10,000 members, from the database to the last byte. BEFORE: all rows are gathered, then one
// document is made of them. AFTER: each page is written and let go before the next one is taken, as the
// server does. Counts the time to the first piece and the bytes of the heap at their most; both must give the
// same document, else the bench fails.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "dav/row_writer.hpp"
#include "files/room.hpp"
#include "support/run.hpp"
#include "welkin/files/browse.hpp"

namespace {

using namespace welkin;
using Clock = std::chrono::steady_clock;

constexpr int kRows = 10'000;

std::size_t heap_in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct Bench {
  Bench() {
    alice = room.user("alice");
    folder = room.folder(alice, room.root(alice), "many");
    room.put(alice, room.root(alice), "seed", "12345");
    room.sql(
        "insert into nodes (parent_id, content_id, size, mtime, etag_seq, created_at, drive_id, etag_drive, "
        "kind, name)"
        " select " +
        std::to_string(folder.value) +
        ", n.content_id, n.size, n.mtime, n.etag_seq, n.created_at, n.drive_id, n.drive_id, 1,"
        " 'file-' || lpad(i::text, 6, '0') || '.txt' from nodes n, generate_series(1, " +
        std::to_string(kRows) + ") i where n.name = 'seed'; analyze nodes");
  }
  files::Room room;
  Caller alice;
  NodeId folder;
  const dav::PropRequest request = dav::read_propfind(
      wire::parse_xml(
          "<propfind "
          "xmlns='DAV:'><prop><resourcetype/><getcontentlength/><getlastmodified/><getetag/><displayname/>"
          "</prop></propfind>"),
      dav::kPlainAllProp);
};

Bench& bench() {
  static auto* b = new Bench;
  return *b;
}

/// What is sent, piece by piece; keeps it only where the two ways are compared.
struct Sent {
  bool keep = false;
  std::string text;
  std::size_t bytes = 0, heap_max = 0;
  Clock::time_point begun = Clock::now();
  Clock::duration first{};
  void take(std::string& piece) {
    if (bytes == 0) first = Clock::now() - begun;
    bytes += piece.size();
    heap_max = std::max(heap_max, heap_in_use());
    if (keep) text += piece;
    piece.clear();
  }
};

/// A row that outlives its page.
struct Kept {
  files::BrowseRow row;
  std::string name;
};

void write(const files::BrowseRow& row, dav::RowWriter& writer, wire::Multistatus& out) {
  out.begin_response("/webdav/many/", row.name, row.is_folder());
  writer.propstats({row, {}, {}, nullptr, {}}, out);
  out.end_response();
}

Task<> gather(Sent& sent) {
  auto& b = bench();
  std::vector<Kept> all;
  auto browse = b.room.files->browse(b.alice, b.folder, rights::kOwner, {});
  for (auto page = co_await browse.next(); !page.empty(); page = co_await browse.next())
    for (const auto& row : page) all.push_back({row, std::string(row.name)});
  const dav::Viewer viewer{b.alice, "/dav/principals/", 0, {}, {}};
  dav::RowWriter writer(b.request, viewer, false);
  std::string text;
  wire::Multistatus out(text);
  out.begin(dav::kNamespaces);
  for (auto& one : all) {
    one.row.name = one.name;
    write(one.row, writer, out);
  }
  out.end();
  sent.take(text);
}

Task<> page_by_page(Sent& sent) {
  auto& b = bench();
  auto browse = b.room.files->browse(b.alice, b.folder, rights::kOwner, {});
  const dav::Viewer viewer{b.alice, "/dav/principals/", 0, {}, {}};
  dav::RowWriter writer(b.request, viewer, false);
  std::string text;
  wire::Multistatus out(text);
  out.begin(dav::kNamespaces);
  for (auto page = co_await browse.next(); !page.empty(); page = co_await browse.next()) {
    for (const auto& row : page) write(row, writer, out);
    sent.take(text);
  }
  out.end();
  sent.take(text);
}

void measure(benchmark::State& state, Task<> (*way)(Sent&)) {
  std::vector<double> first;
  std::size_t heap = 0;
  for (auto _ : state) {
    const auto before = heap_in_use();
    Sent sent;
    tests::run(way(sent));
    first.push_back(std::chrono::duration<double, std::micro>(sent.first).count());
    heap = std::max(heap, sent.heap_max - std::min(before, sent.heap_max));
  }
  std::sort(first.begin(), first.end());
  state.counters["first_us_p50"] = first[first.size() / 2];
  state.counters["heap_KiB"] = static_cast<double>(heap) / 1024;
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kRows);
}
void BM_Propfind10000_Before_Gathered(benchmark::State& state) { measure(state, gather); }
void BM_Propfind10000_After_PageByPage(benchmark::State& state) { measure(state, page_by_page); }
BENCHMARK(BM_Propfind10000_Before_Gathered)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Propfind10000_After_PageByPage)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  Sent one, other;
  one.keep = other.keep = true;
  tests::run(gather(one));
  tests::run(page_by_page(other));
  if (one.text != other.text || one.text.empty()) {
    std::fprintf(stderr, "the two ways differ: %zu and %zu bytes\n", one.text.size(), other.text.size());
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
