#include "media/picture_cache.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "welkin/core/text.hpp"

namespace welkin::media {
namespace {

namespace fs = std::filesystem;

constexpr auto kHopelessFor = std::chrono::hours(24 * 7);

bool is_whole_jpeg(const std::string& bytes) {
  return bytes.size() > 4 && bytes.starts_with("\xff\xd8") && bytes.ends_with("\xff\xd9");
}

/// The content that a file in the cache belongs to: the number before its first sign that is no digit.
std::optional<ContentId> content_of(const std::string& name) {
  const auto end = name.find_first_not_of("0123456789");
  const auto id = text::signed_number(std::string_view(name).substr(0, end));
  if (!id || end == std::string::npos) return std::nullopt;
  return ContentId{*id};
}

}  // namespace

PictureCache::PictureCache(std::string directory) : directory_(std::move(directory)) {
  std::error_code ignored;
  fs::remove_all(directory_ + "/work", ignored);
  fs::create_directories(directory_ + "/work", ignored);
  fs::permissions(directory_, fs::perms::owner_all, ignored);
}

std::string PictureCache::folder_of(ContentId content) const {
  return fmt::format("{}/{:02x}", directory_, static_cast<unsigned>(content.value & 0xff));
}

std::string PictureCache::path_of(const Key& key) const {
  return key.node ? fmt::format("{}/{}-{}-{}.jpg", folder_of(key.content), key.content.value, key.pixels,
                                key.node.value)
                  : fmt::format("{}/{}-{}.jpg", folder_of(key.content), key.content.value, key.pixels);
}

std::string PictureCache::hopeless_path(ContentId content) const {
  return fmt::format("{}/{}.none", folder_of(content), content.value);
}

std::optional<std::string> PictureCache::read(const Key& key) const {
  std::ifstream file(path_of(key), std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!is_whole_jpeg(bytes)) return std::nullopt;
  return bytes;
}

bool PictureCache::take(const Key& key, const std::string& file) const {
  std::error_code failed;
  fs::create_directory(folder_of(key.content), failed);
  fs::rename(file, path_of(key), failed);
  return !failed;
}

void PictureCache::set_hopeless(ContentId content) const {
  std::error_code failed;
  fs::create_directory(folder_of(content), failed);
  const std::ofstream marker(hopeless_path(content));
}

bool PictureCache::is_hopeless(ContentId content) const {
  std::error_code failed;
  const auto since = fs::last_write_time(hopeless_path(content), failed);
  return !failed && fs::file_time_type::clock::now() - since < kHopelessFor;
}

PictureCache::WorkFolder::WorkFolder(const std::string& parent) : path_(parent + "/XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot make a folder to work in");
}

PictureCache::WorkFolder::~WorkFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<ContentId> PictureCache::contents_in(unsigned folder) const {
  std::vector<ContentId> out;
  std::error_code failed;
  for (fs::directory_iterator at(fmt::format("{}/{:02x}", directory_, folder), failed), end;
       !failed && at != end; at.increment(failed)) {
    if (const auto content = content_of(at->path().filename().string())) out.push_back(*content);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void PictureCache::remove(ContentId content) const {
  std::error_code failed;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(folder_of(content), failed), end; !failed && at != end;
       at.increment(failed)) {
    if (content_of(at->path().filename().string()) == content) found.push_back(at->path());
  }
  for (const auto& path : found) fs::remove(path, failed);
}

}  // namespace welkin::media
