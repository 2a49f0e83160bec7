#include "welkin/blobs/check.hpp"

#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include "blobs/store_fixture.hpp"

// One fault of each kind: found by a look that changes nothing, repaired when asked, clean at the next look.
// What cannot be repaired is said, and known afterwards.
namespace welkin::blobs {
namespace {

namespace fs = std::filesystem;
using Outcome = Finding::Outcome;
constexpr std::size_t kKiB = 1 << 10, kMiB = 1 << 20;

class CheckTest : public StoreTest {
 protected:
  struct Seen {
    std::vector<Finding> findings;
    bool clean = false;
    /// "kind outcome", each once.
    std::set<std::string> words() const {
      static constexpr const char* kWords[] = {"found", "repaired", "left", "known"};
      std::set<std::string> out;
      for (const auto& f : findings) out.insert(f.kind + " " + kWords[static_cast<int>(f.outcome)]);
      return out;
    }
    std::string text() const {
      std::string out;
      for (const auto& f : findings)
        out += f.kind + " " + f.subject + ": " + f.detail + " -> " + f.action + "\n";
      return out;
    }
  };
  struct How {
    bool repair = false, deep = false;
    std::optional<unsigned> grace = 0;
  };

  Seen check(How how) {
    Seen seen;
    Inspection inspection(
        db(),
        {.data_dir = path().string(), .deep = how.deep, .repair = how.repair, .grace_seconds = how.grace},
        [&](const Finding& f) { seen.findings.push_back(f); });
    check_bytes(inspection);
    inspection.finish();
    seen.clean = inspection.clean();
    return seen;
  }

  /// Everything a check might touch, as text: rows, names, sizes, modes.
  std::string state() {
    std::string out;
    for (const std::string table : {"chunks", "contents", "inline_bodies", "content_chunks", "upload_chunks",
                                    "content_gc", "chunk_gc", "nodes", "settings", "known_damage"}) {
      const std::string text =
          "select coalesce(string_agg(t::text, e'\\n' order by t::text), '') from " + table + " t";
      out += table + ":\n" + db().read_now([&](db::Tx& tx) {
        const db::Stmt stmt{table.c_str(), text.c_str()};
        return tx.one(stmt)[0].str(0);
      }) + "\n";
    }
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(path())) {
      struct stat s{};
      ::lstat(entry.path().c_str(), &s);
      files.insert(entry.path().string() + " " + std::to_string(s.st_mode) + " " +
                   (S_ISREG(s.st_mode) ? std::to_string(s.st_size) : ""));
    }
    for (const auto& file : files) out += file + "\n";
    return out;
  }

  /// A fault is there. Says that a look sees it and nothing else, and touches nothing; that repair mends it
  /// (or, when `lost`, says that it cannot); and that the next look is clean.
  void prove(const std::string& kind, bool lost = false, bool deep = false) {
    const auto before = state();
    const auto look = check({.deep = deep});
    std::set<std::string> fresh = look.words();
    std::erase_if(fresh, [](const std::string& w) { return w.ends_with(" known"); });
    EXPECT_EQ(fresh, std::set<std::string>{kind + " found"}) << look.text();
    EXPECT_FALSE(look.clean);
    EXPECT_EQ(state(), before) << "a look changes nothing";
    const auto mend = check({.repair = true, .deep = deep});
    EXPECT_TRUE(mend.words().contains(kind + (lost ? " left" : " repaired"))) << mend.text();
    EXPECT_EQ(mend.clean, !lost) << mend.text();
    for (const auto& f : mend.findings) {
      if (f.outcome != Outcome::known) {
        EXPECT_NE(f.action, "") << f.kind;
      }
    }
    const auto again = check({.deep = deep});
    EXPECT_TRUE(again.clean) << again.text();
    for (const auto& f : again.findings) EXPECT_EQ(f.outcome, Outcome::known) << again.text();
    EXPECT_EQ(again.findings.empty(), !lost) << again.text();
    const auto mended_again = check({.repair = true, .deep = deep});
    EXPECT_TRUE(mended_again.clean) << mended_again.text();
  }

