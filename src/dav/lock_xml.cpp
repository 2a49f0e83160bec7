#include "dav/lock_xml.hpp"

#include <algorithm>

#include "welkin/wire/multistatus.hpp"

namespace welkin::dav {

void append_active_lock(std::string& out, const files::Lock& lock, std::string_view root_href, Micros now) {
  out += "<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope>";
  out += lock.exclusive ? "<D:exclusive/>" : "<D:shared/>";
  out += "</D:lockscope><D:depth>";
  out += lock.infinite ? "infinity" : "0";
  out += "</D:depth>";
  out += lock.owner_xml;  // an element, written by append_xml
  out += "<D:timeout>Second-";
  wire::append_number(out,
                      static_cast<std::uint64_t>(std::max<Micros>(0, lock.expires_at - now) / 1'000'000));
  out += "</D:timeout>";
  if (lock.mine) {
    ((out += "<D:locktoken><D:href>") += files::lock_token_uri(lock.token)) += "</D:href></D:locktoken>";
  }
  ((out += "<D:lockroot><D:href>") += root_href) += "</D:href></D:lockroot></D:activelock>";
}

std::string href_above(std::string_view href, std::size_t levels) {
  for (; levels > 0; --levels) {
    const auto slash = href.find_last_of('/', href.size() < 2 ? 0 : href.size() - 2);
    if (slash == std::string_view::npos || slash == 0) break;
    href = href.substr(0, slash + 1);
  }
  return std::string(href);
}

}  // namespace welkin::dav
