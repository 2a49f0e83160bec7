#include "blobs/posix_vfs.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "blobs/temp_dir.hpp"

namespace welkin::blobs {
namespace {

namespace fs = std::filesystem;
constexpr Area kSpool{Area::Kind::spool, 0};
constexpr Area kSeven{Area::Kind::blobs, 7};

class PosixVfsTest : public testing::Test {
 protected:
  PosixVfsTest() {
    fs::create_directories(dir_.path() / "spool");
    fs::create_directories(dir_.path() / "quarantine");
    for (const char* name : {"07", "08", "ff"}) fs::create_directories(dir_.path() / "blobs" / name);
  }
  void write(const std::string& name, std::string_view text) {
    auto file = vfs().create(kSpool, name);
    vfs().write(*file, 0, as_bytes(text));
    EXPECT_EQ(vfs().sync(*file), SyncResult::ok);
  }
  std::string read(Area area, const std::string& name) {
    auto file = vfs().open(area, name);
    if (!file) return "(none)";
    std::string out(100, '\0');
    out.resize(vfs().read(**file, 0, std::as_writable_bytes(std::span(out))));
    return out;
  }
  PosixVfs& vfs() {
    if (!vfs_) vfs_ = std::make_unique<PosixVfs>(dir_.path().string());
    return *vfs_;
  }
  VfsError::Kind failure(const std::function<void()>& f) {
    try {
      f();
    } catch (const VfsError& e) {
      return e.kind();
    }
    ADD_FAILURE() << "no VfsError";
    return VfsError::Kind::other;
  }

