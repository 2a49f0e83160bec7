"""Calendars and address books under pressure: a poller that syncs without pause misses nothing, kill -9 of the server and of its
database loses nothing acknowledged, and bodies with random damage get an answer that is never the server's own fault."""
import base64
import hashlib
import http.client
import os
import random
import re
import sys
import threading
import time
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), "support")]
import signal  # noqa: E402

import server  # noqa: E402
import suite  # noqa: E402
from server import PASSWORD, Welkin, ask_on  # noqa: E402

FULL = bool(os.environ.get("WELKIN_TEST_FULL"))
WRITERS = 8
SYNC_RUNS, SYNC_OBJECTS = (20, 1000) if FULL else (2, 160)
KILL_PUTS, KILLS = (5000, 20) if FULL else (400, 4)
DAMAGED = 10_000 if FULL else 900
SEED = int(os.environ.get("WELKIN_TEST_SEED", "20261130"))

EVENT = ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Oslo\r\nBEGIN:STANDARD\r\n"
         "DTSTART:19701025T030000\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\n"
         "UID:{uid}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;TZID=Europe/Oslo:20260901T080000\r\nDURATION:PT1H\r\n"
         "RRULE:FREQ=WEEKLY;BYDAY=MO,TU;COUNT=20\r\nEXDATE;TZID=Europe/Oslo:20260907T080000\r\nSUMMARY:plan {n}\r\n"
         "BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:now\r\nTRIGGER:-PT15M\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
CARD = ("BEGIN:VCARD\r\nVERSION:3.0\r\nUID:{uid}\r\nFN:Ada {n}\r\nN:Lovelace;Ada;;;\r\nEMAIL;TYPE=home:{uid}@example.org\r\n"
        "TEL;TYPE=cell:+47 000\r\nitem1.URL:https://example.org\r\nitem1.X-ABLabel:page\r\nBDAY:1815-12-10\r\nEND:VCARD\r\n")
SYNC = ('<d:sync-collection xmlns:d="DAV:"><d:sync-token>{token}</d:sync-token><d:sync-level>1</d:sync-level>'
        "<d:prop><d:getetag/></d:prop></d:sync-collection>")
QUERY = ('<c:calendar-query xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:prop><d:getetag/><c:calendar-data>'
         '<c:expand start="20260901T000000Z" end="20261001T000000Z"/></c:calendar-data></d:prop><c:filter>'
         '<c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT"><c:time-range start="20260901T000000Z" '
         'end="20261001T000000Z"/><c:prop-filter name="SUMMARY"><c:text-match>plan</c:text-match></c:prop-filter>'
         "</c:comp-filter></c:comp-filter></c:filter></c:calendar-query>")
BOOK_QUERY = ('<a:addressbook-query xmlns:d="DAV:" xmlns:a="urn:ietf:params:xml:ns:carddav"><d:prop><d:getetag/>'
              '<a:address-data><a:prop name="FN"/></a:address-data></d:prop><a:filter test="anyof"><a:prop-filter name="EMAIL">'
              '<a:text-match collation="i;unicode-casemap" match-type="contains">example</a:text-match></a:prop-filter></a:filter>'
              "</a:addressbook-query>")
PROPFIND = '<d:propfind xmlns:d="DAV:"><d:prop><d:displayname/><d:sync-token/><d:resourcetype/></d:prop></d:propfind>'
PROPPATCH = ('<d:propertyupdate xmlns:d="DAV:"><d:set><d:prop><d:displayname>Other</d:displayname></d:prop></d:set>'
             "</d:propertyupdate>")


class Person:
    """An account and one connection of it, opened again when it was lost."""

    def __init__(self, welkin, name):
        self.welkin, self.name = welkin, name
        self.proof = "Basic " + base64.b64encode(f"{name}:{PASSWORD}".encode()).decode()
        self.connection = None
        self.calendar = f"/dav/calendars/{name}/personal/"
        self.book = f"/dav/addressbooks/users/{name}/contacts/"

    def ask(self, method, path, body=None, timeout=120, **headers):
        """@raise OSError, http.client.HTTPException: nothing is known of what became of it"""
        if self.connection is None:
            if self.welkin.address is None:
                raise ConnectionError("the server is starting")
            self.connection = self.welkin.connection(timeout=timeout)
        try:
            return ask_on(self.connection, method, path, body, Authorization=self.proof, **headers)
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            raise

    def sync(self, path, token=""):
        """(changed {href: etag}, removed hrefs, token), through all pages."""
        changed, removed = {}, set()
        while True:
            answer = self.ask("REPORT", path, SYNC.format(token=token), Depth="0")
            if answer.status != 207:
                raise AssertionError(f"{answer.status} {answer.body[:300]}")
            text = answer.body.decode()
            more = False
            for response in re.findall(r"<d:response>(.*?)</d:response>", text, re.S):
                href = re.search(r"<d:href>(.*?)</d:href>", response).group(1)
                if href == path:
                    more = " 507 " in response
                elif tag := re.search(r"<d:getetag>(.*?)</d:getetag>", response):
                    changed[href] = tag.group(1).replace("&quot;", '"')
                    removed.discard(href)
                else:
                    removed.add(href)
                    changed.pop(href, None)
            token = re.search(r"<d:sync-token>(.*?)</d:sync-token>", text).group(1)
            if not more:
                return changed, removed, token


