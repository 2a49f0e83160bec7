#include "welkin/db/db.hpp"

#include "db/impl.hpp"

namespace welkin::db {

Db::Db(PoolConfig config) : impl_(std::make_unique<Impl>(std::move(config))) {}
Db::~Db() { close(); }

void Db::close() { impl_->close(); }

Task<> Db::run_erased(Mode mode, std::function<void(Tx&)> job) {
  co_await impl_->pool.run([mode, &job](Worker& worker) { worker.run(mode, job); });
}

void Db::run_now_erased(Mode mode, const std::function<void(Tx&)>& job) {
  impl_->pool.run_now([mode, &job](Worker& worker) { worker.run(mode, job); });
}

Task<Rows> Db::query(const Stmt& stmt, Params params) {
  co_return co_await read([&](Tx& tx) { return tx.exec(stmt, params); });
}

}  // namespace welkin::db
