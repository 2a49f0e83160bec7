"""Programs that people use, against the real server over CalDAV and CardDAV: vdirsyncer both ways, khal and khard on what it
fetched, python3-caldav, and the requests of phones and desktops as curl sends them."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "support"))
import suite  # noqa: E402
from server import Welkin  # noqa: E402

PASSWORD = "a-perfectly-fine-pass-phrase"
FULL = os.environ.get("WELKIN_TEST_FULL") == "1"
ITEMS = 2000 if FULL else 500
SECONDS = 600  # beyond it a program hangs

welkin = None
users = 0


def setUpModule():
    global welkin
    welkin = Welkin()
    welkin.start()


def tearDownModule():
    welkin.stop()
    welkin.close()


def event(uid, start="20260105T100000Z", summary="", more=""):
    return ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VEVENT\r\n"
            f"UID:{uid}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:{start}\r\nDURATION:PT1H\r\nSUMMARY:{summary or uid}\r\n"
            f"{more}END:VEVENT\r\nEND:VCALENDAR\r\n")


def card(uid, name):
    return f"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:{uid}\r\nFN:{name}\r\nN:{name};;;;\r\nEMAIL:{uid}@example.org\r\nEND:VCARD\r\n"


def run(*words, cwd=None, stdin=None, env=None):
    return subprocess.run(words, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=SECONDS, check=False,
                          errors="replace", env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})})


class Person(unittest.TestCase):
    """A test with an account and a folder of its own."""

    def setUp(self):
        global users
        users += 1
        self.name = f"ada{users}"
        made = welkin.user_add(self.name, password=PASSWORD)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.here = tempfile.mkdtemp(prefix="welkin-groupware-")
        self.addCleanup(shutil.rmtree, self.here)
        self.home = f"/dav/calendars/{self.name}/"
        self.books = f"/dav/addressbooks/users/{self.name}/"

    def ask(self, method, path, body=None, *headers, known=True):
        """curl: (status, head, body)"""
        words = ["curl", "-s", "-i", "-X", method, f"http://{welkin.address}{path}"]
        if known:
            words += ["-u", f"{self.name}:{PASSWORD}"]
        for header in headers:
            words += ["-H", header]
        if body is not None:
            words += ["--data-binary", "@-"]
        done = run(*words, stdin=body)
        head, _, answer = done.stdout.replace("\r\n", "\n").partition("\n\n")
        return int(head.split()[1]), head, answer

    def put(self, path, body):
        status, _, answer = self.ask("PUT", path, body, "Content-Type: " + ("text/vcard" if path.endswith(".vcf") else "text/calendar"))
        self.assertIn(status, (201, 204), answer)


class Replays(Person):
    """The first minutes of an account, as the programs go through them."""

    SPACES = ('xmlns:d="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="urn:ietf:params:xml:ns:carddav" '
              'xmlns:CS="http://calendarserver.org/ns/" xmlns:IC="http://apple.com/ns/ical/"')

    def propfind(self, path, depth, props):
        status, head, body = self.ask("PROPFIND", path, f'<d:propfind {self.SPACES}><d:prop>{props}</d:prop></d:propfind>',
                                      f"Depth: {depth}", "Content-Type: text/xml")
        self.assertEqual(status, 207, head + body)
        return body

    def report(self, path, name, inside, depth="1"):
        status, head, body = self.ask("REPORT", path, f"<{name} {self.SPACES}>{inside}</{name}>", f"Depth: {depth}",
                                      "Content-Type: text/xml")
        self.assertEqual(status, 207, head + body)
        return body

    def href_in(self, element, body):
        return re.search(rf"<{element}>\s*<d:href[^>]*>([^<]*)</d:href>", body).group(1)

    def test_apple_sets_up_an_account(self):
        status, head, _ = self.ask("PROPFIND", "/.well-known/caldav", None, "Depth: 0", known=False)
        self.assertEqual(status, 301)
        self.assertRegex(head, r"(?im)^location: http://[^/]+/dav/$")
        self.assertEqual(self.ask("PROPFIND", "/dav/", None, "Depth: 0", known=False)[0], 401)
        body = self.propfind("/dav/", 0, "<d:current-user-principal/><d:principal-URL/><d:resourcetype/>")
        principal = self.href_in("d:current-user-principal", body)
        status, head, _ = self.ask("OPTIONS", principal)
        self.assertRegex(head, r"(?im)^dav:.*calendar-access")
        self.assertIn("calendar-auto-schedule", head)
        body = self.propfind(principal, 0, "<C:calendar-home-set/><C:calendar-user-address-set/><d:displayname/>"
                             "<CS:dropbox-home-URL/><CS:notification-URL/><C:schedule-inbox-URL/><d:supported-report-set/>")
        home = self.href_in("C:calendar-home-set", body)
        self.assertEqual(home, self.home)
        status, _, body = self.ask("REPORT", "/dav/principals/", '<d:principal-search-property-set xmlns:d="DAV:"/>', "Depth: 0")
        self.assertEqual(status, 200, body)
        self.propfind(home, 1, "<d:add-member/><IC:calendar-color/><IC:calendar-order/><CS:getctag/><d:resourcetype/>"
                      "<C:supported-calendar-component-set/><d:sync-token/><CS:push-transports/>")
        status, _, body = self.ask("PROPPATCH", home, f"<d:propertyupdate {self.SPACES}><d:set><d:prop><C:default-alarm-vevent-date>"
                                   "BEGIN:VALARM</C:default-alarm-vevent-date></d:prop></d:set></d:propertyupdate>")
        self.assertEqual(status, 207, body)
        status, _, body = self.ask("MKCALENDAR", home + "5F2B0A6E/", f"<C:mkcalendar {self.SPACES}><d:set><d:prop>"
                                   "<d:displayname>Home</d:displayname><IC:calendar-color symbolic-color=\"blue\">#0000FFFF"
                                   "</IC:calendar-color><IC:calendar-order>1</IC:calendar-order><C:supported-calendar-component-set>"
                                   "<C:comp name=\"VEVENT\"/></C:supported-calendar-component-set></d:prop></d:set></C:mkcalendar>")
        self.assertEqual(status, 201, body)
        calendar = home + "5F2B0A6E/"
        self.put(calendar + "A.ics", event("A"))
        body = self.report(calendar, "d:sync-collection", "<d:sync-token/><d:sync-level>1</d:sync-level><d:prop><d:getcontenttype/>"
                           "<d:getetag/></d:prop>")
        self.assertIn(calendar + "A.ics", body)
        body = self.report(calendar, "C:calendar-query", "<d:prop><d:getetag/></d:prop><C:filter><C:comp-filter name=\"VCALENDAR\">"
                           "<C:comp-filter name=\"VEVENT\"><C:time-range start=\"20251201T000000Z\"/></C:comp-filter></C:comp-filter>"
                           "</C:filter>")
        self.assertIn(calendar + "A.ics", body)
        body = self.report(calendar, "C:calendar-multiget", "<d:prop><d:getetag/><C:calendar-data/><C:schedule-tag/></d:prop>"
                           f"<d:href>{calendar}A.ics</d:href>")
        self.assertIn("UID:A", body)
        self.report(principal, "d:expand-property", '<d:property name="calendar-proxy-read-for" '
                    'namespace="http://calendarserver.org/ns/"><d:property name="email-address-set" '
                    'namespace="http://calendarserver.org/ns/"/></d:property>', "0")

    def test_davx5_finds_collections_and_polls(self):
        principal = f"/dav/principals/users/{self.name}/"
        body = self.propfind(principal, 0, "<d:displayname/><d:group-membership/><d:resourcetype/><C:calendar-home-set/>"
                             "<A:addressbook-home-set/><CS:calendar-proxy-read-for/><CS:calendar-proxy-write-for/>")
        books = self.href_in("A:addressbook-home-set", body)
        body = self.propfind(books, 1, "<d:current-user-privilege-set/><d:displayname/><d:owner/><d:resourcetype/>")
        self.assertIn("<d:write-content/>", body)
        self.assertIn("<A:addressbook/>", body)
        book = books + "contacts/"
        body = self.propfind(book, 0, "<d:supported-report-set/><d:sync-token/><CS:getctag/><A:max-resource-size/><A:supported-address-data/>")
        self.assertIn('<A:address-data-type content-type="text/vcard" version="4.0"/>', body)
        self.assertIn("<d:sync-collection/>", body)
        self.put(book + "a.vcf", card("a", "Eva"))
        body = self.report(book, "d:sync-collection", "<d:sync-token/><d:sync-level>1</d:sync-level><d:prop><d:getetag/>"
                           "<d:resourcetype/></d:prop>", "0")
        token = re.search(r"<d:sync-token>([^<]*)</d:sync-token>", body).group(1)
        body = self.report(book, "A:addressbook-multiget", "<d:prop><d:getetag/><d:getcontenttype/><A:address-data "
                           f'content-type="text/vcard" version="4.0"/></d:prop><d:href>{book}a.vcf</d:href>')
        self.assertIn("VERSION:4.0", body)
        self.assertEqual(self.ask("DELETE", book + "a.vcf")[0], 204)
        body = self.report(book, "d:sync-collection", f"<d:sync-token>{token}</d:sync-token><d:sync-level>1</d:sync-level>"
                           "<d:prop><d:getetag/></d:prop>", "0")
        self.assertRegex(body, rf"<d:href>{book}a.vcf</d:href><d:status>HTTP/1.1 404 Not Found</d:status>")

    def test_thunderbird_and_evolution_look_at_a_calendar(self):
        calendar = self.home + "personal/"
        body = self.propfind("/dav/", 0, "<d:resourcetype/><d:owner/><d:displayname/><d:current-user-principal/>"
                             "<d:current-user-privilege-set/><IC:calendar-color/><C:calendar-home-set/>")
        self.assertIn("<d:resourcetype>", body)
        body = self.propfind(calendar, 0, "<d:resourcetype/><d:owner/><d:current-user-principal/><d:current-user-privilege-set/>"
                             "<d:supported-report-set/><C:supported-calendar-component-set/><CS:getctag/>")
        for word in ("<d:write/>", "<d:sync-collection/>", '<C:comp name="VTODO"/>'):
            self.assertIn(word, body)
        for path in (self.home, calendar):
            self.assertRegex(self.ask("OPTIONS", path)[1], r"(?im)^dav:.*calendar-access")
        self.put(calendar + "x.ics", event("x"))
        body = self.report(calendar, "d:sync-collection", "<d:sync-token/><d:sync-level>1</d:sync-level><d:prop><d:getcontenttype/>"
                           "<d:getetag/></d:prop>")
        self.assertIn("<d:getcontenttype>text/calendar", body)
        token = re.search(r"<d:sync-token>([^<]*)</d:sync-token>", body).group(1)
        self.assertTrue(":" in token and "/" in token)
        status, _, body = self.ask("REPORT", calendar, f"<d:sync-collection {self.SPACES}><d:sync-token>old</d:sync-token><d:sync-level>1"
                                   "</d:sync-level><d:prop/></d:sync-collection>")
        self.assertEqual(status, 403)
        self.assertIn("valid-sync-token", body)
        body = self.report(self.books + "contacts/", "d:sync-collection", "<d:sync-token/><d:sync-level>1</d:sync-level><d:prop>"
                           "<d:getetag/><A:address-data/></d:prop>")


# Run by the interpreter that Debian's package is for.
SCRIPT = r"""
import datetime, sys
import caldav

