#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace welkin::dav {

/// A token of RFC 6578: the state of the change log, and, when the first list was cut, the name it goes on
/// behind.
struct SyncToken {
  std::string state;  // of files::ChangeLog; "" for the first list
  std::string after;
  bool is_listing() const { return state.empty() || !after.empty(); }
};

/// As a URI, of characters that XML and If headers take as they are.
std::string write_sync_token(const SyncToken& token);
/// nullopt: none of ours.
std::optional<SyncToken> read_sync_token(std::string_view uri);

}  // namespace welkin::dav
