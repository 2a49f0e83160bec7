"""The power goes, on a real file system: data directory and PostgreSQL lie on an ext4 image, which is copied in the middle of
the load. Pages that nobody flushed are not in the image, so the copy is what a power cut leaves. Then everything is killed,
the copy mounted, started and compared with what had been acknowledged before."""
import filecmp
import json
import os
import signal
import subprocess
import sys
import time
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), "support")]
import disks  # noqa: E402
import processes  # noqa: E402
import server  # noqa: E402
import suite  # noqa: E402
from kill_loop import KillLoop  # noqa: E402
from server import Welkin  # noqa: E402

FULL = bool(os.environ.get("WELKIN_TEST_FULL"))
CYCLES = 200 if FULL else 10
SEED = int(os.environ.get("WELKIN_TEST_SEED", "20261130"))
IMAGE_BYTES = (2400 if FULL else 700) << 20  # what 200 cuts leave fits


@unittest.skipUnless(disks.may_loop(), "an image cannot be mounted as a disk here")
class PowerCut(unittest.TestCase):
    def setUp(self):
        self.welkin = Welkin(server.released())
        self.addCleanup(self.welkin.close)
        parent = self.welkin.parent
        self.memory = disks.Mount(parent + "/memory", "tmpfs", f"size={(2 * IMAGE_BYTES >> 20) + 500}m")  # the image and a copy of it
        self.addCleanup(self.memory.umount)
        self.image = parent + "/memory/disk"
        disks.make_image(self.image, IMAGE_BYTES)
        self.disk = disks.Mount(parent + "/disk", self.image, "loop")
        self.addCleanup(lambda: self.disk.umount())
        self.welkin.data = parent + "/disk/data"
        self.welkin.settings["WELKIN_DATA_DIR"] = self.welkin.data

    def signal_all(self, how):
        """To the server and its PostgreSQL, each by its number."""
        postmasters = self.welkin.postgres_pids()
        backends = []
        for pid in postmasters:
            backends += processes.children(pid)
        for pid in [self.welkin.pid, *postmasters, *backends]:
            try:
                os.kill(pid, how)
            except ProcessLookupError:
                pass

    def copy_image(self):
        """A copy of one moment: equal to the image after it was made. Holes stay holes."""
        copy = self.image + ".copy"
        for _ in range(20):
            subprocess.run(["cp", "--sparse=always", self.image, copy], check=True)
            if filecmp.cmp(self.image, copy, shallow=False):
                return copy
        raise RuntimeError("the image never held still")

    def cut(self):
        self.loop.freeze()
        self.signal_all(signal.SIGSTOP)
        copy = self.copy_image()
        self.signal_all(signal.SIGKILL)
        self.welkin.stop(signal.SIGKILL)
        until = time.monotonic() + 30
        while self.welkin.postgres_pids() and time.monotonic() < until:
            time.sleep(0.02)
        self.disk.umount()
        os.replace(copy, self.image)
        self.disk = disks.Mount(self.disk.at, self.image, "loop")
        # After a real cut no process has the number that stands in it.
        pid_file = self.welkin.data + "/postgres/postmaster.pid"
        if os.path.exists(pid_file):
            os.remove(pid_file)

    def test_no_acknowledged_change_is_lost(self):
        self.loop = loop = KillLoop(self.welkin, seed=SEED)
        loop.begin()
        for cycle in range(CYCLES):
            seconds = loop.random.uniform(0.15, 0.6)
            faults = loop.load(seconds, self.cut)
            loop.restart()
            faults += loop.verify(everything=True)
            self.assertEqual([], faults, f"seed {SEED}, cycle {cycle}, cut after {seconds:.3f} s")
        done = self.welkin.run("fsck", "--deep", "--json", timeout=600)
        self.assertEqual((0, []), (done.returncode, json.loads(done.stdout)["findings"]))
        print(f"{CYCLES} cuts, {loop.acknowledged} changes acknowledged, {loop.bytes >> 20} MiB")
        self.assertGreater(loop.acknowledged, CYCLES * 5, "too little load to prove anything")
        self.assertEqual(0, self.welkin.stop())

    def test_a_database_that_does_not_flush_is_seen(self):
        """The proof can fail: with fsync off in PostgreSQL a cut loses what was acknowledged."""
        self.loop = loop = KillLoop(self.welkin, seed=SEED)
        loop.begin()
        self.assertEqual(0, self.welkin.stop())
        with open(self.welkin.data + "/postgres/local.conf", "a", encoding="utf-8") as f:
            f.write("fsync = off\nfull_page_writes = off\n")
        loop.restart()
        for _ in range(5):
            faults = loop.load(1.0, self.cut)
            try:
                loop.restart()
                faults += loop.verify(everything=True)
            except RuntimeError as e:  # a database that does not even start
                faults.append(str(e))
            if faults:
                return
        self.fail("five cuts without flushes lost nothing")


if __name__ == "__main__":
    suite.main()
