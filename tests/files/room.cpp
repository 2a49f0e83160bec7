#include "files/room.hpp"

#include <unistd.h>

#include <cstdlib>

#include "welkin/core/error.hpp"

namespace welkin::files {
namespace {

constexpr db::Stmt kUser{"test.user",
                         "insert into users (name, login, display_name) values ($1, $1, $1) returning id"};
constexpr db::Stmt kDrive{"test.drive", "select create_personal_drive($1, $2)"};
constexpr db::Stmt kWrongSums{"test.wrong_sums", R"(
  with recursive below as (
    select node_id top, node_id id from folders
    union all select b.top, n.id from below b join nodes n on n.parent_id = b.id and n.kind = 2),
  truth as (select b.top, coalesce(sum(n.size), 0) bytes
    from below b left join nodes n on n.parent_id = b.id and n.kind = 1 group by b.top)
  select count(*) from folders f join truth t on t.top = f.node_id where t.bytes <> f.bytes_below)"};
constexpr db::Stmt kMiscounted{"test.miscounted", R"(
  select coalesce(sum(abs(d.used_bytes
    - (select coalesce(sum(n.size), 0) from nodes n where n.drive_id = d.id and n.kind = 1)
    - (select coalesce(sum(v.size), 0) from versions v join nodes n on n.id = v.node_id where n.drive_id = d.id)
    - (select coalesce(sum(octet_length(p.ns) + octet_length(p.name) + octet_length(p.value)), 0)
         from node_properties p join nodes n on n.id = p.node_id where n.drive_id = d.id))), 0)::bigint
  from drives d)"};

class StringSink final : public ByteSink {
 public:
  std::string text;
  Task<> write(ByteView bytes) override {
    text += as_text(bytes);
    co_return;
  }
  Task<> write_file(int fd, std::uint64_t offset, std::uint64_t length) override {
    std::string part(length, '\0');
    const auto got = ::pread(fd, part.data(), length, static_cast<off_t>(offset));
    if (got != static_cast<ssize_t>(length)) throw Error(Errc::internal, "short", "short read");
    text += part;
    co_return;
  }
};

}  // namespace

Room::Room() {
  std::string pattern = (std::filesystem::temp_directory_path() / "welkin-files-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp");
  directory = pattern;
  blobs::Store::Options options;
  options.data_dir = directory;
  options.disk_floor_bytes = 0;
  store = std::make_unique<blobs::Store>(database.db(), options);
  files = std::make_unique<Files>(database.db(), *store, config, clock);
}

Room::~Room() {
  files->close();
  store->close();
  files.reset();
  store.reset();
  std::filesystem::remove_all(directory);
}

Caller Room::user(const std::string& name, std::int64_t quota_bytes) {
  Caller caller;
  caller.user = database.db().write_now([&](db::Tx& tx) {
    const auto id = tx.one(kUser, name)[0].id<UserId>(0);
    tx.exec(kDrive, id, quota_bytes);
    return id;
  });
  caller.name = name;
  caller.subjects = {caller.user.value};
  caller.credential = Credential::session_bearer;
  return caller;
}

NodeId Room::root(const Caller& caller) { return run(files->home(caller)).id; }

NodeId Room::folder(const Caller& caller, NodeId parent, const std::string& name) {
  return run(files->create_folder(caller, parent, name)).id;
}

Written Room::put(const Caller& caller, NodeId parent, const std::string& name, const std::string& body) {
  UploadOptions options;
  options.target = {parent, name, {}};
  return put(caller, options, body);
}

namespace {
Task<Written> upload(Files& files, Caller caller, UploadOptions options, std::string body) {
  const auto upload = co_await files.begin_upload(caller, options);
  for (std::size_t at = 0; at < body.size(); at += 256 << 10)
    co_await upload->write(as_bytes(std::string_view(body).substr(at, 256 << 10)));
  co_return co_await upload->finish();
}
}  // namespace

Written Room::put(const Caller& caller, UploadOptions options, const std::string& body) {
  if (!options.size_hint) options.size_hint = body.size();
  return run(upload(*files, caller, options, body));
}

std::string Room::get(const Caller& caller, NodeId id) {
  const auto opened = run(files->open(caller, id));
  StringSink sink;
  run(files->send(opened, {0, opened.content.size_bytes}, sink));
  return sink.text;
}

void Room::sql(const std::string& script) {
  database.db().write_now([&](db::Tx& tx) { tx.script(script); });
}

std::int64_t Room::number(const std::string& query) {
  const auto name = "test." + std::to_string(std::hash<std::string>{}(query));  // PostgreSQL cuts long names
  return database.db().read_now([&](db::Tx& tx) {
    const db::Stmt stmt{name.c_str(), query.c_str()};
    return tx.one(stmt)[0].i64(0);
  });
}

std::int64_t Room::wrong_folder_sums() {
  return database.db().read_now([](db::Tx& tx) { return tx.one(kWrongSums)[0].i64(0); });
}
std::int64_t Room::miscounted_bytes() {
  return database.db().read_now([](db::Tx& tx) { return tx.one(kMiscounted)[0].i64(0); });
}

}  // namespace welkin::files
