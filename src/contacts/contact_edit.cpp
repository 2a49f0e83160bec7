#include <algorithm>

#include "contacts/card_text.hpp"
#include "welkin/contacts/contact.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/ical_edit.hpp"
#include "welkin/wire/ical_value.hpp"

namespace welkin::contacts {
namespace {

using wire::Card;
using wire::CardProperty;
using wire::CardVersion;
using wire::IcalProperty;

constexpr std::size_t kReachesMax = 200;

[[noreturn]] void bad(const std::string& field, const std::string& why) {
  throw Error(Errc::invalid, "bad_field", "The field '" + field + "' " + why);
}

bool is_absent(const std::optional<std::string>& value) { return !value || value->empty(); }

/// Words of TYPE that we write: nothing in them that would need quotes.
void require_word(const std::string& field, std::string_view word) {
  for (const char c : word)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '-')
      bad(field, "has a type that is no word of letters, digits and '-'");
}

/// A line of the card, in its place among those that were read.
struct Place {
  std::size_t number;
  const CardProperty* property;
};

/// Does an edit to the text of a card.
class Editing {
 public:
  Editing(std::string_view data, const ContactEdit& edit)
      : card_(wire::parse_card(data)), editor_(data), edit_(edit) {}

  std::string run() {
    name();
    text(edit_.nickname, "NICKNAME");
    organization();
    text(edit_.title, "TITLE");
    text(edit_.notes, "NOTE");
    photo();
    date(edit_.birthday, "birthday", "BDAY");
    date(edit_.anniversary, "anniversary", is_4() ? "ANNIVERSARY" : "X-ANNIVERSARY");
    if (edit_.emails) reaches(*edit_.emails, "email", "EMAIL");
    if (edit_.phones) reaches(*edit_.phones, "phone", "TEL");
    if (edit_.addresses) addresses(*edit_.addresses);
    return editor_.text();
  }

 private:
  bool is_4() const { return card_.version == CardVersion::v4_0; }

  void drop(const std::string& called) { editor_.remove_all(0, called); }

  void text(const ContactEdit::Text& change, const std::string& called) {
    if (!change) return;
    if (is_absent(*change)) return drop(called);
    if (card_.property(called) != nullptr && card_.text(called) == **change) return;
    editor_.set(0, {called, {}, wire::ical_escape(**change)});
  }

  /// The parts of N that are not spoken of stay; a name that was made of them is made again.
  void name() {
    const auto was = contact_of(card_);
    auto first = edit_.first_name ? edit_.first_name->value_or("") : was.first_name;
    auto last = edit_.last_name ? edit_.last_name->value_or("") : was.last_name;
    if (first != was.first_name || last != was.last_name || card_.property("N") == nullptr) {
      const auto* had = card_.property("N");
      auto parts = had != nullptr ? wire::card_parts(had->value, ';') : std::vector<std::string_view>();
      parts.resize(std::max<std::size_t>(parts.size(), 5));
      const auto last_text = wire::ical_escape(last), first_text = wire::ical_escape(first);
      parts[0] = last_text;
      parts[1] = first_text;
      std::string value;
      for (std::size_t i = 0; i < parts.size(); ++i) (value += i == 0 ? "" : ";") += parts[i];
      IcalProperty made{"N", {}, value};
      if (had != nullptr) made.parameters = had->parameters;
      if (edit_.first_name || edit_.last_name || !is_4()) editor_.set(0, made);
    }
    const auto joined = [](const std::string& a, const std::string& b) {
      return a.empty() || b.empty() ? a + b : a + ' ' + b;
    };
    if (edit_.full_name) {
      if (is_absent(*edit_.full_name)) {
        full_name(joined(first, last));
      } else {
        full_name(**edit_.full_name);
      }
    } else if (card_.text("FN").empty() || card_.text("FN") == joined(was.first_name, was.last_name)) {
      if (edit_.first_name || edit_.last_name) full_name(joined(first, last));
    }
  }
  /// FN must be there (RFC 2426 §3.1.1), with whatever is known.
  void full_name(std::string name) {
    if (name.empty() && edit_.organization) name = edit_.organization->value_or("");
    if (name.empty() && edit_.emails && !edit_.emails->empty()) name = edit_.emails->front().value;
    if (card_.property("FN") != nullptr && card_.text("FN") == name) return;
    editor_.set(0, {"FN", {}, wire::ical_escape(name)});
  }

  void organization() {
    if (!edit_.organization) return;
    if (is_absent(*edit_.organization)) return drop("ORG");
    if (contact_of(card_).organization == **edit_.organization) return;
    editor_.set(0, {"ORG", {}, wire::ical_escape(**edit_.organization)});
  }

