"""Programs that people use, against the real server over WebDAV: each suite of litmus, cadaver, curl, rclone (also as a
mount), davfs2, GNOME's gio, the npm client, wget, and all of it behind nginx with TLS and a path of its own."""
import base64
import hashlib
import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "support"))
import suite  # noqa: E402
from server import Welkin, free_port, self_signed, wait_until  # noqa: E402

NAME, PASSWORD = "ada", "a-perfectly-fine-pass-phrase"
FULL = os.environ.get("WELKIN_TEST_FULL") == "1"
TREE_FILES = 5000 if FULL else 2000
SECONDS = 600  # beyond it a program hangs; a slow disk takes its time over 2,000 files

welkin = None


def setUpModule():
    global welkin
    welkin = Welkin()
    if welkin.user_add(NAME, password=PASSWORD).returncode:
        raise RuntimeError("no account could be made")
    welkin.start()


def tearDownModule():
    welkin.stop()
    welkin.close()


def url(path=""):
    return f"http://{welkin.address}/webdav/{path}"


def run(*words, cwd=None, stdin=None, env=None):
    return subprocess.run(words, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=SECONDS, check=False,
                          errors="replace", env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})})


def ask(method, path, *words):
    """curl: (status, body)"""
    done = run("curl", "-s", "-o", "-", "-w", "\n%{http_code}", "-u", f"{NAME}:{PASSWORD}", "-X", method, url(path), *words)
    body, status = done.stdout.rsplit("\n", 1)
    return int(status), body


class Scratch(unittest.TestCase):
    def setUp(self):
        self.here = tempfile.mkdtemp(prefix="welkin-clients-")
        self.addCleanup(shutil.rmtree, self.here)

    def write(self, name, content):
        path = os.path.join(self.here, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)
        return path


class Litmus(Scratch):
    """104 tests in five suites; none fails, none is skipped, none warns."""

    def suite(self, name, count):
        done = run("litmus", "-k", url(), NAME, PASSWORD, cwd=self.here, env={"TESTS": name, "TEST_COLOUR": "0"})
        said = done.stdout.replace("\r", "\n")
        wrong = [line for line in said.split("\n") if re.search(r"FAIL|SKIPPED|WARNING|warnings? were issued", line)]
        self.assertEqual([], wrong, said)
        self.assertIn(f"of {count} tests run: {count} passed, 0 failed. 100.0%", said)

    def test_basic(self):
        self.suite("basic", 16)

    def test_copymove(self):
        self.suite("copymove", 13)

    def test_props(self):
        self.suite("props", 30)

    def test_locks(self):
        self.suite("locks", 41)

    def test_http(self):
        self.suite("http", 4)


class Curl(Scratch):
    LOCK = ('<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>'
            "<locktype><write/></locktype><owner>me</owner></lockinfo>")

    def test_uploads_in_every_way(self):
        small = self.write("small", b"small")
        large = self.write("large", os.urandom(3 << 20))
        base = ["curl", "-s", "-u", f"{NAME}:{PASSWORD}"]
        self.assertEqual(201, ask("MKCOL", "curl")[0])
        self.assertEqual(0, run(*base, "-f", "-T", small, url("curl/")).returncode, "a slash: the name is appended")
        self.assertEqual((200, "small"), ask("GET", "curl/small"))
        self.assertEqual(0, run(*base, "-f", "-T", large, url("curl/large")).returncode, "waits for 100 Continue")
        self.assertEqual(0, run(*base, "-f", "-T", "-", url("curl/piped"), stdin="piped").returncode, "in chunks")
        self.assertEqual((200, "piped"), ask("GET", "curl/piped"))
        refused = run(*base, "-o", "-", "-w", "%{http_code}", "-C", "2", "-T", small, url("curl/small"))
        self.assertIn("400", refused.stdout, "a part is not taken for the whole")
        self.assertEqual((200, "small"), ask("GET", "curl/small"))
        self.assertEqual(204, ask("DELETE", "curl/")[0])

    def test_locks_survive_a_restart(self):
        self.assertEqual(201, ask("PUT", "locked", "-d", "x")[0])
        self.assertEqual(200, ask("LOCK", "locked", "-d", self.LOCK)[0])
        welkin.stop()
        welkin.start()
        self.assertEqual(423, ask("PUT", "locked", "-d", "y")[0])
        self.assertEqual((200, "x"), ask("GET", "locked"))


