#pragma once
#include "blobs/impl.hpp"

namespace welkin::blobs {

/// Store::scrub
Store::ScrubStep scrub_step(Store::Impl& store, std::uint64_t bytes_max, unsigned again_after_days);

}  // namespace welkin::blobs
