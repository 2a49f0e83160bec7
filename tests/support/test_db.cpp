#include "support/test_db.hpp"

#include <libpq-fe.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "support/temp_folder.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"
#include "welkin/db/cluster.hpp"
#include "welkin/db/migrate.hpp"

namespace welkin::tests {
namespace {

// Plain libpq: what a test needs to set up must not depend on what it tests.
class Session {
 public:
  explicit Session(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
    if (PQstatus(connection_) != CONNECTION_OK) {
      const std::string why = PQerrorMessage(connection_);
      PQfinish(connection_);
      throw std::runtime_error("test database: " + why);
    }
    PQsetNoticeProcessor(connection_, [](void*, const char*) {}, nullptr);
  }
  ~Session() { PQfinish(connection_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The first value, "" when there is none.
  std::string exec(const std::string& sql) {
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection_, sql.c_str()), &PQclear);
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      throw std::runtime_error(std::string("test database: ") + PQerrorMessage(connection_));
    }
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
  }

 private:
  PGconn* connection_;
};

std::string template_name() {
  std::string all;
  for (const auto* files : {&db::bundled_migrations(), &db::bundled_functions()}) {
    for (const auto& file : *files) all += file.id + "\n" + file.sql + "\n";
  }
  const auto digest = crypto::sha256(all);
  return "welkin_template_" + text::hex(std::as_bytes(std::span(digest))).substr(0, 16);
}

// Several suites start at the same moment; one of them makes the template, under another name until it is
// whole.
const std::string& ready_template() {
  static const std::string name = [] {
    const auto wanted = template_name();
    Session admin(cluster_admin_url());
    admin.exec("select pg_advisory_lock(774411)");
    if (admin.exec("select 1 from pg_database where datname = '" + wanted + "'").empty()) {
      const auto unfinished = wanted + "_new";
      admin.exec("drop database if exists " + unfinished + " with (force)");
      admin.exec("create database " + unfinished + " template template0");
      db::migrate(with_database(cluster_admin_url(), unfinished), db::bundled_migrations(),
                  db::bundled_functions());
      admin.exec("alter database " + unfinished + " rename to " + wanted);
    }
    admin.exec("select pg_advisory_unlock(774411)");
    return wanted;
  }();
  return name;
}

struct PrivateCluster {
  PrivateCluster() : cluster(options(folder)) {}
  static db::Cluster::Options options(const TempFolder& folder) {
    db::Cluster::Options o;
    o.directory = folder.path() + "/pg";
    o.durable = false;
    o.run_as = ordinary_user();
    return o;
  }
  TempFolder folder;
  db::Cluster cluster;
};

}  // namespace

const std::string& cluster_admin_url() {
  static const std::string url = [] {
    if (const char* given = std::getenv("WELKIN_TEST_DATABASE_URL"); given != nullptr && *given != '\0') {
      return std::string(given);
    }
    static PrivateCluster cluster;
    return cluster.cluster.url("postgres");
  }();
  return url;
}

std::string with_database(const std::string& url, const std::string& name) {
  if (url.find("://") == std::string::npos) return url + " dbname=" + name;  // the last keyword wins
  const auto path = url.find('/', url.find("://") + 3);
  const auto query = url.find('?');
  const auto host = url.substr(0, std::min(path, query));
  return host + "/" + name + (query == std::string::npos ? "" : url.substr(query));
}

TestDb::TestDb(bool migrated) {
  static std::atomic<unsigned> count{0};
  const std::string source = migrated ? ready_template() : "template0";
  name_ = "welkin_test_" + std::to_string(getpid()) + "_" + std::to_string(++count);
  Session admin(cluster_admin_url());
  admin.exec("drop database if exists " + name_ + " with (force)");
  admin.exec("create database " + name_ + " template " + source);
  url_ = with_database(cluster_admin_url(), name_);
}

TestDb::~TestDb() {
  db_.reset();
  try {
    Session(cluster_admin_url()).exec("drop database if exists " + name_ + " with (force)");
  } catch (const std::exception&) {  // a test may have ended the server
  }
}

db::Db& TestDb::db() {
  std::call_once(opened_, [this] {
    db::PoolConfig config;
    config.url = url_;
    db_ = std::make_unique<db::Db>(config);
  });
  return *db_;
}

void TestDb::script(std::string_view sql) { Session(url_).exec(std::string(sql)); }

void TestDb::cut_sessions() {
  Session(cluster_admin_url())
      .exec("select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = '" + name_ + "'");
}

}  // namespace welkin::tests