class Syncing(unittest.TestCase):
    def test_a_poller_misses_nothing(self):
        with Welkin(server.released()) as welkin:
            self.assertEqual(welkin.user_add("ada").returncode, 0)
            welkin.start()
            for run in range(SYNC_RUNS):
                self.one_run(welkin, run)

    def one_run(self, welkin, run):
        poller = Person(welkin, "ada")
        seen, _, token = poller.sync(poller.calendar)
        failures = []

        def write(number):
            writer = Person(welkin, "ada")
            chance = random.Random(SEED + run * 100 + number)
            try:
                for i in range(SYNC_OBJECTS // WRITERS):
                    uid = f"{run}-{number}-{i}"
                    answer = writer.ask("PUT", f"{writer.calendar}{uid}.ics", EVENT.format(uid=uid, n=0),
                                        **{"Content-Type": "text/calendar"})
                    if answer.status != 201:
                        failures.append(f"PUT {answer.status}")
                    if chance.random() < 0.2:
                        answer = writer.ask("DELETE", f"{writer.calendar}{run}-{number}-{chance.randrange(i + 1)}.ics")
                        if answer.status not in (204, 404):
                            failures.append(f"DELETE {answer.status}")
            except Exception as e:  # pylint: disable=broad-except
                failures.append(repr(e))

        writers = [threading.Thread(target=write, args=(n,)) for n in range(WRITERS)]
        for thread in writers:
            thread.start()
        polls = 0
        while True:
            is_last = not any(thread.is_alive() for thread in writers)
            changed, removed, token = poller.sync(poller.calendar, token)
            seen.update(changed)
            for href in removed:
                seen.pop(href, None)
            polls += 1
            if is_last:
                break
        self.assertEqual(failures, [])
        listing, _, _ = poller.sync(poller.calendar)
        self.assertEqual(seen, listing, f"run {run}, seed {SEED}, {polls} polls")
        self.assertGreater(len([h for h in listing if f"/{run}-" in h]), 0)


class Kills(unittest.TestCase):
    def test_acknowledged_objects_survive(self):
        with Welkin(server.released()) as welkin:
            self.assertEqual(welkin.user_add("ada").returncode, 0)
            welkin.start()
            chance = random.Random(SEED)
            acknowledged, lock, counter = {}, threading.Lock(), iter(range(KILL_PUTS))

            def write():
                writer = Person(welkin, "ada")
                while True:
                    with lock:
                        number = next(counter, None)
                    if number is None:
                        return
                    # Each object is written anew until that was acknowledged, as a client does that got no answer.
                    body = EVENT.format(uid=f"k-{number}", n=number)
                    path = f"{writer.calendar}k-{number}.ics"
                    while not self.ends:
                        try:
                            answer = writer.ask("PUT", path, body, timeout=20, **{"Content-Type": "text/calendar"})
                        except (OSError, http.client.HTTPException):
                            time.sleep(0.05)
                            continue
                        except Exception as e:  # pylint: disable=broad-except
                            self.faults.append(repr(e))
                            return
                        if answer.status in (201, 204):
                            with lock:
                                acknowledged[path] = (answer.headers.get("etag"), hashlib.sha256(body.encode()).hexdigest())
                            break
                        if answer.status != 503:
                            self.faults.append(f"PUT {answer.status} {answer.body[:200]}")
                            break
                        time.sleep(0.05)

            self.ends, self.faults = False, []
            writers = [threading.Thread(target=write) for _ in range(WRITERS)]
            for thread in writers:
                thread.start()
            try:
                for kill in range(KILLS):
                    self.assertTrue(server.wait_until(
                        lambda kill=kill: self.faults or len(acknowledged) >= KILL_PUTS * (kill + 1) // (KILLS + 2), 300))
                    self.assertEqual(self.faults, [])
                    time.sleep(chance.uniform(0, 0.05))
                    if kill % 2 == 0:
                        welkin.stop(signal.SIGKILL)
                        welkin.start()
                    else:
                        for pid in welkin.postgres_pids():
                            try:
                                os.kill(pid, signal.SIGKILL)
                            except ProcessLookupError:
                                pass
                        self.assertTrue(welkin.wait_ready(), welkin.log()[-2000:])
                for thread in writers:
                    thread.join(300)
                self.assertFalse(any(thread.is_alive() for thread in writers))
            finally:
                self.ends = True
            self.assertEqual(self.faults, [])
            self.assertEqual(len(acknowledged), KILL_PUTS)
            reader = Person(welkin, "ada")
            listing, _, token = reader.sync(reader.calendar)
            for path, (etag, digest) in acknowledged.items():
                answer = reader.ask("GET", path)
                self.assertEqual((answer.status, hashlib.sha256(answer.body).hexdigest()), (200, digest), path)
                self.assertEqual(answer.headers.get("etag"), listing[path])
                if etag:
                    self.assertEqual(answer.headers.get("etag"), etag, "the tag that the acknowledgement named")
            # What was promised before the last death still counts: nothing has happened since.
            self.assertEqual(reader.sync(reader.calendar, token)[:2], ({}, set()))
            self.assertEqual(0, welkin.run("fsck").returncode)


def damage(chance, text):
    """One to four random wounds: bytes changed, cut, doubled, swapped, or a piece from elsewhere."""
    data = bytearray(text.encode())
    odd = [b"\0", b"\xff", b"\xc3\x28", b"\r\n ", b"<", b"&", b"]]>", b"%", b";" * 40, b"BEGIN:VEVENT\r\n", b"END:VCALENDAR\r\n",
           b"RRULE:FREQ=SECONDLY;BYSETPOS=-366\r\n", b"9" * 30, b"\xf0\x9f\x98\x80", b'"', b"<!DOCTYPE a>", b"<![CDATA[", b"&#0;",
           b"DTSTART:00000000T999999Z\r\n", b"RDATE;VALUE=PERIOD:20260101T000000Z/-P1Y\r\n", b"DURATION:-P99999999999W\r\n"]
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.choice((1, 2, 7, 40, 300)))
        what = chance.randrange(6)
        if what == 0 and at < len(data):
            data[at] = chance.randrange(256)
        elif what == 1:
            del data[at:end]
        elif what == 2:
            data[at:at] = data[at:end] * chance.choice((1, 3, 50))
        elif what == 3:
            data[at:at] = chance.choice(odd)
        elif what == 4:
            lines = bytes(data).split(b"\r\n")
            chance.shuffle(lines)
            data = bytearray(b"\r\n".join(lines))
        else:
            data[at:end] = bytes(chance.randrange(256) for _ in range(end - at))
    return bytes(data)


class Damaged(unittest.TestCase):
    def test_bodies_with_damage_are_answered(self):
        # The binary with sanitizers: what they find ends the process.
        with Welkin() as welkin:
            self.assertEqual(welkin.user_add("ada").returncode, 0)
            welkin.start()
            chance = random.Random(SEED)
            person = Person(welkin, "ada")
            kinds = [
                ("PUT", lambda n: f"{person.calendar}d{n % 20}.ics", EVENT, {"Content-Type": "text/calendar"}),
                ("PUT", lambda n: f"{person.book}d{n % 20}.vcf", CARD, {"Content-Type": "text/vcard"}),
                ("REPORT", lambda n: person.calendar, QUERY, {"Depth": "1"}),
                ("REPORT", lambda n: person.book, BOOK_QUERY, {"Depth": "1"}),
                ("REPORT", lambda n: person.calendar, SYNC, {"Depth": "0"}),
                ("PROPFIND", lambda n: person.calendar, PROPFIND, {"Depth": "0"}),
                ("PROPPATCH", lambda n: person.book, PROPPATCH, {}),
                ("MKCALENDAR", lambda n: f"/dav/calendars/ada/new{n}/", PROPPATCH.replace("propertyupdate", "mkcol"), {}),
            ]
            taken = 0
            for number in range(DAMAGED):
                method, path, text, headers = kinds[number % len(kinds)]
                uid = f"d-{number}" if chance.random() < 0.9 else "d-same"
                body = damage(chance, text.replace("{uid}", uid).replace("{n}", str(number)).replace("{token}", ""))
                try:
                    answer = person.ask(method, path(number), body, **headers)
                except (OSError, http.client.HTTPException) as e:
                    self.fail(f"seed {SEED}, body {number}: {e!r} {body!r}\n{welkin.log()[-2000:]}")
                self.assertLess(answer.status, 500, f"seed {SEED}, body {number}: {method} {body!r} {answer.body[:300]}")
                taken += answer.status < 300
            self.assertGreater(taken, 0, "some damage does not matter")
            self.assertLess(taken, DAMAGED)
            # Whatever was taken can be read and told again.
            for path, text in ((person.calendar, QUERY), (person.book, BOOK_QUERY)):
                self.assertEqual(person.ask("REPORT", path, text, Depth="1").status, 207)
                self.assertEqual(person.ask("GET", path).status, 200)
            self.assertIsNone(welkin.process.poll())
            self.assertEqual(0, welkin.stop(), welkin.log()[-2000:])


if __name__ == "__main__":
    suite.main()