class Cadaver(Scratch):
    def cadaver(self, *commands):
        with open(os.path.join(self.here, ".netrc"), "w", encoding="utf-8") as f:
            f.write(f"machine 127.0.0.1 login {NAME} password {PASSWORD}\n")
        os.chmod(f.name, 0o600)
        done = run("cadaver", url(), cwd=self.here, stdin="\n".join(commands) + "\nquit\n", env={"HOME": self.here})
        said = done.stdout + done.stderr
        self.assertNotIn("failed", said)
        self.assertNotIn("Could not", said)
        self.assertNotIn("does not support", said)
        return said

    def test_a_session(self):
        self.write("one.txt", b"from cadaver\n")
        said = self.cadaver(
            "mkcol cadaver", "cd cadaver", "put one.txt", "ls", "lock one.txt", "discover one.txt", "unlock one.txt",
            "chexec + one.txt", "propset one.txt colour blue", "propget one.txt colour", "propdel one.txt colour", "copy one.txt two.txt",
            "move two.txt three.txt", "get three.txt back.txt", "delete one.txt", "delete three.txt",
            "cd ..", "rmcol cadaver")
        self.assertIn("blue", said)
        self.assertIn("one.txt", said)
        with open(os.path.join(self.here, "back.txt"), "rb") as f:
            self.assertEqual(b"from cadaver\n", f.read())
        self.assertEqual(404, ask("GET", "cadaver/")[0])


def some_of_usr_share_doc(into, count):
    """Real names and real contents, so many files of them. Links and what is too large are left out."""
    taken = 0
    for folder, _, names in sorted(os.walk("/usr/share")):
        for name in sorted(names):
            source = os.path.join(folder, name)
            if os.path.islink(source) or not os.path.isfile(source) or os.path.getsize(source) > 200_000:
                continue
            target = into + folder[len("/usr/share"):]
            os.makedirs(target, exist_ok=True)
            shutil.copyfile(source, os.path.join(target, name))
            taken += 1
            if taken == count:
                return taken
    return taken


def digests(top):
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, top)] = hashlib.sha256(f.read()).hexdigest()
    return found