def event(uid, start, more=""):
    return ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VEVENT\r\nUID:" + uid + "\r\nDTSTAMP:20260101T000000Z\r\n"
            "DTSTART:" + start + "\r\nDURATION:PT1H\r\nSUMMARY:" + uid + "\r\n" + more + "END:VEVENT\r\nEND:VCALENDAR\r\n")

def same(found, wanted):
    if found != wanted:
        raise SystemExit(f"{found!r} is not {wanted!r}")

url, name, password = sys.argv[1:4]
principal = caldav.DAVClient(url=url, username=name, password=password).principal()
same({c.name for c in principal.calendars()}, {"Personal", "Tasks"})
calendar = principal.make_calendar(name="Scripted")
calendar.save_event(event("one", "20260105T100000Z", "RRULE:FREQ=WEEKLY;COUNT=3\r\n"))
calendar.save_event(event("two", "20270105T100000Z"))
found = calendar.date_search(datetime.datetime(2026, 1, 12), datetime.datetime(2026, 1, 13), expand=True)
same(len(found), 1)
same("20260112T100000Z" in found[0].data, True)
same(len(calendar.events()), 2)
same(calendar.event_by_uid("two").vobject_instance.vevent.summary.value, "two")
changes = calendar.objects_by_sync_token(load_objects=True)
same(len(list(changes)), 2)
calendar.event_by_uid("two").delete()
changes.sync()
same(len(list(changes)), 1)
todo = calendar.save_todo("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VTODO\r\nUID:three\r\n"
                          "DTSTAMP:20260101T000000Z\r\nSUMMARY:do\r\nEND:VTODO\r\nEND:VCALENDAR\r\n")
