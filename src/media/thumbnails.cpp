#include "welkin/media/thumbnails.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "media/body_file.hpp"
#include "media/media_store.hpp"
#include "media/painter.hpp"
#include "media/picture_cache.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/waker.hpp"
#include "welkin/core/work_pool.hpp"

namespace welkin::media {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr std::size_t kMakersMax = 4, kQueueMax = 500;

std::size_t makers() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, kMakersMax);
}

}  // namespace

struct Thumbnails::Impl : std::enable_shared_from_this<Impl> {
  Impl(db::Db& db, blobs::Store& store, files::Files& files, const Config& config)
      : db(db), store(store), files(files), cache(config.data_dir + "/thumbnails") {}

  /// One picture being made, and who waits for it.
  struct Job {
    std::vector<std::shared_ptr<Waker>> waiting;
  };
  using JobKey = std::pair<std::int64_t, int>;

  /// Blocks. What the content itself makes impossible is remembered.
  void make(const files::Node& node, int pixels) {
    const auto source = painter.source_of(node.mime_type);
    constexpr int kLargest = pixels_of(ThumbnailSize::large);
    const PictureCache::WorkFolder folder = cache.work_folder();
    const auto from = folder.path("in");
    auto largest = cache.read({node.content, {}, kLargest});
    if (!largest) {
      write_body(db, store, node.content, from);
      const auto made = painter.paint(folder, from, source, kLargest);
      if (made.empty()) return painter.stopped() ? void() : cache.set_hopeless(node.content);
      if (!cache.take({node.content, {}, kLargest}, made)) return;
      if (pixels == kLargest) return;
      largest = cache.read({node.content, {}, kLargest});
      if (!largest) return;
    }
    // The smaller ones are made of the largest: that is cheap, and its body is at hand.
    write_text(from, *largest);
    const auto made = painter.paint(folder, from, Painter::Source::picture, pixels);
    if (!made.empty()) cache.take({node.content, {}, pixels}, made);
  }

  static void write_text(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  /// Joins who waits for this picture, or begins to make it. @return nullptr: too many are waiting already
  std::shared_ptr<Waker> wait_for(const files::Node& node, int pixels) {
    auto waker = std::make_shared<Waker>();
    const JobKey key{node.content.value, pixels};
    const std::lock_guard lock(mutex);
    auto [at, is_new] = running.try_emplace(key);
    if (is_new &&
        !makers_pool.post([self = shared_from_this(), node, pixels, key] { self->run(node, pixels, key); })) {
      running.erase(at);
      return nullptr;
    }
    at->second.waiting.push_back(waker);
    return waker;
  }

  void run(const files::Node& node, int pixels, const JobKey& key) {
    try {
      if (!painter.stopped()) make(node, pixels);
    } catch (const std::exception& e) {  // the database, the disk: another time
      log::warn("no thumbnail of content {}: {}", node.content.value, e.what());
    }
    const std::lock_guard lock(mutex);
    const auto job = running.extract(key);
    for (const auto& waker : job.mapped().waiting) waker->wake();
  }

  /// What is on disk for this file.
  std::optional<std::string> stored(const files::Node& node, int pixels) const {
    if (auto brought = cache.read({node.content, node.id, pixels})) return brought;
    return cache.read({node.content, {}, pixels});
  }

  db::Db& db;
  blobs::Store& store;
  files::Files& files;
  Painter painter;
  PictureCache cache;
  std::mutex mutex;
  std::map<JobKey, Job> running;
  unsigned sweep_at = 0;
  WorkPool readers{"media-read", 2, 2'000};
  WorkPool makers_pool{"media-make", makers(), kQueueMax};
};

Thumbnails::Thumbnails(db::Db& db, blobs::Store& store, files::Files& files, const Config& config)
    : impl_(std::make_shared<Impl>(db, store, files, config)) {}
Thumbnails::~Thumbnails() { close(); }

void Thumbnails::close() {
  impl_->painter.stop();
  impl_->makers_pool.join();
  impl_->readers.join();
}

std::string Thumbnails::tag_of(const files::Node& node) { return node.etag; }

bool Thumbnails::makes_of(std::string_view mime_type) const {
  return impl_->painter.source_of(mime_type) != Painter::Source::none;
}

Task<Thumbnail> Thumbnails::find_or_make(Caller caller, NodeId id, ThumbnailSize size) {
  const auto impl = impl_;
  const int pixels = pixels_of(size);
  Thumbnail out;
  out.node = co_await impl->files.node(std::move(caller), id);
  if (out.node.is_folder()) co_return out;
  out.tag = tag_of(out.node);
  const auto source = impl->painter.source_of(out.node.mime_type);
  const auto most = source == Painter::Source::video ? kVideoBytesMax : kPictureBytesMax;
  const bool can_make =
      source != Painter::Source::none && out.node.size_bytes > 0 && out.node.size_bytes <= most;
  bool hopeless = false;
  auto found = co_await impl->readers.run([&] {
    auto bytes = impl->stored(out.node, pixels);
    if (!bytes && can_make) hopeless = impl->cache.is_hopeless(out.node.content);
    return bytes;
  });
  if (!found && can_make && !hopeless) {
    out.state = Thumbnail::State::pending;
    const auto waker = impl->wait_for(out.node, pixels);
    if (!waker || !co_await waker->wait(kPatience)) co_return out;
    found = co_await impl->readers.run([&] { return impl->stored(out.node, pixels); });
  }
  out.state = found ? Thumbnail::State::ready : Thumbnail::State::none;
  if (found) out.jpeg = std::move(*found);
  co_return out;
}

Task<> Thumbnails::put(Caller caller, NodeId id, ThumbnailSize size, std::string picture) {
  const auto impl = impl_;
  const auto node = co_await impl->files.node(std::move(caller), id);
  if ((node.rights & rights::kUpdate) == 0)
    throw Error(Errc::forbidden, "forbidden", "you may not change this file");
  if (node.is_folder()) throw Error(Errc::invalid, "is_a_folder", "this is a folder");
  if (picture.size() > kBroughtBytesMax)
    throw Error(Errc::too_large, "too_large", "A thumbnail may have at most 512 KiB");
  const bool taken = co_await impl->makers_pool.run([&] {
    const PictureCache::WorkFolder folder = impl->cache.work_folder();
    Impl::write_text(folder.path("in"), picture);
    const auto made =
        impl->painter.paint(folder, folder.path("in"), Painter::Source::picture, pixels_of(size));
    return !made.empty() && impl->cache.take({node.content, node.id, pixels_of(size)}, made);
  });
  if (!taken) throw Error(Errc::unprocessable, "not_a_picture", "This is no picture that can be read");
}

bool Thumbnails::sweep_turn() {
  const auto contents = impl_->cache.contents_in(impl_->sweep_at);
  if (!contents.empty()) {
    const auto gone = impl_->db.read_now([&](db::Tx& tx) { return store::gone(tx, contents); });
    for (const auto content : gone) impl_->cache.remove(content);
  }
  impl_->sweep_at = (impl_->sweep_at + 1) % PictureCache::kFolders;
  return impl_->sweep_at != 0;
}

}  // namespace welkin::media
