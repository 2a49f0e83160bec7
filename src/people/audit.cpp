#include "people/audit.hpp"

#include "people/names.hpp"

namespace welkin::people {
namespace {

constexpr std::size_t kTextBytesMax = 320;

constexpr db::Stmt kInsert{"people.audit", R"(
  insert into audit (actor_id, action, subject, address, request_id, detail)
    values ($1, $2, $3, $4, $5, jsonb_object($6::text[], $7::text[])))"};

}  // namespace

void audit(db::Tx& tx, const Origin& origin, const AuditEntry& entry) {
  std::vector<std::string> keys, values;
  for (const auto& [key, value] : entry.detail) {
    keys.push_back(key);
    values.push_back(clean_line(value, kTextBytesMax));
  }
  db::Params params;
  if (entry.actor) {
    params.add(entry.actor);
  } else {
    params.add(std::nullopt);
  }
  params.add(entry.action)
      .add(clean_line(entry.subject, kTextBytesMax))
      .add(clean_line(origin.address, kTextBytesMax))
      .add(clean_line(origin.request_id, kTextBytesMax))
      .add(keys)
      .add(values);
  tx.exec(kInsert, params);
}

}  // namespace welkin::people
