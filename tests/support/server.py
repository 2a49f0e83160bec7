"""A Welkin of one's own for tests that use the real binary: its data in a temporary directory, no port but a free one."""
import http.client
import json
import os
import pwd
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time

import processes

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PASSWORD = "a perfectly fine pass phrase"
START_SECONDS = 120  # beyond it something hangs


def binary():
    """WELKIN_TEST_BINARY, else the first tree that was built: sanitized before released."""
    named = os.environ.get("WELKIN_TEST_BINARY")
    if named:
        return named
    for tree in ("asan", "release", "dev"):
        path = os.path.join(ROOT, "build", tree, "welkin")
        if os.access(path, os.X_OK):
            return path
    raise RuntimeError("no welkin was built: scripts/build asan welkin")


def released():
    """The binary as it ships: faster, so more is in flight at each kill."""
    path = os.path.join(ROOT, "build/release/welkin")
    return path if os.access(path, os.X_OK) and "WELKIN_TEST_BINARY" not in os.environ else binary()


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Welkin:
    """One data directory and, while started, one server on it."""

    def __init__(self, binary_path=None, **settings):
        self.binary = binary_path or binary()
        self.parent = tempfile.mkdtemp(prefix="welkin-t-")
        os.chmod(self.parent, 0o755)  # the server may be another user than the test
        self.data = self.parent + "/data"
        self.settings = {"WELKIN_DATA_DIR": self.data, "WELKIN_LISTEN": "127.0.0.1:0", "WELKIN_LOG_FORMAT": "text",
                         "WELKIN_ARGON2_MEMORY_KIB": "8192", "WELKIN_ARGON2_ITERATIONS": "1",
                         "WELKIN_LOGIN_ATTEMPTS_PER_MINUTE": "10000", "WELKIN_SETUP_ATTEMPTS_PER_HOUR": "10000",
                         "WELKIN_DISK_FLOOR_BYTES": "0"}
        self.settings.update(settings)
        self.process = None
        self.greeting, self.address, self.link = "", None, None
        self.tls = None
        self.log_path = self.parent + "/server.log"

    def env(self, **more):
        # LeakSanitizer attaches to the process, which a server that cannot be attached to refuses.
        env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": self.parent, "LC_ALL": "C.UTF-8",
               "ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
        env.update({k: v for k, v in {**self.settings, **more}.items() if v is not None})
        return env

    def run(self, *words, stdin="", env=None, timeout=START_SECONDS):
        return subprocess.run([self.binary, *words], input=stdin, capture_output=True, text=True, timeout=timeout,
                              env=self.env(**(env or {})), cwd="/", check=False)

    def user_add(self, name, *flags, password=PASSWORD):
        return self.run("user", "add", *flags, name, "--password-stdin", stdin=password + "\n")

    # --- the server
    def start(self, wait=True, **more):
        log = open(self.log_path, "ab")
        self.process = subprocess.Popen([self.binary, "serve"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                                        env=self.env(**more), cwd="/", text=True)
        log.close()
        self.greeting, self.address, self.link = "", None, None
        if wait:
            self.wait_greeting()
        return self

    def wait_greeting(self):
        """Reads standard output until the server says where it is, and the set-up link if there is one."""
        until = time.monotonic() + START_SECONDS
        out = self.process.stdout
        os.set_blocking(out.fileno(), False)
        while time.monotonic() < until:
            if select.select([out], [], [], 0.1)[0]:
                piece = os.read(out.fileno(), 65536).decode()
                if not piece:
                    break
                self.greeting += piece
            found = re.search(r"is ready: (\S+)(?: \(listening on (\S+)\))?\n", self.greeting)
            if found:
                url = found.group(2) or found.group(1)
                self.tls = url.startswith("https://")
                self.address = url.split("://")[1].split("/")[0]
                # The link follows in the same breath.
                if select.select([out], [], [], 0.3)[0]:
                    self.greeting += os.read(out.fileno(), 65536).decode()
                link = re.search(r"first account here: (\S+)", self.greeting)
                self.link = link.group(1) if link else None
                return
        raise RuntimeError(f"the server did not come up: {self.process.poll()}\n{self.greeting}\n{self.log()[-4000:]}")

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def stop(self, how=signal.SIGTERM, timeout=60):
        """@return the exit code"""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self.process.stdout.close()
        self.process = None
        return code

    def postgres_pids(self):
        """Postmasters on our directory, whoever started them."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                words = processes.command_line(entry)
                if words[0].endswith(b"postgres") and self.data.encode() + b"/postgres" in words:
                    found.append(int(entry))
        return found

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None
        until = time.monotonic() + 30
        while self.postgres_pids() and time.monotonic() < until:
            time.sleep(0.05)
        shutil.rmtree(self.parent, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    # --- asking it
    def connection(self, timeout=30):
        host, port = self.address.rsplit(":", 1)
        host = host.strip("[]")
        if self.tls:
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            return http.client.HTTPSConnection(host, int(port), timeout=timeout, context=context)
        return http.client.HTTPConnection(host, int(port), timeout=timeout)

    def ask(self, method, path, body=None, token=None, timeout=30, **headers):
        """One request over a connection of its own."""
        connection = self.connection(timeout)
        try:
            return ask_on(connection, method, path, body, token, **headers)
        finally:
            connection.close()

    def is_ready(self):
        try:
            return self.ask("GET", "/ready", timeout=5).status == 200
        except (OSError, http.client.HTTPException):
            return False

    def wait_ready(self, seconds=START_SECONDS):
        return wait_until(self.is_ready, seconds)

    def login(self, name, password=PASSWORD):
        answer = self.ask("POST", "/api/auth/login", {"username": name, "password": password})
        if answer.status != 200:
            raise RuntimeError(f"login of {name}: {answer.status} {answer.body[:300]!r}")
        return answer.json()["access_token"]

    def home(self, token):
        return self.ask("GET", "/api/folders", token=token).json()[0]["id"]


def ask_on(connection, method, path, body=None, token=None, **headers):
    """One request on a connection that may be used again. A dict travels as JSON. Headers: content_type="x"."""
    fields = {k.replace("_", "-"): v for k, v in headers.items()}
    if token:
        fields["Authorization"] = f"Bearer {token}"
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
        fields.setdefault("Content-Type", "application/json")
    connection.request(method, path, body=body, headers=fields)
    answer = connection.getresponse()
    return Answer(answer.status, answer.headers, answer.read())


def wait_until(condition, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False


def server_user():
    """Who the server runs as when this test starts it."""
    return pwd.getpwnam("welkin") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def self_signed(folder, name, days=90, common_name="welkin.test"):
    """A certificate and its key, as files the server can read. @return (certificate, key)"""
    cert, key = f"{folder}/{name}.crt", f"{folder}/{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                    key, "-out", cert, "-days", str(days), "-subj", f"/CN={common_name}"], check=True, capture_output=True)
    user = server_user()
    for path in (cert, key):
        os.chmod(path, 0o600)
        if os.geteuid() == 0:
            os.chown(path, user.pw_uid, user.pw_gid)
    return cert, key
