#include "welkin/contacts/file.hpp"

#include <utility>

#include "welkin/core/error.hpp"
#include "welkin/wire/vcard_facts.hpp"

namespace welkin::contacts {

using wire::ComponentSplitter;

CardFile::CardFile() : splitter_(ComponentSplitter::Of::cards, kCardBytesMax) {}

void CardFile::feed(std::string_view piece) {
  splitter_.feed(piece);
  for (auto& each : splitter_.take()) read(std::move(each));
}

void CardFile::finish() {
  splitter_.finish();
  for (auto& each : splitter_.take()) read(std::move(each));
  if (!splitter_.has_seen_any()) throw Error(Errc::invalid, "no_card", "This is no vCard file");
}

void CardFile::read(ComponentSplitter::Piece piece) {
  if (piece.fault == ComponentSplitter::Fault::large) {
    skipped_.push_back({piece.line, "", "", "max_resource_size", "It is too large"});
    return;
  }
  try {
    auto card = wire::parse_card(piece.text);
    if (card.version == wire::CardVersion::v2_1) {
      card = wire::convert_card(card, wire::CardVersion::v3_0);
      piece.text.clear();
      wire::append_card(piece.text, card);
    }
    auto facts = wire::describe_card(card);
    if (!piece.text.ends_with('\n')) piece.text += "\r\n";
    done_.push_back({std::move(facts.uid), std::move(facts.display_name), piece.line, std::move(piece.text)});
  } catch (const Error& e) {
    if (e.code() != Errc::forbidden) throw;
    skipped_.push_back({piece.line, "", "", e.slug(), e.what()});
  }
}

std::vector<CardFile::Object> CardFile::take() { return std::exchange(done_, {}); }

std::vector<collections::Skipped> CardFile::take_skipped() { return std::exchange(skipped_, {}); }

bool say_the_same(std::string_view one, std::string_view other) {
  try {
    return wire::parse_card(one) == wire::parse_card(other);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace welkin::contacts
