"""Clients of Nextcloud against the real server: nextcloudcmd with two directories of one account and with another account,
through edits, renames, conflicts and a restart; and rclone with vendor nextcloud, in parts."""
import base64
import hashlib
import http.client
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
import unittest
import urllib.parse

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "support"))
import suite  # noqa: E402
from server import Welkin, free_port  # noqa: E402

PASSWORD = "a-perfectly-fine-pass-phrase"
FULL = os.environ.get("WELKIN_TEST_FULL") == "1"
TREE_FILES = 5000 if FULL else 1000
LARGE_MIB = 200 if FULL else 15
SECONDS = 900  # beyond it a program hangs

welkin = None
accounts = 0


def setUpModule():
    global welkin
    # One address over restarts: clients keep it.
    welkin = Welkin(WELKIN_LISTEN=f"127.0.0.1:{free_port()}", WELKIN_ACCESS_LOG="true")
    welkin.start()


def tearDownModule():
    welkin.stop()
    welkin.close()


def run(*words, cwd=None, env=None, stdin=None):
    return subprocess.run(words, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=SECONDS, check=False,
                          errors="replace", env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})})


def ask(user, method, path, body=None, **headers):
    """(status, headers, body) of a request below the user's files."""
    connection = http.client.HTTPConnection(*welkin.address.split(":"), timeout=60)
    token = base64.b64encode(f"{user}:{PASSWORD}".encode()).decode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, f"/remote.php/dav/files/{user}/" + urllib.parse.quote(path), body,
                       {"Authorization": "Basic " + token, **named})
    answer = connection.getresponse()
    got = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return got


def requests_since(mark):
    """What the access log has told since: [(method, path)]"""
    lines = welkin.log()[mark:]
    return re.findall(r'"([A-Z]+) ([^"]*)" \d+', lines)


def listing(folder):
    """{path: (sha1, mtime)} of what a client keeps in a folder; None for folders."""
    out = {}
    for above, folders, files in os.walk(folder):
        for name in folders:
            out[os.path.relpath(os.path.join(above, name), folder)] = None
        for name in files:
            path = os.path.join(above, name)
            if name.startswith((".sync_", "._sync_", ".owncloudsync", ".nextcloudsync")) or name.endswith((".db-wal", ".db-shm")):
                continue
            with open(path, "rb") as f:
                out[os.path.relpath(path, folder)] = hashlib.sha1(f.read()).hexdigest(), int(os.stat(path).st_mtime)
    return out


class Sync(unittest.TestCase):
    def setUp(self):
        global accounts
        accounts += 1
        self.user = f"ada{accounts}"
        self.assertEqual(0, welkin.user_add(self.user, password=PASSWORD).returncode)
        self.home = tempfile.mkdtemp(prefix="welkin-nc-")
        self.addCleanup(shutil.rmtree, self.home, True)
        self.one, self.two = self.folder("one"), self.folder("two")

    def folder(self, name):
        path = os.path.join(self.home, name)
        os.mkdir(path)
        return path

    def write(self, folder, name, content, mtime=None):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)
        if mtime is not None:
            os.utime(path, (mtime, mtime))
        return path

    def sync(self, folder, user=None, fine=True):
        done = run("nextcloudcmd", "--non-interactive", "-u", user or self.user, "-p", PASSWORD, folder,
                   f"http://{welkin.address}", env={"HOME": self.home, "QT_QPA_PLATFORM": "offscreen"})
        if fine:
            self.assertEqual(0, done.returncode, (done.stdout + done.stderr)[-6000:])
        return done

    def both(self):
        self.sync(self.one)
        self.sync(self.two)
        self.assertEqual(listing(self.one), listing(self.two))

    def quiet(self, folder):
        """A run with nothing to do: what it asked the server for."""
        mark = len(welkin.log())
        self.sync(folder)
        return requests_since(mark)


