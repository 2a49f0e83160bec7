"""fsck, gc and what doctor says of them, as an operator runs them: beside a server and without one."""
import glob
import json
import os
import subprocess
import sys
import threading
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "support"))
import pg  # noqa: E402
import suite  # noqa: E402
from server import Welkin, ask_on, server_user, wait_until  # noqa: E402

LARGE = 300_000


class Fsck(unittest.TestCase):
    def setUp(self):
        self.welkin = Welkin()
        self.addCleanup(self.welkin.close)

    def begin(self):
        self.assertEqual(0, self.welkin.user_add("ada").returncode)
        self.welkin.start()
        self.token = self.welkin.login("ada")
        self.home = self.welkin.home(self.token)

    def put(self, name, body):
        answer = self.welkin.ask("PUT", f"/api/folders/{self.home}/children/{name}", body, token=self.token)
        self.assertIn(answer.status, (200, 201), answer.body)
        return answer.json()["id"]

    def get(self, file):
        answer = self.welkin.ask("GET", f"/api/files/{file}", token=self.token)
        return answer.status, answer.body

    def fsck(self, code, *flags):
        """@return [(kind, outcome)]"""
        done = self.welkin.run("fsck", "--json", *flags)
        self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual(code == 0, said["clean"])
        for outcome in ("found", "repaired", "left", "known"):
            self.assertEqual(said[outcome], len([f for f in said["findings"] if f["outcome"] == outcome]))
        return [(f["kind"], f["outcome"]) for f in said["findings"]]

    def sql(self, statement):
        user = server_user()
        subprocess.run(pg.as_user(user, [pg.BIN + "/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h",
                                         self.welkin.data + "/postgres.run", "-U", "welkin", "-d", "welkin", "-c", statement]),
                       check=True, capture_output=True, cwd="/")

    def chunks(self):
        return sorted(glob.glob(self.welkin.data + "/blobs/*/*"))

    def give(self, path):
        """What a test has made as root belongs to the server's user."""
        if os.geteuid() == 0:
            os.chown(path, server_user().pw_uid, server_user().pw_gid, follow_symlinks=False)

    def test_there_is_nothing_to_check_yet(self):
        done = self.welkin.run("fsck")
        self.assertEqual(2, done.returncode)
        self.assertIn("there is nothing yet", done.stderr)
        self.assertFalse(os.path.exists(self.welkin.data), "looking makes nothing")
        self.assertEqual(1, self.welkin.run("gc").returncode)
        self.assertEqual(2, self.welkin.run("fsck", "--grace", "soon").returncode)

    def test_a_sound_store_with_and_without_a_server(self):
        self.begin()
        self.put("large", os.urandom(LARGE))
        self.put("small", b"x")
        self.assertEqual([], self.fsck(0, "--deep"))
        done = self.welkin.run("fsck")
        self.assertTrue(done.stdout.endswith("clean\n"), done.stdout)
        self.assertEqual(0, self.welkin.stop())
        self.assertEqual([], self.fsck(0, "--deep"))
        self.assertEqual([], self.fsck(0, "--deep", "--repair"))

    def test_damage_from_finding_it_to_healing_it(self):
        self.welkin.settings["WELKIN_SCRUB_MIB_PER_SECOND"] = "0"  # it would be faster than we are
        self.begin()
        body = os.urandom(LARGE)
        file, other = self.put("large", body), self.put("other", os.urandom(LARGE))
        self.assertEqual(0, self.welkin.stop())  # a server remembers for a day what it has just verified
        for chunk in self.chunks():
            with open(chunk, "r+b") as f:
                f.seek(1000)
                f.write(b"rot")
        self.welkin.start()
        self.assertEqual([], self.fsck(0))
        self.assertEqual([("chunk.damaged", "found")] * 2, self.fsck(1, "--deep"))
        repaired = self.fsck(1, "--deep", "--repair")
        self.assertEqual([("chunk.damaged", "left")] * 2, [f for f in repaired if f[1] != "known"])
        self.assertEqual([("chunk.quarantined", "known")] * 2, self.fsck(0, "--deep"))
        self.assertEqual(500, self.get(file)[0], "loudly")
        text = self.welkin.run("fsck").stdout
        self.assertIn('"large"', text)
        self.assertIn("known", text)
        doctor = self.welkin.run("doctor")
        self.assertEqual(2, doctor.returncode)
        self.assertIn("2 damaged chunks", doctor.stdout)
        # The same bytes come again from somewhere.
        self.put("again", body)
        self.assertEqual(0, self.welkin.run("gc").returncode)  # unless the server's own collector was faster
        self.assertEqual((200, body), self.get(file))
        self.assertEqual(500, self.get(other)[0], "still lost")
        self.assertEqual([("chunk.quarantined", "known")], self.fsck(0, "--deep"))

    def test_the_scrub_finds_rot_by_itself(self):
        self.begin()
        self.put("large", os.urandom(LARGE))
        # Whether or not it was seen good already: it is due again.
        self.sql("update chunks set verified_at = null")
        self.assertEqual(0, self.welkin.stop())
        with open(self.chunks()[0], "r+b") as f:
            f.write(b"rot")
        self.welkin.start()
        self.assertTrue(wait_until(lambda: "the scrub found chunk" in self.welkin.log(), 60))
        self.assertTrue(wait_until(lambda: self.fsck(0) == [("chunk.quarantined", "known")], 30))
        self.assertIn('"large"', self.welkin.log(), "the log names whom it hurts")

    def test_what_is_in_the_way_is_moved_not_deleted(self):
        self.begin()
        self.put("large", os.urandom(LARGE))
        chunk = self.chunks()[0]
        orphan = chunk[:-1] + ("0" if chunk[-1] != "0" else "1") + "ffff"
        subprocess.run(["cp", "-p", chunk, orphan], check=True)
        wrong = os.path.dirname(chunk) + "/holiday.jpg"
        with open(wrong, "wb") as f:
            f.write(b"mine")
        self.give(wrong)
        self.assertEqual([], self.fsck(0), "young: perhaps somebody is at it")
        self.assertEqual(["file.foreign", "file.orphan"], sorted({k for k, _ in self.fsck(1, "--grace", "0")}))
        self.assertEqual({"repaired"}, {o for _, o in self.fsck(0, "--grace", "0", "--repair")})
        self.assertEqual([], self.fsck(0, "--grace", "0"))
        self.assertEqual(2, len(os.listdir(self.welkin.data + "/found")))
        self.assertIn("found", self.welkin.run("doctor").stdout)

    def test_faults_of_the_tree(self):
        self.begin()
        self.put("a", b"twelve bytes")
        self.sql("update drives set used_bytes = 5; update folders set bytes_below = 7")
        kinds = {k for k, _ in self.fsck(1)}
        self.assertEqual({"drive.used", "folder.bytes"}, kinds)
        self.fsck(0, "--repair")
        self.assertEqual([], self.fsck(0))

    def test_another_database_is_not_checked_against_this_directory(self):
        self.begin()
        self.sql("update settings set value = '00000000-0000-4000-8000-000000000000' where key = 'store.id'")
        done = self.welkin.run("fsck", "--repair", "--json")
        self.assertEqual(2, done.returncode)
        self.assertIn("belongs to", json.loads(done.stdout)["error"])

    def test_gc_frees_what_is_past_its_grace(self):
        self.begin()
        self.put("goes", os.urandom(LARGE))
        self.put("stays", os.urandom(LARGE))
        self.assertEqual(0, json.loads(self.welkin.run("gc", "--json").stdout)["bytes"])
        self.sql("with gone as (delete from nodes where name = 'goes' returning content_id) "
                 "insert into content_gc select content_id, now() from gone")
        self.assertEqual(0, json.loads(self.welkin.run("gc", "--json").stdout)["bytes"], "not before its time")
        self.sql("update content_gc set since = now() - interval '2 days'")
        done = self.welkin.run("gc")
        self.assertEqual(0, done.returncode, done.stderr)
        # The server's own collector may have been faster with a part of it.
        self.assertEqual(1, len(self.chunks()))
        self.assertEqual(0, self.welkin.stop())
        self.assertEqual(0, self.welkin.run("gc").returncode, "without a server too")
        self.assertEqual(1, len(self.chunks()))

    def test_no_false_finding_under_load(self):
        self.begin()
        stopping = threading.Event()

        def work(number):
            connection = self.welkin.connection(60)
            for i in range(1000):
                if stopping.is_set():
                    return
                answer = ask_on(connection, "PUT", f"/api/folders/{self.home}/children/f{number}-{i % 5}",
                                os.urandom(200 if i % 2 else LARGE), token=self.token)
                if i % 3 == 0:
                    ask_on(connection, "DELETE", f"/api/files/{answer.json()['id']}", token=self.token)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for t in threads:
            t.start()
        try:
            for flags in ([], ["--deep"], ["--repair"], ["--deep", "--repair"]):
                self.assertEqual([], self.fsck(0, *flags))
                self.assertEqual(0, self.welkin.run("gc", "--seconds", "5").returncode)
        finally:
            stopping.set()
            for t in threads:
                t.join()


if __name__ == "__main__":
    suite.main()
