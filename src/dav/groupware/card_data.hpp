#pragma once
#include <string>
#include <string_view>

#include "dav/groupware/live.hpp"

namespace welkin::dav::groupware {

/// A:address-data as it is asked for (RFC 6352 §10.4): version 3.0 unless it says another, whole unless it
/// names properties. @param request  the element, nullptr: nothing was said
/// @throws Refusal when it asks for a type or version that we do not write
void check_address_data(const Arguments* request);
/// Bytes that cannot be read any more are given as they are.
std::string render_card(std::string_view data, const Arguments* request);

/// A stored card in the version that an Accept header prefers; as it is stored when that is nothing or
/// anything. `is_acceptable` false: it wants none of ours.
struct Negotiated {
  bool is_acceptable = true;
  std::string data;
};
Negotiated negotiate_card(std::string_view data, std::string_view accept);

}  // namespace welkin::dav::groupware
