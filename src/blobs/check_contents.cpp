// Rows of contents, of what they are made of, and of what is to be collected.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "blobs/check.hpp"
#include "blobs/crc32.hpp"

namespace welkin::blobs {
namespace {

using db::Stmt;

constexpr std::int64_t kPage = 1'000, kBodiesPage = 200;

// A page is one statement, so one snapshot: contents and what they are made of come and go together, and
// nothing half done is seen. Columns: id, size, n_chunks, chunks found, their bytes, whether they have gaps
// or overlap, bytes of the inline body. Only rows that are not as they should be come back.
#define WELKIN_WRONG_CONTENTS \
  R"(,
    laid as (select p.id, c.off, k.size, lag(c.off + k.size, 1, 0::bigint) over (partition by p.id order by c.off) due
               from page p join content_chunks c on c.content_id = p.id left join chunks k on k.id = c.chunk_id),
    sums as (select id, count(*) n, coalesce(sum(size), 0)::bigint bytes, bool_or(off is distinct from due) torn
               from laid group by id)
    select p.id, p.size, p.n_chunks, coalesce(s.n, 0), coalesce(s.bytes, 0)::bigint, coalesce(s.torn, false),
           octet_length(b.body)
      from page p left join sums s on s.id = p.id left join inline_bodies b on b.content_id = p.id
     where case when p.n_chunks > 0
                then s.n is distinct from p.n_chunks or s.bytes is distinct from p.size or s.torn or b.body is not null
                else s.n is not null or coalesce(octet_length(b.body), 0) <> p.size end
     order by p.id)"

constexpr Stmt kLast{
    "check.page_of_contents",
    "select max(id), count(*) from (select id from contents where id > $1 order by id limit $2) x"};
constexpr Stmt kWrong{"check.contents", R"(
    with page as (select id, size, n_chunks from contents where id > $1 and id <= $2))" WELKIN_WRONG_CONTENTS};
constexpr Stmt kWrongOne{"check.content", R"(
    with page as (select id, size, n_chunks from contents where id = $1))" WELKIN_WRONG_CONTENTS};
#undef WELKIN_WRONG_CONTENTS

std::string subject(ContentId id) { return "content " + std::to_string(id.value); }

struct Layout {
  explicit Layout(const db::Row& row)
      : size(row.i64(1)),
        expected(row.i32(2)),
        chunks(row.i64(3)),
        bytes(row.i64(4)),
        torn(row.boolean(5)),
        has_body(!row.is_null(6)),
        body(row.opt_i64(6).value_or(0)) {}
  std::int64_t size, expected, chunks, bytes;
  bool torn, has_body;
  std::int64_t body;

  bool chunks_are_whole() const { return chunks > 0 && !torn && bytes == size; }
  bool body_is_whole() const { return has_body && body == size; }

