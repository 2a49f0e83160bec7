#pragma once
#include "welkin/http/router.hpp"

/// The web app, as it was built from frontend/ and packed into the binary.
namespace welkin::web {

/// False for a binary that was built without it (WELKIN_WEB=OFF, or no Node at hand): nothing is mounted
/// then.
bool is_built();

/// Adds the app's pages (each is the same start page; the app reads the address), its assets below /_app, and
/// what stands beside them (favicon, manifest, service worker). Assets come compressed as they lie in the
/// binary; those named by their content are kept by browsers for a year. Nobody needs to be known: the app
/// holds nothing of anybody.
/// @throws std::runtime_error when what the binary carries cannot be read
void mount(http::Router& router);

}  // namespace welkin::web
