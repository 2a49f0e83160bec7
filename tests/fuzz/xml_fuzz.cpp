// Bodies of DAV requests: read whole and in pieces they are the same, and written they mean the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "welkin/core/error.hpp"
#include "welkin/wire/xml.hpp"

using namespace welkin;

namespace {

std::string read(std::string_view text, std::size_t piece) {
  try {
    wire::XmlReader reader;
    for (std::size_t at = 0; at < text.size(); at += piece) reader.feed(text.substr(at, piece));
    std::string out;
    wire::append_xml(out, reader.finish());
    return out;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = read(text, size + 1);
  if (read(text, 7) != whole) std::abort();
  if (!whole.empty() && read(whole, whole.size()) != whole) std::abort();
  return 0;
}
