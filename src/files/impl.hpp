#pragma once
#include <memory>

#include "files/upload.hpp"
#include "welkin/files/files.hpp"

namespace welkin::files {

/// What every part of this room's door works with.
struct Files::Impl {
  Impl(db::Db& d, blobs::Store& s, const Config& c, const Clock& k)
      : db(d), store(s), config(c), clock(k), room(std::make_shared<UploadRoom>(d, s, k)) {}
  db::Db& db;
  blobs::Store& store;
  const Config& config;
  const Clock& clock;
  std::shared_ptr<UploadRoom> room;
};

}  // namespace welkin::files
