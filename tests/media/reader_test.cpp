#include "welkin/media/reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "files/room.hpp"
#include "media/pictures.hpp"
#include "welkin/files/photos.hpp"
#include "welkin/files/search.hpp"
#include "welkin/media/thumbnails.hpp"

namespace welkin::media {
namespace {

using files::Room;
using tests::run;
using Names = std::vector<std::string>;

struct ReaderTest : ::testing::Test {
  Room room;
  Caller alice = room.user("alice"), bob = room.user("bob");
  NodeId home = room.root(alice);
  Config config = with_data_dir();
  Reader reader{room.database.db(), *room.store, config};

  Config with_data_dir() {
    Config out = room.config;
    out.data_dir = room.directory.string();
    return out;
  }
  NodeId put(const std::string& name, const std::string& body, std::optional<Micros> modified_at = {}) {
    files::UploadOptions options;
    options.target = {home, name, {}};
    options.modified_at = modified_at;
    return room.put(alice, options, body).node.id;
  }
  void read_all() {
    while (reader.turn()) {
    }
  }
  Names found(const std::string& text) {
    files::SearchQuery query;
    query.text = text;
    Names out;
    for (const auto& hit : run(room.files->search().find(alice, query)).items) out.push_back(hit.node.name);
    return out;
  }
  /// A JPEG, as the thumbnails make them.
  std::string jpeg() {
    Thumbnails thumbnails(room.database.db(), *room.store, *room.files, config);
    const auto id = put("seed.png", tests::png(80, 40));
    Thumbnail made;
    for (int i = 0; i < 120 && made.state != Thumbnail::State::ready; ++i)
      made = run(thumbnails.find_or_make(alice, id, ThumbnailSize::large));
    return made.jpeg;
  }
};

TEST_F(ReaderTest, WordsOfTextsAndDocumentsAreFound) {
  put("letter.txt", "Dear Zebra, about the insurance");
  put("large.md", "xylophone " + std::string(200'000, 'a') + " behindthelimit");
  put("paper.pdf", tests::pdf("Quokka contract"));
  put("noise.bin", "zebra in a file of no known type");
  put("not really.pdf", "zebra but no document");
  put("binary.txt", "\xff\xfe zebra");
  EXPECT_TRUE(found("zebra").empty());
  read_all();
  EXPECT_EQ(found("zebra"), Names{"letter.txt"});
  EXPECT_EQ(found("xylophone"), Names{"large.md"});
  EXPECT_TRUE(found("behindthelimit").empty());
  EXPECT_EQ(found("quokka"), Names{"paper.pdf"});
  EXPECT_EQ(found("quokka contract"), Names{"paper.pdf"});
  put("letter.txt", "Now about something else");
  put("again.txt", "zebra again");
  read_all();
  EXPECT_EQ(found("zebra"), Names{"again.txt"}) << "the present content counts";
  EXPECT_EQ(found("something else"), Names{"letter.txt"});
}

TEST_F(ReaderTest, ReadsEachContentOnce) {
  const auto id = put("a.txt", "kangaroo");
  read_all();
  EXPECT_EQ(room.number("select count(*) from content_facts"), 1);
  room.sql("update content_text set words = to_tsvector('simple', 'wallaby')");
  read_all();
  EXPECT_EQ(found("wallaby"), Names{"a.txt"});
  // Ten minutes later what was seen is passed for good, and what came since is not.
  room.sql("update content_reading set seen_at = now() - interval '11 minutes'");
  read_all();
  room.sql("update content_reading set seen_at = now() - interval '11 minutes'");
  read_all();
  EXPECT_GT(room.number("select done_to from content_reading"), 0);
  put("b.txt", "wombat");
  read_all();
  EXPECT_EQ(found("wombat"), Names{"b.txt"});
  EXPECT_EQ(room.number("select count(*) from content_text"), 2);
  room.sql(
      "delete from nodes where id = " + std::to_string(id.value) +
      "; delete from contents where id not in (select content_id from nodes where content_id is not null)");
  EXPECT_EQ(room.number("select count(*) from content_text"), 1) << "words go with the content";
}

TEST_F(ReaderTest, PicturesSayWhenAndWhereTheyWereTaken) {
  const auto picture = jpeg();
  ASSERT_FALSE(picture.empty());
  const auto taken = put("taken.jpg", tests::with_exif(picture), 1'000'000);
  const auto plain = put("plain.jpg", picture, 2'000'000);
  put("movie.mp4", "not looked into", 3'000'000'000'000'000);
  put("text.txt", "no picture");
  EXPECT_FALSE(run(room.files->photos().facts(alice, taken)));
  read_all();
  const auto facts = run(room.files->photos().facts(alice, taken));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->taken_at, 1'777'638'600'000'000);
  EXPECT_EQ(facts->make, "Maker");
  EXPECT_EQ(facts->model, "Cam");
  EXPECT_EQ(facts->orientation, 6);
  EXPECT_EQ(facts->width, 40) << "as shown: it is turned";
  EXPECT_EQ(facts->height, 80);
  EXPECT_NEAR(facts->latitude.value_or(0), 52.5, 1e-6);
  EXPECT_NEAR(facts->longitude.value_or(0), -13.25, 1e-6);
  EXPECT_EQ(run(room.files->photos().facts(alice, plain))->taken_at, std::nullopt);
  EXPECT_EQ(files::refusal_of([&] { return room.files->photos().facts(bob, taken); }), "not_found");

  Names names;
  files::PhotoQuery query;
  query.limit = 1;
  do {
    const auto page = run(room.files->photos().list(alice, query));
    for (const auto& photo : page.items) names.push_back(photo.node.name);
    query.after = page.next;
  } while (!query.after.empty() && names.size() < 10);
  EXPECT_EQ(names[0], "movie.mp4");
  EXPECT_EQ(std::count(names.begin(), names.end(), "seed.png"), 1);
  names.erase(std::remove(names.begin(), names.end(), "seed.png"), names.end());
  EXPECT_EQ(names, (Names{"movie.mp4", "taken.jpg", "plain.jpg"}));
  query = {};
  query.before = 2'000'000;
  EXPECT_TRUE(run(room.files->photos().list(alice, query)).items.empty());
  query.before = 2'000'001;
  EXPECT_EQ(run(room.files->photos().list(alice, query)).items.at(0).node.name, "plain.jpg");
  query = {};
  query.pictures = false;
  EXPECT_EQ(run(room.files->photos().list(alice, query)).items.size(), 1u);
  EXPECT_TRUE(run(room.files->photos().list(bob, {})).items.empty());
  const auto months = run(room.files->photos().months(alice));
  ASSERT_GE(months.size(), 3u);
  EXPECT_EQ(months.front().month, "2065-01");
  EXPECT_EQ(months.back().month, "1970-01");
  std::int64_t total = 0;
  for (const auto& month : months) total += month.count;
  EXPECT_EQ(total, 4);
  EXPECT_TRUE(run(room.files->photos().months(bob)).empty());
}

}  // namespace
}  // namespace welkin::media
