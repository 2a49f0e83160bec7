#include "web/pack.hpp"

#ifdef WELKIN_WEB_PACK
// NOLINTBEGIN(cppcoreguidelines-avoid-c-arrays): symbols of the assembler
asm(".pushsection .rodata\n"
    ".balign 16\n"
    ".global welkin_web_pack_begin\nwelkin_web_pack_begin:\n"
    ".incbin \"" WELKIN_WEB_PACK
    "\"\n"
    ".global welkin_web_pack_end\nwelkin_web_pack_end:\n"
    ".byte 0\n"
    ".popsection\n");
extern "C" {
extern const char welkin_web_pack_begin[];
extern const char welkin_web_pack_end[];
}
// NOLINTEND(cppcoreguidelines-avoid-c-arrays)
#endif

namespace welkin::web {

std::string_view packed_app() {
#ifdef WELKIN_WEB_PACK
  return {static_cast<const char*>(welkin_web_pack_begin),
          static_cast<std::size_t>(welkin_web_pack_end - welkin_web_pack_begin)};
#else
  return {};
#endif
}

}  // namespace welkin::web
