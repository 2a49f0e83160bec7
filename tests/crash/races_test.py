"""Many at one thing: one path, one pair of folders, one quota. All over HTTP, on one server."""
import collections
import hashlib
import json
import os
import sys
import threading
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), "support")]
import pg  # noqa: E402
import server  # noqa: E402
import suite  # noqa: E402
from server import Welkin, ask_on  # noqa: E402

FULL = bool(os.environ.get("WELKIN_TEST_FULL"))
SCALE = 10 if FULL else 1


def together(count, work):
    """work(number) on threads of their own that begin at the same moment. @return what they returned"""
    barrier = threading.Barrier(count)
    out = [None] * count

    def run(number):
        barrier.wait()
        out[number] = work(number)
    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return out


class Races(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = pg.Cluster()
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.sql("create database welkin template template0")
        cls.welkin = Welkin(server.released(), WELKIN_DATABASE_URL=cls.cluster.url_of("welkin"))
        cls.addClassCleanup(cls.welkin.close)
        if cls.welkin.user_add("ada").returncode != 0:
            raise RuntimeError("no account")
        cls.welkin.start()
        cls.token = cls.welkin.login("ada")
        cls.home = cls.welkin.home(cls.token)

    def tearDown(self):
        done = self.welkin.run("fsck", "--json")
        self.assertEqual((0, []), (done.returncode, json.loads(done.stdout)["findings"]))

    def folder(self, name, parent=None):
        answer = self.welkin.ask("POST", "/api/folders", {"name": name, "parent_id": parent or self.home}, token=self.token)
        self.assertEqual(201, answer.status, answer.body)
        return answer.json()["id"]

    def sql(self, query):
        return self.cluster.sql(query, "welkin")

    def test_writers_on_one_path_lose_nothing(self):
        folder = self.folder("one path")
        writers, rounds = 16, 8 * SCALE
        sent = {}

        def write(number):
            connection = self.welkin.connection(timeout=120)
            acknowledged = []
            for i in range(rounds):
                body = f"{number}.{i}.".encode() * (20 if i % 2 else 20_000)
                sent[hashlib.sha256(body).hexdigest()] = body
                answer = ask_on(connection, "PUT", f"/api/folders/{folder}/children/contested", body, token=self.token)
                if answer.status in (200, 201):
                    acknowledged.append((answer.status, hashlib.sha256(body).hexdigest()))
                else:
                    acknowledged.append((answer.status, answer.body))
            return acknowledged
        answers = [a for some in together(writers, write) for a in some]
        statuses = collections.Counter(status for status, _ in answers)
        self.assertEqual({200: writers * rounds - 1, 201: 1}, dict(statuses))
        listing = self.welkin.ask("GET", f"/api/folders/{folder}/listing", token=self.token).json()
        self.assertEqual(["contested"], [f["name"] for f in listing["files"]])
        # Every content that was acknowledged is there still: one as the file, the others as its versions.
        kept = self.sql("select encode(c.sha256, 'hex') from nodes n join contents c on c.id = n.content_id "
                        "where n.name = 'contested' union all select encode(c.sha256, 'hex') from nodes n "
                        "join versions v on v.node_id = n.id join contents c on c.id = v.content_id "
                        "where n.name = 'contested'").split("\n")
        self.assertEqual(sorted(sent), sorted(kept))
        got = self.welkin.ask("GET", f"/api/files/{listing['files'][0]['id']}", token=self.token)
        self.assertIn(hashlib.sha256(got.body).hexdigest(), sent)

    def test_if_match_lets_one_pass_per_etag(self):
        folder = self.folder("if match")
        made = self.welkin.ask("PUT", f"/api/folders/{folder}/children/f", b"0", token=self.token)
        file, etag = made.json()["id"], made.headers["ETag"]
        for i in range(10 * SCALE):
            answers = together(8, lambda n, i=i, etag=etag: self.welkin.ask(
                "PUT", f"/api/files/{file}/content", f"{i} {n}".encode(), token=self.token, If_Match=etag))
            winners = [a for a in answers if a.status == 200]
            self.assertEqual([412] * 7, [a.status for a in answers if a.status != 200])
            self.assertEqual(1, len(winners))
            etag = winners[0].headers["ETag"]

    def test_a_new_name_is_made_once(self):
        folder = self.folder("new names")
        for i in range(10 * SCALE):
            answers = together(8, lambda n, i=i: self.welkin.ask(
                "PUT", f"/api/folders/{folder}/children/f{i}", str(n).encode(), token=self.token, If_None_Match="*"))
            self.assertEqual([201] + [412] * 7, sorted(a.status for a in answers))

    def test_moves_into_each_other_make_no_cycle(self):
        """a into b and b into a at the same time: one of them is refused, every time."""
        top = self.folder("cycles")
        for i in range(15 * SCALE):
            a, b = self.folder(f"a{i}", top), self.folder(f"b{i}", top)
            inner_a, inner_b = self.folder("x", a), self.folder("y", b)

            def move(number, a=a, b=b, inner_a=inner_a, inner_b=inner_b):
                which, to = ((a, inner_b), (b, inner_a))[number % 2]
                return self.welkin.ask("PUT", f"/api/folders/{which}/move", {"parent_id": to}, token=self.token)
            statuses = sorted(a.status for a in together(4, move))
            self.assertEqual(1, len([s for s in statuses if s == 200]) and 1, statuses)
            self.assertLessEqual(set(statuses), {200, 400, 409})
            ways = [self.welkin.ask("GET", f"/api/folders/{f}/ancestors", token=self.token) for f in (a, b, inner_a, inner_b)]
            self.assertEqual({200}, {w.status for w in ways})
            self.assertEqual({top}, {way.json()[1]["id"] for way in ways}, "all hang below the same folder still")

    def test_a_change_in_a_folder_that_goes(self):
        """Uploads, new folders, a rename and the deletion of their parent at once: what was acknowledged is somewhere."""
        top = self.folder("goes")
        for i in range(8 * SCALE):
            parent = self.folder(f"p{i}", top)

            def work(number, parent=parent, i=i):
                if number == 0:
                    return self.welkin.ask("DELETE", f"/api/folders/{parent}", token=self.token)
                if number == 1:
                    return self.welkin.ask("PUT", f"/api/folders/{parent}/rename", {"name": f"q{i}"}, token=self.token)
                if number < 5:
                    return self.welkin.ask("PUT", f"/api/folders/{parent}/children/f", os.urandom(100_000), token=self.token)
                return self.welkin.ask("POST", "/api/folders", {"name": "f", "parent_id": parent}, token=self.token)
            answers = together(7, work)
            self.assertEqual(204, answers[0].status)
            self.assertLessEqual({a.status for a in answers[1:]}, {200, 201, 404, 409}, [a.body for a in answers[1:]])
            self.assertLessEqual(len([a for a in answers[2:] if a.status == 201]), 1, "one name, one node")

    def test_a_quota_is_never_passed(self):
        self.assertEqual(0, self.welkin.user_add("bob", "--quota", "1000000").returncode)
        token = self.welkin.login("bob")
        home = self.welkin.home(token)
        for i in range(4 * SCALE):
            name = f"storm{i}"
            folder = self.welkin.ask("POST", "/api/folders", {"name": name, "parent_id": home}, token=token).json()["id"]
            answers = together(24, lambda n, folder=folder: self.welkin.ask(
                "PUT", f"/api/folders/{folder}/children/f{n}", os.urandom(100_000), token=token))
            statuses = collections.Counter(a.status for a in answers)
            # Ten fit, and all of these are let in: what failing ones had reserved is given back in time or tried again.
            self.assertLessEqual(set(statuses), {201, 507})
            self.assertLessEqual(statuses[201], 10)
            used = int(self.sql("select used_bytes + reserved_bytes from drives d join users u on u.id = d.owner_id "
                                "where u.name = 'bob'"))
            self.assertEqual(statuses[201] * 100_000, used)
            self.assertLessEqual(used, 1_000_000)
            self.assertEqual(10, statuses[201])
            # Room for the next storm, as an emptied trash would make it.
            self.sql("with d as (select id from drives where owner_id = (select id from users where name = 'bob')), "
                     "gone as (delete from nodes n using d where n.drive_id = d.id and n.kind = 1 returning content_id), "
                     "queued as (insert into content_gc (content_id) select content_id from gone on conflict do nothing) "
                     "update folders set bytes_below = 0 where node_id in (select n.id from nodes n, d where n.drive_id = d.id)")
            self.sql("update drives set used_bytes = 0 where owner_id = (select id from users where name = 'bob')")


if __name__ == "__main__":
    suite.main()
