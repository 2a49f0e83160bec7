#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_folder.hpp"

namespace welkin::tests {

/// Stands between a client and PostgreSQL on a socket of its own and breaks the link when a COMMIT passes.
class DbProxy {
 public:
  enum class Cut {
    none,
    before_commit,  // the server never sees it
    after_commit,   // the server has answered, the client never hears it
    at_commit,      // both ends close as soon as it has been sent on
  };

  /// @param url  connection string of the real database
  explicit DbProxy(const std::string& url);
  ~DbProxy();
  DbProxy(const DbProxy&) = delete;
  DbProxy& operator=(const DbProxy&) = delete;

  /// Connection string through the proxy.
  const std::string& url() const { return url_; }
  /// What to do with the next COMMIT; afterwards links are left alone again.
  void arm(Cut cut) { cut_ = cut; }
  /// While on, new links are closed at once and bytes of old ones are swallowed: a network that is gone.
  void black_hole(bool on) { black_hole_ = on; }
  int cuts() const { return cuts_; }

 private:
  void accept_links();
  void relay(int client);
  bool pass(int from, int to, bool is_client, bool& swallow);

  TempFolder folder_;
  std::string url_, upstream_host_, upstream_port_;
  int listener_ = -1;
  std::atomic<Cut> cut_{Cut::none};
  std::atomic<bool> black_hole_{false}, ending_{false};
  std::atomic<int> cuts_{0};
  std::thread acceptor_;
  std::vector<std::thread> links_;
};

}  // namespace welkin::tests
