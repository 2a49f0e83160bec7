#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rest/routes.hpp"
#include "welkin/collections/collections.hpp"
#include "welkin/core/error.hpp"
#include "welkin/wire/json.hpp"
#include "welkin/wire/json_writer.hpp"

/// What the routes of calendars and of address books have in common.
namespace welkin::rest {

/// Where the two differ.
struct Groupware {
  collections::Kind kind;
  IdKind collection_id, object_id;
  const char* collection_type;  // "calendar"
  const char* object_type;      // "event"
  const char* path;             // "/api/calendars"
  const char* suffix;           // ".ics"
  const char* content_type;     // "text/calendar"
};
extern const Groupware kCalendars, kBooks;

/// The collection in a URL. @throws Error invalid `bad_id`, not_found
Task<collections::Collection> require_collection(const Services& services, http::Request& rq,
                                                 const Groupware& what);
/// The same, for whoever changes what is in it. @throws Error forbidden too
Task<collections::Collection> require_writable(const Services& services, http::Request& rq,
                                               const Groupware& what);
/// The member in a URL, with its data: in this collection and no other.
Task<collections::Object> require_object(const Services& services, const collections::Collection& in,
                                         std::string_view id, IdKind kind);

/// Names, colours and what else clients keep with collections, each in the order asked.
class Described {
 public:
  Described() = default;
  explicit Described(std::vector<collections::Property> stored) : stored_(std::move(stored)) {}
  /// The text of a property; "" when there is none.
  std::string text(collections::CollectionId of, std::string_view ns, std::string_view name) const;
  std::string name(const collections::Collection& of) const;

 private:
  std::vector<collections::Property> stored_;
};
Task<Described> describe(const Services& services, const Caller& caller,
                         const std::vector<collections::Collection>& all);

/// Calendar or Book as JSON.
void write_collection(const Services& services, wire::JsonWriter& json, const Groupware& what,
                      const collections::Collection& one, const Described& described);

/// Runs a conditional change of one member: reads it, checks If-Match and If-None-Match, lets `change` make
/// the new bytes and writes them only if nobody was quicker. Without a condition in the request it tries
/// again.
/// @return the new state. `change` returns nullopt for "as it is".
using Change = std::function<std::optional<std::string>(const collections::Object&)>;
Task<collections::Object> change_object(const Services& services, http::Request& rq, const Groupware& what,
                                        const collections::Collection& in, std::string id, IdKind kind,
                                        Change change);
/// The same for a new one; its UID is known to nobody yet. @return the new state
Task<collections::Object> create_object(const Services& services, http::Request& rq, const Groupware& what,
                                        const collections::Collection& in, std::string name,
                                        std::string data);
/// DELETE with If-Match; into the trash. Answers 204.
Task<> remove_object(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what,
                     IdKind kind, const char* id_param);

/// What is kept beside the bytes. @throws Error invalid with the slug of a precondition, too_large
collections::Facts facts_of(const Groupware& what, const collections::Collection& in, std::string_view data,
                            std::string_view name);

/// `"<etag>"`
std::string quoted(const collections::Etag& etag);
std::string random_uid();

/// A field that may be absent (nothing is said), null (it goes) or text.
std::optional<std::optional<std::string>> text_field(wire::JsonObject& fields, const char* name);
std::optional<std::optional<std::int64_t>> number_field(wire::JsonObject& fields, const char* name);
/// Text, or null when it is "".
void nullable(wire::JsonWriter& json, std::string_view name, std::string_view text);

// The routes that both have, added by each under its own names.
Task<> list_collections(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what);
Task<> get_collection(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what);
Task<> create_collection(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what);
Task<> update_collection(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what);
Task<> remove_collection(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what);
Task<> export_collection(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what);
Task<> import_collection(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what,
                         Turnstile& turnstile);
/// The bytes of one member as they are stored.
Task<> raw_object(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what);
Task<> list_trash(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what);
Task<> restore_trashed(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what);
Task<> purge_trashed(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what);
Task<> empty_trash(const Services& services, http::Request& rq, http::Reply& rp, const Groupware& what);

/// Adds them.
void mount_common(Scopes& s, const Services& services, const Groupware& what, const char* family);

}  // namespace welkin::rest
