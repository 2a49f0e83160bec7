#include "rest/setup_page.hpp"

#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

namespace welkin::rest {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ground: #f3f5f8; --card: #fff; --ink: #1a2433; --soft: #55637a; --line: #8592a6;
  --accent: #1d5fbf; --accent-ink: #fff; --bad: #b3261e; --bad-ground: #fdecea; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #10151d; --card: #1a222d; --ink: #e8edf4; --soft: #a7b3c4; --line: #6b7a90;
    --accent: #7db2ff; --accent-ink: #0b1830; --bad: #ffb4ab; --bad-ground: #3b1c1a; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--ground);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 27rem; background: var(--card); border-radius: .75rem; padding: 1.75rem;
  box-shadow: 0 1px 3px rgb(0 0 0 / .2); }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
p { margin: 0 0 1rem; color: var(--soft); overflow-wrap: anywhere; }
label { display: block; font-weight: 600; margin-top: 1rem; }
.hint { margin: 0; font-size: .875rem; color: var(--soft); }
input { width: 100%; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line);
  border-radius: .375rem; padding: .6rem .75rem; margin-top: .25rem; }
input[aria-invalid=true] { border-color: var(--bad); }
input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
button { width: 100%; margin-top: 1.5rem; font: inherit; font-weight: 600; color: var(--accent-ink);
  background: var(--accent); border: 0; border-radius: .375rem; padding: .75rem; min-height: 2.75rem; cursor: pointer; }
button[aria-disabled=true] { opacity: .6; cursor: progress; }
.error { margin: 1rem 0 0; padding: .75rem; border-radius: .375rem; background: var(--bad-ground); color: var(--bad); }
[hidden] { display: none; }
)css";

constexpr std::string_view kScript = R"js(
'use strict';
(function () {
  var api = document.body.dataset.api;
  var form = document.getElementById('form');
  var error = document.getElementById('error');
  var button = document.getElementById('create');
  var token = document.getElementById('token');
  var busy = false;

  var given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given) {
    token.value = given;
    history.replaceState(null, '', location.pathname);  // out of the address bar and the history
  }

  function show(id) {
    ['form', 'loading', 'closed', 'done'].forEach(function (name) {
      document.getElementById(name).hidden = name !== id;
    });
  }
  function finish(id) {
    show(id);
    document.getElementById(id).querySelector('h1').focus();
  }
  function complain(text, field) {
    error.textContent = text;
    error.hidden = false;
    if (field) {
      field.setAttribute('aria-invalid', 'true');
      field.focus();
    } else {
      error.focus();
    }
  }
  function offline() {
    complain('The server could not be reached. Check the connection and try again.');
  }

  fetch(api + '/auth/status').then(function (answer) { return answer.json(); }).then(function (status) {
    if (status.initialized) {
      finish('closed');
      return;
    }
    document.getElementById('token-row').hidden = Boolean(given) || status.setup_token_required === false;
    show('form');
    document.getElementById(given || status.setup_token_required === false ? 'username' : 'token').focus();
  }).catch(function () {
    show('form');
    offline();
  });

  var fields = { bad_user_name: 'username', bad_email: 'email', weak_password: 'password', bad_setup_token: 'token',
    email_exists: 'email', user_exists: 'username' };

  form.addEventListener('submit', function (event) {
    event.preventDefault();
    if (busy) return;
    error.hidden = true;
    var username = document.getElementById('username');
    var email = document.getElementById('email');
    var password = document.getElementById('password');
    var again = document.getElementById('again');
    [username, email, password, again, token].forEach(function (field) { field.removeAttribute('aria-invalid'); });
    if (!username.value.trim()) return complain('Choose a user name.', username);
    if (new TextEncoder().encode(password.value).length < 8)
      return complain('The password must have at least 8 characters.', password);
    if (password.value !== again.value) return complain('The two passwords differ.', again);
    busy = true;
    button.setAttribute('aria-disabled', 'true');
    fetch(api + '/setup', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username: username.value.trim(), email: email.value.trim(), password: password.value,
        setup_token: token.value.trim() })
    }).then(function (answer) {
      return answer.json().then(function (body) { return { ok: answer.ok, body: body }; });
    }).then(function (result) {
      if (result.ok) {
        password.value = again.value = token.value = '';
        document.getElementById('name').textContent = result.body.username;
        document.getElementById('webdav').textContent = location.origin + api.replace(/\/api$/, '/webdav/');
        finish('done');
        return;
      }
      if (result.body.slug === 'already_initialized') return finish('closed');
      if (result.body.slug === 'bad_setup_token') {
        document.getElementById('token-row').hidden = false;
        return complain('This set-up link is not valid any more. Each start of the server prints a new one; copy its ' +
          'token here.', token);
      }
      var text = result.body.message || 'The server refused the request.';
      if (result.body.retry_after_secs)
        text += '. Try again in ' + Math.ceil(result.body.retry_after_secs / 60) + ' min.';
      complain(text, document.getElementById(fields[result.body.slug] || ''));
    }).catch(offline).finally(function () {
      busy = false;
      button.removeAttribute('aria-disabled');
    });
  });
})();
)js";

