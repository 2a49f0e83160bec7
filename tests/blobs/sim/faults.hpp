#pragma once

namespace welkin::blobs::sim {

/// Mistakes the protocol could have, planted at the seams: what the simulation must find.
enum class Fault {
  none,
  no_file_sync,       // bytes are not flushed before the name
  writeback_as_sync,  // the hint is taken for a flush
  no_directory_sync,  // names are not flushed before the rows
  row_before_rename,
  failed_sync_ignored,
  sync_retried,  // a second flush after one that failed
  dying_row_reused,
  sweeper_unlinks,  // an orphan is removed without a row
  references_not_proved,
  proof_before_lock,     // the proof sees what was before the lock
  unlink_before_commit,  // the file goes before `dying` is certain
  no_look_at_own_name,   // step 6c
};

}  // namespace welkin::blobs::sim
