#pragma once
#include <string>
#include <string_view>

#include "welkin/http/reply.hpp"
#include "welkin/http/request.hpp"

/// The few pages that a browser is shown here: no script of others, no framework, and nothing that is not
/// escaped.
namespace welkin::nextcloud {

struct Page {
  std::string title;
  std::string body;         // of <main>, escaped already
  std::string script = {};  // "": none
  std::string form_action = "'none'";
};
Task<> send_page(http::Reply& rp, http::Status status, Page page);

/// The mark, as an SVG document.
std::string_view mark();
std::string escaped(std::string_view text);
/// The mark and the title, as every page begins.
std::string heading(std::string_view title, std::string_view below = {});
/// A paragraph that says what went wrong; "" for "".
std::string complaint(std::string_view text);

}  // namespace welkin::nextcloud
