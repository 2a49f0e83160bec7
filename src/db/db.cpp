#include "welkin/db/db.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "db/impl.hpp"
#include "db/lane.hpp"

namespace welkin::db {
namespace asio = boost::asio;
namespace {

using Clock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;
constexpr auto kHealthLimit = std::chrono::seconds(1);

}  // namespace

Db::Db(PoolConfig config) : impl_(std::make_unique<Impl>(config)) {}
Db::~Db() { close(); }

void Db::close() { impl_->close(); }

Task<> Db::run_erased(Mode mode, std::function<void(Tx&)> job) {
  co_await impl_->pool->run([mode, &job](Worker& worker) { worker.run(mode, job); });
}

void Db::run_now_erased(Mode mode, const std::function<void(Tx&)>& job) {
  impl_->pool->run_now([mode, &job](Worker& worker) { worker.run(mode, job); });
}

void Db::attach_pipeline(asio::io_context& io) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->closed || impl_->pipelines.size() >= impl_->pool->config().io_threads) return;
  impl_->pipelines.emplace_back(&io, std::make_shared<Pipeline>(io, impl_->pool));
}

Task<Rows> Db::query(const Stmt& stmt, Params params) {
  const Executor executor = co_await asio::this_coro::executor;
  auto rows = co_await Pipeline::query(impl_->pipeline_of(&executor.context()), stmt, params);
  if (rows) co_return std::move(*rows);
  co_return co_await read([&](Tx& tx) { return tx.exec(stmt, params); });
}

Task<std::optional<Found>> Db::look_up(const Stmt& stmt, Key key) {
  const Executor executor = co_await asio::this_coro::executor;
  std::optional<Found> found;
  if (co_await Pipeline::look_up(impl_->pipeline_of(&executor.context()), stmt, key, found)) co_return found;
  co_return co_await read([&](Tx& tx) -> std::optional<Found> {
    auto rows = tx.exec(stmt, key_params(stmt, {key}));
    if (rows.empty()) return std::nullopt;
    return Found(std::move(rows), 0);
  });
}

// A full queue or a few slow statements do not make a database unhealthy: whoever cannot get a turn within
// the second is told what others saw.
Task<bool> Db::healthy() {
  struct Probe {
    explicit Probe(const Executor& executor) : timer(executor) {}
    Timer timer;
    bool ended = false, answered = false;
  };
  const Executor executor = co_await asio::this_coro::executor;
  const auto probe = std::make_shared<Probe>(executor);
  probe->timer.expires_after(kHealthLimit);
  auto& pool = *impl_->pool;
  auto guard = std::make_shared<asio::executor_work_guard<Executor>>(executor);
  pool.submit([](Worker& worker) { worker.ping(); },
              [probe, executor, guard](std::exception_ptr failure) {
                asio::post(executor, [probe, guard, answered = failure == nullptr] {
                  guard->reset();
                  probe->ended = true;
                  probe->answered = answered;
                  probe->timer.cancel();
                });
              },
              Pool::Place::front);
  try {
    co_await probe->timer.async_wait(asio::use_awaitable_t<Executor>());
  } catch (const boost::system::system_error&) {  // cancelled: there is an answer
  }
  if (probe->ended) co_return probe->answered;
  co_return !pool.health().down() && Clock::now() - pool.health().last_answer() < kHealthLimit;
}

}  // namespace welkin::db
