#pragma once
#include <string>
#include <string_view>

/// The picture of somebody who has none: the first letters of his name on a colour that is always his. Pure.
namespace welkin::nextcloud {

/// A PNG of `pixels` by `pixels`. Letters that are not A-Z or 0-9 are drawn as a person.
/// @param name  what he is called; @param colour_of  what the colour is made of, his id
std::string initials_png(std::string_view name, std::string_view colour_of, unsigned pixels);

/// One or two letters in capitals; "" when the name begins with other ones.
std::string initials_of(std::string_view name);

}  // namespace welkin::nextcloud
