#include "http/second_reading.hpp"

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

namespace welkin::http {

namespace beast = boost::beast;

bool agrees_with_beast(std::string_view bytes, const Head& head) {
  beast::http::request_parser<beast::http::empty_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(bytes.size()) + 1);
  parser.body_limit(boost::none);
  beast::error_code error;
  parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error || !parser.is_header_done()) return false;
  const auto& message = parser.get();
  const auto same = [](auto theirs, std::string_view ours) {
    return std::string_view(theirs.data(), theirs.size()) == ours;
  };
  // The absolute form has been cut down to its path, to which a missing "/" was added.
  const std::string_view target(message.target().data(), message.target().size());
  const bool same_target = target.starts_with('/') || target == "*"
                               ? target == head.target
                               : target.ends_with(std::string_view(head.target).substr(1));
  const auto length = parser.content_length();
  return same(message.method_string(), head.method_token) && same_target &&
         message.version() == static_cast<unsigned>(10 + head.minor) && parser.chunked() == head.chunked &&
         length.has_value() == head.content_length.has_value() &&
         (!length || *length == *head.content_length) && parser.keep_alive() == head.keep_alive;
}

}  // namespace welkin::http
