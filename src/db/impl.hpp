#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "db/leases.hpp"
#include "db/pipeline.hpp"
#include "db/pool.hpp"
#include "welkin/db/db.hpp"

namespace welkin::db {

struct Db::Impl {
  explicit Impl(const PoolConfig& config)
      : leases(std::make_shared<Leases>(config)),
        pool(std::make_shared<Pool>(config, [l = leases] { l->tidy(); })) {}

  void close() {
    {
      const std::lock_guard lock(mutex);
      closed = true;
      for (const auto& [io, pipeline] : pipelines) pipeline->close();
      pipelines.clear();
    }
    pool->close();
  }
  /// The pipeline of an io_context; an empty handle when it has none.
  Pipeline::Handle pipeline_of(const boost::asio::io_context* io) {
    const std::lock_guard lock(mutex);
    for (const auto& [owner, pipeline] : pipelines) {
      if (owner == io) return pipeline->handle();
    }
    return {};
  }

  std::shared_ptr<Leases> leases;
  std::shared_ptr<Pool> pool;
  std::mutex mutex;
  bool closed = false;  // a pipeline that came later would be closed by nobody, and hold up its io thread
  std::vector<std::pair<const boost::asio::io_context*, std::shared_ptr<Pipeline>>> pipelines;
};

}  // namespace welkin::db
