"""nginx in front, configured with the very lines of docs/operators.md: TLS, addresses, bodies, DAV and live events."""
import hashlib
import http.client
import os
import re
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(here), "support")]
import pg  # noqa: E402
import suite  # noqa: E402
from server import PASSWORD, Welkin, ask_on, free_port, self_signed, wait_until  # noqa: E402

HOST = "cloud.example.org"
CLIENT = "127.0.0.2"  # the proxy speaks from 127.0.0.1, the only address that is trusted
WRONG_PASSWORDS_MAX = 10


def documented_server(port, upstream, certificate, location):
    """The server block of the guide, on our port and with our certificate."""
    with open(os.path.join(os.path.dirname(os.path.dirname(here)), "docs/operators.md"), encoding="utf-8") as f:
        block = re.search(r"```nginx\n(.*?)```", f.read(), re.S).group(1)
    cert, key = certificate
    for old, new in (("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl; ssl_certificate {cert}; ssl_certificate_key {key};"),
                     ("http://127.0.0.1:8086;", f"http://{upstream};"), ("location / {", f"location {location} {{")):
        if old not in block:
            raise AssertionError(f"the guide has no '{old}' any more")
        block = block.replace(old, new)
    return block


class Nginx:
    def __init__(self, folder, server):
        self.folder = folder
        path = os.path.join(folder, "nginx.conf")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;\n"
                    "events { worker_connections 256; }\n"
                    f"http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;\n"
                    f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n{server}\n}}\n")
        self.process = subprocess.Popen(["/usr/sbin/nginx", "-c", path], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


class BehindProxy:
    """Both places, the root of a name and a path below it, must behave alike."""
    location = "/"
    prefix = ""

    @classmethod
    def setUpClass(cls):
        cls.cluster = pg.Cluster()
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.sql("create database proxied")
        cls.welkin = Welkin(WELKIN_DATABASE_URL=cls.cluster.url_of("proxied"), WELKIN_TRUSTED_PROXIES="127.0.0.1",
                            WELKIN_BASE_URL=f"https://{HOST}{cls.prefix}",
                            WELKIN_LOGIN_ATTEMPTS_PER_MINUTE=str(WRONG_PASSWORDS_MAX))
        cls.addClassCleanup(cls.welkin.close)
        cls.welkin.user_add("alice", "--admin")
        cls.welkin.start()
        folder = tempfile.TemporaryDirectory(prefix="welkin-proxy-")
        cls.addClassCleanup(folder.cleanup)
        cls.port = free_port()
        certificate = self_signed(folder.name, "proxy", common_name=HOST)
        cls.nginx = Nginx(folder.name, documented_server(cls.port, cls.welkin.address, certificate, cls.location))
        cls.addClassCleanup(cls.nginx.stop)
        if not wait_until(lambda: cls.is_up(cls.port), 30):
            raise AssertionError("nginx did not come up")
        answer = cls.ask("POST", "/api/auth/login", {"username": "alice", "password": PASSWORD})
        cls.login = answer
        cls.token = answer.json()["access_token"]
        cls.home = cls.ask("GET", "/api/folders", token=cls.token).json()[0]["id"]

    @classmethod
    def is_up(cls, port):
        try:
            return cls.ask("GET", "/ready").status == 200
        except OSError:
            return False

    @classmethod
    def connection(cls, source=CLIENT):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", cls.port, timeout=60, context=context, source_address=(source, 0))

    @classmethod
    def ask(cls, method, path, body=None, token=None, source=CLIENT, **headers):
        connection = cls.connection(source)
        try:
            return ask_on(connection, method, cls.prefix + path, body, token, Host=HOST, **headers)
        finally:
            connection.close()

    def test_cookies_are_for_tls_and_this_place(self):
        cookies = self.login.headers.get_all("Set-Cookie")
        self.assertTrue(cookies)
        for cookie in cookies:
            self.assertRegex(cookie, r"; Secure\b")
        self.assertEqual(200, self.ask("GET", "/api/auth/me", token=self.token).status)

    def test_bodies_pass_unchanged(self):
        body = os.urandom(24 << 20)
        made = self.ask("PUT", f"/api/folders/{self.home}/children/big.bin", body, token=self.token)
        self.assertEqual(201, made.status, made.body[:300])
        path = f"/api/files/{made.json()['id']}"
        got = self.ask("GET", path, token=self.token)
        self.assertEqual((200, hashlib.sha256(body).digest()), (got.status, hashlib.sha256(got.body).digest()))
        part = self.ask("GET", path, token=self.token, Range="bytes=1000000-1999999", If_Range=got.headers["ETag"])
        self.assertEqual((206, body[1000000:2000000]), (part.status, part.body))
        same = self.ask("GET", path, token=self.token, If_None_Match=got.headers["ETag"])
        self.assertEqual(304, same.status)

    def test_dav_moves_by_the_name_the_client_knows(self):
        put = self.ask("PUT", "/webdav/one.txt", b"one", token=self.token)
        self.assertEqual(201, put.status, put.body)
        moved = self.ask("MOVE", "/webdav/one.txt", token=self.token, Destination=f"https://{HOST}{self.prefix}/webdav/two.txt")
        self.assertEqual(201, moved.status, moved.body)
        self.assertEqual(b"one", self.ask("GET", "/webdav/two.txt", token=self.token).body)
        listing = self.ask("PROPFIND", "/webdav/", token=self.token, Depth="1")
        self.assertEqual(207, listing.status)
        self.assertIn(f"<d:href>{self.prefix}/webdav/two.txt</d:href>".encode(), listing.body)
        elsewhere = self.ask("MOVE", "/webdav/two.txt", token=self.token, Destination="https://other.example.org/webdav/x")
        self.assertEqual(502, elsewhere.status)

    def test_no_header_hides_who_guesses_passwords(self):
        source = "127.0.0.3"
        seen = []
        for i in range(3 * WRONG_PASSWORDS_MAX):
            guess = self.ask("POST", "/api/auth/login", {"username": f"nobody{i}", "password": "wrong"}, source=source,
                             X_Forwarded_For=f"198.51.100.{i}", X_Real_IP=f"198.51.100.{i}", Forwarded=f"for=198.51.100.{i}")
            seen.append(guess.status)
        self.assertEqual({403, 429}, set(seen), seen)
        self.assertEqual(429, seen[-1])
        other = self.ask("POST", "/api/auth/login", {"username": "alice", "password": PASSWORD}, source="127.0.0.4")
        self.assertEqual(200, other.status, "another client is not held up")

    def test_live_events_arrive_at_once(self):
        connection = self.connection()
        self.addCleanup(connection.close)
        connection.request("GET", self.prefix + "/api/events", headers={"Host": HOST, "Authorization": f"Bearer {self.token}"})
        stream = connection.getresponse()
        self.assertEqual(200, stream.status)
        made = self.ask("PUT", f"/api/folders/{self.home}/children/live-{time.monotonic_ns()}", b"x", token=self.token)
        self.assertEqual(201, made.status)
        lines = [stream.readline()]
        # A proxy that held the event back would hold the heartbeats back too, and the connection would give up waiting.
        while lines[-1] and lines.count(b":\n") < 20 and not (lines[-1].startswith(b"data:") and self.home.encode() in lines[-1]):
            lines.append(stream.readline())
        self.assertIn(self.home.encode(), lines[-1], lines)


class AtTheRoot(BehindProxy, unittest.TestCase):
    pass


class BelowAPath(BehindProxy, unittest.TestCase):
    location = "/cloud/"
    prefix = "/cloud"


if __name__ == "__main__":
    suite.main()