class Rclone(Scratch):
    def setUp(self):
        super().setUp()
        obscured = run("rclone", "obscure", PASSWORD).stdout.strip()
        with open(os.path.join(self.here, "rclone.conf"), "w", encoding="utf-8") as f:
            for vendor in ("other", "owncloud"):
                f.write(f"[{vendor}]\ntype = webdav\nurl = {url()}\nvendor = {vendor}\nuser = {NAME}\npass = {obscured}\n")

    def rclone(self, *words, stdin=None, fine=True):
        done = run("rclone", "--config", os.path.join(self.here, "rclone.conf"), "--retries", "1", "--low-level-retries", "1",
                   "--transfers", "8", "--checkers", "8", *words, stdin=stdin)
        if fine:
            self.assertEqual(0, done.returncode, done.stderr[-3000:])
        return done

    def test_a_tree_goes_up_is_checked_renamed_copied_and_deleted(self):
        source = os.path.join(self.here, "tree")
        self.assertEqual(TREE_FILES, some_of_usr_share_doc(source, TREE_FILES))
        self.rclone("copy", source, "other:tree")
        self.rclone("moveto", "other:tree", "other:renamed tree")
        self.assertEqual(404, ask("GET", "tree/")[0])
        self.assertEqual(201, ask("COPY", "renamed%20tree/", "-H", "Destination: " + url("copied/"))[0])
        back = os.path.join(self.here, "back")
        self.rclone("copy", "other:copied", back)
        self.assertEqual(digests(source), digests(back))
        self.rclone("purge", "other:copied")
        self.assertEqual(404, ask("GET", "copied/")[0])
        self.rclone("check", source, "other:renamed tree")
        self.rclone("purge", "other:renamed tree")

    def test_sync_with_hashes_and_times(self):
        source = os.path.join(self.here, "s")
        old = 1_500_000_000
        for name, content in (("a b.txt", b"one"), ("é/ü.bin", bytes(range(256)) * 500), ("empty", b"")):
            os.utime(self.write("s/" + name, content), (old, old))
        self.rclone("sync", source, "owncloud:s")
        listed = self.rclone("lsl", "owncloud:s").stdout
        self.assertEqual(3, listed.count("2017-07-14 02:40:00"), listed)
        self.rclone("check", source, "owncloud:s")
        os.remove(os.path.join(source, "empty"))
        self.write("s/a b.txt", b"changed")
        self.rclone("sync", source, "owncloud:s")
        self.rclone("check", source, "owncloud:s")
        self.assertNotIn("empty", self.rclone("lsf", "-R", "owncloud:s").stdout)
        self.rclone("rcat", "owncloud:s/streamed", stdin="through a pipe")
        self.assertEqual("a pipe", self.rclone("cat", "--offset", "8", "owncloud:s/streamed").stdout)
        self.rclone("copyto", "owncloud:s/streamed", "owncloud:s/copy")
        self.rclone("moveto", "owncloud:s/copy", "owncloud:s/moved")
        self.assertEqual("through a pipe", self.rclone("cat", "owncloud:s/moved").stdout)
        self.rclone("touch", "--timestamp", "2017-07-14T02:40:00", "owncloud:s/touched")
        self.assertIn("2017-07-14 02:40:00", self.rclone("lsl", "owncloud:s/touched").stdout)
        self.assertEqual(hashlib.sha1(b"through a pipe").hexdigest(),
                         self.rclone("hashsum", "SHA1", "--download", "owncloud:s/moved").stdout.split()[0])
        self.rclone("move", "owncloud:s/é", os.path.join(self.here, "taken"))
        self.assertEqual(["ü.bin"], os.listdir(os.path.join(self.here, "taken")))
        self.assertNotIn("ü", self.rclone("lsf", "-R", "owncloud:s").stdout)
        self.assertIn("Used", self.rclone("about", "owncloud:").stdout)
        self.rclone("purge", "owncloud:s")

    def test_a_mount(self):
        if not os.access("/dev/fuse", os.W_OK):
            self.skipTest("a mount needs /dev/fuse")
        there, source = os.path.join(self.here, "mnt"), os.path.join(self.here, "tree")
        os.mkdir(there)
        some_of_usr_share_doc(source, 1000 if FULL else 60)
        command = ["rclone", "--config", os.path.join(self.here, "rclone.conf"), "mount", "owncloud:", there,
                   "--cache-dir", self.here,
                   "--vfs-cache-mode", "writes", "--vfs-write-back", "1s", "--dir-cache-time", "0s"]
        with open(os.path.join(self.here, "mount.log"), "wb") as log:
            mount = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            while not os.path.ismount(there):
                self.assertIsNone(mount.poll(), "rclone did not mount")
                time.sleep(0.05)
            copied = run("cp", "-r", "--preserve=timestamps", source, there + "/mounted")  # it knows no owners and modes
            self.assertEqual(0, copied.returncode, copied.stderr)
            self.assertEqual("", run("diff", "-r", source, there + "/mounted").stdout)
            while self.rclone("check", source, "owncloud:mounted", fine=False).returncode:  # it uploads behind our back
                self.assertIsNone(mount.poll(), "rclone has ended")
                time.sleep(0.5)
            os.rename(there + "/mounted", there + "/renamed é")
            self.assertEqual(digests(source), digests(there + "/renamed é"))
            shutil.rmtree(there + "/renamed é")
            self.assertNotIn("renamed é", os.listdir(there))
        finally:
            run("fusermount3", "-u", "-z", there)
            mount.send_signal(signal.SIGTERM)
            mount.wait(SECONDS)
        self.assertEqual(404, ask("GET", "renamed%20%C3%A9/")[0])


