#include "welkin/collections/import.hpp"

#include <optional>
#include <utility>

#include "welkin/core/error.hpp"

namespace welkin::collections {
namespace {

constexpr std::size_t kBatchMax = 64, kBatchBytesMax = std::size_t{1} << 20;
/// After so many that found no room nobody is asked any more: smaller ones may still have fitted until then.
constexpr int kRefusedMax = 32;

constexpr const char* kNoRoom = "quota_not_exceeded";
constexpr const char* kNoRoomText = "There is no room left for whoever owns the collection";

}  // namespace

void ImportReport::skip(Skipped what) {
  ++skipped_count;
  if (skipped.size() < kToldMax) skipped.push_back(std::move(what));
}

void Import::skip(const Item& item, std::string slug, std::string reason) {
  report_.skip({item.line, item.uid, item.title, std::move(slug), std::move(reason)});
}

Task<> Import::add(Item item) {
  if (refused_in_a_row_ >= kRefusedMax) {
    skip(item, kNoRoom, kNoRoomText);
    co_return;
  }
  if (item.object.name.empty()) item.object.name = etag_text(etag_of(item.object.facts.uid)) + suffix_;
  batch_bytes_ += item.object.data.size();
  batch_.push_back(std::move(item));
  if (batch_.size() >= kBatchMax || batch_bytes_ >= kBatchBytesMax) co_await put_batch();
}

Task<> Import::finish() {
  if (!batch_.empty()) co_await put_batch();
}

Task<> Import::look_up() {
  std::vector<std::string> uids;
  for (const auto& item : batch_) uids.push_back(item.object.facts.uid);
  auto held = co_await objects_.by_uids(into_, std::move(uids));
  std::map<std::string, Object> known;
  for (auto& each : held) known.emplace(std::move(each.uid), std::move(each.object));
  std::vector<Item> left;
  for (auto& item : batch_) {
    const auto there = known.find(item.object.facts.uid);
    if (there == known.end()) {
      left.push_back(std::move(item));
      continue;
    }
    const auto& object = there->second;
    if (object.etag == etag_of(item.object.data) || same_(object.data, item.object.data)) {
      ++report_.unchanged;
    } else if (conflict_ == Conflict::skip) {
      skip(item, "uid_conflict", "The collection has an object with this UID that says something else");
    } else {
      item.object.name = object.name;
      // Whoever wrote meanwhile has not been looked at.
      item.object.expect = {Expect::Kind::etag_is, object.etag};
      left.push_back(std::move(item));
    }
  }
  batch_ = std::move(left);
}

void Import::count(const Item& item, const Objects::Written& written) {
  using Verdict = Objects::Written::Verdict;
  switch (written.verdict) {
    case Verdict::done:
      ++(written.created ? report_.created : report_.updated);
      return;
    case Verdict::component:
      return skip(item, "supported_component", "The collection takes no objects of this kind");
    case Verdict::uid_conflict:
    case Verdict::exists:
      return skip(item, "uid_conflict", "The collection has an object with this UID or name");
  }
}

Task<> Import::put_batch() {
  co_await look_up();
  auto batch = std::exchange(batch_, {});
  batch_bytes_ = 0;
  if (batch.empty()) co_return;
  std::vector<Objects::NewObject> objects;
  for (const auto& item : batch) objects.push_back(item.object);
  bool has_failed = false;
  try {
    const auto written = co_await objects_.put_all(caller_, into_.collection, std::move(objects));
    for (std::size_t i = 0; i < batch.size(); ++i) count(batch[i], written[i]);
    refused_in_a_row_ = 0;
  } catch (const Error& e) {
    // One that cannot be written undoes all; then each for itself.
    has_failed = e.code() == Errc::quota_exceeded || e.code() == Errc::precondition_failed;
    if (!has_failed) throw;
  }
  if (!has_failed) co_return;
  for (auto& item : batch) co_await put_one(std::move(item));
}

Task<> Import::put_one(Item item) {
  if (refused_in_a_row_ >= kRefusedMax) {
    skip(item, kNoRoom, kNoRoomText);
    co_return;
  }
  std::optional<Errc> refused;
  try {
    count(item, co_await objects_.put(caller_, into_.collection, item.object));
    refused_in_a_row_ = 0;
  } catch (const Error& e) {
    if (e.code() != Errc::quota_exceeded && e.code() != Errc::precondition_failed) throw;
    refused = e.code();
  }
  if (!refused) co_return;
  if (*refused == Errc::quota_exceeded) {
    ++refused_in_a_row_;
    skip(item, kNoRoom, kNoRoomText);
  } else {
    skip(item, "precondition_failed", "Somebody else changed the object at the same time");
  }
}

}  // namespace welkin::collections
