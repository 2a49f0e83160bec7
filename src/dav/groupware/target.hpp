#pragma once
#include <optional>

#include "dav/groupware/spot.hpp"
#include "welkin/dav/dav.hpp"
#include "welkin/people/directory.hpp"

namespace welkin::dav::groupware {

/// An address and what is there for the caller.
struct Target {
  Spot spot;
  std::optional<collections::Collection> collection;  // that it is, or that it lies in
  std::optional<collections::Object> object;          // with its data
  std::optional<people::Person> person;               // a principal that is somebody else
  std::optional<people::Group> group;                 // a principal that is a group
  bool exists = false;

  bool is_folder() const { return spot.is_folder(); }
};

/// What is somebody else's and not shared does not exist; what is shared has an address of the caller's own.
Task<Target> find_target(const Services& services, const Caller& caller, Spot spot);
/// @throws Error not_found
Task<Target> require_target(const Services& services, const Caller& caller, Spot spot);

/// Whether the caller's credential reaches this half of the tree. @throws Refusal
void require_protocol(const Caller& caller, const Spot& spot);

/// @throws Refusal 403 DAV:need-privileges, naming what is missing
void require_write(const Target& target, std::string_view privilege);

}  // namespace welkin::dav::groupware
