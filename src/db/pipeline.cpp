#include "db/pipeline.hpp"

#include <array>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "db/failure.hpp"
#include "db/lane.hpp"

namespace welkin::db {
namespace asio = boost::asio;

struct Pipeline::State {
  State(asio::io_context& io_context, const std::shared_ptr<Pool>& pool)
      : io(io_context), queue_max(pool->config().queue_max) {
    for (auto& lane : lanes) lane = std::make_shared<Lane>(io, pool);
  }
  /// The open lane with the least to do, or null. @throws Error unavailable `busy`
  static std::shared_ptr<Lane> pick(const Handle& handle) {
    const auto state = handle.lock();
    if (!state) return nullptr;
    std::shared_ptr<Lane> best;
    for (const auto& lane : state->lanes) {
      if (lane->open() && (!best || lane->load() < best->load())) best = lane;
    }
    if (best && best->load() >= state->queue_max)
      throw database_busy("too many requests wait for the database");
    return best;
  }

  Batch* open_batch(const Stmt& stmt) const {
    for (const auto& lane : lanes) {
      if (Batch* const found = lane->open_batch(stmt)) return found;
    }
    return nullptr;
  }

  asio::io_context& io;
  std::size_t queue_max;
  std::array<std::shared_ptr<Lane>, 2> lanes;
};

Pipeline::Pipeline(asio::io_context& io, std::shared_ptr<Pool> pool)
    : state_(std::make_shared<State>(io, pool)) {
  asio::post(io, [state = state_] {
    for (const auto& lane : state->lanes) lane->connect();
  });
}

Pipeline::~Pipeline() = default;

void Pipeline::close() {
  asio::post(state_->io, [state = state_] {
    for (const auto& lane : state->lanes) lane->close();
  });
}

Task<std::optional<Rows>> Pipeline::query(Handle handle, const Stmt& stmt, const Params& params) {
  Query query{.stmt = stmt, .params = params, .rows = {}, .failure = {}};
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto lane = State::pick(handle);
    if (!lane) break;
    auto start = [lane = std::move(lane), &query](Handler handler) mutable {
      std::exchange(lane, nullptr)->enqueue(Waiting{&query, std::move(handler)});
    };
    co_await asio::async_initiate<const Awaitable, void()>(std::move(start), Awaitable());
    if (query.outcome == Outcome::rows) co_return std::move(query.rows);
    if (query.outcome == Outcome::failed) std::rethrow_exception(query.failure);
    if (query.outcome == Outcome::lost) break;
    query.alone = true;
  }
  co_return std::nullopt;
}

Task<bool> Pipeline::look_up(Handle handle, const Stmt& stmt, const Key& key, std::optional<Found>& found) {
  LookUp look_up{.key = key, .found = {}, .failure = {}};
  auto lane = State::pick(handle);
  if (!lane) co_return false;
  auto start = [lane = std::move(lane), handle, &stmt, &look_up](Handler handler) mutable {
    Batch* batch = nullptr;
    if (const auto state = handle.lock()) batch = state->open_batch(stmt);
    std::shared_ptr<Batch> fresh;
    if (!batch) {
      fresh = std::make_shared<Batch>(stmt);
      batch = fresh.get();
    }
    batch->join(look_up, std::move(handler));
    if (fresh) std::exchange(lane, nullptr)->enqueue(std::move(fresh));
  };
  co_await asio::async_initiate<const Awaitable, void()>(std::move(start), Awaitable());
  if (look_up.outcome == Outcome::failed) std::rethrow_exception(look_up.failure);
  if (look_up.outcome != Outcome::rows) co_return false;
  found = std::move(look_up.found);
  co_return true;
}

}  // namespace welkin::db
