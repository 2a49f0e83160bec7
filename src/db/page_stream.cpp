#include "welkin/db/page_stream.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "db/fetch.hpp"

namespace welkin::db {
namespace {

constexpr boost::asio::use_awaitable_t<Executor> kTurn;

}  // namespace

struct PageStream::Impl {
  Db& db;
  Stmt page;
  ParamsAfter params_after;
  Options options;
  std::shared_ptr<Fetch> ahead;
  int asked = 0;  // rows of the page that is on its way
  bool ended = false;
  std::exception_ptr failure;  // stays: what failed once must not look like the end

  static Task<Rows> fetch(Db& db, Stmt page, Params params) {
    co_return co_await db.query(page, std::move(params));
  }

  void ask(const Executor& executor, const Row* last) {
    asked = last == nullptr ? options.first_rows : options.page_rows;
    Params params = params_after(last);
    params.add(std::int64_t{asked});
    ahead = start_fetch(executor, fetch(db, page, std::move(params)));
  }

  /// Two turns of the loop start the fetch and send what it asks. Without them the database would rest until
  /// the reader waits for something.
  static Task<> let_go(Executor executor) {
    for (int turn = 0; turn < 2; ++turn) co_await boost::asio::post(executor, kTurn);
  }
};

PageStream::PageStream(Db& db, const Stmt& page, ParamsAfter params_after, Options options)
    : impl_(new Impl{db, page, std::move(params_after), options, nullptr, 0, false, nullptr}) {}
PageStream::~PageStream() = default;
PageStream::PageStream(PageStream&&) noexcept = default;

Task<> PageStream::start() {
  if (impl_->ahead || impl_->asked != 0) co_return;
  const Executor executor = co_await boost::asio::this_coro::executor;
  impl_->ask(executor, nullptr);
  co_await Impl::let_go(executor);
}

Task<std::optional<Rows>> PageStream::next() {
  if (impl_->failure) std::rethrow_exception(impl_->failure);
  if (impl_->ended) co_return std::nullopt;
  const Executor executor = co_await boost::asio::this_coro::executor;
  if (!impl_->ahead) impl_->ask(executor, nullptr);
  const auto page = std::move(impl_->ahead);
  co_await page->ended.wait();
  impl_->failure = page->failure;
  if (impl_->failure) std::rethrow_exception(impl_->failure);
  const Rows& rows = page->rows;
  if (rows.size() >= impl_->asked) {
    const Row last = rows[rows.size() - 1];
    impl_->ask(executor, &last);
    co_await Impl::let_go(executor);
  } else {
    impl_->ended = true;
  }
  if (rows.empty()) co_return std::nullopt;
  co_return rows;
}

}  // namespace welkin::db
