"""Recurring events against another reader of RFC 5545: the server expands random rules, python3-dateutil and
python3-recurring-ical-events do the same, and the lists of instances are equal.

Three exceptions, in each of which the others leave RFC 5545: positions (BYSETPOS) in a first week that began before DTSTART;
weeks that lie in two years (BYWEEKNO 1, 52, 53), of which dateutil leaves out days; and local times that come twice, which mean
the first (§3.3.5). The server's own tests hold those."""
import base64
import datetime
import os
import random
import re
import sys
import unittest
import warnings

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "support"))
import suite  # noqa: E402
from server import PASSWORD, Welkin, ask_on  # noqa: E402

# Packages of Debian are for Debian's own interpreter; another may come first in the path.
DEBIAN = "/usr/bin/python3"
if os.path.realpath(sys.executable) != os.path.realpath(DEBIAN):
    os.execv(DEBIAN, [DEBIAN, *sys.argv])

import icalendar  # noqa: E402
import recurring_ical_events  # noqa: E402
from dateutil import rrule as dateutil_rrule  # noqa: E402

RULES = 2000 if os.environ.get("WELKIN_TEST_FULL") else 300
SEED = int(os.environ.get("WELKIN_TEST_SEED", "20261130"))
BEGIN, END = datetime.datetime(2026, 1, 1), datetime.datetime(2028, 1, 1)
UTC = datetime.timezone.utc
ZONE = ("BEGIN:VTIMEZONE\r\nTZID:Europe/Oslo\r\nBEGIN:DAYLIGHT\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\n"
        "DTSTART:19810329T020000\r\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r\nTZNAME:CEST\r\nEND:DAYLIGHT\r\nBEGIN:STANDARD\r\n"
        "TZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nDTSTART:19961027T030000\r\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r\n"
        "TZNAME:CET\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n")
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
QUERY = ('<c:calendar-query xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:prop><c:calendar-data>'
         '<c:expand start="20260101T000000Z" end="20280101T000000Z"/></c:calendar-data></d:prop><c:filter>'
         '<c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT"><c:time-range start="20260101T000000Z" '
         'end="20280101T000000Z"/></c:comp-filter></c:comp-filter></c:filter></c:calendar-query>')


def some(chance, values, most=3):
    return ",".join(map(str, sorted(chance.sample(list(values), chance.randint(1, most)))))


def is_cut(rule):
    """Whether dateutil counts positions from DTSTART on, and RFC 5545 in the whole week."""
    return "WEEKLY" in rule and "BYSETPOS" in rule


def random_rule(chance):
    """A rule without times of day, as RFC 5545 §3.3.10 allows its parts beside each other."""
    freq = chance.choice(("DAILY", "WEEKLY", "MONTHLY", "YEARLY"))
    parts = [f"FREQ={freq}"]
    if chance.random() < 0.5:
        parts.append(f"INTERVAL={chance.randint(2, 5)}")
    if chance.random() < 0.4:
        parts.append("BYMONTH=" + some(chance, range(1, 13), 4))
    by = None
    if freq == "WEEKLY":
        by = chance.choice((None, "BYDAY"))
    elif freq == "DAILY":
        by = chance.choice((None, "BYDAY", "BYMONTHDAY"))
    elif freq == "MONTHLY":
        by = chance.choice((None, "BYDAY", "BYMONTHDAY", "NTH", "BOTH"))
    else:
        by = chance.choice((None, "BYYEARDAY", "BYWEEKNO", "NTH", "BYMONTHDAY"))
        if by in ("BYYEARDAY", "BYWEEKNO"):
            parts = [p for p in parts if not p.startswith("BYMONTH")]
    if by in ("BYDAY", "BOTH"):
        parts.append("BYDAY=" + ",".join(chance.sample(DAYS, chance.randint(1, 4))))
    if by in ("BYMONTHDAY", "BOTH"):
        parts.append("BYMONTHDAY=" + some(chance, [*range(1, 32), -1, -2, -31], 4))
    if by == "NTH":
        parts.append("BYDAY=" + ",".join(f"{chance.choice((1, 2, 3, 4, 5, -1, -2))}{day}" for day in chance.sample(DAYS, 2)))
    if by == "BYYEARDAY":
        parts.append("BYYEARDAY=" + some(chance, [*range(1, 367), -1, -100, -366], 5))
    if by == "BYWEEKNO":
        parts.append("BYWEEKNO=" + some(chance, range(2, 52), 3))
        parts.append("BYDAY=" + ",".join(chance.sample(DAYS, 2)))
    if by and chance.random() < 0.25 and freq != "DAILY":
        parts.append("BYSETPOS=" + some(chance, (1, 2, 3, -1, -2), 2))
    if chance.random() < 0.3:
        parts.append("WKST=" + chance.choice(DAYS))
    if chance.random() < 0.3 and not is_cut("".join(parts)):
        parts.append(f"COUNT={chance.randint(1, 40)}")
    return ";".join(parts)


