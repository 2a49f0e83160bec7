#pragma once
#include <functional>
#include <vector>

#include "dav/if_check.hpp"
#include "welkin/dav/resource.hpp"
#include "welkin/dav/tree.hpp"

namespace welkin::dav {

/// What a write touches at a place, to name the locks in its way.
struct Touched {
  Place place;  // of touch.node
  files::Locks::Touch touch;
};

/// A request that changes something, with its path walked and its If header read.
struct Change {
  const TreeServices& services;
  http::Request& rq;
  http::Reply& rp;
  Place place;
  files::Located at;
  Submitted submitted;
  std::vector<Touched> touched;  // filled by the verb before it writes

  bool is_root() const { return place.names.empty(); }
  /// Adds what the request's own target is: the node, or the folder that would get the name.
  void touch_target(bool deep, bool membership);
  /// What is there. @throws Error not_found, also for a file asked for with a slash at its end
  const files::Node& require_node() const;
  /// The folder for a name that is free. @throws Error conflict `parent_missing` (RFC 4918 §9.7.1)
  const files::Node& require_parent() const;

  /// The If header and the preconditions of RFC 9110 §13 against what is there now, as a demand that the
  /// write checks again. @throws Error precondition_failed
  Task<files::Expect> require_conditions();
};

using Verb = Task<> (*)(Change&);

/// Walks the path, runs the verb, and names the locks when one forbade it: 423 with their roots, or 403 when
/// the token of somebody else was submitted (RFC 4918 §6.4).
Task<> run_change(const TreeServices& services, Verb verb, http::Request& rq, http::Reply& rp);

/// The last step of it, for a change whose place was found otherwise.
Task<> run_naming_locks(Change& change, std::function<Task<>(Change&)> verb);

/// Answers a refusal by locks. For whoever writes without run_change.
Task<> answer_locked(const TreeServices& services, http::Request& rq, http::Reply& rp,
                     const std::vector<Touched>& touched, const std::vector<files::LockToken>& tokens);

/// The place of a lock's root, seen from where it was asked about.
Place root_of(const files::Lock& lock, Place asked);

/// ETag and Last-Modified of what was written.
void set_validators(http::Reply& rp, const files::Node& node);

/// The same, and what sync clients read beside it: OC-ETag, OC-FileId.
void set_written(const Change& change, const files::Node& node);

/// The methods an address takes, for Allow.
std::string_view allowed_methods(const files::Located& at);

}  // namespace welkin::dav