  std::string text() const {
    if (expected == 0 && chunks == 0)
      return has_body
                 ? "its body has " + std::to_string(body) + " bytes, " + std::to_string(size) + " are due"
                 : "its body of " + std::to_string(size) + " bytes is missing";
    return std::to_string(chunks) + " of " + std::to_string(expected) + " chunks with " +
           std::to_string(bytes) + " of " + std::to_string(size) + " bytes" +
           (torn ? ", with gaps or overlaps" : "") + (has_body ? ", and a body in the database" : "");
  }
};

/// Saves what is to be taken out of the database. @throws std::system_error
void write_found(const std::string& data_dir, const std::string& name, ByteView bytes) {
  const auto path = data_dir + "/found/" + name;
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  while (fd && !bytes.empty()) {
    const auto wrote = ::write(fd.get(), bytes.data(), bytes.size());
    if (wrote <= 0) break;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  if (!fd || !bytes.empty() || ::fsync(fd.get()) != 0)
    throw std::system_error(errno, std::generic_category(), path);
}

}  // namespace

void ByteCheck::contents() {
  std::int64_t after = 0;
  while (true) {
    const auto page = db_.read_now([&](db::Tx& tx) { return tx.one(kLast, after, kPage); });
    if (page[0].is_null(0)) break;
    const auto last = page[0].i64(0);
    const auto wrong = db_.read_now([&](db::Tx& tx) { return tx.exec(kWrong, after, last); });
    for (const auto row : wrong) content(row);
    in_.looked_at["contents"] += static_cast<std::uint64_t>(page[0].i64(1));
    after = last;
  }
  if (in_.options().deep) inline_bodies();
}

void ByteCheck::content(const db::Row& row) {
  const Layout layout(row);
  const auto id = row.id<ContentId>(0);
  const bool readable = layout.chunks_are_whole() || layout.body_is_whole();
  const auto needed = db_.read_now([&](db::Tx& tx) { return needed_by_content(tx, id); });
  const char* kind = readable ? "content.count" : layout.expected == 0 ? "content.body" : "content.layout";
  in_.report(readable         ? Weight::fault
             : needed.empty() ? Weight::litter
                              : Weight::loss,
             kind, subject(id), layout.text() + (needed.empty() ? "" : "; " + needed),
             readable ? [this, id] { return mend_content(id); } : Inspection::Mend());
}

/// One of the two ways of holding the bytes is whole; the row is brought to say so, and what is left over
/// goes: a body into found/, chunks to the collector, which keeps those that others need.
Inspection::Mended ByteCheck::mend_content(ContentId id) {
  static constexpr Stmt kLock{"check.lock_content", "select crc32 from contents where id = $1 for update"};
  static constexpr Stmt kBody{"check.body", "select body from inline_bodies where content_id = $1"};
  static constexpr Stmt kCount{"check.count_chunks", "update contents set n_chunks = $2 where id = $1"};
  static constexpr Stmt kDropBody{"check.drop_body", "delete from inline_bodies where content_id = $1"};
  static constexpr Stmt kQueue{"check.queue_chunks", R"(
    insert into chunk_gc (chunk_id) select distinct chunk_id from content_chunks where content_id = $1 on conflict do nothing)"};
  static constexpr Stmt kDropChunks{"check.drop_chunks", "delete from content_chunks where content_id = $1"};
  return db_.write_now([&](db::Tx& tx) -> Mended {
    const auto locked = tx.exec(kLock, id);
    const auto rows = tx.exec(kWrongOne, id);
    if (locked.empty() || rows.empty()) return {true, "right meanwhile"};
    const Layout layout(rows[0]);
    const auto body = tx.exec(kBody, id);
    const bool body_fits =
        layout.body_is_whole() && crc32(0, body[0].bytes(0)) == static_cast<std::uint32_t>(locked[0].i32(0));
    if (body_fits && layout.chunks > 0) {
      tx.exec(kQueue, id);
      tx.exec(kDropChunks, id);
      tx.exec(kCount, id, std::int32_t{0});
      return {true, "its body is whole; the chunks beside it are left to the collector"};
    }
    if (!layout.chunks_are_whole()) return {false, "cannot be repaired"};
    if (layout.has_body) {
      write_found(in_.options().data_dir, "content-" + std::to_string(id.value), body[0].bytes(0));
      tx.exec(kDropBody, id);
    }
    tx.exec(kCount, id, static_cast<std::int32_t>(layout.chunks));
    return {true, layout.has_body ? "its chunks are whole; the body beside them was moved into found/"
                                  : "its chunks are whole; counted again"};
  });
}

void ByteCheck::inline_bodies() {
  static constexpr Stmt kBodies{"check.bodies", R"(
    select c.id, c.crc32, b.body from inline_bodies b join contents c on c.id = b.content_id
     where b.content_id > $1 and octet_length(b.body) = c.size order by b.content_id limit $2)"};
  std::int64_t after = 0;
  while (true) {
    const auto rows = db_.read_now([&](db::Tx& tx) { return tx.exec(kBodies, after, kBodiesPage); });
    for (const auto row : rows) {
      after = row.i64(0);
      if (crc32(0, row.bytes(2)) == static_cast<std::uint32_t>(row.i32(1))) continue;
      const auto id = row.id<ContentId>(0);
      const auto needed = db_.read_now([&](db::Tx& tx) { return needed_by_content(tx, id); });
      in_.report(needed.empty() ? Weight::litter : Weight::loss, "content.body_damaged", subject(id),
                 "its body does not have its checksum" + (needed.empty() ? "" : "; " + needed));
    }
    in_.looked_at["bodies"] += static_cast<std::uint64_t>(rows.size());
    if (rows.size() < kBodiesPage) return;
  }
}

namespace {

/// Walks a table by key in pages; `f` gets each row of `wrong` ($1 < key <= $2).
void walk(db::Db& db, const Stmt& last, const Stmt& wrong, const std::function<void(const db::Row&)>& f) {
  std::int64_t after = 0;
  while (true) {
    const auto page = db.read_now([&](db::Tx& tx) { return tx.one(last, after, kPage); });
    if (page[0].is_null(0)) return;
    const auto to = page[0].i64(0);
    const auto rows = db.read_now([&](db::Tx& tx) { return tx.exec(wrong, after, to); });
    for (const auto row : rows) f(row);
    after = to;
  }
}

}  // namespace

void ByteCheck::references() {
  static constexpr Stmt kChunks{
      "check.page_of_chunks",
      "select max(id) from (select id from chunks where id > $1 order by id limit $2) x"};
  static constexpr Stmt kForgottenChunks{"check.forgotten_chunks", R"(
    select id from chunks c where id > $1 and id <= $2
       and not exists (select from content_chunks r where r.chunk_id = c.id)
       and not exists (select from upload_chunks r where r.chunk_id = c.id)
       and not exists (select from chunk_gc q where q.chunk_id = c.id))"};
  static constexpr Stmt kForgottenContents{"check.forgotten_contents", R"(
    select id from contents c where id > $1 and id <= $2
       and not exists (select from nodes n where n.content_id = c.id)
       and not exists (select from versions v where v.content_id = c.id)
       and not exists (select from content_gc q where q.content_id = c.id))"};
  static constexpr Stmt kQueueChunk{"check.queue_chunk",
                                    "insert into chunk_gc (chunk_id) values ($1) on conflict do nothing"};
  static constexpr Stmt kQueueContent{
      "check.queue_content", "insert into content_gc (content_id) values ($1) on conflict do nothing"};
  static constexpr Stmt kParked{"check.parked",
                                "select chunk_id, attempts from chunk_gc where parked order by chunk_id"};
  static constexpr Stmt kUnpark{"check.unpark", R"(
    update chunk_gc set parked = false, attempts = 0, since = now() where chunk_id = $1)"};

  walk(db_, kChunks, kForgottenChunks, [&](const db::Row& row) {
    const auto id = row.i64(0);
    in_.report(Weight::litter, "chunk.unqueued", "chunk " + std::to_string(id),
               "nothing refers to it, and it is not queued for the collector", [&]() -> Mended {
                 db_.write_now([&](db::Tx& tx) { tx.exec(kQueueChunk, id); });
                 return {true, "queued"};
               });
  });
  walk(db_, kLast, kForgottenContents, [&](const db::Row& row) {
    const auto id = row.i64(0);
    in_.report(Weight::litter, "content.unqueued", "content " + std::to_string(id),
               "nothing refers to it, and it is not queued for the collector", [&]() -> Mended {
                 db_.write_now([&](db::Tx& tx) { tx.exec(kQueueContent, id); });
                 return {true, "queued"};
               });
  });
  const auto parked = db_.read_now([&](db::Tx& tx) { return tx.exec(kParked); });
  for (const auto row : parked) {
    const auto id = row.i64(0);
    in_.report(
        Weight::litter, "queue.parked", "chunk " + std::to_string(id),
        "its file could not be removed " + std::to_string(row.i64(1)) + " times, and is not tried any more",
        [&]() -> Mended {
          db_.write_now([&](db::Tx& tx) { tx.exec(kUnpark, id); });
          return {true, "will be tried again"};
        });
  }
}

}  // namespace welkin::blobs
