#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"

namespace welkin::db {

/// A long, index-ordered result in pages, asked one page ahead of the reader. Holds no connection between
/// pages.
///
/// `page` must be a statement whose last two parameters are the key after which to go on and the limit;
/// `next_key` rebuilds the parameters after a page. First page small (fast first byte), then larger ones.
class PageStream {
 public:
  struct Options {
    int first_rows = 32;
    int page_rows = 256;
  };
  /// Parameters for the page after `last`; nullptr for the first page. The stream adds the limit itself, as
  /// the last.
  using ParamsAfter = std::function<Params(const Row* last)>;

  PageStream(Db& db, const Stmt& page, ParamsAfter params_after)
      : PageStream(db, page, std::move(params_after), Options()) {}
  PageStream(Db& db, const Stmt& page, ParamsAfter params_after, Options options);
  ~PageStream();
  PageStream(PageStream&&) noexcept;

  /// Asks for the first page, so that it is on its way while the reader asks for other things.
  Task<> start();
  /// The next page; nullopt at the end. @throws Error unavailable
  Task<std::optional<Rows>> next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The same as one snapshot: BEGIN, DECLARE and the first FETCH in one round trip on a leased connection (at
/// most PoolConfig::cursor_connections, else Error unavailable `busy`). A reader that lets a page wait for
/// more than `stall_ms` loses the lease; the stream then throws Error unavailable `cursor_expired`, so use it
/// where one snapshot matters more than patience (exports, backup), and PageStream everywhere else.
class CursorStream {
 public:
  CursorStream(Db& db, const Stmt& select, Params params, int first_rows = 32, int page_rows = 500,
               int stall_ms = 5000);
  ~CursorStream();
  CursorStream(CursorStream&&) noexcept;
  Task<std::optional<Rows>> next();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace welkin::db