  void photo() {
    if (!edit_.photo_url) return;
    if (is_absent(*edit_.photo_url)) return drop("PHOTO");
    const auto& url = **edit_.photo_url;
    if (!url.starts_with("http://") && !url.starts_with("https://"))
      bad("photo_url", "must be an http or https address");
    for (const char c : url)
      if (static_cast<unsigned char>(c) <= 0x20) bad("photo_url", "must be an http or https address");
    if (contact_of(card_).photo_url == url) return;
    IcalProperty made{"PHOTO", {}, url};
    if (!is_4()) made.set_parameter("VALUE", "uri");
    editor_.set(0, made);
  }

  void date(const ContactEdit::Text& change, const std::string& field, const std::string& called) {
    if (!change) return;
    if (is_absent(*change)) {
      drop(called);
      if (called != "BDAY") drop(called == "ANNIVERSARY" ? "X-ANNIVERSARY" : "ANNIVERSARY");
      return;
    }
    CardProperty read;
    read.name = called;
    read.value = **change;
    const auto day = wire::card_date(read);
    if (!day || date_text(*day) != **change)
      bad(field, "must be a day: 1980-02-29, or --02-29 without a year");
    const auto* had = card_.property(called);
    if (had != nullptr && wire::card_date(*had) == day) return;
    IcalProperty made{called, {}, {}};
    if (day->year) {
      made.value = **change;
      if (is_4()) std::erase(made.value, '-');
    } else if (is_4()) {
      made.value = "--" + (**change).substr(2, 2) + (**change).substr(5, 2);
    } else {
      // As clients of 3.0 say it, in a leap year.
      made.set_parameter("X-APPLE-OMIT-YEAR", "1604");
      made.value = "1604" + (**change).substr(1);
    }
    editor_.set(0, made);
  }

  /// The lines of a name with what was read from them. Both stand in the order of the text.
  std::vector<Place> places(const std::string& called) const {
    std::vector<Place> out;
    const auto lines = editor_.lines(0, called);
    std::size_t at = 0;
    for (const auto& property : card_.properties) {
      if (property.name != called || at == lines.size()) continue;
      out.push_back({lines[at++].number, &property});
    }
    return out;
  }

  /// A line, and the label that goes with it.
  void remove(const Place& place) {
    editor_.remove(place.number);
    if (place.property->group.empty()) return;
    for (const auto& line : editor_.lines(0, "X-ABLABEL"))
      if (text::iequals(line.group, place.property->group)) editor_.remove(line.number);
  }

  void set_type(IcalProperty& property, const std::string& field, const std::string& type, bool is_primary,
                const CardProperty* had) const {
    require_word(field, type);
    std::vector<std::string> types;
    if (had != nullptr)
      for (const auto& word : had->types())
        if (word != "pref" && word != type_of(*had)) types.push_back(word);
    if (!type.empty()) types.push_back(is_4() ? text::lower(type) : type);
    if (is_primary && !is_4()) types.emplace_back("PREF");
    std::erase_if(property.parameters, [](const auto& p) { return p.name == "TYPE"; });
    if (!types.empty()) property.parameters.push_back({"TYPE", types});
    property.set_parameter("PREF", is_primary && is_4() ? "1" : "");
  }

  void reaches(const std::vector<Reach>& wanted, const std::string& field, const std::string& called) {
    if (wanted.size() > kReachesMax) bad(field, "has too many entries");
    auto had = places(called);
    const auto value_of = [&](const CardProperty& property) {
      return called == "TEL" ? phone_text(property) : wire::ical_unescape(property.value);
    };
    std::vector<bool> stays(had.size());
    std::vector<const Reach*> added;
    for (const auto& reach : wanted) {
      if (text::trim(reach.value).empty()) bad(field, "has an entry without a value");
      std::size_t at = 0;
      while (at < had.size() && (stays[at] || value_of(*had[at].property) != reach.value)) ++at;
      if (at == had.size()) {
        added.push_back(&reach);
        continue;
      }
      stays[at] = true;
      const auto& property = *had[at].property;
      if (text::iequals(type_of(property), reach.type) && is_preferred(property) == reach.is_primary)
        continue;
      IcalProperty made{called, property.parameters, property.value};
      set_type(made, field, reach.type, reach.is_primary, &property);
      if (!property.group.empty()) made.name = property.group + '.' + called;
      editor_.replace(had[at].number, made);
    }
    for (std::size_t at = 0; at < had.size(); ++at)
      if (!stays[at]) remove(had[at]);
    for (const auto* reach : added) {
      IcalProperty made{called, {}, wire::ical_escape(reach->value)};
      set_type(made, field, reach->type, reach->is_primary, nullptr);
      editor_.add(0, made);
    }
  }

