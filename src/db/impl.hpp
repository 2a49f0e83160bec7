#pragma once
#include "db/pool.hpp"
#include "welkin/db/db.hpp"

namespace welkin::db {

struct Db::Impl {
  explicit Impl(PoolConfig config) : pool(config) {}
  void close() { pool.close(); }
  Pool pool;
};

}  // namespace welkin::db
