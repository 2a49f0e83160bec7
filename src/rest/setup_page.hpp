#pragma once
#include <string>
#include <string_view>

/// The page behind the link printed at the first start. One document without any other asset; its policy
/// allows exactly the script and the style in it, by digest.
namespace welkin::rest {

struct SetupPage {
  std::string html;
  std::string content_security_policy;
};
/// @param base_path  "" or "/cloud"; where the API is
SetupPage setup_page(std::string_view base_path);

}  // namespace welkin::rest
