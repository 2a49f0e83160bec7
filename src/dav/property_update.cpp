#include "dav/property_update.hpp"

#include <algorithm>
#include <array>

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::dav {
namespace {

constexpr std::string_view kDav = "DAV:";
constexpr std::string_view kXml = "http://www.w3.org/XML/1998/namespace";
constexpr std::string_view kProtected = "<d:cannot-modify-protected-property/>";

struct Verdict {
  int status = 200;
  std::string_view condition = {};
};

/// What setting a live property asks for. Values that cannot be meant are a conflict (RFC 4918 §9.2.1).
class Setter {
 public:
  explicit Setter(PropertyUpdate& update) : patch_(update.patch), favorite_(update.favorite) {}

  Verdict set(const LiveProperty& live, const wire::XmlElement& element) {
    const auto value = element.trimmed();
    if (live.name == "getlastmodified" || live.name == "Win32LastModifiedTime") {
      return time(times::from_http_date(value), patch_.modified_at);
    }
    if (live.name == "lastmodified") return time(epoch_or_date(value), patch_.modified_at);
    if (live.name == "creationdate") return time(times::from_rfc3339(value), patch_.created_at);
    if (live.name == "Win32CreationTime") return time(times::from_http_date(value), patch_.created_at);
    if (live.name == "getcontenttype") return content_type(value);
    if (live.name == "creation_time") return time(epoch_or_date(value), patch_.created_at);
    if (live.name == "favorite") return mark(value);
    if (live.name == "executable" && value != "T" && value != "F") return {409, {}};
    if (live.name == "checksums") return {};  // clients give back what they have read; nothing is stored
    if (live.name == "displayname" && value.empty()) {
      store(element, std::nullopt);  // no name of its own: that of the tree
      return {};
    }
    keep(element);
    return {};
  }

  /// Removing what is computed means going back to what is computed.
  Verdict remove(const LiveProperty& live, const wire::XmlElement& element) {
    if (live.name == "favorite") {
      favorite_ = false;
      return {};
    }
    if ((live.needs & needs::kStored) != 0) {
      store(element, std::nullopt);
      return {};
    }
    return {403, kProtected};
  }

  void store(const wire::XmlElement& element, std::optional<std::string> value) {
    patch_.changes.push_back({element.ns, element.name, std::move(value)});
  }
  Verdict keep(const wire::XmlElement& element) {
    std::string value;
    wire::append_xml(value, element);
    if (value.size() > files::Properties::kValueBytesMax) return {507, {}};
    store(element, std::move(value));
    return {};
  }

 private:
  static Verdict time(std::optional<Micros> at, std::optional<Micros>& to) {
    if (!at || *at <= 0) return {409, {}};
    to = at;
    return {};
  }
  static std::optional<Micros> epoch_or_date(std::string_view value) {
    constexpr std::int64_t kLast = 253'402'300'799;
    const auto seconds = text::signed_number(value.substr(0, value.find('.')));
    if (seconds)
      return *seconds <= 0 || *seconds > kLast ? std::nullopt : std::optional<Micros>(*seconds * 1'000'000);
    return times::from_http_date(value);
  }
  Verdict mark(std::string_view value) {
    const bool on = value == "1" || text::iequals(value, "true");
    if (!on && value != "0" && !text::iequals(value, "false") && !value.empty()) return {409, {}};
    favorite_ = on;
    return {};
  }
  Verdict content_type(std::string_view value) {
    const auto slash = value.find('/');
    const bool sane = value.size() <= 127 && slash != std::string_view::npos && slash > 0 &&
                      slash + 1 < value.size() &&
                      std::all_of(value.begin(), value.end(), [](char c) { return c > ' ' && c < 0x7F; });
    if (!sane) return {409, {}};
    patch_.mime_type = text::lower(value);
    return {};
  }

  files::PropertyPatch& patch_;
  std::optional<bool>& favorite_;
};

// What is said once is kept with every property: no language has a name of this length (RFC 5646 §4.4.1).
constexpr std::size_t kLanguageBytesMax = 100;

/// xml:lang holds for what is inside (XML 1.0 §2.12), so it travels with the property.
wire::XmlElement with_language(const wire::XmlElement& property, const std::string* language) {
  auto copy = property;
  if (language != nullptr && property.attribute(kXml, "lang") == nullptr) {
    copy.attributes.push_back({std::string(kXml), "lang", *language});
  }
  return copy;
}

const std::string* language_of(const wire::XmlElement& element, const std::string* inherited) {
  const auto* own = element.attribute(kXml, "lang");
  if (own != nullptr && own->size() > kLanguageBytesMax)
    throw Error(Errc::invalid, "bad_propertyupdate", "An xml:lang is longer than any language's");
  return own != nullptr ? own : inherited;
}

Verdict judge(Setter& setter, const wire::XmlElement& property, bool is_set, bool is_folder) {
  const auto* live = find_live(property.ns, property.name);
  if (live == nullptr) {
    if (is_set) return setter.keep(property);
    setter.store(property, std::nullopt);
    return {};
  }
  const bool fits = (live->kinds & (is_folder ? LiveProperty::kFolder : LiveProperty::kFile)) != 0;
  if (live->is_protected || !fits) return {403, kProtected};
  return is_set ? setter.set(*live, property) : setter.remove(*live, property);
}

}  // namespace

void PropertyUpdate::fail_last(int status, std::string_view condition) {
  fails = true;
  // What a folder is takes no room.
  const auto last = std::find_if(named.rbegin(), named.rend(), [](const auto& one) {
    return one.name != "resourcetype" || one.ns != kDav;
  });
  if (last == named.rend()) return;
  last->status = status;
  last->condition = condition;
  let_others_fall();
}

bool PropertyUpdate::changes_anything() const {
  return !patch.changes.empty() || patch.modified_at || patch.created_at || patch.mime_type;
}

std::string_view no_room(const Error& refusal) {
  return std::string_view(refusal.slug()) == "quota_not_exceeded" ? "<d:quota-not-exceeded/>" : "";
}

void PropertyUpdate::let_others_fall() {
  for (auto& one : named) {
    if (one.status == 200) one.status = 424;
  }
}

void PropertyUpdate::write(wire::Multistatus& out) const {
  for (const int status : {200, 403, 409, 507, 424}) {
    std::string_view condition;
    bool any = false;
    for (const auto& one : named) {
      if (one.status != status) continue;
      if (!any) out.begin_propstat();
      any = true;
      condition = one.condition;
      wire::append_empty_element(out.out(), one.ns, one.name, kNamespaces);
    }
    if (any) out.end_propstat(status, condition);
  }
}

PropertyUpdate read_property_update(const wire::XmlElement& update, bool is_folder) {
  PropertyUpdate out;
  Setter setter(out);
  const auto* language = language_of(update, nullptr);
  for (const auto& instruction : update.children) {
    const bool is_set = instruction.is(kDav, "set");
    if (!is_set && !instruction.is(kDav, "remove")) continue;
    const auto* in_instruction = language_of(instruction, language);
    const auto* prop = instruction.child(kDav, "prop");
    if (prop == nullptr) {
      throw Error(Errc::invalid, "bad_propertyupdate", "A set or remove without a DAV:prop");
    }
    const auto* in_prop = is_set ? language_of(*prop, in_instruction) : nullptr;
    for (const auto& property : prop->children) {
      // More than fit: nothing of it will be done, so nothing more is judged.
      if (out.named.size() > static_cast<std::size_t>(files::Properties::kPerNodeMax)) break;
      const auto verdict = is_set ? judge(setter, with_language(property, in_prop), is_set, is_folder)
                                  : judge(setter, property, is_set, is_folder);
      auto known = std::find_if(out.named.begin(), out.named.end(), [&](const auto& one) {
        return one.name == property.name && one.ns == property.ns;
      });
      if (known == out.named.end()) known = out.named.insert(known, {property.ns, property.name, 200, {}});
      if (verdict.status != 200) {
        known->status = verdict.status;
        known->condition = verdict.condition;
        out.fails = true;
      }
    }
  }
  if (out.named.empty()) {
    throw Error(Errc::invalid, "bad_propertyupdate", "The body holds no property to set or remove");
  }
  if (out.named.size() > static_cast<std::size_t>(files::Properties::kPerNodeMax)) out.fail_last(507, {});
  if (out.fails) out.let_others_fall();
  return out;
}

PropertyUpdate read_mkcol(wire::XmlElement mkcol) {
  if (!mkcol.is(kDav, "mkcol")) throw Error(Errc::invalid, "bad_mkcol", "The body is no DAV:mkcol");
  std::optional<PropertyUpdate::Named> type;
  bool others = false;
  for (auto& instruction : mkcol.children) {
    if (instruction.is(kDav, "remove"))
      throw Error(Errc::invalid, "bad_mkcol", "A DAV:mkcol only sets properties");
    for (auto& prop : instruction.children) {
      std::erase_if(prop.children, [&](const wire::XmlElement& property) {
        if (!property.is(kDav, "resourcetype")) return false;
        const bool plain = property.children.size() == 1 && property.child(kDav, "collection") != nullptr;
        type = {property.ns, property.name, plain ? 200 : 403, plain ? "" : "<d:valid-resourcetype/>"};
        return true;
      });
      others = others || !prop.children.empty();
    }
  }
  PropertyUpdate out;
  if (others) out = read_property_update(mkcol, true);
  if (type) {
    out.fails = out.fails || type->status != 200;
    out.named.push_back(std::move(*type));
  }
  if (out.fails) out.let_others_fall();
  return out;
}

}  // namespace welkin::dav
