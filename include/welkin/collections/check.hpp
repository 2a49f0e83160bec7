#pragma once
#include "welkin/blobs/check.hpp"

namespace welkin::collections {

/// Whether what each collection counts is what is in it. Goes before the check of the drives, in which these
/// bytes count.
void check_collections(blobs::Inspection& inspection);

}  // namespace welkin::collections
