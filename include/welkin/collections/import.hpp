#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/collections/objects.hpp"

namespace welkin::collections {

/// What an import left out, and why.
struct Skipped {
  std::size_t line = 0;  // of the file, from 1
  std::string uid, title;
  std::string slug, reason;
};

struct ImportReport {
  std::int64_t created = 0, updated = 0, unchanged = 0;
  std::int64_t skipped_count = 0;
  std::vector<Skipped> skipped;  // at most kToldMax of them

  static constexpr std::size_t kToldMax = 1000;
  void skip(Skipped what);
};

/// Puts many objects into one collection, a handful in each transaction, by all the rules of a PUT. The same
/// file again changes nothing: names are made of UIDs, and who says the same is left as he is. What is done
/// stays done when the rest fails.
class Import {
 public:
  enum class Conflict : bool { skip, replace };
  struct Item {
    std::string uid, title;  // as facts tell them
    std::size_t line = 0;
    Objects::NewObject object;  // its name is made here when it is ""
  };
  /// Whether two bodies say the same, whatever their octets.
  using Same = bool (*)(std::string_view, std::string_view);

  Import(Objects objects, Caller caller, Sight into, Conflict conflict, std::string suffix, Same same)
      : objects_(objects),
        caller_(std::move(caller)),
        into_(into),
        conflict_(conflict),
        suffix_(std::move(suffix)),
        same_(same) {}

  /// @throws Error not_found, forbidden
  Task<> add(Item item);
  /// What is left. @throws Error as add
  Task<> finish();
  ImportReport& report() { return report_; }

 private:
  Task<> put_batch();
  Task<> put_one(Item item);
  void skip(const Item& item, std::string slug, std::string reason);
  void count(const Item& item, const Objects::Written& written);
  /// What is there under the UIDs of the batch: decides about each, and leaves what is to be written.
  Task<> look_up();

  Objects objects_;
  Caller caller_;
  Sight into_;
  Conflict conflict_;
  std::string suffix_;
  Same same_;
  std::vector<Item> batch_;
  std::size_t batch_bytes_ = 0;
  int refused_in_a_row_ = 0;  // for want of room
  ImportReport report_;
};

}  // namespace welkin::collections