class Nextcloudcmd(Sync):
    def test_n21_n22_a_tree_goes_up_and_down_and_then_nothing_moves(self):
        taken = 0
        for above, _, files in os.walk("/usr/share/doc"):
            for name in sorted(files):
                path = os.path.join(above, name)
                if taken == TREE_FILES or os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > 1 << 20:
                    continue
                with open(path, "rb") as f:
                    self.write(self.one, "doc/" + os.path.relpath(path, "/usr/share/doc"), f.read())
                taken += 1
        self.write(self.one, "empty", b"", 1_600_000_000)
        self.write(self.one, "byte", b"x", 86_400 * 2)
        self.write(self.one, "below", os.urandom(9_999_999))
        self.write(self.one, "above", os.urandom(10_000_001))
        self.write(self.one, "large", os.urandom(LARGE_MIB << 20), 4_102_444_800)
        for name in ("😀.txt", unicodedata.normalize("NFC", "é.txt"), "a+b", "100%", "%41.txt", "a#b", "a b"):
            self.write(self.one, "names/" + name, name.encode())
        self.both()
        self.assertGreaterEqual(sum(1 for v in listing(self.two).values() if v), taken)
        self.quiet(self.one)
        quiet = self.quiet(self.one)
        asked = [one for one in quiet if one != ("GET", "/push/ws")]  # the socket it is told of changes by
        self.assertLessEqual(len(asked), 5, quiet)
        self.assertEqual([], [r for r in quiet if r[0] in ("GET", "PUT", "MOVE", "MKCOL", "DELETE") and "/remote.php/" in r[1]])
        self.assertEqual(1, sum(1 for r in quiet if r[0] == "PROPFIND"), quiet)

    def test_n23_n26_changes_on_the_server_arrive_alone(self):
        for i in range(20):
            self.write(self.one, f"a/b/c/d/e/{i}", b"%d" % i)
            self.write(self.one, f"other/{i}", b"%d" % i)
        self.both()
        self.quiet(self.one)
        self.assertEqual(204, ask(self.user, "PUT", "a/b/c/d/e/7", b"seven")[0])
        asked = self.quiet(self.one)
        self.assertEqual(1, sum(1 for r in asked if r[0] == "GET" and "/files/" in r[1]), asked)
        self.assertEqual([], [r for r in asked if r[0] == "PROPFIND" and "/other" in r[1]])
        self.assertEqual(201, ask(self.user, "MOVE", "other", Destination=f"/remote.php/dav/files/{self.user}/renamed")[0])
        asked = self.quiet(self.one)
        self.assertEqual([], [r for r in asked if r[0] in ("GET", "PUT") and "/files/" in r[1]], "renamed, not fetched again")
        self.both()

    def test_n25_a_renamed_folder_is_one_move(self):
        for i in range(100):
            self.write(self.one, f"folder/{i}", b"%d" % i)
        self.both()
        os.rename(os.path.join(self.one, "folder"), os.path.join(self.one, "another"))
        asked = self.quiet(self.one)
        self.assertEqual(1, sum(1 for r in asked if r[0] == "MOVE"), asked)
        self.assertEqual([], [r for r in asked if r[0] == "PUT"])
        asked = self.quiet(self.two)
        self.assertEqual([], [r for r in asked if r[0] == "GET" and "/files/" in r[1]], "the second client renames, too")
        self.assertEqual(listing(self.one), listing(self.two))

    def test_n27_n29_conflicts_deletes_and_changes_of_kind(self):
        for name in ("both", "gone", "kind", "edited"):
            self.write(self.one, name, b"first")
        self.both()
        self.write(self.one, "both", b"mine, and longer")
        self.write(self.two, "both", b"theirs")
        self.sync(self.two)
        self.sync(self.one)
        self.assertEqual(b"theirs", ask(self.user, "GET", "both")[2])
        kept = [n for n in listing(self.one) if "conflict" in n.lower()]
        self.assertEqual(1, len(kept), listing(self.one))
        with open(os.path.join(self.one, kept[0]), "rb") as f:
            self.assertEqual(b"mine, and longer", f.read())
        os.remove(os.path.join(self.one, kept[0]))
        os.remove(os.path.join(self.one, "gone"))
        os.remove(os.path.join(self.one, "kind"))
        self.write(self.one, "kind/inside", b"a folder now")
        self.both()
        self.assertEqual(404, ask(self.user, "GET", "gone")[0])
        shutil.rmtree(os.path.join(self.one, "kind"))
        self.write(self.one, "kind", b"a file again")
        self.sync(self.one)
        self.sync(self.two)
        self.sync(self.two)  # the folder that stood there may be kept aside first
        self.assertEqual(b"a file again", ask(self.user, "GET", "kind")[2])
        for folder in (self.one, self.two):
            with open(os.path.join(folder, "kind"), "rb") as f:
                self.assertEqual(b"a file again", f.read())

    def test_n34_a_time_that_clients_do_not_take_back(self):
        self.write(self.one, "zero", b"x", 0)
        self.write(self.one, "fine", b"x")
        self.assertNotEqual(0, self.sync(self.one, fine=False).returncode)
        self.assertEqual(404, ask(self.user, "GET", "zero")[0])
        self.assertEqual(200, ask(self.user, "GET", "fine")[0])

    def test_n36_a_restart_in_the_middle(self):
        for i in range(200):
            self.write(self.one, f"many/{i}", os.urandom(2000))
        client = subprocess.Popen(["nextcloudcmd", "--non-interactive", "-u", self.user, "-p", PASSWORD, self.one,
                                   f"http://{welkin.address}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env={**os.environ, "HOME": self.home, "QT_QPA_PLATFORM": "offscreen"})
        while client.poll() is None and len(requests_since(0)) and not any(
                m == "PUT" and f"/{self.user}/" in p for m, p in requests_since(0)):
            pass
        welkin.stop()
        welkin.start()
        client.wait(SECONDS)
        self.sync(self.one)
        self.both()
        self.assertEqual(201, len(listing(self.two)))

    def test_another_account_sees_its_own_files_only(self):
        other = self.user + "b"
        self.assertEqual(0, welkin.user_add(other, password=PASSWORD).returncode)
        self.write(self.one, "mine", b"x")
        self.sync(self.one)
        three = self.folder("three")
        self.write(three, "theirs", b"y")
        self.sync(three, other)
        self.assertEqual(["theirs"], list(listing(three)))
        self.both()
        self.assertEqual(["mine"], list(listing(self.two)))


class Rclone(Sync):
    def setUp(self):
        super().setUp()
        obscured = run("rclone", "obscure", PASSWORD).stdout.strip()
        with open(os.path.join(self.home, "rclone.conf"), "w", encoding="utf-8") as f:
            f.write(f"[nc]\ntype = webdav\nurl = http://{welkin.address}/remote.php/dav/files/{self.user}\nvendor = nextcloud\n"
                    f"user = {self.user}\npass = {obscured}\n")

    def rclone(self, *words):
        done = run("rclone", "--config", os.path.join(self.home, "rclone.conf"), "--retries", "1", "--low-level-retries", "1", *words)
        self.assertEqual(0, done.returncode, done.stderr[-3000:])
        return done

    def test_n44_copy_check_and_again(self):
        for i in range(50):
            self.write(self.one, f"tree/{i}", os.urandom(1000 + i), 1_600_000_000 + i)
        self.write(self.one, "large", os.urandom((100 if FULL else 32) << 20))
        self.rclone("copy", self.one, "nc:up")
        self.rclone("check", self.one, "nc:up")
        self.rclone("check", "--download", self.one, "nc:up")
        mark = len(welkin.log())
        self.rclone("copy", self.one, "nc:up")
        self.assertEqual([], [r for r in requests_since(mark) if r[0] in ("PUT", "MOVE")])
        self.rclone("copy", "nc:up", self.two)
        self.assertEqual(listing(self.one), listing(self.two))


if __name__ == "__main__":
    suite.main()
