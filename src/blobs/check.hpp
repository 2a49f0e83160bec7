#pragma once
#include <vector>

#include "blobs/quarantine.hpp"
#include "blobs/visitor.hpp"
#include "welkin/blobs/check.hpp"

namespace welkin::blobs {

/// One check of the bytes, in the order in which repairs build on each other.
class ByteCheck {
 public:
  explicit ByteCheck(Inspection& inspection);

  /// @throws std::runtime_error when repairs are asked of a store that is not to be written to
  void require_usable() const;
  void directory();    // names and modes in the data directory
  void chunks();       // rows whose file is missing or wrong
  void files();        // files without a row, in a wrong place, or none of ours
  void spool();        // left-overs on their way in, and what lies in quarantine/ for no reason
  void quarantined();  // what can be healed, and what is lost until its bytes come back
  void contents();     // chunks without gaps, sums, inline bodies
  void references();   // what nothing refers to and nobody queued; what is parked

 private:
  using Weight = Finding::Weight;
  using Mended = Inspection::Mended;

  void foreign(Area area, const std::string& name, const std::string& shown);
  void files_of(Area area);
  void misplaced(Area area, const ChunkName& chunk);
  void orphan(Area area, const ChunkName& chunk);
  Mended take_in_or_move(Area area, const ChunkName& chunk);
  void bad_chunk(ChunkId id);
  void one_quarantined(ChunkId id);
  void leftovers(Area area, const char* kind);
  bool is_old(Area area, const std::string& name) const;
  /// Renames into found/, under a name that is free there.
  bool move_to_found(Area from, const std::string& name, const std::string& as);
  /// A row of a page of contents that is not as it should be.
  void content(const db::Row& row);
  Mended mend_content(ContentId id);
  void inline_bodies();

  Inspection& in_;
  db::Db& db_;
  Visitor visitor_;
  Ground& ground_;
  Micros now_, grace_;
};

/// "blobs/07", "spool" ...
std::string shown(Area area);

}  // namespace welkin::blobs
