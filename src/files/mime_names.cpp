#include "files/mime_names.hpp"

#include <algorithm>

namespace welkin::files {

Task<> MimeNames::learn(std::vector<std::int16_t> ids) {
  static constexpr db::Stmt kNames{"files.mime_names", "select id, name from mime_types where id = any($1)"};
  const db::Rows rows = co_await db_.query(kNames, db::Params(ids));
  const std::lock_guard lock(mutex_);
  for (const auto row : rows) {
    const auto id = static_cast<std::size_t>(row.i64(0));
    if (names_.size() <= id) names_.resize(id + 1);
    // Views of what is there already may be in use.
    if (!names_[id]) names_[id] = std::make_unique<const std::string>(row.text(1));
  }
}

std::vector<std::int16_t> MimeNames::unknown(std::span<const std::int16_t> ids) {
  std::vector<std::int16_t> out;
  const std::lock_guard lock(mutex_);
  for (const auto id : ids) {
    const auto at = static_cast<std::size_t>(id);
    if ((at >= names_.size() || !names_[at]) && std::find(out.begin(), out.end(), id) == out.end())
      out.push_back(id);
  }
  return out;
}

std::string_view MimeNames::name(std::int16_t id) {
  const std::lock_guard lock(mutex_);
  const auto at = static_cast<std::size_t>(id);
  return at < names_.size() && names_[at] ? std::string_view(*names_[at]) : std::string_view();
}

}  // namespace welkin::files
