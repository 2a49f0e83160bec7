#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "nextcloud/capabilities.hpp"
#include "nextcloud/pages.hpp"
#include "nextcloud/web.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/files/files.hpp"
#include "welkin/people/devices.hpp"

// Editing a text file in a page that an app shows without signing in. The address of the page is good once;
// the page itself holds another token, with which it saves. No cookie is read, so no other site can use the
// page.
namespace welkin::nextcloud {
namespace {

using http::Access;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;

constexpr std::uint64_t kTextBytesMax = 2 << 20;
constexpr unsigned kOpenSeconds = 600, kEditSeconds = 8 * 3600;
constexpr const char* kTokenHeader = "X-Welkin-Edit";
constexpr const char* kTypes[] = {"text/markdown", "text/plain"};

constexpr const char* kScript = R"js('use strict';
(function () {
  var area = document.getElementById('text'), button = document.getElementById('save');
  var error = document.getElementById('error'), state = document.getElementById('state');
  var form = document.getElementById('editor'), saved = area.value, busy = false;
  function say(problem) { error.textContent = problem; error.hidden = problem === ''; }
  function look() {
    button.disabled = busy || area.readOnly || area.value === saved;
    state.textContent = busy ? 'Saving …' : area.value === saved ? 'Saved' : 'Changed';
  }
  area.addEventListener('input', look);
  form.addEventListener('submit', function (event) {
    event.preventDefault();
    if (button.disabled) return;
    var text = area.value;
    busy = true; say(''); look();
    fetch(form.dataset.save, { method: 'PUT', credentials: 'omit', headers: {
      'X-Welkin-Edit': form.dataset.token, 'If-Match': form.dataset.etag, 'Content-Type': 'text/plain; charset=utf-8' },
      body: form.dataset.crlf === '1' ? text.replace(/\n/g, '\r\n') : text
    }).then(function (answer) {
      return answer.json().catch(function () { return {}; }).then(function (body) {
        if (answer.ok) { saved = text; form.dataset.etag = body.etag; return; }
        say(answer.status === 412 ? 'Somebody else has changed this file. Copy your text and open the file again.'
          : body.message || 'The server refused to save.');
      });
    }).catch(function () { say('The server could not be reached. Your text is still here; try again.'); })
      .finally(function () { busy = false; look(); });
  });
  addEventListener('beforeunload', function (event) { if (area.value !== saved) event.preventDefault(); });
  look();
})();
)js";

bool is_editable_type(std::string_view mime_type) {
  return mime_type.starts_with("text/") || mime_type == "application/json" ||
         mime_type == "application/xml" || mime_type == "application/x-empty";
}

/// Whether a page can show these bytes and give them back as they were: text, and one kind of line end.
bool is_faithful(std::string_view text) {
  if (!text::is_utf8(text)) return false;
  std::size_t feeds = 0, pairs = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n') {
      ++feeds;
    } else if (c == '\r') {
      if (i + 1 == text.size() || text[i + 1] != '\n') return false;
      ++pairs;
    } else if ((c < 0x20 && c != '\t') || c == 0x7f) {
      return false;
    }
  }
  return (pairs == 0 || pairs == feeds) && text.find("\xEF\xBF\xBE") == text.npos &&
         text.find("\xEF\xBF\xBF") == text.npos;
}

/// GET /apps/files/api/v1/directEditing
Task<> editors(Call& call) {
  const Json data{{"editors",
                   {{"text",
                     {{"id", "text"},
                      {"name", "Text"},
                      {"mimetypes", kTypes},
                      {"optionalMimetypes", Json::array()},
                      {"secure", false}}}}},
                  {"creators",
                   {{"textdocument",
                     {{"id", "textdocument"},
                      {"editor", "text"},
                      {"name", "New text file"},
                      {"extension", "md"},
                      {"templates", false},
                      {"mimetype", "text/markdown"}}}}}};
  co_await answer_tagged(call, data);
}

/// GET /apps/files/api/v1/directEditing/templates/{editor}/{creator}: there are none.
Task<> templates(Call& call) { return answer(call, Json{{"templates", Json::object()}}); }

