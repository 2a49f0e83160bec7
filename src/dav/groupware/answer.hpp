#pragma once
#include <string>

#include "dav/groupware/prop_query.hpp"
#include "dav/groupware/target.hpp"
#include "welkin/dav/resource.hpp"

namespace welkin::dav::groupware {

/// A multistatus on its way out: items are written and forgotten. Nothing grows with their number.
class Answer {
 public:
  Answer(const Services& services, http::Request& rq, http::Reply& rp, const PropQuery& query,
         const Spot& spot);

  /// The zone of times without one, when series are to be expanded.
  void set_floating(calendars::Zone zone) { view_.floating = std::move(zone); }
  /// Looks up what every item needs, then begins the reply: what can be refused is refused before.
  Task<> begin();
  /// An address above collections, of the caller's.
  Task<> place(const Spot& spot) { return place(spot, nullptr, nullptr); }
  /// A principal that may be somebody else.
  Task<> place(const Spot& spot, const people::Person* person, const people::Group* group);
  /// Collections of a home, their stored properties looked up some at a time.
  Task<> collections(std::span<const collections::Collection> some);
  /// Members of a collection. @param href  the collection's; the member's name is added
  void member(const collections::Collection& collection, std::string_view href,
              const collections::ObjectRow& row);
  void status(std::string_view href, int status, std::string_view condition = {});
  /// That there would have been more (RFC 6578 §3.6).
  void more(std::string_view href) { status(href, 507, "<d:number-of-matches-within-limits/>"); }
  void append(std::string_view xml) { text_ += xml; }
  /// Hands on what has gathered; every page, or when it is long. The first time at once: somebody waits.
  Task<> send();
  Task<> send_if_long();
  Task<> end();

  const PropQuery& query() const { return query_; }
  const View& view() const { return view_; }

 private:
  void item(const Item& item);

  const Services& services_;
  http::Reply& rp_;
  const PropQuery& query_;
  Preferences preferences_;
  View view_;
  std::string user_;
  ItemWriter writer_;
  std::string text_, href_;
  wire::Multistatus out_;
  bool first_sent_ = false;
};

}  // namespace welkin::dav::groupware
