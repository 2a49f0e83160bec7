#pragma once
#include <optional>
#include <string>
#include <vector>

#include "dav/groupware/live.hpp"

namespace welkin::dav::groupware {

/// Which properties an answer shows of each item (RFC 4918 §9.1). Refers to the request's XML.
struct PropQuery {
  enum class Show : std::uint8_t { all, names, some, nothing };
  struct Asked {
    std::string_view ns, name;
    const LiveProperty* live = nullptr;
    const Arguments* arguments = nullptr;
    bool missing_is_told = true;  // by a 404; not of what allprop brings
  };
  Show show = Show::all;
  std::vector<Asked> asked;              // in the order of the request, each once
  unsigned needs = 0;                    // of all of them together
  calendars::DataRequest calendar_data;  // of C:calendar-data

  /// What a client may have stored and this query shows; empty: all of it.
  std::vector<std::pair<std::string, std::string>> stored_names() const;
};

/// The body of a PROPFIND; none means allprop. @throws Error invalid `bad_propfind`, `too_many_properties`
PropQuery read_propfind(const wire::XmlElement* body);
/// What a REPORT asks beside its question: DAV:prop, allprop, propname, or none of them, which is only
/// whether it is there.
PropQuery read_report_props(const wire::XmlElement& report);

/// Writes the propstats of one item after another.
class ItemWriter {
 public:
  ItemWriter(const PropQuery& query, bool minimal) : query_(query), minimal_(minimal) {}
  /// Between begin_response and end_response.
  void propstats(const Item& item, const View& view, wire::Multistatus& out);

 private:
  void names(const Item& item, const View& view, wire::Multistatus& out);

  const PropQuery& query_;
  bool minimal_;
  std::string missing_, ignored_;
};

}  // namespace welkin::dav::groupware
