#include "rest/icons.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>

namespace welkin::rest {
namespace {

std::string triple(std::string_view mime, std::string_view name) {
  const auto& icon = icon_of(mime, name);
  return std::string(icon.icon_class) + "|" + std::string(icon.icon_special_class) + "|" +
         std::string(icon.category);
}

TEST(Icons, GoByTypeThenFamilyThenName) {
  EXPECT_EQ(triple("application/pdf", "a.zip"), "fas fa-file-pdf|pdf-icon|PDF");
  EXPECT_EQ(triple("text/csv", ""), "fas fa-file-excel|spreadsheet-icon|Spreadsheet");
  EXPECT_EQ(triple("image/x-anything", "a.pdf"), "fas fa-file-image|image-icon|Image");
  EXPECT_EQ(triple("video/mp4", ""), "fas fa-file-video|video-icon|Video");
  EXPECT_EQ(triple("audio/flac", ""), "fas fa-file-audio|audio-icon|Audio");
  EXPECT_EQ(triple("text/plain", "a.rs"), "fas fa-file-alt|doc-icon|Text");
  EXPECT_EQ(triple("text/markdown", ""), "fas fa-file-alt|code-icon md-icon|Markdown");
  EXPECT_EQ(triple("text/html", ""), "fas fa-file-alt|code-icon html-icon|Code");
  EXPECT_EQ(triple("text/x-python", ""), "fas fa-file-code|code-icon py-icon|Code");
  EXPECT_EQ(triple("text/x-unheard-of", ""), "fas fa-file-code|code-icon|Code");
  EXPECT_EQ(triple("application/x-javascript", ""), "fas fa-file-code|code-icon js-icon|Code");
  EXPECT_EQ(triple("application/json", ""), "fas fa-file-code|code-icon json-icon|Code");
  EXPECT_EQ(triple("application/x-sh", ""), "fas fa-file-code|script-icon|Code");
  EXPECT_EQ(triple("application/octet-stream", "run.SH"), "fas fa-terminal|script-icon|Code");
  EXPECT_EQ(triple("application/octet-stream", "a.tar.GZ"), "fas fa-file-archive|archive-icon|Archive");
  EXPECT_EQ(triple("application/octet-stream", "a.txt"), "fas fa-file-alt|doc-icon|Document");
  EXPECT_EQ(triple("", "setup.exe"), "fas fa-hdd|installer-icon|Installer");
  EXPECT_EQ(triple("application/octet-stream", "README"), "fas fa-file||Document");
  EXPECT_EQ(triple("application/octet-stream", ".pdf"), "fas fa-file-pdf|pdf-icon|PDF");
  EXPECT_EQ(triple("", "a."), "fas fa-file||Document");
  EXPECT_EQ(triple(std::string(300, 'x'), "a." + std::string(300, 'y')), "fas fa-file||Document");
}

TEST(Icons, FragmentsHoldTheSameTexts) {
  for (const char* mime : {"application/pdf", "text/plain", "", "image/png", "application/json"}) {
    const auto& icon = icon_of(mime, "x");
    const auto json = nlohmann::json::parse("{" + std::string(icon.json) + "}");
    EXPECT_EQ(json["icon_class"], icon.icon_class);
    EXPECT_EQ(json["icon_special_class"], icon.icon_special_class);
    EXPECT_EQ(json["category"], icon.category);
  }
  const auto folder = nlohmann::json::parse("{" + std::string(folder_icon().json) + "}");
  EXPECT_EQ(folder.dump(),
            R"({"category":"Folder","icon_class":"fas fa-folder","icon_special_class":"folder-icon"})");
}

TEST(SizeText, DropsZerosAndRoundsToHundredths) {
  const auto text = [](unsigned long long bytes) {
    char buffer[kSizeTextMax];
    return std::string(format_size(bytes, buffer));
  };
  EXPECT_EQ(text(0), "0 Bytes");
  EXPECT_EQ(text(1), "1 Bytes");
  EXPECT_EQ(text(500), "500 Bytes");
  EXPECT_EQ(text(1023), "1023 Bytes");
  EXPECT_EQ(text(1024), "1 KB");
  EXPECT_EQ(text(1536), "1.5 KB");
  EXPECT_EQ(text(1034), "1.01 KB");
  EXPECT_EQ(text(3'428'843), "3.27 MB");
  EXPECT_EQ(text((1 << 20) - 1), "1024 KB");
  EXPECT_EQ(text(1ull << 30), "1 GB");
  EXPECT_EQ(text(5ull << 40), "5 TB");
  EXPECT_EQ(text(5000ull << 40), "5000 TB");
  EXPECT_EQ(text(UINT64_MAX), "16777216 TB");
}

}  // namespace
}  // namespace welkin::rest