Task<> answer_url(Call& call, NodeId node) {
  const auto token = co_await call.services.people.devices().issue(
      call.rq.caller(), people::Purpose::edit_page, node, kOpenSeconds);
  const auto url = call.rq.base_url() + "/index.php/apps/files/directEditing/" + token;
  co_await answer(call, Json{{"url", url}});
}

std::vector<std::string> names_of(std::string_view path) {
  std::vector<std::string> names;
  for (const auto name : text::split(path, '/'))
    if (!name.empty()) names.emplace_back(name);
  return names;
}

void require_editor(const Params& params) {
  if (params.get("editorId", "text") != "text")
    throw Error(Errc::invalid, "no_such_editor", "There is no such editor");
}

/// POST /apps/files/api/v1/directEditing/open path= editorId= fileId=
Task<> open(Call& call) {
  const auto params = co_await params_of(call.rq);
  require_editor(params);
  const auto id = params.number("fileId");
  const auto node =
      id && *id > 0 ? co_await call.services.files.node(call.rq.caller(), NodeId{*id})
                    : co_await call.services.files.by_path(call.rq.caller(), names_of(params.get("path")));
  if (node.is_folder() || !is_editable_type(node.mime_type))
    throw Error(Errc::forbidden, "not_editable", "This is not a text file");
  if (node.size_bytes > kTextBytesMax)
    throw Error(Errc::forbidden, "not_editable", "The file is too large to be edited here");
  co_await answer_url(call, node.id);
}

Task<files::Written> write(const Services& services, Caller caller, files::UploadOptions options,
                           std::string text) {
  options.size_hint = text.size();
  const auto upload = co_await services.files.begin_upload(std::move(caller), std::move(options));
  if (!text.empty()) co_await upload->write(as_bytes(text));
  co_return co_await upload->finish();
}

/// POST /apps/files/api/v1/directEditing/create path= editorId= creatorId=
Task<> create(Call& call) {
  const auto params = co_await params_of(call.rq);
  require_editor(params);
  auto names = names_of(params.get("path"));
  if (names.empty()) throw Error(Errc::invalid, "bad_name", "The new file has no name");
  const auto place = co_await call.services.files.locate(call.rq.caller(), std::move(names));
  if (place.node) throw Error(Errc::forbidden, "exists", "The file exists already");
  if (!place.parent) throw Error(Errc::not_found, "no_such_folder", "The folder is not there");
  files::UploadOptions options;
  options.target = {place.parent->id, place.name, {}};
  options.mime_type = "text/markdown";
  options.overwrite = false;
  const auto written = co_await write(call.services, call.rq.caller(), std::move(options), "");
  co_await answer_url(call, written.node.id);
}

