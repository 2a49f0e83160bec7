#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace welkin::http {

/// Asks addresses that users have given: nothing of the inside of a network can be reached through it.
///
/// http, https, webcal and webcals (which is https), ports 80 and 443. A name is resolved once, every address
/// it has must be a public one (no loopback, private, link-local, shared, multicast, documentation or
/// translated ranges), and the connection goes to an address that was checked, so a name that changes its
/// mind between two look-ups gains nothing. Redirects are bounded and each target is checked the same way;
/// none leads from https to http. No credentials, no cookies, certificates are verified.
struct FetchOptions {
  std::vector<std::string> allowed;  // "127.0.0.1:8080": sockets that may be reached although they are inside
  std::uint64_t bytes_max = 10 << 20;
  unsigned seconds = 30;  // for everything together
  unsigned redirects_max = 5;
};

struct FetchRequest {
  std::string url;
  std::string etag, last_modified;  // as the last answer had them; "" none
};

struct Fetched {
  enum class Outcome : std::uint8_t {
    fetched,       // 200
    not_modified,  // 304
    refused,       // another status: `status`
    failed,        // no answer that could be used, for a reason that is not told to who gave the address
    too_large,
  };
  Outcome outcome = Outcome::failed;
  unsigned status = 0;
  std::string body, etag, last_modified;
  std::string why;  // of `failed`, for the log of the operator
};

/// Blocks until there is an answer or the time is over. @param stop  true ends it within a tenth of a second
Fetched fetch(const FetchOptions& options, const FetchRequest& request, const std::atomic<bool>& stop);

/// Whether an address can be fetched as far as one can tell without asking: scheme, form, port, and the
/// host when it is written as a number. "" when it can, else why not.
std::string fetch_refusal(const FetchOptions& options, std::string_view url);

}  // namespace welkin::http
