#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "welkin/http/request.hpp"
#include "welkin/rest/rest.hpp"
#include "welkin/wire/json_writer.hpp"

namespace welkin::rest {

/// The key behind an id in a URL, a form or a JSON body. @throws Error invalid `bad_id` (not an id at all),
/// not_found (an id of another kind, or of nothing)
NodeId folder_id(const Services& services, std::string_view text);
NodeId file_id(const Services& services, std::string_view text);
/// Where the route does not say which of the two it is.
NodeId any_id(const Services& services, std::string_view text);

/// ?limit of a cursor listing: 1 to 200, 50 when it is not there. @throws Error invalid `bad_query`
int page_limit(const http::Request& rq);
/// Whether a DELETE says ?permanent=true. @throws Error invalid `bad_query`
bool permanent(const http::Request& rq);

/// Where `parent_id: null` and an absent folder point: the caller's home, or the one folder his app password
/// is for.
Task<NodeId> home_id(const Services& services, const Caller& caller);

/// Writes nodes as the Folder and File objects of the API. Keeps what neighbours share (ids of the parent,
/// the drive, the author, the path of the folder) rendered, so a row of a listing costs one id and no more
/// allocations.
class NodeWriter {
 public:
  /// All of them must outlive this.
  NodeWriter(const PublicIds& ids, const Caller& caller, wire::JsonWriter& out);

  /// One node whose own path is known: "/" for a root, "" where the caller may not see the way.
  /// `more` are further members, `"a":1`.
  void node(const files::Node& node, std::string_view path, std::string_view more = {});

  /// Children follow; `path` is their folder's.
  void set_folder_path(std::string_view path);
  void child(const files::Node& node);

 private:
  /// `"name":"<id>"`, kept until another key comes.
  struct Member {
    std::int64_t key = -1;
    std::string json;
  };
  void write(const files::Node& node, std::string_view escaped_first, std::string_view escaped_last,
             std::string_view more = {});
  void write_folder_tail(const files::Node& node);
  void write_file_tail(const files::Node& node);
  void write_people(const files::Node& node);
  void id_member(Member& kept, const char* name, IdKind kind, std::int64_t key);

  const PublicIds& ids_;
  const Caller& caller_;
  wire::JsonWriter& out_;
  std::string folder_path_;  // escaped, with the slash before a child's name; "" unknown
  std::string name_;         // escaped; memory kept between rows
  Member parent_, folder_, drive_, owner_, creator_, updater_;
};

/// The name shown for a node: a personal root has none of its own.
std::string shown_name(const files::Node& node, const Caller& caller);

/// Folder or File as one JSON text; asks for its path.
Task<std::string> node_json(const Services& services, const Caller& caller, const files::Node& node);

/// `"<etag>"`
std::string quoted_etag(const files::Node& node);

}  // namespace welkin::rest
