#pragma once
#include <libpq-fe.h>
#include <pqxx/basic_connection.hxx>
#include <pqxx/connectionpolicy.hxx>

#include <string>

namespace welkin::db {

/// Connects with a time limit (libpqxx would wait for minutes) and lets the PGconn be seen, which libpqxx 6
/// hides.
class LinkPolicy : public pqxx::connectionpolicy {
 public:
  using pqxx::connectionpolicy::connectionpolicy;
  handle do_startconnect(handle orig) override;

 private:
  bool started_ = false;
};

/// A libpqxx connection of ours. It never reconnects by itself: session state would be lost silently.
class Link final : public pqxx::basic_connection_base<LinkPolicy> {
 public:
  /// @param url  connection string or URI. @throws ConnectionLost
  explicit Link(const std::string& url);
  PGconn* raw() const { return raw_; }

 private:
  PGconn* raw_;
};

}  // namespace welkin::db
