#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/collections/import.hpp"
#include "welkin/wire/ical_split.hpp"

namespace welkin::contacts {

/// A file of cards on its way in; holds no more than the card that is being read. Cards of vCard 2.1 become
/// 3.0, others keep their octets.
class CardFile {
 public:
  static constexpr std::size_t kCardBytesMax = std::size_t{10} << 20;

  CardFile();
  void feed(std::string_view piece);
  /// @throws Error invalid `no_card` when it held none
  void finish();

  struct Object {
    std::string uid;  // "" without
    std::string title;
    std::size_t line;
    std::string data;
  };
  /// What is whole by now, in the order of the file.
  std::vector<Object> take();
  /// What could not be read since the last call.
  std::vector<collections::Skipped> take_skipped();

 private:
  void read(wire::ComponentSplitter::Piece piece);
  wire::ComponentSplitter splitter_;
  std::vector<Object> done_;
  std::vector<collections::Skipped> skipped_;
};

/// Whether two cards say the same.
bool say_the_same(std::string_view one, std::string_view other);

}  // namespace welkin::contacts
