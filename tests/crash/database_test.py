"""The database goes and comes back in the middle of the load: nothing acknowledged is lost, nothing refused happened, and the
server recovers by itself."""
import json
import os
import signal
import sys
import time
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), "support")]
import pg  # noqa: E402
import server  # noqa: E402
import suite  # noqa: E402
from kill_loop import KillLoop  # noqa: E402
from server import Welkin  # noqa: E402

FULL = bool(os.environ.get("WELKIN_TEST_FULL"))
RESTARTS = 40 if FULL else 8
SEED = int(os.environ.get("WELKIN_TEST_SEED", "20261130"))


class Database(unittest.TestCase):
    def test_stops_and_starts_under_load(self):
        with pg.Cluster() as cluster:
            cluster.sql("create database welkin template template0")
            with Welkin(server.released(), WELKIN_DATABASE_URL=cluster.url_of("welkin")) as welkin:
                loop = KillLoop(welkin, seed=SEED)
                loop.begin()

                def restart(how):
                    cluster.pause(how)
                    time.sleep(loop.random.uniform(0, 0.3))
                    cluster.resume()
                    self.assertTrue(welkin.wait_ready())
                    time.sleep(0.2)
                for number in range(RESTARTS):
                    # Fast: sessions are ended. Immediate: everything drops dead, as after kill -9.
                    how = signal.SIGINT if number % 2 else signal.SIGQUIT
                    before = loop.acknowledged
                    faults = loop.load(loop.random.uniform(0.1, 0.5), lambda how=how: restart(how))
                    faults += loop.verify(everything=number % 4 == 3)
                    self.assertEqual([], faults, f"seed {SEED}, restart {number}")
                    self.assertGreater(loop.acknowledged, before)
                self.assertIsNone(welkin.process.poll(), "the same server all the time")
                done = welkin.run("fsck", "--deep", "--json")
                self.assertEqual((0, []), (done.returncode, json.loads(done.stdout)["findings"]))
                print(f"{RESTARTS} restarts, {loop.acknowledged} changes acknowledged")
                self.assertEqual(0, welkin.stop())

    def test_a_private_database_that_dies_comes_back(self):
        with Welkin(server.released()) as welkin:
            loop = KillLoop(welkin, seed=SEED)
            loop.begin()

            def kill():
                before = set(welkin.postgres_pids())
                for pid in before:
                    os.kill(pid, signal.SIGKILL)
                self.assertTrue(server.wait_until(lambda: set(welkin.postgres_pids()) - before, 60))
                self.assertTrue(welkin.wait_ready(), welkin.log()[-3000:])
                time.sleep(0.2)
            for number in range(3):
                faults = loop.load(0.3, kill)
                faults += loop.verify(everything=True)
                self.assertEqual([], faults, f"seed {SEED}, death {number}")
            self.assertEqual(0, welkin.run("fsck", "--deep").returncode)
            self.assertEqual(0, welkin.stop())


if __name__ == "__main__":
    suite.main()