class Event:
    """One random event, whose DTSTART is the first instance of its rule: RFC 5545 leaves open what else would mean."""

    def __init__(self, chance, number):
        self.uid = f"r-{number}"
        self.kind = chance.choice(("utc", "zone", "floating", "date"))
        base = datetime.datetime(chance.randint(2020, 2026), chance.randint(1, 12), chance.randint(1, 28),
                                 chance.choice((0, 4, 9, 13, 23)), chance.choice((0, 30)))
        if self.kind == "date":
            base = base.replace(hour=0, minute=0)
        while True:
            self.rule = random_rule(chance)
            first = next(iter(dateutil_rrule.rrulestr(self.rule, dtstart=base)), None)
            if first and first.year < 2040:
                break
        self.start = first
        if chance.random() < 0.2 and "COUNT" not in self.rule:
            until = first + datetime.timedelta(days=chance.randint(0, 3000))
            self.rule += ";UNTIL=" + (until.strftime("%Y%m%d") if self.kind == "date" else
                                      until.strftime("%Y%m%dT%H%M%S") + ("" if self.kind == "floating" else "Z"))
        near = [t for t, _ in zip(dateutil_rrule.rrulestr(re.sub(";UNTIL=[^;]*", "", self.rule), dtstart=first), range(30))]
        self.excluded = sorted(set(chance.sample(near[1:], min(len(near) - 1, chance.randint(1, 3))))) if chance.random() < 0.3 else []
        self.added = [datetime.datetime(2026, 7, chance.randint(1, 28), 7, 15)] if chance.random() < 0.2 and self.kind != "date" else []

    def line(self, name, times):
        if self.kind == "date":
            return f"{name};VALUE=DATE:" + ",".join(t.strftime("%Y%m%d") for t in times) + "\r\n"
        text = ",".join(t.strftime("%Y%m%dT%H%M%S") + ("Z" if self.kind == "utc" else "") for t in times)
        return name + (";TZID=Europe/Oslo:" if self.kind == "zone" else ":") + text + "\r\n"

    def text(self):
        return ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\n" + (ZONE if self.kind == "zone" else "")
                + f"BEGIN:VEVENT\r\nUID:{self.uid}\r\nDTSTAMP:20260101T000000Z\r\n" + self.line("DTSTART", [self.start])
                + ("DURATION:P1D\r\n" if self.kind == "date" else "DURATION:PT45M\r\n") + f"RRULE:{self.rule}\r\n"
                + (self.line("EXDATE", self.excluded) if self.excluded else "")
                + (self.line("RDATE", self.added) if self.added else "") + "END:VEVENT\r\nEND:VCALENDAR\r\n")


def starts_of(calendar_text):
    """DTSTART of each instance, as seconds of UTC, dates and floating times as if they were of UTC."""
    out = []
    for value in re.findall(r"(?m)^DTSTART[^:]*:(\S+)", calendar_text.split("BEGIN:VEVENT", 1)[-1]):
        form = "%Y%m%d" if len(value) == 8 else "%Y%m%dT%H%M%S"
        out.append(datetime.datetime.strptime(value.rstrip("Z"), form))
    return sorted(out)


class Differential(unittest.TestCase):
    maxDiff = None

    def test_random_rules_have_the_same_instances(self):
        warnings.simplefilter("ignore")
        chance = random.Random(SEED)
        with Welkin() as welkin:
            self.assertEqual(welkin.user_add("ada").returncode, 0)
            welkin.start()
            connection = welkin.connection(timeout=300)
            proof = "Basic " + base64.b64encode(f"ada:{PASSWORD}".encode()).decode()
            events, refused = {}, []
            for number in range(RULES):
                event = Event(chance, number)
                answer = ask_on(connection, "PUT", f"/dav/calendars/ada/personal/{event.uid}.ics", event.text(),
                                Authorization=proof, **{"Content-Type": "text/calendar"})
                if answer.status == 201:
                    events[event.uid] = event
                else:
                    refused.append((event.rule, answer.status, answer.body[:200]))
            self.assertEqual(refused, [])
            answer = ask_on(connection, "REPORT", "/dav/calendars/ada/personal/", QUERY, Authorization=proof, Depth="1")
            self.assertEqual(answer.status, 207)
            got = {}
            for response in re.findall(r"<d:response>(.*?)</d:response>", answer.body.decode(), re.S):
                uid = re.search(r"personal/(r-\d+)\.ics", response).group(1)
                got[uid] = starts_of(response)
            differing = []
            for uid, event in events.items():
                mine, theirs = got.get(uid, []), self.instances(event)
                if is_cut(event.rule):
                    mine, theirs = ([t for t in times if t > event.start + datetime.timedelta(days=8)] for times in (mine, theirs))
                if mine != theirs:
                    only = [t.isoformat() for t in mine if t not in theirs][:3], [t.isoformat() for t in theirs if t not in mine][:3]
                    differing.append(f"{event.kind} {event.start} {event.rule} ex {event.excluded} r {event.added}: {only}")
            self.assertEqual(differing, [], f"seed {SEED}: {len(differing)} of {len(events)} differ; ours only, theirs only")
            self.assertGreater(sum(len(v) for v in got.values()), RULES)

    def instances(self, event):
        calendar = icalendar.Calendar.from_ical(event.text())
        out = []
        for instance in recurring_ical_events.of(calendar).between(BEGIN - datetime.timedelta(days=2), END + datetime.timedelta(days=2)):
            start = instance["DTSTART"].dt
            if not isinstance(start, datetime.datetime):
                start = datetime.datetime(start.year, start.month, start.day)
            elif start.tzinfo:
                start = start.astimezone(UTC).replace(tzinfo=None)
            length = datetime.timedelta(days=1) if event.kind == "date" else datetime.timedelta(minutes=45)
            if start < END and start + length > BEGIN:
                out.append(start)
        return sorted(out)


if __name__ == "__main__":
    suite.main()