class Davfs(Scratch):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
            self.skipTest("a mount needs root and /dev/fuse")
        self.mount_point = os.path.join(self.here, "mnt")
        os.mkdir(self.mount_point)
        self.write("conf", f"ask_auth 0\nuse_locks 1\nbuf_size 128\ndelay_upload 0\nsecrets {self.here}/secrets\n"
                           f"cache_dir {self.here}/cache\n".encode())
        os.mkdir(os.path.join(self.here, "cache"))
        os.chmod(self.here, 0o755)  # davfs2 works as a user of its own
        os.chmod(os.path.join(self.here, "cache"), 0o777)
        self.write("secrets", f"{url()} {NAME} {PASSWORD}\n".encode())
        os.chmod(os.path.join(self.here, "secrets"), 0o600)

    def mount(self):
        done = run("mount.davfs", url(), self.mount_point, "-o", f"conf={self.here}/conf")
        if done.returncode or not os.path.ismount(self.mount_point):
            self.skipTest("davfs2 cannot mount here: " + done.stderr.strip()[-200:])

    def umount(self):
        return run("umount.davfs", self.mount_point)

    def test_a_mount(self):
        self.mount()
        self.addCleanup(self.umount)
        here = self.mount_point
        os.mkdir(f"{here}/davfs")
        with open(f"{here}/davfs/a b.txt", "w", encoding="utf-8") as f:
            f.write("one\n")
        with open(f"{here}/davfs/a b.txt", "a", encoding="utf-8") as f:
            f.write("two\n")
        with open(f"{here}/davfs/early", "w", encoding="utf-8") as f:
            f.write("x")
        os.rename(f"{here}/davfs/early", f"{here}/davfs/late")
        with open(f"{here}/davfs/gone", "w", encoding="utf-8") as f:
            f.write("x")
        os.remove(f"{here}/davfs/gone")
        big = os.urandom((100 if FULL else 8) << 20)
        with open(f"{here}/davfs/big", "wb") as f:
            f.write(big)
        self.assertEqual(["a b.txt", "big", "late"], sorted(os.listdir(f"{here}/davfs")))
        self.assertGreater(os.statvfs(here).f_blocks, 0)
        self.assertEqual(0, self.umount().returncode)
        self.assertEqual((200, "one\ntwo\n"), ask("GET", "davfs/a%20b.txt"))
        self.assertEqual((200, "x"), ask("GET", "davfs/late"))
        self.assertEqual(404, ask("GET", "davfs/gone")[0])
        done = subprocess.run(["curl", "-s", "-u", f"{NAME}:{PASSWORD}", url("davfs/big")], capture_output=True, check=False)
        self.assertEqual(hashlib.sha256(big).hexdigest(), hashlib.sha256(done.stdout).hexdigest())
        lost = [name for _, _, names in os.walk(f"{self.here}/cache") for name in names if "lost" in name]
        self.assertEqual([], lost)


