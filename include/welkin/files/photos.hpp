#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/id.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/files.hpp"

/// Pictures and videos, wherever the caller may read any, by when they were taken.
namespace welkin::files {

struct Photo {
  Node node;            // as Files::node gives it
  Micros taken_at = 0;  // by the camera, else the file's time
};
struct PhotoQuery {
  std::optional<Micros> before;  // only earlier ones
  bool pictures = true, videos = true;
  int limit = 50;
  std::string after;  // opaque `next` of the page before; what is none of ours begins anew
};
struct PhotoPage {
  std::vector<Photo> items;  // the latest first
  std::string next;          // "" on the last page
};
struct PhotoMonth {
  std::string month;  // "2026-05", UTC
  std::int64_t count = 0;
};
/// What a picture says of itself, as far as it was read.
struct PhotoFacts {
  std::optional<std::int64_t> width, height;  // as shown
  std::optional<std::int64_t> orientation;    // EXIF, 1 to 8
  std::optional<Micros> taken_at;
  std::optional<double> latitude, longitude;  // degrees, north and east
  std::optional<std::string> make, model;
};

class Photos {
 public:
  explicit Photos(db::Db& db) : db_(db) {}

  Task<PhotoPage> list(Caller caller, PhotoQuery query);
  /// How many there are in each month, the latest first: what a scroll bar needs.
  Task<std::vector<PhotoMonth>> months(Caller caller);
  /// nullopt: nothing has been read of this file, or there is nothing to read. @throws Error not_found
  Task<std::optional<PhotoFacts>> facts(Caller caller, NodeId id);

 private:
  db::Db& db_;
};

}  // namespace welkin::files
