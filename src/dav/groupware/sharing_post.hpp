#pragma once
#include "dav/groupware/target.hpp"

namespace welkin::dav::groupware {

/// POST to a calendar or book, of its owner: CS:share (Apple's protocol) and d:share-resource
/// (draft-pot-webdav-resource-sharing) give and end access, CS:publish-calendar and CS:unpublish-calendar an
/// address that needs no account. What is given counts at once.
/// 200; 207 when some of the addressed are nobody we know, and then all others have what was said.
Task<> post_to_collection(const Services& services, http::Request& rq, http::Reply& rp, const Target& target);

}  // namespace welkin::dav::groupware
