#pragma once
#include <optional>
#include <vector>

#include "files/node_store.hpp"
#include "welkin/files/photos.hpp"

namespace welkin::files::store {

/// In a transaction: planned for the values it is run with.
PhotoPage photos(db::Tx& tx, const Caller& caller, const PhotoQuery& query);
std::vector<PhotoMonth> photo_months(db::Tx& tx, const Caller& caller);
std::optional<PhotoFacts> photo_facts(db::Tx& tx, ContentId content);

}  // namespace welkin::files::store