  void addresses(const std::vector<PostalAddress>& wanted) {
    if (wanted.size() > kReachesMax) bad("address", "has too many entries");
    const auto had = places("ADR");
    const auto now = contact_of(card_).addresses;
    std::vector<bool> stays(had.size());
    std::vector<const PostalAddress*> added;
    for (const auto& address : wanted) {
      std::size_t at = 0;
      while (at < had.size() && (stays[at] || !(now[at] == address))) ++at;
      if (at == had.size()) {
        added.push_back(&address);
      } else {
        stays[at] = true;
      }
    }
    for (std::size_t at = 0; at < had.size(); ++at)
      if (!stays[at]) remove(had[at]);
    for (const auto* address : added) {
      IcalProperty made{"ADR", {}, ";;"};
      for (const auto* part : {&address->street, &address->city, &address->state, &address->postal_code})
        (made.value += wire::ical_escape(*part)) += ';';
      made.value += wire::ical_escape(address->country);
      set_type(made, "address", address->type, address->is_primary, nullptr);
      editor_.add(0, made);
    }
  }

  Card card_;
  wire::LineEditor editor_;
  const ContactEdit& edit_;
};

std::string skeleton(std::string_view uid) {
  return "BEGIN:VCARD\r\nVERSION:3.0\r\nPRODID:-//Welkin//Welkin//EN\r\nUID:" + wire::ical_escape(uid) +
         "\r\nEND:VCARD\r\n";
}

/// What a group is said with: Apple reads only the X- form of 3.0.
std::string member_name(const Card& card) {
  return card.version == CardVersion::v4_0 ? "MEMBER" : "X-ADDRESSBOOKSERVER-MEMBER";
}

}  // namespace

std::string make_contact(std::string_view uid, const ContactEdit& edit) {
  auto out = Editing(skeleton(uid), edit).run();
  if (wire::parse_card(out).property("FN") != nullptr) return out;
  ContactEdit named;
  named.full_name.emplace("");
  wire::LineEditor editor(out);
  editor.add(0, {"FN", {}, ""});
  return editor.text();
}

std::string edit_contact(std::string_view data, const ContactEdit& edit) { return Editing(data, edit).run(); }

std::string make_group(std::string_view uid, std::string_view name) {
  const auto text = skeleton(uid);
  wire::LineEditor editor(text);
  const auto escaped = wire::ical_escape(name);
  editor.add(0, {"FN", {}, escaped});
  editor.add(0, {"N", {}, escaped + ";;;;"});
  editor.add(0, {"X-ADDRESSBOOKSERVER-KIND", {}, "group"});
  return editor.text();
}

std::string rename_group(std::string_view data, std::string_view name) {
  const auto card = wire::parse_card(data);
  wire::LineEditor editor(data);
  const auto escaped = wire::ical_escape(name);
  if (card.text("FN") != name) editor.set(0, {"FN", {}, escaped});
  if (card.property("N") != nullptr) editor.set(0, {"N", {}, escaped + ";;;;"});
  return editor.text();
}

std::optional<std::string> add_member(std::string_view data, std::string_view uid) {
  const auto card = wire::parse_card(data);
  const auto forms = forms_of_uid(uid);
  const auto members = group_of(card).members;
  if (std::find(members.begin(), members.end(), forms[1]) != members.end()) return std::nullopt;
  wire::LineEditor editor(data);
  editor.add(0, {member_name(card), {}, forms[0]});
  return editor.text();
}

std::optional<std::string> remove_member(std::string_view data, std::string_view uid) {
  const auto forms = forms_of_uid(uid);
  wire::LineEditor editor(data);
  bool was_there = false;
  for (const auto* name : {"MEMBER", "X-ADDRESSBOOKSERVER-MEMBER"}) {
    for (const auto& line : editor.lines(0, name)) {
      const auto colon = line.text.find(':');
      if (colon == std::string::npos) continue;
      // A colon may stand in a parameter too; the value begins at the scheme.
      const std::string_view value = std::string_view(line.text).substr(colon + 1);
      if (forms_of_uid(text::trim(value))[1] != forms[1]) continue;
      editor.remove(line.number);
      was_there = true;
    }
  }
  if (!was_there) return std::nullopt;
  return editor.text();
}

}  // namespace welkin::contacts