same(len(calendar.todos()), 1)
todo.delete()
calendar.delete()
same({c.name for c in principal.calendars()}, {"Personal", "Tasks"})
print("all is well")
"""


# What bob does with a calendar that somebody else has shared with him.
SHARED = r"""
import sys
import caldav

def event(uid, start):
    return ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VEVENT\r\nUID:" + uid + "\r\nDTSTAMP:20260101T000000Z\r\n"
            "DTSTART:" + start + "\r\nDURATION:PT1H\r\nSUMMARY:" + uid + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")

def same(found, wanted):
    if found != wanted:
        raise SystemExit(f"{found!r} is not {wanted!r}")

url, name, password = sys.argv[1:4]
principal = caldav.DAVClient(url=url, username=name, password=password).principal()
shared = [c for c in principal.calendars() if "shared-" in str(c.url)]
same(len(shared), 1)
calendar = shared[0]
same({e.vobject_instance.vevent.summary.value for e in calendar.events()}, {"hers"})
changes = calendar.objects_by_sync_token(load_objects=True)
same(len(list(changes)), 1)
calendar.save_event(event("his", "20270105T100000Z"))
changes.sync()
same(len(list(changes)), 2)
calendar.event_by_uid("hers").delete()
same({e.vobject_instance.vevent.summary.value for e in calendar.events()}, {"his"})
print("all is well")
"""


class Shared(Person):
    def share(self, path, href, access):
        status, _, body = self.ask("POST", path, f'<CS:share {Replays.SPACES}><CS:set><d:href>{href}</d:href><CS:{access}/></CS:set>'
                                   "</CS:share>", "Content-Type: application/xml")
        self.assertEqual(status, 200, body)

    def test_two_people_keep_one_calendar(self):
        owner, path = self.name, self.home + "personal/"
        self.put(path + "hers.ics", event("hers"))
        self.put(path + "secret.ics", event("secret", more="CLASS:PRIVATE\r\n"))
        super().setUp()  # somebody else
        other, self.name = self.name, owner
        self.share(path, f"/dav/principals/users/{other}/", "read-write")
        done = run("/usr/bin/python3", "-c", SHARED, f"http://{welkin.address}/dav/", other, PASSWORD)
        self.assertIn("all is well", done.stdout, done.stdout + done.stderr)
        self.assertEqual(self.ask("GET", path + "hers.ics")[0], 404)
        self.assertEqual(self.ask("GET", path + "secret.ics")[0], 200)

    def test_vdirsyncer_fetches_a_feed_without_an_account(self):
        path = self.home + "personal/"
        self.put(path + "a.ics", event("a", summary="open to all"))
        self.put(path + "b.ics", event("b", summary="mine alone", more="CLASS:PRIVATE\r\n"))
        status, head, body = self.ask("POST", path, f"<CS:publish-calendar {Replays.SPACES}/>", "Content-Type: application/xml")
        self.assertEqual(status, 200, body)
        url = re.search(r"(?im)^location: (\S+)", head).group(1)
        config = os.path.join(self.here, "feed.conf")
        with open(config, "w", encoding="utf-8") as out:
            out.write(f'[general]\nstatus_path = "{self.here}/status/"\n[pair feed]\na = "here"\nb = "there"\ncollections = null\n'
                      f'[storage here]\ntype = "filesystem"\npath = "{self.here}/feed/"\nfileext = ".ics"\n'
                      f'[storage there]\ntype = "http"\nurl = "{url}"\n')
        for words in (("discover",), ("sync",), ("sync",)):
            done = run("vdirsyncer", "-c", config, *words, stdin="y\n" * 10, env={"HOME": self.here})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        texts = [open(os.path.join(self.here, "feed", f), encoding="utf-8").read() for f in os.listdir(os.path.join(self.here, "feed"))]
        self.assertEqual(len(texts), 1)
        self.assertIn("open to all", texts[0])


# alice invites bob, who finds it in his inbox and accepts; she sees that, and when he is busy.
INVITING = r"""
import datetime, sys
import caldav

