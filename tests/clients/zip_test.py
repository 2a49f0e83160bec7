"""Archives as programs see them that know nothing of us: unzip, bsdtar, Python's zipfile, and curl that resumes."""
import hashlib
import http.client
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
import unittest
import urllib.parse
import zipfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(here), "support")]
import pg  # noqa: E402
import suite  # noqa: E402
from server import Welkin, wait_until  # noqa: E402

FULL = bool(os.environ.get("WELKIN_TEST_FULL"))
PIECE = 16 << 20
PIECES = 280 if FULL else 4  # 4.4 GiB or 64 MiB


class RemoteFile(io.RawIOBase):
    """A file that is read by ranges over the network, so that only what is asked for travels."""

    def __init__(self, zips, path):
        self.zips, self.path, self.at, self.fetched = zips, path, 0, 0
        head = zips.welkin.ask("HEAD", path, token=zips.token)
        self.size, self.etag = int(head.headers["Content-Length"]), head.headers["ETag"]

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=0):
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def tell(self):
        return self.at

    def readinto(self, buffer):
        wanted = min(len(buffer), self.size - self.at)
        if wanted <= 0:
            return 0
        answer = self.zips.welkin.ask("GET", self.path, token=self.zips.token, range=f"bytes={self.at}-{self.at + wanted - 1}",
                                      if_range=self.etag)
        assert answer.status == 206 and len(answer.body) == wanted, (answer.status, len(answer.body), wanted)
        buffer[:wanted] = answer.body
        self.at += wanted
        self.fetched += wanted
        return wanted


