#include "media/media_store.hpp"

namespace welkin::media::store {
namespace {

constexpr db::Stmt kGone{"media.gone",
                         "select a.id from unnest($1::bigint[]) a (id) where not exists (select from "
                         "contents c where c.id = a.id)"};
constexpr db::Stmt kBeginPass{"media.begin_pass", R"(
  update content_reading
     set done_to = case when seen_at < now() - interval '10 minutes' then seen_to else done_to end,
         seen_to = case when seen_at < now() - interval '10 minutes'
                        then coalesce((select max(id) from contents), 0) else seen_to end,
         seen_at = case when seen_at < now() - interval '10 minutes' then now() else seen_at end
  returning done_to)"};
constexpr db::Stmt kUnread{"media.unread", R"(
  select c.id, c.size, t.name
    from contents c
    cross join lateral (select m.name from nodes n join mime_types m on m.id = n.mime
                         where n.content_id = c.id limit 1) t
   where c.id > $1 and c.size > 0 and t.name like any ($2::text[])
     and not exists (select from content_facts f where f.content_id = c.id)
   order by c.id limit $3)"};
constexpr db::Stmt kKeepFacts{"media.keep_facts", R"(
  insert into content_facts (content_id, width, height, orientation, taken_at, latitude, longitude, make, model)
  select c.id, $2::bigint::integer, $3::bigint::integer, $4::bigint::smallint, $5::bigint, $6::double precision, $7::double precision,
         nullif($8, ''), nullif($9, '')
    from contents c where c.id = $1 for key share
  on conflict (content_id) do nothing)"};
constexpr db::Stmt kKeepText{"media.keep_text", R"(
  insert into content_text (content_id, words)
  select c.id, to_tsvector('simple', fold_name($2)) from contents c where c.id = $1
  on conflict (content_id) do nothing)"};

/// Sent as text, typed by the server.
std::optional<std::string> as_text(const std::optional<double>& value) {
  if (!value) return std::nullopt;
  return std::to_string(*value);
}
std::optional<std::int64_t> widened(const std::optional<std::int32_t>& value) {
  return value ? std::optional<std::int64_t>(*value) : std::nullopt;
}

}  // namespace

std::vector<ContentId> gone(db::Tx& tx, const std::vector<ContentId>& contents) {
  std::vector<std::int64_t> keys;
  for (const auto content : contents) keys.push_back(content.value);
  std::vector<ContentId> out;
  for (const auto row : tx.exec(kGone, keys)) out.push_back(row.id<ContentId>(0));
  return out;
}

ContentId begin_pass(db::Tx& tx) { return tx.one(kBeginPass)[0].id<ContentId>(0); }

std::vector<Unread> unread(db::Tx& tx, ContentId after, const std::vector<std::string>& patterns, int limit) {
  std::vector<Unread> out;
  for (const auto row : tx.exec(kUnread, after, patterns, static_cast<std::int64_t>(limit)))
    out.push_back({row.id<ContentId>(0), static_cast<std::uint64_t>(row.i64(1)), row.str(2)});
  return out;
}

void keep(db::Tx& tx, ContentId content, const Facts& facts, const std::string& text) {
  db::Params params(content, widened(facts.width), widened(facts.height), widened(facts.orientation),
                    facts.taken_at);
  params.add(as_text(facts.latitude)).add(as_text(facts.longitude)).add(facts.make).add(facts.model);
  tx.exec(kKeepFacts, params);
  if (!text.empty()) tx.exec(kKeepText, content, text);
}

}  // namespace welkin::media::store
