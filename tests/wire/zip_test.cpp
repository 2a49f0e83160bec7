#include "welkin/wire/zip.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "welkin/core/error.hpp"

namespace welkin::wire {
namespace {

struct Item {
  std::string name;
  std::size_t parent = kZipTop;
  bool is_folder = false;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_at = 1'000'000'000;
};

ZipLayout layout_of(const std::vector<Item>& items) {
  return {items.size(), [&items](std::size_t i) {
            ZipEntry e;
            e.name = items[i].name;
            e.parent = items[i].parent;
            e.is_folder = items[i].is_folder;
            e.size_bytes = items[i].size_bytes;
            e.crc32 = 0x01020304u + static_cast<std::uint32_t>(i);
            e.modified_at = items[i].modified_at;
            return e;
          }};
}

/// What a body would hold at an offset.
char body_byte(std::size_t entry, std::uint64_t at) { return static_cast<char>('a' + (entry * 7 + at) % 26); }

std::string bytes_of(const ZipLayout& layout, Slice slice) {
  std::string out;
  auto walk = layout.walk(slice);
  while (const auto piece = walk.next()) {
    if (!piece->is_body) {
      EXPECT_FALSE(piece->bytes.empty());
      out += piece->bytes;
      continue;
    }
    EXPECT_GT(piece->body.length, 0u);
    for (std::uint64_t i = 0; i < piece->body.length; ++i)
      out += body_byte(piece->entry, piece->body.offset + i);
  }
  return out;
}

/// Little-endian number of `bytes` bytes at an offset.
std::uint64_t number(const std::string& s, std::uint64_t at, int bytes) {
  std::uint64_t v = 0;
  for (int i = bytes - 1; i >= 0; --i)
    v = v << 8 | static_cast<unsigned char>(s.at(at + static_cast<std::uint64_t>(i)));
  return v;
}

const std::vector<Item> kTree = {
    {"top", kZipTop, true, 0, 0}, {"a.txt", 0, false, 5},
    {"empty", 0, true, 0},        {"sub", 0, true, 0},
    {"zero", 3, false, 0, -1},    {"\xf0\x9f\x8c\x8d", 3, false, 300, 4'000'000'000},
    {"z", kZipTop, false, 1}};

TEST(Zip, HeadersSayWhatIsKnown) {
  const auto layout = layout_of(kTree);
  const auto all = bytes_of(layout, {0, layout.size_bytes()});
  ASSERT_EQ(all.size(), layout.size_bytes());
  const auto at = layout.offset(1);
  EXPECT_EQ(number(all, at, 4), 0x04034b50u);
  EXPECT_EQ(number(all, at + 4, 2), 20u);                                     // version needed
  EXPECT_EQ(number(all, at + 6, 2), 0x0800u);                                 // UTF-8, no data descriptor
  EXPECT_EQ(number(all, at + 8, 2), 0u);                                      // stored
  EXPECT_EQ(number(all, at + 10, 2), (1u << 11 | 46u << 5 | 40u / 2));        // 01:46:40
  EXPECT_EQ(number(all, at + 12, 2), ((2001u - 1980u) << 9 | 9u << 5 | 9u));  // 2001-09-09
  EXPECT_EQ(number(all, at + 14, 4), 0x01020305u);
  EXPECT_EQ(number(all, at + 18, 4), 5u);
  EXPECT_EQ(number(all, at + 22, 4), 5u);
  EXPECT_EQ(number(all, at + 26, 2), 9u);
  EXPECT_EQ(number(all, at + 28, 2), 9u);
  EXPECT_EQ(all.substr(at + 30, 9), "top/a.txt");
  EXPECT_EQ(number(all, at + 39, 2), 0x5455u);
  EXPECT_EQ(number(all, at + 44, 4), 1'000'000'000u);
  EXPECT_EQ(all.substr(at + 48, 5), "hijkl");
  const auto end = all.size() - 22;
  EXPECT_EQ(number(all, end, 4), 0x06054b50u);
  EXPECT_EQ(number(all, end + 10, 2), kTree.size());
  const auto directory = number(all, end + 16, 4);
  EXPECT_EQ(number(all, end + 12, 4), end - directory);
  EXPECT_EQ(number(all, directory, 4), 0x02014b50u);
  EXPECT_EQ(number(all, directory + 38, 4), (040755u << 16 | 0x10));  // a folder
  EXPECT_EQ(all.substr(directory + 46, 4), "top/");
}

TEST(Zip, TimesOutOfTheirRangeAreCutAndLeaveTheExtraOut) {
  const auto layout = layout_of(kTree);
  const auto all = bytes_of(layout, {0, layout.size_bytes()});
  const auto before = layout.offset(4), after = layout.offset(5);
  EXPECT_EQ(number(all, before + 12, 2), (0u << 9 | 1u << 5 | 1u));  // 1980-01-01
  EXPECT_EQ(number(all, before + 28, 2), 0u);
  EXPECT_EQ(number(all, after + 28, 2), 0u);
  EXPECT_EQ(number(all, after + 12, 2) >> 9, 2096u - 1980u);
  std::vector<Item> far{{"x", kZipTop, false, 0, 99'999'999'999}};
  const auto last = bytes_of(layout_of(far), {0, 40});
  EXPECT_EQ(number(last, 12, 2), (127u << 9 | 12u << 5 | 31u));
  EXPECT_EQ(number(last, 10, 2), (23u << 11 | 59u << 5 | 29u));
}

TEST(Zip, AnyRangeIsThatPartOfTheWhole) {
  const auto layout = layout_of(kTree);
  const auto all = bytes_of(layout, {0, layout.size_bytes()});
  for (std::uint64_t begin = 0; begin <= all.size(); ++begin) {
    ASSERT_EQ(bytes_of(layout, {begin, 1}), all.substr(begin, 1)) << begin;
    ASSERT_EQ(bytes_of(layout, {begin, all.size()}), all.substr(begin)) << begin;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t begin = random() % all.size(), length = random() % 400;
    ASSERT_EQ(bytes_of(layout, {begin, length}), all.substr(begin, length)) << begin << "+" << length;
  }
  EXPECT_EQ(bytes_of(layout, {all.size() + 5, 10}), "");
}

TEST(Zip, NothingIsAnArchiveToo) {
  const auto layout = layout_of({});
  EXPECT_EQ(layout.size_bytes(), 22u);
  EXPECT_EQ(bytes_of(layout, {0, 22}).substr(0, 4), "PK\5\6");
}

TEST(Zip, LargeOnesUseWideNumbersAndOnlyThose) {
  constexpr std::uint64_t kLarge = 0xFFFFFFFF, kJustBelow = kLarge - 1;
  const std::vector<Item> items{
      {"below", kZipTop, false, kJustBelow}, {"large", kZipTop, false, kLarge}, {"far", kZipTop, false, 3}};
  const auto layout = layout_of(items);
  const auto first = bytes_of(layout, {0, 44});
  EXPECT_EQ(number(first, 4, 2), 20u);
  EXPECT_EQ(number(first, 18, 4), kJustBelow);
  EXPECT_EQ(layout.offset(1), 30 + 5 + 9 + kJustBelow);
  const auto second = bytes_of(layout, {layout.offset(1), 64});
  EXPECT_EQ(number(second, 4, 2), 45u);
  EXPECT_EQ(number(second, 18, 4), kLarge);
  EXPECT_EQ(number(second, 28, 2), 29u);
  EXPECT_EQ(number(second, 35, 2), 1u);
  EXPECT_EQ(number(second, 37, 2), 16u);
  EXPECT_EQ(number(second, 39, 8), kLarge);
  EXPECT_EQ(layout.offset(2), layout.offset(1) + 30 + 5 + 20 + 9 + kLarge);
  // The end: records of 60, 46+5+9+28 and 46+3+9+12 bytes, then the wide end, its locator and the end.
  const std::uint64_t records = 60 + 88 + 70;
  const auto directory = layout.offset(2) + 30 + 3 + 9 + 3;
  EXPECT_EQ(layout.size_bytes(), directory + records + 56 + 20 + 22);
  const auto end = bytes_of(layout, {directory, 10'000});
  EXPECT_EQ(number(end, 60 + 46 + 5 + 2, 2), 24u);  // sizes and offset
  EXPECT_EQ(number(end, 60 + 46 + 5 + 4 + 16, 8), layout.offset(1));
  EXPECT_EQ(number(end, 148 + 46 + 3 + 2, 2), 8u);  // the offset alone
  EXPECT_EQ(number(end, 148 + 24, 4), 3u);
  EXPECT_EQ(number(end, 148 + 42, 4), kLarge);
  EXPECT_EQ(number(end, records, 4), 0x06064b50u);
  EXPECT_EQ(number(end, records + 48, 8), directory);
  EXPECT_EQ(number(end, records + 56, 4), 0x07064b50u);
  EXPECT_EQ(number(end, records + 64, 8), directory + records);
  EXPECT_EQ(number(end, records + 76 + 16, 4), kLarge);
  // A range far behind the large body needs nothing of it.
  EXPECT_EQ(bytes_of(layout, {layout.offset(2) + 42, 3}),
            bytes_of(layout, {layout.offset(2), 100}).substr(42, 3));
}

TEST(Zip, CountsFrom65535OnAreWide) {
  for (const std::size_t count : {65'534u, 65'535u, 70'000u}) {
    std::vector<Item> items(count, {"n", kZipTop, false, 0});
    const auto layout = layout_of(items);
    const auto end = bytes_of(layout, {layout.size_bytes() - 98, 98});
    const bool wide = count >= 65'535;
    EXPECT_EQ(number(end, 0, 4) == 0x06064b50u, wide) << count;
    EXPECT_EQ(number(end, 76 + 10, 2), wide ? 0xFFFFu : count);
    if (wide) EXPECT_EQ(number(end, 32, 8), count);
    // The directory is made in turns, wherever one begins.
    const auto records = bytes_of(layout, {count * 40, layout.size_bytes()});
    EXPECT_EQ(records.size(), layout.size_bytes() - count * 40);
    EXPECT_EQ(bytes_of(layout, {layout.size_bytes() - 1000, 1000}), records.substr(records.size() - 1000));
  }
}

TEST(Zip, DeepPathsAreMadeFromTheirParts) {
  std::vector<Item> items;
  const std::string name(255, 'x');
  std::size_t fits = 0;
  try {
    for (;; ++fits) {
      items.push_back({name, items.empty() ? kZipTop : items.size() - 1, true});
      layout_of(items);
    }
  } catch (const Error& e) {
    EXPECT_STREQ(e.slug(), "path_too_long");
  }
  EXPECT_EQ(fits, 255u);  // 255 * 256 = 65,280
  items.pop_back();
  const auto layout = layout_of(items);
  const auto path = bytes_of(layout, {layout.offset(fits - 1) + 30, fits * 256});
  EXPECT_EQ(std::count(path.begin(), path.end(), '/'), static_cast<std::ptrdiff_t>(fits));
}

}  // namespace
}  // namespace welkin::wire
