#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "welkin/core/id.hpp"
#include "welkin/db/db.hpp"
#include "welkin/people/people.hpp"

namespace welkin::people {

/// One thing that happened to an account or a secret.
struct AuditEntry {
  UserId actor;         // 0: nobody is known yet, or the command line
  const char* action;   // "login", "app_password.create" ...
  std::string subject;  // who or what it was done to
  std::vector<std::pair<std::string, std::string>> detail = {};
};

/// Writes the row in the transaction of the action itself: without the row there is no action. Texts that
/// came from outside are cut and made safe first, so that no input can make the row fail.
void audit(db::Tx& tx, const Origin& origin, const AuditEntry& entry);

}  // namespace welkin::people
