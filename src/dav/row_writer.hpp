#pragma once
#include <string>
#include <vector>

#include "dav/prop_request.hpp"

namespace welkin::dav {

/// Writes the propstats of one resource after another. What does not depend on the row is made once.
class RowWriter {
 public:
  /// @param minimal  what is missing is not told (RFC 8144 §2.1)
  RowWriter(const PropRequest& request, const Viewer& viewer, bool minimal);

  /// Between begin_response and end_response.
  void propstats(const Resource& resource, wire::Multistatus& out);

 private:
  struct Plan {
    std::vector<const PropRequest::Asked*> asked;
    std::string missing;  // elements of what this kind of resource never has
  };
  void write_names(const Resource& resource, wire::Multistatus& out);
  bool write_value(const PropRequest::Asked& asked, const Resource& resource, std::string& out) const;

  const PropRequest& request_;
  const Viewer& viewer_;
  bool minimal_;
  Plan file_, folder_;
  std::string missing_;  // of this row
};

}  // namespace welkin::dav
