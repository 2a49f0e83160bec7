#include "welkin/media/reader.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "media/body_file.hpp"
#include "media/child.hpp"
#include "media/media_store.hpp"
#include "media/picture_cache.hpp"
#include "media/reading.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"

namespace welkin::media {
namespace {

constexpr int kItemsOfATurn = 50;
constexpr auto kTurn = std::chrono::seconds(3);
constexpr std::uint64_t kHeadBytes = 256 << 10;  // where the common formats have what they say of themselves
constexpr std::uint64_t kWholeBytesMax = 128ull << 20;  // larger ones are not read whole

/// What is read at all, as patterns of LIKE.
const std::vector<std::string> kPatterns = {
    "text/%",
    "image/%",
    "application/json",
    "application/xml",
    "application/javascript",
    "application/x-sh",
    "application/x-yaml",
    "application/yaml",
    "application/toml",
    "application/sql",
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.%",
    "application/vnd.oasis.opendocument.%",
};

/// Where office files have their text.
struct Office {
  std::string_view type;  // begins with
  const char* member;
};
constexpr std::array<Office, 4> kOffice = {{
    {"application/vnd.openxmlformats-officedocument.wordprocessingml", "word/document.xml"},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml", "xl/sharedStrings.xml"},
    {"application/vnd.openxmlformats-officedocument.presentationml", "ppt/slides/slide*.xml"},
    {"application/vnd.oasis.opendocument.", "content.xml"},
}};

bool head_is_enough(const std::string& type) {
  return type == "image/jpeg" || type == "image/png" || type == "image/webp" || type == "image/gif";
}

ChildLimits limits(const std::atomic<bool>& stop) {
  ChildLimits out;
  out.stop = &stop;
  out.cpu_seconds = 10;
  out.deadline = std::chrono::seconds(15);
  out.output_bytes = 1 << 20;
  return out;
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

struct Reader::Impl {
  Impl(db::Db& db, blobs::Store& store, const Config& config)
      : db(db),
        store(store),
        cache(config.data_dir + "/reading"),
        header(find_program("vipsheader")),
        pdf(find_program("pdftotext")),
        zip(find_program("unzip")) {}

  struct Read {
    Facts facts;
    std::string text;
  };

  Read read(const store::Unread& item) {
    Read out;
    const PictureCache::WorkFolder folder = cache.work_folder();
    const auto path = folder.path("in");
    const bool picture = item.mime_type.starts_with("image/"), is_pdf = item.mime_type == "application/pdf";
    const auto* office = std::find_if(kOffice.begin(), kOffice.end(),
                                      [&](const auto& o) { return item.mime_type.starts_with(o.type); });
    const bool plain = !picture && !is_pdf && office == kOffice.end();
    if (!plain && !(picture && head_is_enough(item.mime_type)) && item.size_bytes > kWholeBytesMax)
      return out;
    write_body(db, store, item.content, path,
               plain                                       ? kTextBytesMax
               : picture && head_is_enough(item.mime_type) ? kHeadBytes
                                                           : UINT64_MAX);
    if (picture && !header.empty()) {
      const auto said = run_child({header, "-a", path}, folder.path(), limits(stopped));
      if (said.ok) out.facts = facts_of(said.output);
    } else if (is_pdf && !pdf.empty()) {
      out.text =
          run_child({pdf, "-q", "-enc", "UTF-8", "-l", "100", path, "-"}, folder.path(), limits(stopped))
              .output;
    } else if (office != kOffice.end() && !zip.empty()) {
      out.text = text_between_tags(
          run_child({zip, "-p", path, office->member}, folder.path(), limits(stopped)).output);
    } else if (plain) {
      out.text = contents_of(path);
    }
    out.text = searchable(std::string_view(out.text).substr(0, kTextBytesMax));
    return out;
  }

  /// A content that cannot be read is not tried again: whoever wants its bytes is told what is wrong with
  /// them.
  void take(const store::Unread& item) {
    Read found;
    try {
      found = read(item);
    } catch (const Error& e) {
      if (e.code() != Errc::internal && e.code() != Errc::not_found) throw;
      log::warn("content {} could not be read for the search: {}", item.content.value, e.what());
    }
    if (stopped) return;
    db.write_now([&](db::Tx& tx) { store::keep(tx, item.content, found.facts, found.text); });
  }

  db::Db& db;
  blobs::Store& store;
  PictureCache cache;
  std::string header, pdf, zip;
  std::atomic<bool> stopped = false;
  std::optional<ContentId> at;  // this pass has come to here; unset: a new pass
};

Reader::Reader(db::Db& db, blobs::Store& store, const Config& config)
    : impl_(std::make_unique<Impl>(db, store, config)) {}
Reader::~Reader() = default;

void Reader::stop() { impl_->stopped = true; }

bool Reader::turn() {
  auto& at = impl_->at;
  if (!at) at = impl_->db.write_now([](db::Tx& tx) { return store::begin_pass(tx); });
  const auto items =
      impl_->db.read_now([&](db::Tx& tx) { return store::unread(tx, *at, kPatterns, kItemsOfATurn); });
  const auto end = std::chrono::steady_clock::now() + kTurn;
  for (const auto& item : items) {
    impl_->take(item);
    at = item.content;
    if (impl_->stopped) return false;
    if (std::chrono::steady_clock::now() >= end) return true;
  }
  if (items.size() == static_cast<std::size_t>(kItemsOfATurn)) return true;
  at.reset();
  return false;
}

}  // namespace welkin::media
