#include "media/reading.hpp"

#include <gtest/gtest.h>

namespace welkin::media {
namespace {

TEST(Reading, TakesTimesAsTheyAreWritten) {
  EXPECT_EQ(exif_time("1970:01:01 00:00:01", ""), 1'000'000);
  EXPECT_EQ(exif_time("2026:05:01 12:30:00", ""), 1'777'638'600'000'000);
  EXPECT_EQ(exif_time("2026-05-01T12:30:00", "+02:00"), 1'777'631'400'000'000);
  EXPECT_EQ(exif_time("2026:05:01 12:30:00", "-05:30"), 1'777'658'400'000'000);
  EXPECT_EQ(exif_time("2026:05:01 12:30:00", "nonsense"), 1'777'638'600'000'000);
  for (const char* none : {"", "2026:05:01", "0000:00:00 00:00:00", "2026:13:01 00:00:00",
                           "2026:01:01 24:00:00", "abcd:ef:gh ij:kl:mn", "9999:01:01 00:00:00"})
    EXPECT_EQ(exif_time(none, ""), std::nullopt) << none;
}

TEST(Reading, TakesAHeaderApart) {
  const auto facts = facts_of(
      "in: 4000x3000 uchar, 3 bands, srgb, jpegload\nwidth: 4000\nheight: 3000\norientation: 6\n"
      "exif-ifd0-Make: Canon (Ltd) (Canon (Ltd), ASCII, 12 components, 12 bytes)\n"
      "exif-ifd0-Model: EOS (EOS, ASCII, 4 components, 4 bytes)\n"
      "exif-ifd2-DateTimeOriginal: 2026:05:01 12:30:00 (2026:05:01 12:30:00, ASCII, 20 components, 20 "
      "bytes)\n"
      "exif-ifd3-GPSLatitudeRef: S (S, ASCII, 2 components, 2 bytes)\n"
      "exif-ifd3-GPSLatitude: 33/1 51/1 3000/100 (33, 51, 30.00, Rational, 3 components, 24 bytes)\n"
      "exif-ifd3-GPSLongitudeRef: E (E, ASCII, 2 components, 2 bytes)\n"
      "exif-ifd3-GPSLongitude: 151/1 12/1 0/1 (151, 12,  0, Rational, 3 components, 24 bytes)\n");
  EXPECT_EQ(facts.width, 3000) << "as shown";
  EXPECT_EQ(facts.height, 4000);
  EXPECT_EQ(facts.orientation, 6);
  EXPECT_EQ(facts.make, "Canon (Ltd)");
  EXPECT_EQ(facts.model, "EOS");
  EXPECT_EQ(facts.taken_at, 1'777'638'600'000'000);
  ASSERT_TRUE(facts.latitude && facts.longitude);
  EXPECT_NEAR(*facts.latitude, -33.858333, 1e-6);
  EXPECT_NEAR(*facts.longitude, 151.2, 1e-6);
}

TEST(Reading, BelievesNoNonsense) {
  const auto facts = facts_of(
      "width: -5\nheight: 99999999999999\norientation: 9\nexif-ifd0-Make: \xff\xfe\x01\n"
      "exif-ifd3-GPSLatitude: 1/0 0 0 (x, Rational, 3 components, 24 bytes)\nexif-ifd3-GPSLongitude: "
      "500/1\n: \n\n");
  EXPECT_FALSE(facts.width || facts.height || facts.orientation || facts.latitude || facts.longitude ||
               facts.taken_at);
  EXPECT_EQ(facts.make, "");
  EXPECT_FALSE(
      facts_of("exif-ifd3-GPSLatitude: 200/1 0/1 0/1\nexif-ifd3-GPSLongitude: 1/1 0/1 0/1\n").latitude);
}

TEST(Reading, FindsTheTextBetweenTags) {
  EXPECT_EQ(text_between_tags("<w:p><w:r><w:t>Hel</w:t></w:r><w:r><w:t>lo</w:t></w:r></w:p><w:p>you</w:p>"),
            " Hello  you ");
  EXPECT_EQ(text_between_tags("a &lt;b&gt; &amp;c; &quot;&apos;"), "a <b> &c; \"'");
  EXPECT_EQ(text_between_tags("before<never ends"), "before");
}

TEST(Reading, KeepsWhatCanBeLookedFor) {
  EXPECT_EQ(searchable("\xef\xbb\xbfplain"), "plain");
  EXPECT_EQ(searchable(std::string("a\0b", 3)), "a b");
  EXPECT_EQ(searchable("caf\xc3"), "caf") << "cut within a letter";
  EXPECT_EQ(searchable("\xe4\xb8"), "");
  EXPECT_EQ(searchable("\x89PNG\xff\xff\xff\xff not text"), "");
  EXPECT_EQ(searchable(""), "");
}

}  // namespace
}  // namespace welkin::media