url, alice, bob, password = sys.argv[1:]

def same(found, wanted):
    if found != wanted:
        raise SystemExit(f"{found!r} is not {wanted!r}")

def personal(principal):
    return [c for c in principal.calendars() if c.name == "Personal"][0]

clients = {name: caldav.DAVClient(url=url, username=name, password=password) for name in (alice, bob)}
same(clients[alice].check_scheduling_support(), True)
hers, his = clients[alice].principal(), clients[bob].principal()
same(hers.calendar_user_address_set()[0], f"mailto:{alice}@example.org")
uid = "meeting-" + alice
personal(hers).save_with_invites(
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VEVENT\r\nUID:" + uid + "\r\nDTSTAMP:20260101T000000Z\r\n"
    "DTSTART:20360901T080000Z\r\nDURATION:PT1H\r\nSUMMARY:plan\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    [hers, f"mailto:{bob}@example.org"])
items = list(his.schedule_inbox().get_items())
same(len(items), 1)
items[0].load()
same(items[0].is_invite_request(), True)
items[0].accept_invite(calendar=personal(his))
items[0].delete()
same(len(list(his.schedule_inbox().get_items())), 0)
answers = list(hers.schedule_inbox().get_items())
same(len(answers), 1)
answers[0].load()
same("METHOD:REPLY" in answers[0].data, True)
event = personal(hers).event_by_uid(uid)
event.load()
attendees = {str(a): a.params.get("PARTSTAT") for a in event.icalendar_instance.subcomponents[0]["attendee"]}
same(attendees[f"mailto:{bob}@example.org"], "ACCEPTED")
personal(his).event_by_uid(uid).delete()
event.load()
attendees = {str(a): a.params.get("PARTSTAT") for a in event.icalendar_instance.subcomponents[0]["attendee"]}
same(attendees[f"mailto:{bob}@example.org"], "DECLINED")
print("all is well")
"""


class PythonCaldav(Person):
    def test_a_script_invites(self):
        for name in ("inviter", "invited"):
            made = welkin.user_add(name, "--email", f"{name}@example.org", password=PASSWORD)
            self.assertEqual(made.returncode, 0, made.stderr)
        done = run("/usr/bin/python3", "-c", INVITING, f"http://{welkin.address}/dav/", "inviter", "invited", PASSWORD)
        self.assertIn("all is well", done.stdout, done.stdout + done.stderr)

    def test_a_script_keeps_its_calendar(self):
        done = run("/usr/bin/python3", "-c", SCRIPT, f"http://{welkin.address}/dav/", self.name, PASSWORD)
        self.assertIn("all is well", done.stdout, done.stdout + done.stderr)


class Npm(Person):
    @unittest.skipUnless(os.path.isdir(os.path.join(here, "node_modules/tsdav")), "scripts/setup --clients could not install it")
    def test_the_client_of_many_programs(self):
        done = run("node", os.path.join(here, "npm_tsdav.mjs"), f"http://{welkin.address}/dav/", self.name, PASSWORD)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn("fine", done.stdout)


class Vdirsyncer(Person):
    def setUp(self):
        super().setUp()
        self.config = os.path.join(self.here, "vdirsyncer.conf")
        url = f"http://{welkin.address}/dav/"
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(f'[general]\nstatus_path = "{self.here}/status/"\n')
            for pair, kind, suffix, collection in (("cal", "caldav", ".ics", "personal"), ("card", "carddav", ".vcf", "contacts")):
                out.write(f'[pair {pair}]\na = "{pair}_local"\nb = "{pair}_remote"\ncollections = ["{collection}"]\n'
                          'conflict_resolution = "b wins"\n'
                          f'[storage {pair}_local]\ntype = "filesystem"\npath = "{self.here}/{pair}/"\nfileext = "{suffix}"\n'
                          f'[storage {pair}_remote]\ntype = "{kind}"\nurl = "{url}"\nusername = "{self.name}"\npassword = "{PASSWORD}"\n')
        done = self.vdirsyncer("discover", stdin="y\n" * 10)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.events, self.cards = os.path.join(self.here, "cal/personal"), os.path.join(self.here, "card/contacts")

    def vdirsyncer(self, *words, stdin=None):
        return run("vdirsyncer", "-c", self.config, *words, stdin=stdin, env={"HOME": self.here})

    def sync(self):
        done = self.vdirsyncer("sync")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def write(self, path, text):
        with open(path, "w", encoding="utf-8", newline="") as out:
            out.write(text)

    def seq(self):
        """The tokens of both collections."""
        return [re.search(r"sync-token>([^<]*)<", self.ask("PROPFIND", path, '<propfind xmlns="DAV:"><prop><sync-token/></prop></propfind>',
                                                           "Depth: 0")[2]).group(1)
                for path in (self.home + "personal/", self.books + "contacts/")]

    def test_both_sides_agree_and_stay_so(self):
        for i in range(ITEMS // 2):
            self.write(f"{self.events}/e{i}.ics", event(f"e{i}", summary=f"event {i}", more="RRULE:FREQ=DAILY;COUNT=3\r\n" if i % 5 == 0 else ""))
            self.write(f"{self.cards}/c{i}.vcf", card(f"c{i}", f"Person {i}"))
        self.sync()
        before = self.seq()
        again = self.sync()
        self.assertEqual(self.seq(), before, "the second run sends nothing")
        self.assertNotRegex(again, r"(?i)copying|deleting|updating")
        self.put(self.home + "personal/from-server.ics", event("from-server", summary="made there"))
        os.remove(f"{self.events}/e1.ics")
        self.write(f"{self.events}/e2.ics", event("e2", summary="changed here"))
        self.assertEqual(self.ask("DELETE", self.books + "contacts/c0.vcf")[0], 204)
        self.sync()
        self.assertEqual(self.ask("GET", self.home + "personal/e1.ics")[0], 404)
        self.assertIn("changed here", self.ask("GET", self.home + "personal/e2.ics")[2])
        self.assertFalse(os.path.exists(f"{self.cards}/c0.vcf"))
        texts = [open(os.path.join(self.events, f), encoding="utf-8").read() for f in os.listdir(self.events)]
        self.assertEqual(sum("made there" in t for t in texts), 1)
        # Changed on both sides: the server's, as it was told to.
        self.write(f"{self.events}/e3.ics", event("e3", summary="mine"))
        self.put(self.home + "personal/e3.ics", event("e3", summary="theirs"))
        self.sync()
        self.assertIn("theirs", open(f"{self.events}/e3.ics", encoding="utf-8").read())

    def test_khal_and_khard_show_what_was_fetched(self):
        self.put(self.home + "personal/k.ics", event("k", "20260105T100000Z", "standup", "RRULE:FREQ=DAILY;COUNT=2\r\n"))
        self.put(self.books + "contacts/e.vcf", card("e", "Eva Example"))
        self.sync()
        khal = os.path.join(self.here, "khal.conf")
        self.write(khal, f"[calendars]\n[[personal]]\npath = {self.events}\n[locale]\nlocal_timezone = UTC\ndefault_timezone = UTC\n"
                         f"timeformat = %H:%M\ndateformat = %d.%m.%Y\nlongdateformat = %d.%m.%Y\ndatetimeformat = %d.%m.%Y %H:%M\n"
                         f"longdatetimeformat = %d.%m.%Y %H:%M\n[sqlite]\npath = {self.here}/khal.db\n")
        done = run("khal", "-c", khal, "list", "05.01.2026", "07.01.2026", env={"HOME": self.here})
        self.assertEqual(done.stdout.count("standup"), 2, done.stdout + done.stderr)
        khard = os.path.join(self.here, "khard.conf")
        self.write(khard, f"[addressbooks]\n[[contacts]]\npath = {self.cards}\n[general]\neditor = true\nmerge_editor = true\n")
        done = run("khard", "-c", khard, "email", "--parsable", "Eva", env={"HOME": self.here})
        self.assertIn("e@example.org", done.stdout, done.stderr)


if __name__ == "__main__":
    suite.main()
