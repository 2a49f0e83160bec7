#pragma once
#include <string>

#include "welkin/core/clock.hpp"
#include "welkin/db/db.hpp"

/// Rows of `login_failures`: the lock-out that all nodes share. Keyed by what was typed, whether it is
/// anybody or not.
namespace welkin::people::store {

struct Attempt {
  bool allowed = false;
  bool locks = false;                // this one was the last that is allowed
  unsigned retry_after_seconds = 0;  // when not allowed
};

/// Counts one attempt as a failure before the password is looked at, so that a parallel burst cannot pass; a
/// right password takes the row away again. The attempt that reaches `failures_max` locks the name for
/// `lock_seconds`; failures older than that are forgotten. `failures_max` 0: no lock-out.
Attempt reserve_attempt(db::Tx& tx, const std::string& key, unsigned failures_max, unsigned lock_seconds,
                        Micros now);
/// The password was right: nothing has failed.
void clear_attempts(db::Tx& tx, const std::string& key);
/// Nobody looked at the password (the server was busy): the attempt does not count.
void release_attempt(db::Tx& tx, const std::string& key, unsigned failures_max);

}  // namespace welkin::people::store
