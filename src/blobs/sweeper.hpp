#pragma once
#include "blobs/ground.hpp"

namespace welkin::blobs {

/// Finds what crashes and mistakes left behind: spool files nobody writes any more, chunk files without a
/// row, rows that nothing refers to and nobody queued. It removes spool files itself; chunk files it gives a
/// dying row, so that they leave by the collector like all others. Ages only spare work: an upload that is
/// slower than any age meets the row or the missing file and fails, and nothing is lost.
class Sweeper {
 public:
  struct Limits {
    unsigned orphan_seconds = 86'400;
    std::size_t names = 20'000;  // looked at in one turn
    std::size_t rows = 20'000;
    unsigned directories = kDirectories;  // those in use: fewer only in the simulation
  };
  Sweeper(Ground& ground, Limits limits) : ground_(ground), limits_(limits) {}

  /// One turn, from where the last one ended. @return files removed or queued
  unsigned turn(Micros now);
  /// Whether the last turn came to the end of everything, so that the next one begins anew.
  bool round_is_done() const { return directory_ == 0 && after_.empty() && !after_chunk_ && !after_content_; }

 private:
  unsigned sweep_spool(Micros now);
  unsigned sweep_directory(Micros now, std::size_t& budget);
  void sweep_rows();
  bool is_old(const Stat& stat, Micros now) const;

  Ground& ground_;
  Limits limits_;
  unsigned directory_ = 0;
  std::string after_;  // last name looked at in directory_
  ChunkId after_chunk_;
  ContentId after_content_;
};

}  // namespace welkin::blobs
