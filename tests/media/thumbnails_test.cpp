#include "welkin/media/thumbnails.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "files/room.hpp"
#include "media/pictures.hpp"

namespace welkin::media {
namespace {

using files::refusal_of;
using files::Room;
using tests::jpeg_dimensions;
using tests::run;

struct Thumbs : ::testing::Test {
  Room room;
  Caller alice = room.user("alice"), bob = room.user("bob");
  NodeId home = room.root(alice);
  Config config = with_data_dir();
  std::unique_ptr<Thumbnails> thumbnails =
      std::make_unique<Thumbnails>(room.database.db(), *room.store, *room.files, config);

  Config with_data_dir() {
    Config out = room.config;
    out.data_dir = room.directory.string();
    return out;
  }
  files::Node put(const std::string& name, const std::string& body) {
    return room.put(alice, home, name, body).node;
  }
  /// Asks until it is there, or there is none: the making has no time limit here but the test's patience.
  Thumbnail get(const Caller& caller, NodeId id, ThumbnailSize size) {
    Thumbnail found;
    for (int i = 0; i < 120; ++i) {
      found = run(thumbnails->find_or_make(caller, id, size));
      if (found.state != Thumbnail::State::pending) break;
    }
    return found;
  }
  std::size_t stored() {
    std::size_t n = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(config.data_dir + "/thumbnails"))
      n += entry.is_regular_file();
    return n;
  }
};

TEST_F(Thumbs, AreMadeInEachSize) {
  const auto picture = put("a.png", tests::png(1000, 500));
  for (const auto size : {ThumbnailSize::preview, ThumbnailSize::icon, ThumbnailSize::large}) {
    const auto found = get(alice, picture.id, size);
    ASSERT_EQ(found.state, Thumbnail::State::ready);
    const auto dimensions = jpeg_dimensions(found.jpeg);
    EXPECT_EQ(dimensions.width, static_cast<unsigned>(pixels_of(size)));
    EXPECT_EQ(dimensions.height, static_cast<unsigned>(pixels_of(size)) / 2);
    EXPECT_EQ(found.tag, picture.etag);
  }
  EXPECT_EQ(stored(), 3u);
}

TEST_F(Thumbs, OfSmallPicturesAreNotLarger) {
  const auto found = get(alice, put("a.png", tests::png(60, 40)).id, ThumbnailSize::preview);
  ASSERT_EQ(found.state, Thumbnail::State::ready);
  EXPECT_EQ(jpeg_dimensions(found.jpeg).width, 60u);
}

TEST_F(Thumbs, ADocumentsIsItsFirstPage) {
  const auto found = get(alice, put("a.pdf", tests::pdf("Hello")).id, ThumbnailSize::preview);
  ASSERT_EQ(found.state, Thumbnail::State::ready);
  EXPECT_EQ(jpeg_dimensions(found.jpeg).width, 400u);
  EXPECT_EQ(jpeg_dimensions(found.jpeg).height, 200u);
}

TEST_F(Thumbs, ThereIsNoneOfWhatIsNoPicture) {
  EXPECT_EQ(get(alice, put("a.txt", "text").id, ThumbnailSize::icon).state, Thumbnail::State::none);
  EXPECT_EQ(get(alice, home, ThumbnailSize::icon).state, Thumbnail::State::none);
  const auto broken = put("broken.jpg", "\xff\xd8\xff\xe0 this is no picture");
  EXPECT_EQ(get(alice, broken.id, ThumbnailSize::icon).state, Thumbnail::State::none);
  EXPECT_EQ(stored(), 1u) << "that nothing can be made of it is remembered";
  EXPECT_EQ(get(alice, broken.id, ThumbnailSize::large).state, Thumbnail::State::none);
  const auto huge =
      put("bomb.png", tests::png(1, 1).replace(16, 8, std::string("\x7f\xff\xff\xff\x7f\xff\xff\xff", 8)));
  EXPECT_EQ(get(alice, huge.id, ThumbnailSize::icon).state, Thumbnail::State::none);
}

TEST_F(Thumbs, TheRightIsAskedForBeforeTheCache) {
  const auto picture = put("a.png", tests::png(20, 20));
  ASSERT_EQ(get(alice, picture.id, ThumbnailSize::icon).state, Thumbnail::State::ready);
  EXPECT_EQ(refusal_of([&] { return thumbnails->find_or_make(bob, picture.id, ThumbnailSize::icon); }),
            "not_found");
}

TEST_F(Thumbs, NewContentHasANewPictureAndTag) {
  const auto before = put("a.png", tests::png(20, 10));
  EXPECT_EQ(jpeg_dimensions(get(alice, before.id, ThumbnailSize::icon).jpeg).height, 10u);
  const auto after = put("a.png", tests::png(20, 5));
  ASSERT_EQ(after.id, before.id);
  const auto found = get(alice, after.id, ThumbnailSize::icon);
  EXPECT_EQ(jpeg_dimensions(found.jpeg).height, 5u);
  EXPECT_NE(found.tag, before.etag);
}

TEST_F(Thumbs, WhoComesLaterWaitsWithTheFirst) {
  const auto picture = put("a.png", tests::png(1500, 1500));
  std::vector<std::thread> askers;
  std::atomic<int> ready = 0;
  for (int i = 0; i < 8; ++i) {
    askers.emplace_back([&] {
      if (get(alice, picture.id, ThumbnailSize::preview).state == Thumbnail::State::ready) ++ready;
    });
  }
  for (auto& asker : askers) asker.join();
  EXPECT_EQ(ready, 8);
  EXPECT_EQ(stored(), 2u) << "the one asked for, and the largest it was made of";
}

TEST_F(Thumbs, AClientMayBringOneForHisFileAlone) {
  const auto video = put("a.bin", "no picture at all");
  files::Files::Copy to;
  to.parent = home;
  to.name = "copy.bin";
  run(room.files->copy(alice, video.id, to));
  const auto copy = run(room.files->child(alice, home, "copy.bin"));
  ASSERT_EQ(copy->content, video.content);
  run(thumbnails->put(alice, video.id, ThumbnailSize::icon, tests::png(300, 300)));
  EXPECT_EQ(jpeg_dimensions(get(alice, video.id, ThumbnailSize::icon).jpeg).width, 150u);
  EXPECT_EQ(get(alice, copy->id, ThumbnailSize::icon).state, Thumbnail::State::none)
      << "not for another with the same bytes";
  put("a.bin", "other content");
  EXPECT_EQ(get(alice, video.id, ThumbnailSize::icon).state, Thumbnail::State::none);
  EXPECT_EQ(refusal_of([&] { return thumbnails->put(alice, video.id, ThumbnailSize::icon, "no picture"); }),
            "not_a_picture");
  EXPECT_EQ(refusal_of([&] { return thumbnails->put(bob, video.id, ThumbnailSize::icon, tests::png(3, 3)); }),
            "not_found");
  EXPECT_EQ(refusal_of([&] {
              return thumbnails->put(alice, video.id, ThumbnailSize::icon,
                                     std::string(Thumbnails::kBroughtBytesMax + 1, 'x'));
            }),
            "too_large");
}

TEST_F(Thumbs, GoWithTheContent) {
  const auto kept = put("kept.png", tests::png(20, 20));
  const auto gone = put("gone.png", tests::png(20, 30));
  ASSERT_EQ(get(alice, kept.id, ThumbnailSize::icon).state, Thumbnail::State::ready);
  ASSERT_EQ(get(alice, gone.id, ThumbnailSize::icon).state, Thumbnail::State::ready);
  ASSERT_EQ(stored(), 4u);
  room.sql("delete from nodes where id = " + std::to_string(gone.id.value) +
           "; delete from contents where id = " + std::to_string(gone.content.value));
  while (thumbnails->sweep_turn()) {
  }
  EXPECT_EQ(stored(), 2u);
  EXPECT_EQ(get(alice, kept.id, ThumbnailSize::icon).state, Thumbnail::State::ready);
}

TEST_F(Thumbs, ADamagedFileOfTheCacheIsMadeAnew) {
  const auto picture = put("a.png", tests::png(20, 20));
  const auto whole = get(alice, picture.id, ThumbnailSize::icon).jpeg;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(config.data_dir + "/thumbnails"))
    if (entry.is_regular_file()) std::filesystem::resize_file(entry.path(), 10);
  EXPECT_EQ(get(alice, picture.id, ThumbnailSize::icon).jpeg, whole);
}

}  // namespace
}  // namespace welkin::media
