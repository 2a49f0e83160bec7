"""kill -9 of the server while people invite each other: an event is in everybody's calendar or in nobody's, each invitation lies
once in the inbox, and of each one mail goes out; one that went twice says so by its Message-ID."""
import base64
import http.client
import os
import random
import re
import socketserver
import sys
import threading
import time
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), "support")]
import pg  # noqa: E402
import server  # noqa: E402
import suite  # noqa: E402
from server import PASSWORD, Welkin, ask_on  # noqa: E402

CYCLES = 20 if os.environ.get("WELKIN_TEST_FULL") else 4
SEED = int(os.environ.get("WELKIN_TEST_SEED", "20261130"))
MEETING = ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n"
           "DTSTART:20360901T080000Z\r\nDURATION:PT1H\r\nSUMMARY:plan\r\nORGANIZER:mailto:inviter@example.org\r\n"
           "ATTENDEE;PARTSTAT=ACCEPTED:mailto:inviter@example.org\r\nATTENDEE;RSVP=TRUE:mailto:invited@example.org\r\n"
           "ATTENDEE;RSVP=TRUE:mailto:{uid}@elsewhere.example\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")


class Relay(socketserver.ThreadingTCPServer):
    """Takes every mail, and keeps whom it was for and its Message-ID."""
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Talk)
        self.mails, self.lock = [], threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Talk(socketserver.StreamRequestHandler):
    def say(self, line):
        self.wfile.write(line + b"\r\n")

    def handle(self):
        try:
            self.talk()
        except OSError:
            return

    def talk(self):
        self.say(b"220 test")
        to, data = b"", None
        for line in self.rfile:
            if data is not None:
                if line != b".\r\n":
                    data += line
                    continue
                id_ = re.search(rb"(?m)^Message-ID: <([^>]*)>", data).group(1)
                with self.server.lock:
                    self.server.mails.append((to.decode(), id_.decode()))
                data = None
            if line.startswith(b"QUIT"):
                return
            if line.startswith(b"RCPT TO:<"):
                to = line[9:].split(b"@")[0]
            if line.startswith(b"DATA"):
                data = b""
            self.say(b"354 go" if data is not None else b"250 ok")


class Crash(unittest.TestCase):
    def ask(self, method, path, who, body=None, **headers):
        credentials = base64.b64encode(f"{who}:{PASSWORD}".encode()).decode()
        return ask_on(self.welkin.connection(), method, path, body, Authorization=f"Basic {credentials}", **headers)

    def uids(self, who, collection):
        """Of everything that lies there, sorted; one that lies there twice is there twice."""
        answer = self.ask("GET", f"/dav/calendars/{who}/{collection}/", who)
        self.assertEqual(200, answer.status)
        return sorted(re.findall(r"(?m)^UID:(\S+)", answer.body.decode()))

    def write(self, number, until):
        """Invites until the server is gone."""
        n = 0
        while time.monotonic() < until:
            n += 1
            uid = f"m{number}-{self.round}-{n}"
            try:
                answer = self.ask("PUT", f"/dav/calendars/inviter/personal/{uid}.ics", "inviter", MEETING.format(uid=uid),
                                  content_type="text/calendar")
            except (OSError, http.client.HTTPException):
                return
            if answer.status == 201:
                self.acknowledged.add(uid)
            elif answer.status != 503:
                self.faults.append(f"{uid}: {answer.status} {answer.body[:200]!r}")

    def test_invitations_reach_everybody_or_nobody(self):
        chance = random.Random(SEED)
        self.acknowledged, self.faults, self.round = set(), [], 0
        relay = Relay()
        self.addCleanup(relay.server_close)
        self.addCleanup(relay.shutdown)
        with pg.Cluster() as cluster:
            cluster.sql("create database welkin template template0")
            with Welkin(server.released(), WELKIN_DATABASE_URL=cluster.url_of("welkin"), WELKIN_MAIL_HOST="127.0.0.1",
                        WELKIN_MAIL_PORT=str(relay.server_address[1]), WELKIN_MAIL_TLS="none",
                        WELKIN_MAIL_FROM="cloud@example.org", WELKIN_MAIL_PER_DAY_MAX="100000") as self.welkin:
                self.welkin.start()
                for name in ("inviter", "invited"):
                    made = self.welkin.user_add(name, "--email", f"{name}@example.org")
                    self.assertEqual(0, made.returncode, made.stderr)
                for self.round in range(CYCLES):
                    before = len(self.acknowledged)
                    writers = [threading.Thread(target=self.write, args=(i, time.monotonic() + 30)) for i in range(3)]
                    for writer in writers:
                        writer.start()
                    self.assertTrue(server.wait_until(lambda: len(self.acknowledged) > before + 5))
                    time.sleep(chance.uniform(0, 0.3))
                    self.welkin.process.kill()
                    for writer in writers:
                        writer.join()
                    self.welkin.stop()
                    self.welkin.start()
                    written = self.uids("inviter", "personal")
                    self.assertEqual([], self.faults)
                    self.assertLessEqual(self.acknowledged, set(written))
                    self.assertEqual(written, self.uids("invited", "personal"), f"seed {SEED}, round {self.round}")
                    self.assertEqual(written, self.uids("invited", "inbox"))
                # Whoever died with a mail in hand left it for a while.
                cluster.sql("update scheduling_mails set next_at = now() where next_at is not null", "welkin")
                waiting = "select count(*) from scheduling_mails where next_at is not null"
                self.assertTrue(server.wait_until(lambda: cluster.sql(waiting, "welkin") == "0"))
                self.assertEqual(0, self.welkin.stop())
                self.assertEqual(set(written), {uid for uid, _ in relay.mails})
                self.assertEqual(len(written), len({id_ for _, id_ in relay.mails}), "the same mail has the same name")
        print(f"{CYCLES} kills, {len(self.acknowledged)} invitations acknowledged, {len(relay.mails)} mails for {len(written)}")


if __name__ == "__main__":
    suite.main()
