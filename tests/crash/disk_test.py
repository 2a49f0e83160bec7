"""Disks that are full, read-only or lying: what is stored stays readable, what cannot be stored is refused in clear words, and
nothing is acknowledged that is not on the disk."""
import os
import subprocess
import sys
import threading
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), "support")]
import disks  # noqa: E402
import pg  # noqa: E402
import server  # noqa: E402
import suite  # noqa: E402
from server import Welkin  # noqa: E402

MIB = 1 << 20


class Small:
    """A server whose data directory lies on a disk of its own; its database elsewhere."""

    def __init__(self, test, cluster, image_bytes=0, memory="size=1g", **mount):
        cluster.sql("drop database if exists welkin")
        cluster.sql("create database welkin template template0")
        self.welkin = Welkin(server.released(), WELKIN_DATABASE_URL=cluster.url_of("welkin"))
        test.addCleanup(self.welkin.close)
        parent = self.welkin.parent
        self.memory = disks.Mount(parent + "/memory", "tmpfs", memory)
        test.addCleanup(self.memory.umount)
        self.disk = None
        if image_bytes:
            disks.make_image(parent + "/memory/disk", image_bytes)
            self.mount_disk()
            test.addCleanup(lambda: self.disk.umount())
            self.at = parent + "/disk"
        else:
            self.at = parent + "/memory"
        self.welkin.data = self.at + "/data"
        self.welkin.settings["WELKIN_DATA_DIR"] = self.welkin.data
        self.kept = {}
        self.lock = threading.Lock()

    def mount_disk(self):
        parent = self.welkin.parent
        self.disk = disks.Mount(parent + "/disk", parent + "/memory/disk", "loop")

    def begin(self):
        made = self.welkin.user_add("ada")
        if made.returncode:
            raise RuntimeError(made.stderr)
        self.start()
        self.token = self.welkin.login("ada")
        self.home = self.welkin.home(self.token)

    def start(self):
        self.welkin.start()
        if not self.welkin.wait_ready():
            raise RuntimeError(self.welkin.log()[-3000:])

    def put(self, name, body):
        answer = self.welkin.ask("PUT", f"/api/folders/{self.home}/children/{name}", body, token=self.token, timeout=120)
        if answer.status == 201:
            with self.lock:
                self.kept[answer.json()["id"]] = body
        return answer

    def lost(self):
        """Acknowledged files that do not come back as they were sent."""
        out = []
        for id_, body in self.kept.items():
            answer = self.welkin.ask("GET", f"/api/files/{id_}", token=self.token, timeout=120)
            if answer.status != 200 or answer.body != body:
                out.append((id_, answer.status, len(answer.body), len(body)))
        return out

    def fill(self, size, count, writers=4):
        """Uploads until they are refused. @return the statuses seen"""
        seen = set()

        def work(number):
            for i in range(count):
                answer = self.put(f"fill{number}-{i}", os.urandom(size))
                seen.add((answer.status, answer.json().get("slug") if answer.status >= 400 else ""))
                if answer.status != 201:
                    return
        threads = [threading.Thread(target=work, args=(n,)) for n in range(writers)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return seen


@unittest.skipUnless(disks.may_mount(), "no file system can be mounted here")
class Full(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = pg.Cluster()
        cls.addClassCleanup(cls.cluster.stop)

    def prove_full(self, small, size, ballast):
        """The disk fills up, everything acknowledged is there, deleting works, and with room there is writing again."""
        welkin = small.welkin
        seen = small.fill(size, 400)
        self.assertIn((507, "no_space"), seen)
        self.assertEqual({201, 507}, {status for status, _ in seen})
        self.assertGreater(len(small.kept), 3)
        self.assertEqual([], small.lost())
        self.assertEqual([], os.listdir(welkin.data + "/spool"), "refused bodies leave nothing behind")
        self.assertTrue(welkin.is_ready(), "a full disk is no broken one")
        # A row needs no room here, and what lies in the trash can go.
        victim = next(iter(small.kept))
        self.assertEqual(204, welkin.ask("DELETE", f"/api/files/{victim}", token=small.token).status)
        del small.kept[victim]
        for path in ballast:
            os.remove(path)
        # It looks at the disk once a second.
        self.assertTrue(server.wait_until(lambda: small.put("after", os.urandom(size)).status in (200, 201), 30))
        done = welkin.run("fsck", "--deep", "--json")
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertEqual([], small.lost())
        self.assertEqual(0, welkin.stop())

    def test_no_bytes_left(self):
        small = Small(self, self.cluster, memory="size=48m")
        small.begin()
        ballast = small.at + "/ballast"
        with open(ballast, "wb") as f:
            f.write(os.urandom(4 * MIB))
        self.prove_full(small, MIB + 70_000, [ballast])

    def test_no_inodes_left(self):
        # 256 directories and some files are there from the start; uploads stop some time before the last inode.
        small = Small(self, self.cluster, memory="size=200m,nr_inodes=2200")
        small.begin()
        ballast = [f"{small.at}/ballast{i}" for i in range(500)]
        for path in ballast:
            open(path, "wb").close()
        self.prove_full(small, 100_000, ballast)

    def test_the_databases_disk_is_full(self):
        """PostgreSQL ends when it cannot write its log; Welkin answers 503, and goes on when there is room."""
        with Welkin(server.released()) as welkin:
            memory = disks.Mount(welkin.parent + "/memory", "tmpfs", "size=260m")
            self.addCleanup(memory.umount)
            welkin.data = welkin.parent + "/memory/data"
            welkin.settings["WELKIN_DATA_DIR"] = welkin.data
            self.assertEqual(0, welkin.user_add("ada").returncode)
            welkin.start()
            token = welkin.login("ada")
            home = welkin.home(token)
            ballast = welkin.parent + "/memory/ballast"
            subprocess.run(["sh", "-c", f"cat /dev/zero > {ballast} 2>/dev/null; true"], check=True)
            kept, refused = [], set()
            for i in range(400):
                body = os.urandom(60_000)  # into the database
                answer = welkin.ask("PUT", f"/api/folders/{home}/children/f{i}", body, token=token, timeout=60)
                if answer.status == 201:
                    kept.append((answer.json()["id"], body))
                else:
                    refused.add(answer.status)
                    if len(refused) and i > 100:
                        break
            self.assertTrue(refused, "the disk never filled up")
            self.assertLessEqual(refused, {503, 507})
            os.remove(ballast)
            self.assertTrue(welkin.wait_ready(), welkin.log()[-2000:])
            for id_, body in kept:
                answer = welkin.ask("GET", f"/api/files/{id_}", token=token)
                self.assertEqual((200, body), (answer.status, answer.body))
            # It looks at the disk once a second.
            self.assertTrue(server.wait_until(lambda: welkin.ask(
                "PUT", f"/api/folders/{home}/children/after", b"x", token=token).status in (200, 201), 30))
            self.assertEqual(0, welkin.run("fsck", "--deep").returncode)
            self.assertEqual(0, welkin.stop())
            memory.umount()


@unittest.skipUnless(disks.may_loop(), "an image cannot be mounted as a disk here")
class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = pg.Cluster()
        cls.addClassCleanup(cls.cluster.stop)

    def prove_read_only(self, small, because):
        """No more writing, large or small; reading, the reason in /ready, and all of it after a restart too."""
        welkin = small.welkin
        for size in (10, 200_000):
            answer = small.put("refused", os.urandom(size))
            self.assertEqual((503, "store_read_only"), (answer.status, answer.json().get("slug")), because)
        self.assertEqual([], small.lost())
        ready = welkin.ask("GET", "/ready")
        self.assertEqual(503, ready.status)
        self.assertIn("read-only", str(ready.body))
        doctor = welkin.run("doctor")
        self.assertEqual(2, doctor.returncode, doctor.stdout)
        self.assertIn("store.writable", doctor.stdout)

    def repaired(self, small):
        """The operator has seen to the disk."""
        welkin = small.welkin
        reset = welkin.run("doctor", "--reset-store")
        self.assertIn("taken back", reset.stdout, reset.stderr)
        small.start()
        self.assertEqual(201, small.put("after", os.urandom(200_000)).status)
        self.assertEqual([], small.lost())
        done = welkin.run("fsck", "--deep", "--json")
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertEqual(0, welkin.stop())

    def test_a_disk_that_turns_read_only(self):
        small = Small(self, self.cluster, image_bytes=128 * MIB)
        small.begin()
        for i in range(5):
            self.assertEqual(201, small.put(f"f{i}", os.urandom(300_000)).status)
        # What ext4 does when it meets an error.
        disks.run("mount", "-o", "remount,abort", small.at, check=False)
        answer = small.put("first", os.urandom(200_000))
        self.assertEqual(503, answer.status, answer.body)
        self.prove_read_only(small, "read-only")
        small.welkin.stop()
        small.disk.umount()
        subprocess.run(["e2fsck", "-fy", small.welkin.parent + "/memory/disk"], check=False, capture_output=True)
        small.mount_disk()
        self.repaired(small)

    def test_a_flush_that_fails(self):
        """A disk that promises more room than it has: writing succeeds, flushing does not."""
        small = Small(self, self.cluster, memory="size=44m", image_bytes=256 * MIB)
        small.begin()
        refused = None
        for i in range(100):
            answer = small.put(f"f{i}", os.urandom(2 * MIB))
            if answer.status != 201:
                refused = answer
                break
        self.assertIsNotNone(refused, "the disk never failed")
        self.assertEqual((503, "store_read_only"), (refused.status, refused.json().get("slug")))
        self.prove_read_only(small, "a failed flush")
        self.assertIn("fdatasync", small.welkin.run("doctor").stdout)
        small.welkin.stop()


if __name__ == "__main__":
    suite.main()
