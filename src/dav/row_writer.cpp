#include "dav/row_writer.hpp"

#include <algorithm>

namespace welkin::dav {

RowWriter::RowWriter(const PropRequest& request, const Viewer& viewer, bool minimal)
    : request_(request), viewer_(viewer), minimal_(minimal) {
  for (auto* plan : {&file_, &folder_}) {
    const auto kind = plan == &file_ ? LiveProperty::kFile : LiveProperty::kFolder;
    for (const auto& asked : request.asked) {
      if (asked.live == nullptr || (asked.live->kinds & kind) != 0) {
        plan->asked.push_back(&asked);
      } else if (asked.missing_is_told && !minimal) {
        wire::append_empty_element(plan->missing, asked.ns, asked.name, kNamespaces);
      }
    }
  }
}

bool RowWriter::write_value(const PropRequest::Asked& asked, const Resource& resource,
                            std::string& out) const {
  if (asked.live != nullptr) return asked.live->write(resource, viewer_, out);
  const auto* stored = find_stored(resource.stored, asked.ns, asked.name);
  if (stored == nullptr) return false;
  out += stored->value;
  return true;
}

void RowWriter::write_names(const Resource& resource, wire::Multistatus& out) {
  const auto kind = resource.row.is_folder() ? LiveProperty::kFolder : LiveProperty::kFile;
  out.begin_propstat();
  for (const auto& live : live_properties()) {
    if ((live.kinds & kind) == 0) continue;
    if (live.needs == needs::kStored && live.name != "displayname" &&
        find_stored(resource.stored, live.ns, live.name) == nullptr) {
      continue;
    }
    wire::append_empty_element(out.out(), live.ns, live.name, kNamespaces);
  }
  for (const auto& stored : resource.stored) {
    if (find_live(stored.ns, stored.name) == nullptr) {
      wire::append_empty_element(out.out(), stored.ns, stored.name, kNamespaces);
    }
  }
  out.end_propstat(200);
}

void RowWriter::propstats(const Resource& resource, wire::Multistatus& out) {
  if (request_.kind == PropRequest::Kind::names) {
    write_names(resource, out);
    return;
  }
  const Plan& plan = resource.row.is_folder() ? folder_ : file_;
  std::string& text = out.out();
  missing_.clear();
  const auto before = text.size();
  out.begin_propstat();
  const auto empty = text.size();
  for (const auto* asked : plan.asked) {
    if (!write_value(*asked, resource, text) && asked->missing_is_told && !minimal_) {
      wire::append_empty_element(missing_, asked->ns, asked->name, kNamespaces);
    }
  }
  if (request_.kind == PropRequest::Kind::all) {
    for (const auto& stored : resource.stored) {
      const bool told = std::any_of(plan.asked.begin(), plan.asked.end(), [&](const auto* asked) {
        return asked->name == stored.name && asked->ns == stored.ns;
      });
      if (!told && find_live(stored.ns, stored.name) == nullptr) text += stored.value;
    }
  }
  const bool nothing_missing = plan.missing.empty() && missing_.empty();
  if (text.size() != empty || nothing_missing) {
    out.end_propstat(200);  // empty when nothing was asked for, or nothing is left (RFC 8144 §2.1)
  } else {
    text.resize(before);
  }
  if (nothing_missing) return;
  out.begin_propstat();
  (text += plan.missing) += missing_;
  out.end_propstat(404);
}

}  // namespace welkin::dav
