#pragma once
#include <string>

namespace welkin::app {

/// `welkin healthcheck`: asks /ready of the server on this data directory or, when none announced itself, of
/// the configured address. TLS is used where the server uses it; its own certificate is not checked, for it
/// is asked for by address. @return 0 ready, 1 not
int healthcheck(bool quiet);

struct HttpAnswer {
  int status = 0;  // 0: none came, `text` says why
  std::string text;
};
/// One GET over a fresh connection, at most a few seconds and 64 KiB.
HttpAnswer http_get(const std::string& address, bool tls, const std::string& host, const std::string& target);

}  // namespace welkin::app