/// Keeps what a file holds.
class Collected final : public ByteSink {
 public:
  explicit Collected(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
  Task<> write(ByteView bytes) override {
    if (text.size() + bytes.size() > bytes_max_)
      throw Error(Errc::too_large, "not_editable", "The file is too large");
    text.append(as_text(bytes));
    co_return;
  }
  Task<> write_file(int fd, std::uint64_t offset, std::uint64_t length) override;
  std::string text;

 private:
  const std::uint64_t bytes_max_;
};

Task<> Collected::write_file(int fd, std::uint64_t offset, std::uint64_t length) {
  std::string piece(std::min<std::uint64_t>(length, 64 << 10), '\0');
  while (length > 0) {
    const auto n =
        ::pread(fd, piece.data(), std::min<std::uint64_t>(length, piece.size()), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw Error(Errc::internal, "file_ended", "a file ended before its length");
    co_await write(as_bytes(std::string_view(piece).substr(0, static_cast<std::size_t>(n))));
    offset += static_cast<std::uint64_t>(n);
    length -= static_cast<std::uint64_t>(n);
  }
}

std::string editor_body(const Request& rq, const files::Node& node, std::string_view text,
                        std::string_view token) {
  const bool may_write = (node.rights & rights::kUpdate) != 0;
  const bool crlf = text.find('\r') != text.npos;
  std::string out =
      "<form id=\"editor\" data-save=\"" + escaped(rq.base_path()) +
      "/index.php/apps/files/directEditing/save\" data-token=\"" + escaped(token) + "\" data-etag=\"" +
      escaped('"' + node.etag + '"') + "\" data-crlf=\"" + (crlf ? "1" : "0") + "\"><div class=\"bar\"><h1>" +
      escaped(node.name) + "</h1><span id=\"state\" role=\"status\"></span><button id=\"save\" " +
      "type=\"submit\" disabled>Save</button></div><p id=\"error\" class=\"error\" role=\"alert\" hidden>" +
      "</p><textarea id=\"text\" aria-label=\"" + escaped(node.name) + "\" spellcheck=\"true\"" +
      (may_write ? "" : " readonly") + ">\n";  // the parser drops this line end
  out += escaped(text);
  out += "</textarea></form>";
  return out;
}

Task<> send_unusable(Reply& rp, Status status, const char* title, const char* text) {
  return send_page(rp, status, {std::string(title) + " · Welkin", heading(title, text)});
}

/// GET /index.php/apps/files/directEditing/{token}: the page, once.
Task<> show_editor(const Services& services, Request& rq, Reply& rp) {
  auto devices = services.people.devices();
  const auto ticket = co_await devices.redeem(rq.param("token"), people::Purpose::edit_page);
  if (!ticket)
    co_return co_await send_unusable(rp, Status::not_found, "This link has been used",
                                     "It is good for one time only. Open the file again.");
  const auto opened = co_await services.files.open(ticket->caller, ticket->node);
  Collected content(kTextBytesMax);
  co_await services.files.send(opened, {0, opened.node.size_bytes}, content);
  if (!is_faithful(content.text))
    co_return co_await send_unusable(rp, Status::unsupported_media_type, "This file cannot be edited here",
                                     "It is not plain text that this page could give back as it was.");
  const auto token =
      co_await devices.issue(ticket->caller, people::Purpose::edit_save, ticket->node, kEditSeconds);
  co_await send_page(
      rp, Status::ok,
      {opened.node.name + " · Welkin", editor_body(rq, opened.node, content.text, token), kScript});
}

/// PUT /index.php/apps/files/directEditing/save -> 200 {etag} | 412 somebody else was faster | 423
Task<> save(const Services& services, Request& rq, Reply& rp) {
  const auto ticket = co_await services.people.devices().look(std::string(rq.header(kTokenHeader)),
                                                              people::Purpose::edit_save);
  if (!ticket)
    throw Error(Errc::unauthenticated, "bad_token", "This page is too old to save; open the file again");
  const auto tag = rq.header("if-match");
  if (tag.size() < 3 || !tag.starts_with('"') || !tag.ends_with('"'))
    throw Error(Errc::invalid, "bad_precondition", "If-Match is missing");
  auto text = co_await rq.text(kTextBytesMax);
  files::UploadOptions options;
  options.target.file = ticket->node;
  options.expect = {files::Expect::Kind::etag_is, {std::string(tag.substr(1, tag.size() - 2))}};
  const auto written = co_await write(services, ticket->caller, std::move(options), std::move(text));
  const Json body{{"etag", '"' + written.node.etag + '"'}};
  co_await rp.send(Status::ok, kJsonType, body.dump());
}

}  // namespace

void mount_direct_editing(http::Router& router, OcsRoutes& ocs, const Kept& services) {
  const std::string top = "/apps/files/api/v1/directEditing";
  ocs.user(Method::get, top, "direct_editing", "account", "read", editors);
  ocs.user(Method::get, top + "/templates/{editor}/{creator}", "direct_editing.templates", "account", "read",
           templates);
  ocs.user(Method::post, top + "/open", "direct_editing.open", "editor", "update", open);
  ocs.user(Method::post, top + "/create", "direct_editing.create", "editor", "create", create);
  auto page = router.scope({answer_plain_errors()});
  at_both("/apps/files/directEditing/{token}", [&](const std::string& path, const std::string& suffix) {
    page.on({Method::get, path, "nextcloud.editor" + suffix, Access::open, "-", "-"},
            [services](Request& rq, Reply& rp) { return show_editor(*services, rq, rp); });
  });
  at_both("/apps/files/directEditing/save", [&](const std::string& path, const std::string& suffix) {
    page.on({Method::put, path, "nextcloud.editor_save" + suffix, Access::open, "-", "-"},
            [services](Request& rq, Reply& rp) { return save(*services, rq, rp); });
  });
}

}  // namespace welkin::nextcloud
