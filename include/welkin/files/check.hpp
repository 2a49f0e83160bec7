#pragma once
#include "welkin/blobs/check.hpp"

namespace welkin::files {

/// The tree and its sums: parents, drives, cycles, trash, sizes, quota. Every statement of it sees one
/// snapshot, and every writer changes what belongs together in one transaction, so traffic cannot look like a
/// fault. When repairing, the shape of the tree comes first and the sums after it; a node that cannot be
/// reached is hung into its drive's root.
void check_tree(blobs::Inspection& inspection);

}  // namespace welkin::files
