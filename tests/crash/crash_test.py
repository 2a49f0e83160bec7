"""What was acknowledged survives kill -9; and the oracle that says so can say otherwise."""
import glob
import json
import os
import signal
import sys
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), "support")]
import server  # noqa: E402
import suite  # noqa: E402
from kill_loop import FOLDER, KillLoop  # noqa: E402
from server import Welkin  # noqa: E402

FULL = bool(os.environ.get("WELKIN_TEST_FULL"))
CYCLES = 200 if FULL else 50
SEED = int(os.environ.get("WELKIN_TEST_SEED", "20261130"))


def fsck(welkin, *flags):
    """@return (exit code, what it says)"""
    done = welkin.run("fsck", "--json", *flags, timeout=600)
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        raise RuntimeError(f"fsck: {done.returncode} {done.stdout[-2000:]} {done.stderr[-2000:]}") from None


class Crash(unittest.TestCase):
    def test_no_acknowledged_change_is_lost(self):
        with Welkin(server.released()) as welkin:
            loop = KillLoop(welkin, seed=SEED)
            loop.begin()
            for cycle in range(CYCLES):
                seconds = loop.random.uniform(0.02, 0.8)
                faults = loop.load_and_kill(seconds)
                loop.restart()
                faults += loop.verify(everything=cycle % 5 == 4 or cycle == CYCLES - 1)
                self.assertEqual([], faults, f"seed {SEED}, cycle {cycle}, killed after {seconds:.3f} s")
            ready = sorted(loop.ready_seconds)
            print(f"{CYCLES} cycles, {loop.acknowledged} changes acknowledged, {loop.bytes >> 20} MiB; ready again "
                  f"after {ready[len(ready) // 2]:.2f} s, p95 {ready[int(len(ready) * 0.95)]:.2f} s\n{loop.done}")
            self.assertGreater(loop.acknowledged, CYCLES * 5, "too little load to prove anything")
            self.assertEqual(set(loop.writer.MIX), set(loop.done), "something was never done")

            code, said = fsck(welkin, "--deep")
            self.assertEqual((0, []), (code, said["findings"]), "beside the server")
            self.assertEqual(0, welkin.stop())
            # Alone it also sees what the kills left on the way in, which is litter and nothing else.
            code, said = fsck(welkin, "--deep", "--repair")
            self.assertEqual(0, code, said)
            self.assertLessEqual({f["weight"] for f in said["findings"]}, {"litter"}, said["findings"])
            self.assertEqual((0, []), (lambda c, s: (c, s["findings"]))(*fsck(welkin, "--deep")))
            loop.restart()
            self.assertEqual([], loop.verify(everything=True), "the repair took something away")
            self.assertEqual(0, welkin.stop())

    def plant(self, damage):
        """One load, one kill, chunk files damaged while the server is down. @return what the oracle says"""
        with Welkin(server.released()) as welkin:
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

    def test_the_oracle_sees_what_moved_deleted_or_came_by_itself(self):
        with Welkin(server.released()) as welkin:
            loop = KillLoop(welkin, writers=3, seed=SEED)
            loop.begin()
            self.assertEqual([], loop.load(1.5, lambda: None))
            self.assertEqual([], loop.verify(everything=True))

            def change(number, method, url, body=None):
                self.assertLess(welkin.ask(method, url, body, token=loop.token).status, 300)
                self.assertNotEqual([], loop.verify(everything=False), url)
                self.assertEqual([], loop.verify(everything=False), "known from now on")

            def file_of(number):
                world = loop.worlds[number][0]
                return world.ids[sorted(p for p, what in world.entries.items() if what != FOLDER)[0]]
            change(0, "PUT", f"/api/files/{file_of(0)}/rename", {"name": "by itself"})
            change(1, "DELETE", f"/api/files/{file_of(1)}")
            change(2, "POST", "/api/folders", {"name": "by itself", "parent_id": loop.worlds[2][0].ids[""]})


if __name__ == "__main__":
    suite.main()
