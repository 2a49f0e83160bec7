// Whole calendars and address books from the database to the last byte: REPORT with the data, PROPFIND with
// entity tags, one .ics file. BEFORE: all rows are gathered, then one answer is made of them. AFTER: each
// page is written and let go, as the server does. Further arms read the same rows in the order of a window
// over all of them, and page by page with LIMIT and OFFSET. All must give the same bytes, else the bench
// fails. Counts the time to the first piece and the heap at its most. A poll that finds nothing new stands
// beside them: what a phone does most.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dav/groupware/prop_query.hpp"
#include "support/run.hpp"
#include "support/test_db.hpp"
#include "welkin/calendars/file.hpp"
#include "welkin/collections/collections.hpp"
#include "welkin/db/page_stream.hpp"

namespace {

using namespace welkin;
namespace gw = dav::groupware;
using collections::ObjectRow;
using Clock = std::chrono::steady_clock;

#define BENCH_ROW "o.name, o.etag, o.seq, o.component, o.size, o.data"
// As designs that keep overrides as rows of their own read a calendar: the rows of a UID together, UIDs in
// order.
constexpr db::Stmt kWindow{
    "bench.window",
    "select " BENCH_ROW
    " from (select x.*, min(x.seq) over (partition by x.uid) first from collection_objects x where "
    "x.collection_id = $1 and not x.deleted) o order by o.first, o.seq"};
constexpr db::Stmt kOffset{
    "bench.offset",
    "select " BENCH_ROW
    " from collection_objects o where o.collection_id = $1 and not o.deleted order by o.seq limit $2 "
    "offset $3"};
constexpr db::Stmt kUser{
    "bench.user",
    "insert into users (name, login, display_name) values ('bench', 'bench', 'b') returning id"};
constexpr db::Stmt kDefaults{"bench.defaults", "select create_default_collections($1)"};

std::size_t heap_in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Events of 0.9 kB, every fifth a series with an override; cards of 0.6 kB.
constexpr const char* kEvents = R"(
  insert into collection_objects (collection_id, seq, t0, t1, etag, uid_hash, size, component, flags, name, uid, title, search, data)
  select %1$s, i, 1767225600 + i * 3600, 1767229200 + i * 3600, md5(d)::uuid, md5('u' || i)::uuid, octet_length(d), 1,
         case when i %% 5 = 0 then 1 else 0 end, 'event-' || i || '.ics', 'u' || i, 'Event ' || i, 'event ' || i, convert_to(d, 'UTF8')
    from generate_series(1, %2$s) i cross join lateral (
      select format(E'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\nBEGIN:VEVENT\r\nUID:u%%s\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260105T100000Z\r\nDTEND:20260105T110000Z\r\nSUMMARY:Event %%s\r\nLOCATION:Room <3> & more\r\nDESCRIPTION:%%s\r\n%%sEND:VEVENT\r\n%%sEND:VCALENDAR\r\n',
        i, i, repeat('d', 500), case when i %% 5 = 0 then E'RRULE:FREQ=WEEKLY;COUNT=9\r\n' else '' end,
        case when i %% 5 = 0 then format(E'BEGIN:VEVENT\r\nUID:u%%s\r\nRECURRENCE-ID:20260112T100000Z\r\nDTSTART:20260112T120000Z\r\nSUMMARY:moved\r\nEND:VEVENT\r\n', i) else '' end) d) x)";
constexpr const char* kCards = R"(
  insert into collection_objects (collection_id, seq, etag, uid_hash, size, name, uid, title, search, data)
  select %1$s, i, md5(d)::uuid, md5('u' || i)::uuid, octet_length(d), 'card-' || i || '.vcf', 'u' || i, 'Jane ' || i, 'jane ' || i,
         convert_to(d, 'UTF8')
    from generate_series(1, %2$s) i cross join lateral (
      select format(E'BEGIN:VCARD\r\nVERSION:3.0\r\nUID:u%%s\r\nN:Doe;Jane %%s;;;\r\nFN:Jane %%s Doe\r\nORG:Example & Co;Lab\r\nEMAIL;TYPE=WORK:jane%%s@example.org\r\nTEL;TYPE=CELL:+49 170 %%s\r\nNOTE:%%s\r\nEND:VCARD\r\n',
        i, i, i, i, i, repeat('n', 300)) d) x)";

struct Scene {
  collections::Collection collection;
  int rows = 0;
};

