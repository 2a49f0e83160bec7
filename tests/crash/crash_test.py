"""What was acknowledged survives kill -9; and the oracle that says so can say otherwise."""
import glob
import os
import signal
import sys
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), "support")]
import server  # noqa: E402
import suite  # noqa: E402
from kill_loop import KillLoop  # noqa: E402
from server import Welkin  # noqa: E402

FULL = bool(os.environ.get("WELKIN_TEST_FULL"))
CYCLES = 200 if FULL else 20
SEED = int(os.environ.get("WELKIN_TEST_SEED", "20261130"))


def released():
    """The binary as it ships: faster, so more is in flight at each kill."""
    path = os.path.join(server.ROOT, "build/release/welkin")
    return path if os.access(path, os.X_OK) else server.binary()


class Crash(unittest.TestCase):
    def test_no_acknowledged_byte_is_lost(self):
        with Welkin(released()) as welkin:
            loop = KillLoop(welkin, seed=SEED)
            loop.begin()
            for cycle in range(CYCLES):
                seconds = loop.random.uniform(0.02, 0.8)
                faults = loop.load_and_kill(seconds)
                loop.restart()
                faults += loop.verify(everything=cycle % 5 == 4 or cycle == CYCLES - 1)
                self.assertEqual([], faults, f"seed {SEED}, cycle {cycle}, killed after {seconds:.3f} s")
            ready = sorted(loop.ready_seconds)
            print(f"{CYCLES} cycles, {loop.oracle.acknowledged} uploads acknowledged, {loop.oracle.bytes >> 20} MiB; ready again "
                  f"after {ready[len(ready) // 2]:.2f} s, p95 {ready[int(len(ready) * 0.95)]:.2f} s")
            self.assertGreater(loop.oracle.acknowledged, CYCLES * 5, "too little load to prove anything")
            self.assertEqual(0, welkin.stop())

    def plant(self, damage):
        """One load, one kill, one chunk file damaged while the server is down. @return what the oracle says"""
        with Welkin(released()) as welkin:
            loop = KillLoop(welkin, writers=4, seed=SEED)
            loop.begin()
            self.assertEqual([], loop.load_and_kill(1.5))
            loop.restart()
            self.assertEqual([], loop.verify(everything=True))
            welkin.stop(signal.SIGKILL)
            chunks = sorted(glob.glob(welkin.data + "/blobs/*/*"))
            self.assertGreater(len(chunks), 3)
            for chunk in chunks:
                damage(chunk)
            loop.restart()
            return loop.verify(everything=True)

    def test_the_oracle_sees_a_flipped_bit(self):
        def flip(path):
            with open(path, "r+b") as f:
                first = f.read(1)
                f.seek(0)
                f.write(bytes([first[0] ^ 1]))
        self.assertNotEqual([], self.plant(flip))

    def test_the_oracle_sees_a_file_cut_short(self):
        self.assertNotEqual([], self.plant(lambda path: os.truncate(path, os.path.getsize(path) // 2)))

    def test_the_oracle_sees_a_lost_file(self):
        self.assertNotEqual([], self.plant(os.remove))


if __name__ == "__main__":
    suite.main()
