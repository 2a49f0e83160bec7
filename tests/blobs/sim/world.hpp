#pragma once
#include <map>
#include <optional>
#include <string>

#include "blobs/chunk_writer.hpp"
#include "blobs/sim/sim_rows.hpp"
#include "blobs/sim/sim_vfs.hpp"

namespace welkin::blobs::sim {

/// One simulated life of a store: uploads of equal and overlapping bodies, deletions, a collector and a
/// sweeper, a few crashes in between. After each crash, and at the end, every promise is checked.
class World {
 public:
  World(std::uint64_t seed, Fault fault);

  /// @return what was broken; nullopt: nothing
  std::optional<std::string> run();
  void trace() { fibers_.trace(); }
  const std::vector<std::string>& noted() const { return fibers_.noted(); }
  std::uint64_t calls() const { return fibers_.calls(); }

 private:
  struct Known {  // an acknowledged upload
    Bytes body;
    bool deletion_begun = false;
  };

  void start_process();
  void spawn_actors();
  void upload_and_maybe_delete(int who);
  std::optional<std::int64_t> upload(const Bytes& body);
  Sealed write_body(const Bytes& body, ChunkWriter& writer);
  std::int64_t record(const Sealed& sealed, const Bytes& body);
  void settle();
  void check_rows();
  void check_contents();
  void check_nothing_left();
  void check_content(std::int64_t id, const ContentRow& content);
  void broken(const std::string& what);

  Fibers fibers_;
  SimVfs vfs_;
  SimRows rows_;
  std::unique_ptr<Health> health_;
  std::unique_ptr<LivingSpool> living_;
  std::unique_ptr<ChunkIds> ids_;
  std::unique_ptr<Ground> ground_;
  std::vector<Bytes> bodies_;
  std::map<std::int64_t, Known> nodes_;          // by node
  std::map<std::int64_t, Bytes> content_bytes_;  // by content, also of unacknowledged uploads
  std::optional<std::string> broken_;
};

}  // namespace welkin::blobs::sim