struct Bench {
  Bench() {
    db.write_now([&](db::Tx& tx) {
      alice.user = tx.one(kUser)[0].id<UserId>(0);
      tx.one(kDefaults, alice.user);
    });
    alice.name = "bench";
    alice.subjects = {alice.user.value};
    for (const int rows : {4'000, 12'000}) make(collections::Kind::calendar, rows);
    for (const int rows : {5'000, 8'000}) make(collections::Kind::book, rows);
    database.script("vacuum analyze collection_objects");
  }
  void make(collections::Kind kind, int rows) {
    collections::NewCollection wanted;
    wanted.kind = kind;
    wanted.path = "c" + std::to_string(rows);
    const auto id = tests::run(all.create(alice, wanted));
    std::string sql = kind == collections::Kind::calendar ? kEvents : kCards;
    const auto fill = [&](const std::string& mark, const std::string& with) {
      for (auto at = sql.find(mark); at != std::string::npos; at = sql.find(mark))
        sql.replace(at, mark.size(), with);
    };
    fill("%1$s", std::to_string(id.value));
    fill("%2$s", std::to_string(rows));
    fill("%%", "%");
    database.script(sql);
    database.script("update collection_state set seq = " + std::to_string(rows) + ", object_count = " +
                    std::to_string(rows) + " where collection_id = " + std::to_string(id.value));
    scenes[rows] = {tests::run(all.require(alice, id)), rows};
  }
  tests::TestDb database;
  db::Db& db = database.db();
  collections::Collections all{db};
  Caller alice;
  std::map<int, Scene> scenes;
};

Bench& bench() {
  static auto* b = new Bench;
  return *b;
}

enum class Arm { gathered, paged, window, offset };
enum class Work { report, propfind, file };

/// What is sent, piece by piece; keeps it only where the ways are compared.
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

/// Makes the answer out of rows.
class Answering {
 public:
  Answering(const Scene& scene, Work work, Sent& sent)
      : scene_(scene), work_(work), sent_(sent), out_(text_), writer_(query(), false) {
    if (work_ == Work::file)
      joiner_.begin(text_, "Personal");
    else
      out_.begin(gw::kNamespaces);
  }
  void row(const ObjectRow& row) {
    if (work_ == Work::file) {
      joiner_.add(text_, row.data);
      return;
    }
    href_ = "/dav/calendars/bench/c/";
    wire::append_href_segment(href_, row.name);
    out_.begin_response(href_);
    const auto kind =
        scene_.collection.kind == collections::Kind::calendar ? gw::kCalendarObject : gw::kCardObject;
    writer_.propstats({kind, href_, "bench", &scene_.collection, &row, {}}, view_, out_);
    out_.end_response();
  }
  void send() {
    if (!text_.empty()) sent_.take(text_);
  }
  void end() {
    if (work_ == Work::file)
      joiner_.end(text_);
    else
      out_.end();
    sent_.take(text_);
  }
  bool has_data() const { return work_ != Work::propfind; }

 private:
  const gw::PropQuery& query() const {
    static const auto* report = new wire::XmlElement(
        wire::parse_xml("<d:propfind xmlns:d='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav' "
                        "xmlns:A='urn:ietf:params:xml:ns:carddav'><d:prop>"
                        "<d:getetag/><C:calendar-data/></d:prop></d:propfind>"));
    static const auto* cards =
        new wire::XmlElement(wire::parse_xml("<d:propfind xmlns:d='DAV:' "
                                             "xmlns:A='urn:ietf:params:xml:ns:carddav'><d:prop><d:getetag/"
                                             "><A:address-data/></d:prop></d:propfind>"));
    static const auto* etags =
        new wire::XmlElement(wire::parse_xml("<propfind xmlns='DAV:'><prop><getetag/></prop></propfind>"));
    static const auto* a = new gw::PropQuery(gw::read_propfind(report));
    static const auto* b = new gw::PropQuery(gw::read_propfind(cards));
    static const auto* c = new gw::PropQuery(gw::read_propfind(etags));
    return work_ == Work::propfind ? *c : scene_.collection.kind == collections::Kind::calendar ? *a : *b;
  }
  const Scene& scene_;
  Work work_;
  Sent& sent_;
  std::string text_, href_;
  wire::Multistatus out_;
  gw::ItemWriter writer_;
  gw::View view_{bench().alice, "/dav", {}, &query().calendar_data, {}, {}};
  calendars::CalendarJoiner joiner_;
};

Task<> gathered(const Scene& scene, Answering& out) {
  struct Kept {
    ObjectRow row;
    std::string name, data;
  };
  std::vector<Kept> all;
  auto list =
      bench().all.objects().list(scene.collection.sight(), {}, {.times = false, .data = out.has_data()});
  for (auto page = co_await list.next(); !page.empty(); page = co_await list.next())
    for (const auto& row : page) all.push_back({row, std::string(row.name), std::string(row.data)});
  for (auto& each : all) {
    each.row.name = each.name;
    each.row.data = each.data;
    out.row(each.row);
  }
  out.end();
}

