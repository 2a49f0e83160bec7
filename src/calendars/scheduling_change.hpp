#pragma once
#include "calendars/scheduling_post.hpp"
#include "welkin/calendars/scheduling.hpp"

namespace welkin::calendars {

/// One write of a calendar, and what follows from it for others, in one transaction.
class Change {
 public:
  Change(db::Tx& tx, const Config& config, std::int64_t now, const Caller& caller)
      : tx_(tx), config_(config), now_(now), caller_(caller) {}

  Scheduling::Stored put(collections::CollectionId calendar, const collections::Objects::NewObject& object,
                         const wire::IcalComponent& uploaded, const Scheduling::Seen& seen);
  void remove(collections::CollectionId calendar, const std::string& name, const collections::Expect& expect,
              const std::optional<db::Uuid>& tag, bool tells);
  collections::Objects::Written transfer(const collections::Objects::Transfer& what);
  void remove_calendar(collections::CollectionId id, const std::string& state, bool keeps_default);

 private:
  struct Before {
    store::Place place;
    std::optional<wire::IcalComponent> object;  // read, when it may be a scheduling object
    itip::Role role = itip::Role::none;
  };
  Before before(collections::CollectionId calendar, const std::string& name) const;
  void meet_all(Post& post, const Before& was, const wire::IcalComponent* uploaded) const;
  Before meet_and_lock(Post& post, Before was, const std::string& name,
                       const wire::IcalComponent* uploaded) const;
  wire::IcalComponent change_of(Post& post, const Before& was, const wire::IcalComponent& uploaded,
                                itip::Role role, bool merge) const;
  void tell_end(Post& post, const Before& was, bool tells) const;
  static void require_only_one(const Post& post, const store::Place& place, const std::string& name);

  db::Tx& tx_;
  const Config& config_;
  const std::int64_t now_;
  const Caller& caller_;
};

}  // namespace welkin::calendars