class Zip(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = pg.Cluster()
        cls.cluster.sql("create database zips")
        cls.welkin = Welkin(WELKIN_DATABASE_URL=cls.cluster.url_of("zips"))
        cls.welkin.user_add("alice", "--admin")
        cls.welkin.start()
        cls.token = cls.welkin.login("alice")
        cls.home = cls.welkin.home(cls.token)

    @classmethod
    def tearDownClass(cls):
        cls.welkin.close()
        cls.cluster.stop()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="welkin-zip-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def sql(self, statement):
        return self.cluster.sql(statement, "zips")

    def make_folder(self, parent, name):
        answer = self.welkin.ask("POST", "/api/folders", {"name": name, "parent_id": parent}, token=self.token)
        self.assertEqual(201, answer.status, answer.body)
        return answer.json()["id"]

    def put(self, folder, name, body, mtime=None):
        headers = {"X_OC_MTime": str(mtime)} if mtime is not None else {}
        answer = self.welkin.ask("PUT", f"/api/folders/{folder}/children/{urllib.parse.quote(name)}", body, token=self.token,
                                 timeout=300, **headers)
        self.assertIn(answer.status, (200, 201), answer.body)
        return answer.json()["id"]

    def node(self, name):
        return int(self.sql(f"select max(id) from nodes where name = '{name}'"))

    @staticmethod
    def path_of(folder):
        return f"/api/folders/{folder}/download"

    def curl(self, path, to, *more, check=True):
        return subprocess.run(["curl", "-sS", "--fail", "-o", to, "-H", f"Authorization: Bearer {self.token}", *more,
                               f"http://{self.welkin.address}{path}"], capture_output=True, text=True, check=check, timeout=1200)

    def run_tool(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=1200,
                              env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC"})
        self.assertEqual(0, done.returncode, (words, done.stdout[-2000:], done.stderr[-2000:]))
        return done.stdout

    def tree_of(self, folder):
        """{path: content} of what a tool has unpacked; folders end with '/'."""
        found = {}
        for at, folders, files in os.walk(folder):
            for name in folders:
                found[os.path.relpath(os.path.join(at, name), folder) + "/"] = None
            for name in files:
                with open(os.path.join(at, name), "rb") as f:
                    found[os.path.relpath(os.path.join(at, name), folder)] = f.read()
        return found

    def test_every_tool_unpacks_the_same(self):
        top = self.make_folder(self.home, "Tree \u00fc")
        names = {"empty": b"", "inline.txt": b"hello", "chunks.bin": os.urandom(5 << 20), "\U0001f600 emoji.txt": b"smile",
                 "u\u0308 nfd.txt": b"nfd", "\u2603\u4e2d\u6587": b"cjk", "64k": b"x" * 65536, "64k and one": b"x" * 65537}
        expected = {"Tree \u00fc/": None}
        for name, body in names.items():
            self.put(top, name, body)
            expected["Tree \u00fc/" + unicodedata.normalize("NFC", name)] = body
        for name, mtime in (("old", 130_000_000), ("later", 4_200_000_000), ("exact", 1_600_000_001)):
            self.put(top, name, b"t", mtime)
            expected["Tree \u00fc/" + name] = b"t"
        self.make_folder(top, "nothing in it")
        expected["Tree \u00fc/nothing in it/"] = None
        at, path = top, "Tree \u00fc/"
        for depth in range(30):
            at, path = self.make_folder(at, f"level {depth}"), path + f"level {depth}/"
            expected[path] = None
        self.put(at, "deep", b"down here")
        expected[path + "deep"] = b"down here"

        archive = self.folder + "/a.zip"
        self.curl(self.path_of(top), archive)
        self.run_tool("unzip", "-tqq", archive)
        for tool in (("unzip", "-qq", archive, "-d"), ("bsdtar", "-xf", archive, "-C")):
            out = f"{self.folder}/{tool[0]}"
            os.mkdir(out)
            self.run_tool(*tool, out)
            self.assertEqual(expected, self.tree_of(out), tool[0])
            self.assertEqual(1_600_000_001, int(os.stat(f"{out}/Tree \u00fc/exact").st_mtime), tool[0])
        with zipfile.ZipFile(archive) as z:
            self.assertIsNone(z.testzip())
            self.assertEqual(set(expected), set(z.namelist()))
            self.assertEqual(1980, z.getinfo("Tree \u00fc/old").date_time[0])
            self.assertEqual(2103, z.getinfo("Tree \u00fc/later").date_time[0])
            self.assertTrue(all(i.compress_type == zipfile.ZIP_STORED for i in z.infolist()))

    def big_folder(self):
        """Many nodes with one content: the bytes of the archive, not of the disk, are many."""
        top = self.make_folder(self.home, f"big {time.monotonic_ns()}")
        self.put(top, "piece 0", os.urandom(PIECE))
        first = self.node("piece 0")
        self.sql(f"insert into nodes (parent_id, content_id, size, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name) "
                 f"select parent_id, content_id, size, mtime, etag_seq, created_at, drive_id, etag_drive, kind, 'piece ' || g "
                 f"from nodes, generate_series(1, {PIECES - 1}) g where id = {first}")
        return top

    def digest(self, path):
        with open(path, "rb") as f:
            return hashlib.file_digest(f, "sha256").hexdigest()

    def test_curl_resumes_what_was_cut(self):
        path = self.path_of(self.big_folder())
        whole, part = self.folder + "/whole.zip", self.folder + "/part.zip"
        self.curl(path, whole)
        size = os.path.getsize(whole)
        self.assertGreater(size, PIECE * PIECES)
        cut = subprocess.Popen(["curl", "-sS", "--limit-rate", "40M", "-o", part, "-H", f"Authorization: Bearer {self.token}",
                                f"http://{self.welkin.address}{path}"], stderr=subprocess.DEVNULL)
        self.assertTrue(wait_until(lambda: os.path.exists(part) and os.path.getsize(part) > size // 3, 600))
        cut.kill()
        cut.wait()
        got = os.path.getsize(part)
        self.assertLess(got, size)
        verbose = self.curl(path, part, "-C", "-", "-v").stderr
        self.assertIn("206 Partial Content", verbose)
        self.assertEqual(self.digest(whole), self.digest(part))
        os.remove(part)
        self.run_tool("unzip", "-tqq", whole)
        with zipfile.ZipFile(whole) as z:
            self.assertEqual(PIECES + 1, len(z.namelist()))

    def test_a_changed_folder_is_not_resumed(self):
        top = self.make_folder(self.home, "changing")
        self.put(top, "a", b"1" * 1000)
        path, part = self.path_of(top), self.folder + "/part.zip"
        version = self.welkin.ask("HEAD", path, token=self.token).headers["ETag"].strip('"')
        first = self.welkin.ask("GET", path, token=self.token, range="bytes=0-499")
        with open(part, "wb") as f:
            f.write(first.body)
        self.put(top, "a", b"2" * 1000)
        refused = self.curl(f"{path}?v={version}", part, "-C", "-", check=False)
        self.assertNotEqual(0, refused.returncode)
        self.assertIn("412", refused.stderr)
        answer = self.welkin.ask("GET", path, token=self.token, range="bytes=500-", if_range=f'"{version}"')
        self.assertEqual(200, answer.status)
        self.assertIn(b"2" * 1000, answer.body)

    def test_more_entries_than_16_bits_count(self):
        top = self.make_folder(self.home, "many")
        self.put(top, "f", b"tiny")
        count = 70_000
        self.sql(f"insert into nodes (parent_id, content_id, size, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name) "
                 f"select parent_id, content_id, size, mtime, etag_seq, created_at, drive_id, etag_drive, kind, 'file ' || g "
                 f"from nodes, generate_series(1, {count - 1}) g where id = {self.node('f')}")
        archive = self.folder + "/many.zip"
        before, started = self.memory(), time.monotonic()
        self.curl(self.path_of(top), archive, "-m", "600", "-w", "%{time_starttransfer}")
        print(f"{count} entries, {os.path.getsize(archive) >> 20} MiB in {time.monotonic() - started:.2f} s; resident memory "
              f"{before} -> {self.memory()} KiB, peak {self.memory('VmHWM')} KiB")
        self.run_tool("unzip", "-tqq", archive)
        self.assertEqual(count + 1, self.run_tool("bsdtar", "-tf", archive).count("\n"))
        with zipfile.ZipFile(archive) as z:
            self.assertEqual(count + 1, len(z.namelist()))
            self.assertEqual(b"tiny", z.read("many/file 69999"))

    def memory(self, what="VmRSS"):
        with open(f"/proc/{self.welkin.pid}/status", encoding="utf-8") as f:
            return int(re.search(rf"{what}:\s+(\d+)", f.read()).group(1))

    def test_sizes_and_offsets_beyond_32_bits(self):
        """5 GiB that nobody has: everything around them is right, and they themselves are broken off, not made up."""
        top = self.make_folder(self.home, "wide")
        self.put(top, "a before", b"before")
        self.put(top, "b large", b"x")
        self.put(top, "c after", b"after")
        size = 5 << 30
        content = self.sql(f"insert into contents (size, crc32, n_chunks) values ({size}, 1, 1) returning id")
        self.sql(f"update nodes set size = {size}, content_id = {content} where id = {self.node('b large')}")
        remote = RemoteFile(self, self.path_of(top))
        self.assertGreater(remote.size, size)
        with zipfile.ZipFile(remote) as z:
            self.assertEqual(["wide/", "wide/a before", "wide/b large", "wide/c after"], z.namelist())
            self.assertEqual(size, z.getinfo("wide/b large").file_size)
            self.assertEqual(b"before", z.read("wide/a before"))
            self.assertEqual(b"after", z.read("wide/c after"))
        self.assertLess(remote.fetched, 1 << 20)
        with self.assertRaises((http.client.HTTPException, OSError, AssertionError)):
            answer = self.welkin.ask("GET", self.path_of(top), token=self.token)
            self.assertEqual(200, answer.status)
            self.assertEqual(remote.size, len(answer.body))


if __name__ == "__main__":
    suite.main()
