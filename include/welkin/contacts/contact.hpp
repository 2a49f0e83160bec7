#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/core/bytes.hpp"
#include "welkin/wire/vcard.hpp"

namespace welkin::contacts {

/// An address or a number with what it is for.
struct Reach {
  std::string value;
  std::string type;  // "home", "work", "cell"; "" when it is not said
  bool is_primary = false;
  bool operator==(const Reach&) const = default;
};

struct PostalAddress {
  std::string street, city, state, postal_code, country;
  std::string type;
  bool is_primary = false;
  bool operator==(const PostalAddress&) const = default;
};

/// What people see of a card. "" means that it is not there.
struct Contact {
  std::string uid, full_name, first_name, last_name, nickname;
  std::vector<Reach> emails, phones;
  std::vector<PostalAddress> addresses;
  std::string organization, title, notes;
  std::string photo_url;              // an http(s) address in the card
  bool has_photo = false;             // the card holds the picture itself
  std::string birthday, anniversary;  // "1980-02-29", without a year "--02-29"
};
Contact contact_of(const wire::Card& card);

/// The picture in a card. nullopt: there is none, or none that can be read.
struct Photo {
  std::string mime_type;
  std::string bytes;
};
std::optional<Photo> photo_of(const wire::Card& card);

/// What an edit says; what it does not say stays. An inner nullopt or "" takes the property away.
struct ContactEdit {
  using Text = std::optional<std::optional<std::string>>;
  Text full_name, first_name, last_name, nickname, organization, title, notes, photo_url, birthday,
      anniversary;
  std::optional<std::vector<Reach>> emails, phones;
  std::optional<std::vector<PostalAddress>> addresses;
};

/// A new card, in vCard 3.0, which every client reads. @throws Error invalid `bad_field`
std::string make_contact(std::string_view uid, const ContactEdit& edit);
/// The card with the edit done to it. What the edit does not speak of keeps its octets; addresses and numbers
/// that stay keep what else is said of them. @throws Error invalid `bad_field`
std::string edit_contact(std::string_view data, const ContactEdit& edit);

/// A card that is a group.
struct Group {
  std::string uid, name;
  std::vector<std::string> members;  // UIDs, without "urn:uuid:"
};
Group group_of(const wire::Card& card);
/// The same UID with and without "urn:uuid:", in this order.
std::vector<std::string> forms_of_uid(std::string_view uid);

std::string make_group(std::string_view uid, std::string_view name);
std::string rename_group(std::string_view data, std::string_view name);
/// The group with the member, or without. nullopt: it is so already.
std::optional<std::string> add_member(std::string_view data, std::string_view uid);
std::optional<std::string> remove_member(std::string_view data, std::string_view uid);

}  // namespace welkin::contacts
