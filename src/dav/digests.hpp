#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "welkin/core/bytes.hpp"
#include "welkin/http/message.hpp"

namespace welkin::dav {

/// Checks a body against the digests its client declared. SHA-256 is left to the store, which computes it
/// anyway: see `sha256`.
class BodyDigests {
 public:
  /// @throws Error invalid `bad_digest`, `digest_mismatch` when two of them contradict each other
  explicit BodyDigests(const http::Fields& headers);
  ~BodyDigests();
  BodyDigests(const BodyDigests&) = delete;
  BodyDigests& operator=(const BodyDigests&) = delete;

  const std::optional<Sha256>& sha256() const { return sha256_; }
  /// The declared SHA-1, which `require_match` proves; "" when there is none.
  Bytes sha1() const;
  void update(ByteView bytes);
  /// @throws Error invalid `digest_mismatch`
  void require_match();

 private:
  struct Running;
  std::vector<std::unique_ptr<Running>> running_;
  std::optional<Sha256> sha256_;
};

}  // namespace welkin::dav