class Gio(Scratch):
    """GNOME's files, without a desktop: a session bus of its own, on which gvfs starts by itself."""
    SCRIPT = r"""
set -e
dav=dav://ada@$1/webdav
printf '%s\n' "$2" | gio mount "$dav/" >/dev/null
gio mkdir "$dav/gio"
gio copy source.txt "$dav/gio/"
gio copy source.txt "$dav/gio/a b é.txt"
gio copy "$dav/gio/source.txt" "$dav/gio/second"
gio rename "$dav/gio/second" "third é" >/dev/null
gio move "$dav/gio/source.txt" "$dav/gio/moved"
echo saved | gio save "$dav/gio/a b é.txt"
gio copy large.bin "$dav/gio/"
gio copy "$dav/gio/large.bin" back.bin
gio list "$dav/gio"
gio cat "$dav/gio/a b é.txt"
gio info -f "$dav/" | grep filesystem::free
gio remove "$dav/gio/moved"
gio list "$dav/gio" | grep -c . | sed 's/^/left /'
for name in $(gio list "$dav/gio" | grep -v ' '); do gio remove "$dav/gio/$name"; done
gio mount -u "$dav/"
"""

    def test_a_session(self):
        content = os.urandom(3 << 20)
        self.write("source.txt", b"from gio\n")
        self.write("large.bin", content)
        script = self.write("script", self.SCRIPT.encode())
        done = run("dbus-run-session", "--", "bash", script, welkin.address, PASSWORD, cwd=self.here,
                   env={"HOME": self.here, "XDG_RUNTIME_DIR": self.here, "GVFS_DISABLE_FUSE": "1"})
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertEqual(["a b é.txt", "large.bin", "moved", "third é"], sorted(done.stdout.split("\n")[:4]))
        self.assertIn("saved", done.stdout)
        self.assertRegex(done.stdout, r"filesystem::free: [1-9]")
        self.assertIn("left 3", done.stdout)
        with open(os.path.join(self.here, "back.bin"), "rb") as f:
            self.assertEqual(hashlib.sha256(content).hexdigest(), hashlib.sha256(f.read()).hexdigest())
        self.assertEqual((200, "saved\n"), ask("GET", "gio/a%20b%20%C3%A9.txt"))
        self.assertEqual((200, "from gio\n"), ask("GET", "gio/third%20%C3%A9"))
        self.assertEqual(404, ask("GET", "gio/large.bin")[0])


class Npm(unittest.TestCase):
    @unittest.skipUnless(os.path.isdir(os.path.join(here, "node_modules/webdav")), "scripts/setup --clients could not install it")
    def test_the_client_of_many_programs(self):
        done = run("node", os.path.join(here, "npm_webdav.mjs"), url(), NAME, PASSWORD)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn("fine", done.stdout)


class Wget(Scratch):
    def test_follows_the_pages_of_folders(self):
        self.assertEqual(201, ask("MKCOL", "wget")[0])
        self.assertEqual(201, ask("MKCOL", "wget/in%20side")[0])
        for name in ("a%20b", "in%20side/100%25", "in%20side/%3Cscript%3E"):
            self.assertEqual(201, ask("PUT", "wget/" + name, "-d", name)[0])
        done = run("wget", "-q", "-r", "-np", "-nH", "--restrict-file-names=nocontrol", "--auth-no-challenge",
                   f"--user={NAME}", f"--password={PASSWORD}", "--header=Accept: text/html", url("wget/"), cwd=self.here)
        self.assertEqual(0, done.returncode, done.stderr)
        found = sorted(os.path.relpath(os.path.join(f, n), self.here) for f, _, names in os.walk(self.here)
                       for n in names if not n.startswith("index.html"))  # wget's copies of the pages
        self.assertEqual(["webdav/wget/a b", "webdav/wget/in side/100%", "webdav/wget/in side/<script>"], found)