  std::size_t found_files() const {
    const fs::directory_iterator all(path() / "found");
    return static_cast<std::size_t>(std::distance(fs::begin(all), fs::end(all)));
  }
  static void flip(const fs::path& file) {
    std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
    char c = 0;
    f.read(&c, 1);
    f.seekp(0);
    c = static_cast<char>(c ^ 1);
    f.write(&c, 1);
  }
};

TEST_F(CheckTest, ASoundStoreIsClean) {
  put(random_bytes(5 * kMiB, 1));
  put(random_bytes(100, 2));
  put({});
  forget(put(random_bytes(kMiB, 3)));
  for (const bool deep : {false, true}) {
    const auto look = check({.deep = deep});
    EXPECT_TRUE(look.findings.empty()) << look.text();
  }
  const auto before = state();
  EXPECT_TRUE(check({.repair = true, .deep = true}).findings.empty());
  EXPECT_EQ(state(), before);
}

TEST_F(CheckTest, AMissingFileIsSetAsideAndHealsWithTheNextUpload) {
  const Bytes body = random_bytes(kMiB, 1);
  const ContentId content = put(body), other = put(random_bytes(kMiB, 2));
  fs::remove(chunk_files().front());
  const bool first = slug_of([&] { get(content); }) != "";
  prove("chunk.missing", true);
  const auto known = check({});
  ASSERT_EQ(known.findings.size(), 1u);
  EXPECT_EQ(known.findings[0].kind, "chunk.quarantined");
  EXPECT_NE(known.findings[0].detail.find("needed by 1 content: file "), std::string::npos) << known.text();
  EXPECT_EQ(slug_of([&] { get(first ? content : other); }), "content_damaged");
  // The same bytes come again: new content, new chunk, and the old content is whole.
  put(first ? body : random_bytes(kMiB, 2));
  store().collect();
  EXPECT_TRUE(get(content) == body);
  EXPECT_TRUE(get(other) == random_bytes(kMiB, 2));
  collect_all();
  EXPECT_TRUE(check({.deep = true}).findings.empty());
  EXPECT_EQ(count("chunks where quarantined"), 0);
}

TEST_F(CheckTest, AFileOfAWrongSize) {
  put(random_bytes(kMiB, 1));
  fs::resize_file(chunk_files().front(), 1000);
  prove("chunk.size", true);
  EXPECT_TRUE(chunk_files().empty()) << "it lies in quarantine/";
  EXPECT_FALSE(fs::is_empty(path() / "quarantine"));
}

TEST_F(CheckTest, AFlippedBitIsFoundByADeepLookOnly) {
  put(random_bytes(kMiB, 1));
  flip(chunk_files().front());
  EXPECT_TRUE(check({}).findings.empty());
  prove("chunk.damaged", true, true);
}

TEST_F(CheckTest, ADamagedChunkWithASoundTwinIsReplaced) {
  const Bytes body = random_bytes(kMiB, 1);
  const ContentId content = put(body);
  sql("update chunks set quarantined = true");
  fs::rename(chunk_files().front(), path() / "quarantine" / chunk_files().front().filename());
  for (const auto& entry : fs::directory_iterator(path() / "quarantine")) flip(entry.path());
  put(body);
  prove("chunk.healable");
  EXPECT_TRUE(get(content) == body);
}

TEST_F(CheckTest, BytesThatAreBroughtBackAreUsedAgain) {
  const Bytes body = random_bytes(kMiB, 1);
  const ContentId content = put(body);
  const auto file = chunk_files().front();
  fs::copy_file(file, path().parent_path() / "backup");
  fs::resize_file(file, 5);
  EXPECT_FALSE(check({.repair = true}).clean);
  EXPECT_EQ(slug_of([&] { get(content); }), "content_damaged");
  fs::rename(path().parent_path() / "backup", file);
  prove("chunk.sound_again");
  EXPECT_TRUE(get(content) == body);
}

TEST_F(CheckTest, AnOrphanIsMovedAsideNotDeleted) {
  const Bytes body = random_bytes(kMiB, 1);
  const ContentId kept = put(random_bytes(kMiB, 2));
  const Sealed lost = seal(body);  // neither recorded nor abandoned
  ASSERT_EQ(chunk_files().size(), 2u);
  EXPECT_TRUE(check({.grace = 3600}).findings.empty()) << "perhaps an upload is just about to name it";
  EXPECT_TRUE(check({.grace = std::nullopt}).findings.empty()) << "a day beside a store in use";
  prove("file.orphan");
  EXPECT_EQ(chunk_files().size(), 1u);
  ASSERT_EQ(found_files(), 1u);
  EXPECT_EQ(fs::file_size(fs::directory_iterator(path() / "found")->path()), kMiB);
  EXPECT_EQ(slug_of([&] { record(lost); }), "body_expired") << "who comes late after all starts over";
  EXPECT_TRUE(get(put(body)) == body);
  EXPECT_TRUE(get(kept) == random_bytes(kMiB, 2));
}

TEST_F(CheckTest, AnOrphanWithMissedBytesIsTakenIn) {
  const Bytes body = random_bytes(kMiB, 1);
  const ContentId content = put(body);
  flip(chunk_files().front());
  EXPECT_FALSE(check({.repair = true, .deep = true}).clean);
  static_cast<void>(seal(body));
  prove("file.orphan");
  EXPECT_TRUE(get(content) == body);
  EXPECT_EQ(found_files(), 0u);
}

TEST_F(CheckTest, AFileUnderAHashItsRowDoesNotHave) {
  put(random_bytes(kMiB, 1));
  const auto file = chunk_files().front();
  const auto name = file.filename().string();
  fs::copy_file(file, file.parent_path() / (std::string(64, 'a') + name.substr(64)));
  prove("file.orphan");
  EXPECT_EQ(chunk_files().size(), 1u);
}

TEST_F(CheckTest, AFileInAWrongDirectory) {
  const Bytes body = random_bytes(kMiB, 1);
  const ContentId content = put(body);
  const auto file = chunk_files().front();
  const auto wrong = path() / "blobs" / (file.parent_path().filename() == "aa" ? "ab" : "aa");
  fs::copy_file(file, wrong / file.filename());
  prove("file.misplaced");
  fs::rename(file, wrong / file.filename());
  const auto mend = check({.repair = true});
  EXPECT_TRUE(mend.words().contains("file.misplaced repaired")) << mend.text();
  EXPECT_TRUE(check({}).findings.empty());
  EXPECT_TRUE(get(content) == body);
}

TEST_F(CheckTest, ForeignThingsInTheStore) {
  std::ofstream(path() / "blobs" / "07" / "holiday.jpg") << "mine";
  prove("file.foreign");
  EXPECT_EQ(found_files(), 1u);
  fs::create_symlink("/etc/passwd", path() / "blobs" / "08" / "link");
  ::mkfifo((path() / "spool" / "fifo").c_str(), 0600);
  fs::create_directory(path() / "quarantine" / "folder");
  prove("file.foreign");
  EXPECT_EQ(found_files(), 4u);
}

TEST_F(CheckTest, ALinkInThePlaceOfAChunk) {
  const Bytes body = random_bytes(kMiB, 1);
  const ContentId content = put(body);
  const auto file = chunk_files().front(), elsewhere = path().parent_path() / "elsewhere";
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  EXPECT_EQ(slug_of([&] { get(content); }), "content_damaged") << "links are not followed";
  prove("chunk.missing", true);
}

TEST_F(CheckTest, SpoolAndQuarantineLeftovers) {
  std::ofstream(path() / "spool" / "7f.part") << "half a chunk";
  prove("spool.leftover");
  std::ofstream(path() / "quarantine" / (std::string(64, 'b') + ".7f")) << "of no row";
  prove("quarantine.leftover");
  EXPECT_EQ(found_files(), 2u);
}

TEST_F(CheckTest, AGapInAContent) {
  const ContentId content = put(random_bytes(5 * kMiB, 1));
  ASSERT_GT(count("content_chunks"), 2);
  sql("insert into chunk_gc (chunk_id) select chunk_id from content_chunks where off = (select max(off) from "
      "content_chunks"
      " where off < (select max(off) from content_chunks)); delete from content_chunks where off = (select "
      "max(off) from"
      " content_chunks where off < (select max(off) from content_chunks))");
  prove("content.layout", true);
  EXPECT_EQ(slug_of([&] { get(content); }), "content_damaged");
  forget(content);
  collect_all();
  EXPECT_TRUE(check({.repair = true}).findings.empty());
  EXPECT_EQ(count("known_damage"), 0) << "what is gone is forgotten";
}

TEST_F(CheckTest, AnOverlapInAContent) {
  put(random_bytes(5 * kMiB, 1));
  sql("update content_chunks set off = off - 1 where off > 0");
  prove("content.layout", true);
}

TEST_F(CheckTest, AWrongSumOfAContent) {
  put(random_bytes(5 * kMiB, 1));
  sql("update contents set size = size + 1");
  prove("content.layout", true);
}

TEST_F(CheckTest, AWrongCountOfChunks) {
  const Bytes body = random_bytes(5 * kMiB, 1);
  const ContentId content = put(body);
  sql("update contents set n_chunks = n_chunks + 1");
  prove("content.count");
  sql("update contents set n_chunks = 0");
  prove("content.count");
  EXPECT_TRUE(get(content) == body);
}

TEST_F(CheckTest, AnInlineBodyThatIsMissingOrShort) {
  const ContentId content = put(random_bytes(1000, 1));
  sql("update inline_bodies set body = substr(body, 2)");
  prove("content.body", true);
  sql("delete from inline_bodies");
  const auto known = check({});
  EXPECT_EQ(known.words(), std::set<std::string>{"content.body known"});
  EXPECT_EQ(slug_of([&] { get(content); }), "content_damaged");
}

TEST_F(CheckTest, ADamagedInlineBodyIsFoundByADeepLook) {
  put(random_bytes(1000, 1));
  sql("update inline_bodies set body = set_byte(body, 500, 255 - get_byte(body, 500))");
  EXPECT_TRUE(check({}).findings.empty());
  prove("content.body_damaged", true, true);
  EXPECT_EQ(check({.repair = true}).findings.size(), 0u);
  EXPECT_EQ(count("known_damage"), 1) << "a quick look, which cannot see it, does not forget it";
}

TEST_F(CheckTest, ASurplusInlineBody) {
  const Bytes body = random_bytes(2 * kMiB, 1);
  const ContentId content = put(body);
  sql("insert into inline_bodies select id, 'not these' from contents");
  prove("content.count");
  EXPECT_TRUE(get(content) == body);
  EXPECT_EQ(fs::file_size(path() / "found" / ("content-" + std::to_string(content.value))), 9u);
}

TEST_F(CheckTest, SurplusChunksBesideAnInlineBody) {
  const Bytes body = random_bytes(1000, 1);
  const ContentId content = put(body);
  put(random_bytes(kMiB, 2));
  sql("insert into content_chunks select " + std::to_string(content.value) + ", 0, id from chunks");
  prove("content.count");
  EXPECT_TRUE(get(content) == body);
  collect_all();
  EXPECT_EQ(count("chunks"), 1) << "the other content needs it";
}

TEST_F(CheckTest, WhatNothingRefersToIsQueued) {
  const ContentId content = put(random_bytes(kMiB, 1));
  sql("delete from nodes where content_id is not null");
  prove("content.unqueued");
  collect_all();
  EXPECT_EQ(count("contents") + count("chunks"), 0);
  put(random_bytes(kMiB, 2));
  sql("delete from nodes where content_id is not null; delete from contents");
  prove("chunk.unqueued");
  collect_all();
  EXPECT_EQ(count("chunks"), 0);
  EXPECT_TRUE(content);
}

TEST_F(CheckTest, ADyingChunkThatLostItsPlaceInTheQueue) {
  put(random_bytes(kMiB, 2));
  sql("delete from nodes where content_id is not null; delete from contents; update chunks set state = 1");
  prove("chunk.unqueued");
}

TEST_F(CheckTest, ParkedChunksAreTriedAgain) {
  forget(put(random_bytes(kMiB, 2)));
  sql("delete from contents; delete from content_gc; insert into chunk_gc (chunk_id, attempts, parked) "
      "select id, 10, true from chunks");
  prove("queue.parked");
  EXPECT_EQ(collect_all(), 1u);
}

TEST_F(CheckTest, ADirectoryThatOthersMayRead) {
  ::chmod((path() / "blobs").c_str(), 0755);
  ::chmod((path() / "blobs" / "07").c_str(), 0777);
  prove("directory.mode");
}

TEST_F(CheckTest, ForeignThingsInTheDataDirectory) {
  std::ofstream(path() / "notes.txt") << "mine";
  prove("directory.foreign", true);
  EXPECT_TRUE(fs::exists(path() / "notes.txt")) << "perhaps the operator's";
}

TEST_F(CheckTest, ADirectoryThatIsALink) {
  fs::rename(path() / "quarantine", path().parent_path() / "elsewhere");
  fs::create_directory_symlink(path().parent_path() / "elsewhere", path() / "quarantine");
  EXPECT_THROW(check({}), std::exception) << "nothing behind it is looked at";
}

TEST_F(CheckTest, AnotherStoresDirectoryIsRefused) {
  sql("update settings set value = '00000000-0000-4000-8000-000000000000' where key = 'store.id'");
  EXPECT_THROW(check({.repair = true}), std::runtime_error);
  sql("delete from settings");
  EXPECT_THROW(check({.repair = true}), std::runtime_error);
}

TEST_F(CheckTest, ASuspectStoreIsLookedAtButNotRepaired) {
  put(random_bytes(kMiB, 1));
  fs::resize_file(chunk_files().front(), 1000);
  sql("insert into settings values ('store.suspect', 'a test')");
  EXPECT_EQ(check({}).words(), std::set<std::string>{"chunk.size found"});
  EXPECT_THROW(check({.repair = true}), std::runtime_error);
  EXPECT_EQ(count("chunks where quarantined"), 0);
}

TEST_F(CheckTest, WithoutAServerNoGraceIsNeeded) {
  static_cast<void>(seal(random_bytes(kMiB, 1)));
  close();
  const auto look = check({.grace = std::nullopt});
  EXPECT_EQ(look.words(), std::set<std::string>{"file.orphan found"});
}

TEST_F(CheckTest, LiveTrafficIsNoFault) {
  options().orphan_seconds = 86'400;
  open();
  constexpr int kWriters = 3, kRounds = 40;
  std::vector<Bytes> bodies;
  for (std::uint64_t i = 0; i < 6; ++i)
    bodies.push_back(random_bytes(i % 2 ? 500 : 70 * kKiB + 500 * kKiB * i, i));
  std::atomic<int> writers_left = kWriters;
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w)
    threads.emplace_back([&, w] {
      std::mt19937 random(static_cast<unsigned>(w));
      std::vector<ContentId> mine;
      for (int i = 0; i < kRounds; ++i) {
        mine.push_back(put(bodies[random() % bodies.size()]));
        if (random() % 2 == 0) {
          forget(mine.front());
          mine.erase(mine.begin());
        }
      }
      --writers_left;
    });
  threads.emplace_back([&] {
    while (writers_left > 0) {
      store().collect();
      store().sweep();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  int looks = 0;
  for (; writers_left > 0 || looks < 3; ++looks) {
    const auto look = check({.repair = looks % 2 == 1, .deep = looks % 3 == 2, .grace = std::nullopt});
    EXPECT_TRUE(look.findings.empty()) << look.text();
  }
  for (auto& thread : threads) thread.join();
  RecordProperty("looks", looks);
}

}  // namespace
}  // namespace welkin::blobs
