#pragma once
#include <string>
#include <string_view>

namespace welkin::web {

struct StartPage {
  std::string html;
  std::string content_security_policy;
};

/// The build knows no address, the server does: the page carries a stand-in for the base path. Each of its
/// own scripts is allowed by its hash, nothing else that is written into a page.
/// @param base_path  "" or "/cloud"
StartPage start_page(std::string_view built, std::string_view base_path);

}  // namespace welkin::web