class Crowd(unittest.TestCase):
    """Many connections at once, and a copy that is cut short."""

    AUTHORIZATION = "Basic " + base64.b64encode(f"{NAME}:{PASSWORD}".encode()).decode()

    def each(self, count, work):
        """work(number, ask) on `count` connections of their own. ask(method, path, body, **headers) -> (status, headers, body)"""
        failures = []

        def one(number):
            connection = http.client.HTTPConnection(*welkin.address.split(":"), timeout=SECONDS)

            def asked(method, path, body=None, **headers):
                connection.request(method, "/webdav/" + path, body,
                                   {"Authorization": self.AUTHORIZATION, **{k.replace("_", "-"): v for k, v in headers.items()}})
                answer = connection.getresponse()
                return answer.status, answer.headers, answer.read()

            try:
                work(number, asked)
            except Exception as e:  # pylint: disable=broad-except
                failures.append(f"{number}: {e!r}")
            finally:
                connection.close()

        threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], failures)

    def test_one_name_written_by_eight_at_once(self):
        rounds = 1000 if FULL else 60
        bodies = {f"{number}-{i}-".encode() * 300 for number in range(8) for i in range(rounds)}

        def work(number, asked):
            for i in range(rounds):
                status, _, _ = asked("PUT", "contended", f"{number}-{i}-".encode() * 300)
                if status not in (201, 204):
                    raise AssertionError(f"PUT {i}: {status}")

        self.each(8, work)
        status, body = ask("GET", "contended")
        self.assertEqual(200, status)
        self.assertIn(body.encode(), bodies, "one of the bodies, whole")

    def test_twenty_lock_and_unlock_files_of_their_own(self):
        pairs = 1000 if FULL else 30
        self.assertEqual(201, ask("MKCOL", "crowd")[0])

        def work(number, asked):
            name = f"crowd/{number}"
            asked("PUT", name, b"x")
            for i in range(pairs):
                status, headers, _ = asked("LOCK", name, Curl.LOCK.encode(), Depth="0", Content_Type="application/xml")
                if status != 200:
                    raise AssertionError(f"LOCK {i}: {status}")
                status, _, _ = asked("UNLOCK", name, Lock_Token=headers["Lock-Token"])
                if status != 204:
                    raise AssertionError(f"UNLOCK {i}: {status}")

        begun = time.monotonic()
        self.each(20, work)
        print(f"{20 * pairs / (time.monotonic() - begun):.0f} pairs of LOCK and UNLOCK a second")

    def count(self, path):
        status, body = ask("PROPFIND", path, "-H", "Depth: infinity")
        return 0 if status == 404 else body.count("<d:response>")

    def test_a_copy_that_is_killed_is_all_or_nothing(self):
        folders = 100 if FULL else 20
        self.assertEqual(201, ask("MKCOL", "whole")[0])
        self.assertEqual(201, ask("MKCOL", "whole/0")[0])
        self.each(8, lambda number, asked: [asked("PUT", f"whole/0/{number}-{i}", b"x" * 50) for i in range(12)])
        for i in range(1, folders):
            self.assertEqual(201, ask("COPY", "whole/0", "-H", f"Destination: {url(f'whole/{i}')}")[0])
        everything = self.count("whole")
        self.assertEqual(1 + folders * 97, everything)
        outcomes = set()
        for i in range(10 if FULL else 4):
            name = f"copy{i}"
            begun = time.monotonic()
            copy = subprocess.Popen(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-u", f"{NAME}:{PASSWORD}", "-X", "COPY",
                                     url("whole"), "-H", f"Destination: {url(name)}"], stdout=subprocess.PIPE, text=True)
            if i == 0:  # this one may end: it tells how long they take
                whole = time.monotonic() - begun if copy.wait(SECONDS) == 0 else 0
            else:
                time.sleep(whole * i / (10 if FULL else 4))
            welkin.stop(signal.SIGKILL)
            told = copy.communicate(timeout=SECONDS)[0]
            welkin.start()
            found = self.count(name)
            self.assertIn(found, (0, everything))
            if told == "201":
                self.assertEqual(everything, found, "what was answered is there")
            outcomes.add(found)
        self.assertIn(everything, outcomes)