constexpr std::string_view kBody = R"html(
<main>
  <noscript><p class="error" role="alert">This page needs JavaScript. Without it, create the first account on the
    server: <code>welkin user add --admin NAME --password-stdin</code></p></noscript>
  <section id="loading" role="status"><p>Asking the server …</p></section>
  <form id="form" hidden novalidate>
    <h1>Set up Welkin</h1>
    <p>Create the first account. It can manage all others.</p>
    <div id="token-row">
      <label for="token">Set-up token</label>
      <p class="hint" id="token-hint">The server prints it when it starts.</p>
      <input id="token" name="token" autocomplete="off" spellcheck="false" autocapitalize="none"
        aria-describedby="token-hint error">
    </div>
    <label for="username">User name</label>
    <p class="hint" id="username-hint">Letters a–z, digits, “.”, “_” and “-”. It cannot be changed later.</p>
    <input id="username" name="username" autocomplete="username" spellcheck="false" autocapitalize="none" maxlength="64"
      required aria-describedby="username-hint error">
    <label for="email">E-mail (optional)</label>
    <input id="email" name="email" type="email" autocomplete="email" maxlength="254" aria-describedby="error">
    <label for="password">Password</label>
    <p class="hint" id="password-hint">At least 8 characters.</p>
    <input id="password" name="password" type="password" autocomplete="new-password" required
      aria-describedby="password-hint error">
    <label for="again">Password, once more</label>
    <input id="again" name="again" type="password" autocomplete="new-password" required aria-describedby="error">
    <p id="error" class="error" role="alert" tabindex="-1" hidden></p>
    <button id="create" type="submit">Create the account</button>
  </form>
  <section id="closed" hidden>
    <h1 tabindex="-1">Already set up</h1>
    <p>This server has its first account. Ask its administrator for one of your own.</p>
  </section>
  <section id="done" hidden>
    <h1 tabindex="-1">Welcome, <span id="name"></span></h1>
    <p>Your account is ready. Sign in with it through the API; a browser reads your files here:</p>
    <p><code id="webdav"></code></p>
  </section>
</main>
)html";

std::string source(std::string_view text) {
  const Sha256 digest = crypto::sha256(text);
  return "'sha256-" + text::base64(std::as_bytes(std::span(digest))) + "'";
}

/// A base path comes from the configuration; it is data here all the same.
std::string attribute(std::string_view value) {
  std::string out;
  for (const char c : value) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '<':
        out += "&lt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

SetupPage setup_page(std::string_view base_path) {
  std::string html = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html.append(
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Set up "
      "Welkin</title>\n");
  html.append("<style>").append(kStyle).append("</style>\n</head>\n<body data-api=\"");
  html.append(attribute(base_path)).append("/api\">").append(kBody);
  html.append("<script>").append(kScript).append("</script>\n</body>\n</html>\n");
  std::string policy = "default-src 'none'; script-src " + source(kScript) + "; style-src " + source(kStyle) +
                       "; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return {std::move(html), std::move(policy)};
}

}  // namespace welkin::rest
