#pragma once
#include <vector>

#include "welkin/dav/location.hpp"
#include "welkin/dav/tree.hpp"
#include "welkin/files/locks.hpp"
#include "welkin/wire/if_header.hpp"

namespace welkin::dav {

/// The If header of a request, and the lock tokens it submits: all it mentions, also in a list that turns out
/// false (RFC 4918 §10.4.1). Without If, a Lock-Token header counts as submitted: some clients send only
/// that.
struct Submitted {
  bool present = false;
  wire::IfHeader header;
  std::vector<files::LockToken> tokens;
};
/// @throws Error invalid `bad_if`: it cannot be read, or stands there twice
Submitted read_if(const http::Request& rq);

struct IfVerdict {
  bool holds = true;
  bool asked_etag = false;  // an entity tag of the request's own target was looked at
};
/// Against the state of now. Lists without a resource speak of `target`, which is at `names`. A name that is
/// free has no state but the locks that would cover it.
Task<IfVerdict> check_if(const TreeServices& services, const http::Request& rq, const Submitted& submitted,
                         const Place& place, const files::Located& target);

/// @throws Error precondition_failed `if_failed`
Task<IfVerdict> require_if(const TreeServices& services, const http::Request& rq, const Submitted& submitted,
                           const Place& place, const files::Located& target);

/// Refuses a request that reads when its If header is false (RFC 4918 §10.4.3). Writes look themselves, after
/// what is checked before.
http::Middleware obey_if(const TreeServices& services);

}  // namespace welkin::dav