class BehindNginx(Scratch):
    """TLS and another path in front, which the server knows by its base URL; Destination and If name that address."""

    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.top = f"https://localhost:{self.port}/cloud/webdav/"
        self.welkin = Welkin(WELKIN_BASE_URL=f"https://localhost:{self.port}/cloud", WELKIN_TRUSTED_PROXIES="127.0.0.1")
        self.addCleanup(self.welkin.close)
        self.assertEqual(0, self.welkin.user_add(NAME, password=PASSWORD).returncode)
        self.welkin.start()
        self.addCleanup(self.welkin.stop)
        self.cert, key = self_signed(self.here, "nginx", common_name="localhost")
        temp = " ".join(f"{kind}_temp_path {self.here}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        conf = self.write("nginx.conf", f"""
daemon off; worker_processes 1; pid {self.here}/nginx.pid; error_log {self.here}/nginx.log;
{"user root;" if os.geteuid() == 0 else ""}
events {{ worker_connections 64; }}
http {{
  access_log off; {temp}
  server {{
    listen 127.0.0.1:{self.port} ssl; ssl_certificate {self.cert}; ssl_certificate_key {key}; client_max_body_size 0;
    location /cloud/ {{
      proxy_pass http://{self.welkin.address}; proxy_set_header Host $host; proxy_http_version 1.1;
      proxy_set_header X-Forwarded-Proto https; proxy_set_header X-Forwarded-For $remote_addr; proxy_request_buffering off;
    }}
  }}
}}
""".encode())
        nginx = subprocess.Popen(["/usr/sbin/nginx", "-p", self.here, "-c", conf], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(nginx.wait, SECONDS)
        self.addCleanup(nginx.terminate)
        self.assertTrue(wait_until(lambda: self.ask("OPTIONS", "")[0] == 200), "nginx did not start")

    def ask(self, method, path, *words):
        done = run("curl", "-s", "--cacert", self.cert, "-D", "-", "-o", f"{self.here}/body", "-w", "\n%{http_code}",
                   "-u", f"{NAME}:{PASSWORD}", "-X", method, self.top + path, *words)
        head, status = done.stdout.rsplit("\n", 1)
        return int(status), head

    def test_addresses_are_those_of_the_outside(self):
        self.assertEqual(201, self.ask("MKCOL", "t")[0])
        self.assertEqual(201, self.ask("PUT", "t/a", "-d", "hello")[0])
        to = [self.top + "t/1", "/cloud/webdav/t/2", self.top.replace("https", "http") + "t/3",
              f"https://localhost/cloud/webdav/t/4", f"https://LOCALHOST:{self.port}/cloud/webdav/t/5"]
        for destination in to:
            status, head = self.ask("COPY", "t/a", "-H", "Destination: " + destination)
            self.assertEqual(201, status, destination)
            self.assertIn("Location: /cloud/webdav/t/", head)
        for destination, wanted in (("https://other.example/cloud/webdav/t/x", 502), ("", 400), (self.top + "t/x?x=1", 400),
                                    ("/webdav/t/x", 403), ("/cloud/else/x", 403), (self.top + "t/%2e%2e/x", 400),
                                    (self.top + "t/a", 403), (self.top + "no/x", 409)):
            self.assertEqual(wanted, self.ask("COPY", "t/a", "-H", "Destination: " + destination if destination
                                              else "Destination;")[0], destination)
        status, head = self.ask("PROPFIND", "t", "-H", "Depth: 0")
        self.assertEqual(207, status)
        self.assertIn("Content-Location: /cloud/webdav/t/", head)
        self.assertNotIn("Location: http:", head)
        status, head = self.ask("LOCK", "t/a", "-d", Curl.LOCK)
        self.assertEqual(200, status)
        token = re.search(r"Lock-Token: (<[^>]+>)", head).group(1)
        for tag in ("", f"<{self.top}t/a> ", "</cloud/webdav/t/a> ", f"<http://localhost/cloud/webdav/t/a> "):
            self.assertEqual(204, self.ask("PUT", "t/a", "-d", "x", "-H", f"If: {tag}({token})")[0], tag)
        self.assertEqual(412, self.ask("PUT", "t/a", "-d", "x", "-H", f"If: <{self.top}t/1> ({token})")[0])
        for name, count in (("copymove", 13), ("locks", 41)):
            done = run("litmus", "-k", self.top, NAME, PASSWORD, cwd=self.here,
                       env={"TESTS": name, "TEST_COLOUR": "0", "SSL_CERT_FILE": self.cert})
            self.assertIn(f"of {count} tests run: {count} passed, 0 failed. 100.0%", done.stdout.replace("\r", "\n"))


if __name__ == "__main__":
    suite.main()