Task<> paged(const Scene& scene, Answering& out) {
  auto list =
      bench().all.objects().list(scene.collection.sight(), {}, {.times = false, .data = out.has_data()});
  for (auto page = co_await list.next(); !page.empty(); page = co_await list.next()) {
    for (const auto& row : page) out.row(row);
    out.send();
  }
  out.end();
}

void write_rows(const db::Rows& rows, Answering& out) {
  for (const auto row : rows) {
    ObjectRow one;
    one.name = row.text(0);
    one.etag = row.uuid(1);
    one.seq = row.i64(2);
    one.component = row.i16(3);
    one.size_bytes = row.i32(4);
    one.data = as_text(row.bytes(5));
    out.row(one);
  }
  out.send();
}

Task<> window(const Scene& scene, Answering& out) {
  db::CursorStream stream(bench().db, kWindow, db::Params(scene.collection.id));
  while (const auto rows = co_await stream.next()) write_rows(*rows, out);
  out.end();
}

Task<> offset(const Scene& scene, Answering& out) {
  constexpr std::int64_t kPage = 500;
  for (std::int64_t at = 0; at < scene.rows; at += kPage) {
    const auto rows = co_await bench().db.read(
        [&](db::Tx& tx) { return tx.exec(kOffset, scene.collection.id, kPage, at); });
    write_rows(rows, out);
  }
  out.end();
}

Sent answer(const Scene& scene, Work work, Arm arm, bool keep) {
  Sent sent;
  sent.keep = keep;
  Answering out(scene, work, sent);
  tests::run(arm == Arm::gathered ? gathered(scene, out)
             : arm == Arm::paged  ? paged(scene, out)
             : arm == Arm::window ? window(scene, out)
                                  : offset(scene, out));
  return sent;
}

void measure(benchmark::State& state, Work work, Arm arm) {
  const auto& scene = bench().scenes.at(static_cast<int>(state.range(0)));
  std::vector<double> first;
  std::size_t heap = 0;
  for (auto _ : state) {
    malloc_trim(0);
    const auto before = heap_in_use();
    const auto sent = answer(scene, work, arm, false);
    first.push_back(std::chrono::duration<double, std::micro>(sent.first).count());
    heap = std::max(heap, sent.heap_max - std::min(before, sent.heap_max));
  }
  std::sort(first.begin(), first.end());
  state.counters["first_us_p50"] = first[first.size() / 2];
  state.counters["heap_KiB"] = static_cast<double>(heap) / 1024;
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * scene.rows);
}

/// What a poll with an up-to-date ctag or token asks: the collection's row.
void BM_Poll(benchmark::State& state) {
  const auto& scene = bench().scenes.at(static_cast<int>(state.range(0)));
  for (auto _ : state)
    benchmark::DoNotOptimize(
        tests::run(bench().all.find(bench().alice, scene.collection.kind, scene.collection.path)));
}

struct Named {
  const char* name;
  Work work;
  std::vector<int> rows;
};
const Named kWorks[] = {{"Report", Work::report, {4'000, 12'000, 5'000, 8'000}},
                        {"Propfind", Work::propfind, {4'000, 12'000, 5'000, 8'000}},
                        {"IcsFile", Work::file, {4'000, 12'000}}};
constexpr std::pair<const char*, Arm> kArms[] = {{"Before_Gathered", Arm::gathered},
                                                 {"After_PageByPage", Arm::paged},
                                                 {"Other_Window", Arm::window},
                                                 {"Other_Offset", Arm::offset}};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const auto& work : kWorks)
    for (const auto rows : work.rows) {
      const auto& scene = bench().scenes.at(rows);
      const auto wanted = answer(scene, work.work, Arm::gathered, true).text;
      for (const auto& [name, arm] : kArms) {
        if (answer(scene, work.work, arm, true).text == wanted && !wanted.empty()) continue;
        std::fprintf(stderr, "%s of %d: %s gives other bytes\n", work.name, rows, name);
        return 1;
      }
    }
  for (const auto& work : kWorks)
    for (const auto& [name, arm] : kArms)
      for (const auto rows : work.rows)
        benchmark::RegisterBenchmark(
            (std::string("BM_") + work.name + '_' + name).c_str(),
            [work = work.work, arm = arm](benchmark::State& state) { measure(state, work, arm); })
            ->Arg(rows)
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
  for (const auto rows : {12'000, 8'000})
    benchmark::RegisterBenchmark("BM_Poll_UpToDate", BM_Poll)
        ->Arg(rows)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