  TempDir dir_;
  std::unique_ptr<PosixVfs> vfs_;
};

TEST_F(PosixVfsTest, OnlyWhatIsInMemoryIsOpenedWithoutWaiting) {
  const std::string text(5 * 4096, 'x');
  write("1.part", text);
  vfs().place("1.part", kSeven, "name");
  fs::create_symlink("name", dir_.path() / "blobs/07/link");
  ASSERT_EQ(::mkfifo((dir_.path() / "blobs/07/fifo").c_str(), 0600), 0);
  vfs_.reset();
  EXPECT_FALSE(vfs().open_cached(kSeven, "name", {0, 1})) << "the directory would have to be opened";
  EXPECT_EQ(read(kSeven, "name"), text.substr(0, 100));
  for (const Slice piece : {Slice{0, text.size()}, Slice{4096, 1}, Slice{text.size() - 1, 1}}) {
    const auto cached = vfs().open_cached(kSeven, "name", piece);
    ASSERT_TRUE(cached) << piece.offset;
    EXPECT_EQ(cached->stat.size_bytes, text.size());
    std::string got(piece.length, '\0');
    EXPECT_EQ(vfs().read(*cached->file, piece.offset, std::as_writable_bytes(std::span(got))), piece.length);
    EXPECT_EQ(got, std::string(piece.length, 'x'));
  }
  for (const char* name : {"missing", "link", "fifo", "../07/name", ".."})
    EXPECT_FALSE(vfs().open_cached(kSeven, name, {0, 1})) << name;
  EXPECT_FALSE(vfs().open_cached(kSeven, "name", {0, 0}));
  EXPECT_FALSE(vfs().open_cached(kSeven, "name", {text.size(), 1})) << "beyond the end";
}

TEST_F(PosixVfsTest, WhatTheDiskMustBeAskedForIsNotOpenedWithoutWaiting) {
  const std::string text(5 * 4096, 'x');
  write("1.part", text);
  vfs().place("1.part", kSeven, "name");
  read(kSeven, "name");
  ASSERT_TRUE(vfs().open_cached(kSeven, "name", {0, text.size()}));
  const auto file = vfs().open(kSeven, "name");
  // All of it: part of a large page cannot be dropped.
  ASSERT_EQ(::posix_fadvise((*file)->descriptor(), 0, 0, POSIX_FADV_DONTNEED), 0);
  void* const at = ::mmap(nullptr, text.size(), PROT_READ, MAP_SHARED, (*file)->descriptor(), 0);
  ASSERT_NE(at, MAP_FAILED);
  unsigned char pages[5] = {};
  ASSERT_EQ(::mincore(at, text.size(), pages), 0);
  ::munmap(at, text.size());
  if ((pages[2] & 1) != 0) GTEST_SKIP() << "this file system keeps its files in memory";
  EXPECT_FALSE(vfs().open_cached(kSeven, "name", {0, text.size()}));
  EXPECT_EQ(read(kSeven, "name"), text.substr(0, 100));
  EXPECT_TRUE(vfs().open_cached(kSeven, "name", {0, 100})) << "now it has been asked";
}

TEST_F(PosixVfsTest, AFileIsWrittenPlacedReadAndRemoved) {
  write("1.part", "bytes");
  vfs().place("1.part", kSeven, "name");
  EXPECT_EQ(vfs().sync_dir(kSeven), SyncResult::ok);
  EXPECT_FALSE(vfs().exists(kSpool, "1.part"));
  EXPECT_TRUE(vfs().exists(kSeven, "name"));
  EXPECT_EQ(read(kSeven, "name"), "bytes");
  EXPECT_EQ(vfs().stat(kSeven, "name")->size_bytes, 5u);
  EXPECT_TRUE(vfs().remove(kSeven, "name"));
  EXPECT_FALSE(vfs().remove(kSeven, "name"));
  EXPECT_FALSE(vfs().open(kSeven, "name"));
  EXPECT_FALSE(vfs().stat(kSeven, "name"));
}

TEST_F(PosixVfsTest, NothingIsReplaced) {
  write("1.part", "one");
  EXPECT_EQ(failure([&] { vfs().create(kSpool, "1.part"); }), VfsError::Kind::exists);
  vfs().place("1.part", kSeven, "name");
  write("2.part", "two");
  EXPECT_EQ(failure([&] { vfs().place("2.part", kSeven, "name"); }), VfsError::Kind::exists);
  EXPECT_EQ(read(kSeven, "name"), "one");
  EXPECT_EQ(read(kSpool, "2.part"), "two");
}

TEST_F(PosixVfsTest, OneFileIsFlushedOnce) {
  auto file = vfs().create(kSpool, "1.part");
  EXPECT_EQ(vfs().sync(*file), SyncResult::ok);
  EXPECT_EQ(vfs().sync(*file), SyncResult::failed) << "a second flush proves nothing";
}

TEST_F(PosixVfsTest, ModesDoNotDependOnTheUmask) {
  const mode_t before = ::umask(0);
  write("1.part", "x");
  ::umask(0777);
  write("2.part", "x");
  ::umask(before);
  for (const char* name : {"1.part", "2.part"}) {
    struct stat s{};
    ASSERT_EQ(::stat((dir_.path() / "spool" / name).c_str(), &s), 0);
    EXPECT_EQ(s.st_mode & 07777, 0600u) << name;
  }
}

TEST_F(PosixVfsTest, LinksAndFifosAreNotFollowed) {
  std::ofstream(dir_.path() / "secret") << "secret";
  const auto blobs = dir_.path() / "blobs" / "07";
  fs::create_symlink(dir_.path() / "secret", blobs / "link");
  ASSERT_EQ(::mkfifo((blobs / "fifo").c_str(), 0600), 0);
  fs::create_directory(blobs / "folder");
  for (const char* name : {"link", "fifo", "folder"}) {
    EXPECT_EQ(failure([&] { vfs().open(kSeven, name); }), VfsError::Kind::io) << name;
    EXPECT_FALSE(vfs().exists(kSeven, name)) << name;
  }
  fs::create_symlink(dir_.path() / "not there", dir_.path() / "spool" / "3.part");
  EXPECT_EQ(failure([&] { vfs().create(kSpool, "3.part"); }), VfsError::Kind::exists);
  EXPECT_FALSE(fs::exists(dir_.path() / "not there"));
  EXPECT_TRUE(vfs().remove(kSeven, "link")) << "the link itself";
  EXPECT_TRUE(fs::exists(dir_.path() / "secret"));
}

TEST_F(PosixVfsTest, ADirectoryThatIsALinkIsRefused) {
  const auto outside = dir_.path() / "outside";
  fs::create_directory(outside);
  std::ofstream(outside / "victim") << "x";
  fs::create_directory_symlink(outside, dir_.path() / "blobs" / "09");
  EXPECT_EQ(failure([&] { vfs().remove({Area::Kind::blobs, 9}, "victim"); }), VfsError::Kind::other);
  fs::remove_all(dir_.path() / "spool");
  fs::create_directory_symlink(outside, dir_.path() / "spool");
  EXPECT_EQ(failure([&] { vfs().remove(kSpool, "victim"); }), VfsError::Kind::other);
  EXPECT_TRUE(fs::exists(outside / "victim"));
}

TEST_F(PosixVfsTest, NamesAreListedInOrderAndInPages) {
  for (const char* name : {"c", "a", "b", "d"}) std::ofstream(dir_.path() / "blobs" / "ff" / name) << "x";
  const Area area{Area::Kind::blobs, 0xff};
  EXPECT_EQ(vfs().list(area, "", 3), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(vfs().list(area, "c", 3), (std::vector<std::string>{"d"}));
  EXPECT_TRUE(vfs().list({Area::Kind::blobs, 8}, "", 3).empty());
}

TEST_F(PosixVfsTest, ManyFlushesOfOneDirectoryAtOnce) {
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string name = std::to_string(t) + "_" + std::to_string(i);
        write(name, "x");
        vfs().place(name, kSeven, name);
        good += vfs().sync_dir(kSeven) == SyncResult::ok;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 160);
  EXPECT_EQ(vfs().list(kSeven, "", 1000).size(), 160u);
}

TEST_F(PosixVfsTest, SpaceIsKnown) {
  const Space space = vfs().space();
  EXPECT_GT(space.total_bytes, 0u);
  EXPECT_LE(space.free_bytes, space.total_bytes);
  EXPECT_GT(space.free_inodes, 0u);
}

}  // namespace
}  // namespace welkin::blobs
