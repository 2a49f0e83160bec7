// Rows of a PROPFIND. Hrefs: BEFORE the whole path is encoded and escaped for every row, AFTER the folder's
// part is made once. Closed sets (kind, media type): BEFORE as texts of their own for every row, AFTER as
// views of what is there once. Propstats: what one row of five and of all properties costs. Every arm counts
// its allocations. The two ways of each must give the same bytes, and an AFTER may allocate nothing for a
// row, else the bench ends with an error.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "dav/row_writer.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/xml.hpp"

namespace {
std::size_t allocations = 0;
}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace {

namespace dav = welkin::dav;
namespace files = welkin::files;
namespace wire = welkin::wire;
namespace text = welkin::text;

constexpr std::size_t kRows = 10'000;

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kRows; ++i) {
    auto name = std::to_string(i);
    name = "file-" + std::string(6 - name.size(), '0') + name + ".txt";
    if (i % 10 == 0) name = "R\xC3\xA9sum\xC3\xA9 & co " + name;
    out.push_back(std::move(name));
  }
  return out;
}

const std::vector<std::string> kFolder = {"Documents & more", "2026", "Photos of \xC3\xA9t\xC3\xA9"};

void before(const std::vector<std::string>& all, std::string& out) {
  for (const auto& name : all) {
    std::string path = "/webdav";
    for (const auto& segment : kFolder) path += "/" + text::percent_encode(segment, "!$&'()*+,;=:@");
    path += "/" + text::percent_encode(name, "!$&'()*+,;=:@");
    wire::append_escaped(out, path);
  }
}

void after(const std::vector<std::string>& all, std::string& out) {
  const auto prefix = wire::href_prefix("/webdav", kFolder);
  for (const auto& name : all) {
    out += prefix;
    wire::append_href_segment(out, name);
  }
}

void count_allocations(benchmark::State& state, std::size_t since) {
  state.counters["allocs/row"] =
      static_cast<double>(allocations - since) / static_cast<double>(state.iterations()) / kRows;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRows));
}

void run(benchmark::State& state, void (*make)(const std::vector<std::string>&, std::string&)) {
  const auto all = names();
  std::string out;
  make(all, out);
  const auto since = allocations;
  for (auto _ : state) {
    out.clear();
    make(all, out);
    benchmark::DoNotOptimize(out.data());
  }
  count_allocations(state, since);
}
void BM_Hrefs10000_Before_WholePath(benchmark::State& state) { run(state, before); }
void BM_Hrefs10000_After_PrefixOnce(benchmark::State& state) { run(state, after); }
BENCHMARK(BM_Hrefs10000_Before_WholePath)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Hrefs10000_After_PrefixOnce)->Unit(benchmark::kMicrosecond);

constexpr std::string_view kTypes[] = {"text/plain", "image/jpeg", "application/pdf",
                                       "application/octet-stream", "application/vnd.oasis.opendocument.text"};

struct Owned {
  std::string kind, type;
};
void sets_before(const std::vector<std::string>& all, std::string& out) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Owned row{i % 16 == 0 ? "<d:collection/>" : "", std::string(kTypes[i % std::size(kTypes)])};
    out += "<d:resourcetype>" + row.kind + "</d:resourcetype><d:getcontenttype>";
    wire::append_escaped(out, row.type);
    out += "</d:getcontenttype>";
  }
}

void sets_after(const std::vector<std::string>& all, std::string& out) {
  static const auto* const kResourcetype = dav::find_live("DAV:", "resourcetype");
  static const auto* const kContenttype = dav::find_live("DAV:", "getcontenttype");
  const welkin::Caller caller;
  const dav::Viewer viewer{caller, {}, 0, {}, {}};
  files::BrowseRow row;
  const dav::Resource resource{row, {}, {}, nullptr, {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    row.kind = i % 16 == 0 ? files::Kind::folder : files::Kind::file;
    row.mime_type = kTypes[i % std::size(kTypes)];
    kResourcetype->write(resource, viewer, out);
    kContenttype->write(resource, viewer, out);
  }
}
void BM_ClosedSets10000_Before_Texts(benchmark::State& state) { run(state, sets_before); }
void BM_ClosedSets10000_After_Views(benchmark::State& state) { run(state, sets_after); }
BENCHMARK(BM_ClosedSets10000_Before_Texts)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ClosedSets10000_After_Views)->Unit(benchmark::kMicrosecond);

void rows(benchmark::State& state, const dav::PropRequest& request) {
  const auto all = names();
  std::vector<files::BrowseRow> page(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    page[i].id.value = static_cast<std::int64_t>(i);
    page[i].name = all[i];
    page[i].size_bytes = 100 + i;
    page[i].modified_at = page[i].created_at =
        1'790'000'000'000'000 + static_cast<std::int64_t>(i) * 1'000'000;
    page[i].mime_type = "text/plain";
    page[i].rights = welkin::rights::kOwner;
    page[i].etag_length = 32;
    page[i].etag_text.fill('a');
  }
  welkin::Caller caller;
  caller.name = "alice";
  const dav::Viewer viewer{caller, "/dav/principals/", 0, {}, {}};
  dav::RowWriter writer(request, viewer, false);
  const auto prefix = wire::href_prefix("/webdav", kFolder);
  std::string out;
  const auto once = [&] {
    wire::Multistatus multistatus(out);
    multistatus.begin(dav::kNamespaces);
    for (const auto& row : page) {
      multistatus.begin_response(prefix, row.name, false);
      writer.propstats({row, {}, {}, nullptr, {}}, multistatus);
      multistatus.end_response();
    }
    multistatus.end();
  };
  once();
  const auto since = allocations;
  for (auto _ : state) {
    out.clear();
    once();
    benchmark::DoNotOptimize(out.data());
  }
  count_allocations(state, since);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
}

void BM_Rows10000_Named(benchmark::State& state) {
  rows(state,
       dav::read_propfind(
           wire::parse_xml(
               "<propfind xmlns='DAV:'><prop><resourcetype/><getcontentlength/><getlastmodified/><getetag/>"
               "<displayname/><quota/></prop></propfind>"),
           dav::kPlainAllProp));
}
void BM_Rows10000_Allprop(benchmark::State& state) {
  rows(state, dav::read_propfind(std::nullopt, dav::kPlainAllProp));
}
BENCHMARK(BM_Rows10000_Named)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Rows10000_Allprop)->Unit(benchmark::kMicrosecond);

}  // namespace

namespace {

/// An empty element says the same as one without content.
std::string one_form(std::string text) {
  const std::string_view open = "<d:resourcetype></d:resourcetype>";
  for (auto at = text.find(open); at != text.npos; at = text.find(open, at))
    text.replace(at, open.size(), "<d:resourcetype/>");
  return text;
}

using Make = void (*)(const std::vector<std::string>&, std::string&);

/// Whether both ways say the same, and the second one allocates for the whole, not for its rows.
bool holds(const char* what, Make first, Make second) {
  const auto all = names();
  std::string one, other;
  first(all, one);
  second(all, other);
  other.clear();
  const auto since = allocations;
  second(all, other);
  const auto made = allocations - since;
  if (one_form(one) == other && made < 100) return true;
  std::fprintf(stderr, "%s: the two ways differ, or the second made %zu allocations\n", what, made);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (!holds("hrefs", before, after) || !holds("closed sets", sets_before, sets_after)) return 1;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
