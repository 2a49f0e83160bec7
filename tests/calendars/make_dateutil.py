"""Writes tests/corpus/recurrence.txt: rules and their first instances as python3-dateutil sees them, for recurrence_test.

    python3 tests/calendars/make_dateutil.py > tests/corpus/recurrence.txt

A line is RULE START INSTANCE...; DTSTART stands first whether or not the rule gives it, as the standard wants it.
"""
import itertools
import random
from datetime import datetime

from dateutil.rrule import rrulestr

DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
random.seed(6321)


def some(low, high, most, negative=False):
    values = {random.randint(low, high) * (-1 if negative and random.random() < 0.4 else 1) for _ in range(random.randint(1, most))}
    return ",".join(map(str, sorted(values)))


def days(nth):
    # Days with ordinals and days without do not go together in dateutil, which wants both.
    nth = nth and random.random() < 0.5
    return ",".join((str(random.choice([-2, -1, 1, 2, 4])) if nth else "") + day for day in random.sample(DAYS, random.randint(1, 3)))


def maybe(chance):
    return random.random() < chance


def draw():
    freq = random.choice(["SECONDLY", "MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
    long = freq in ("MONTHLY", "YEARLY")
    short = freq in ("SECONDLY", "MINUTELY", "HOURLY")
    parts = ["FREQ=" + freq]
    if maybe(0.5):
        parts.append(f"INTERVAL={random.randint(2, 9)}")
    if maybe(0.3):
        parts.append("BYMONTH=" + some(1, 12, 4))
    if maybe(0.3) and freq != "WEEKLY":
        parts.append("BYMONTHDAY=" + some(1, 31, 4, True))
    if maybe(0.15) and (freq == "YEARLY" or short):
        parts.append("BYYEARDAY=" + some(1, 366, 5, True))
    week = maybe(0.25) and freq == "YEARLY"
    if week:
        parts.append("BYWEEKNO=" + some(1, 53, 3, True))
    if week or maybe(0.4):  # without BYDAY dateutil takes all days of a week, not the one of DTSTART
        parts.append("BYDAY=" + days(long and not week))
    if maybe(0.3):
        parts.append("BYHOUR=" + some(0, 23, 3))
    if maybe(0.3):
        parts.append("BYMINUTE=" + some(0, 59, 3))
    if maybe(0.2):
        parts.append("BYSECOND=" + some(0, 59, 2))
    if maybe(0.2) and len(parts) > 2 and not short:
        parts.append("BYSETPOS=" + some(1, 3, 2, True))
    if maybe(0.2):
        parts.append("WKST=" + random.choice(DAYS))
    return ";".join(parts)


count = 0
while count < 400:
    rule = draw()
    start = datetime(random.randint(1995, 2030), random.randint(1, 12), random.randint(1, 28), random.randint(0, 23),
                     random.randint(0, 59), random.randint(0, 59))
    if any(part in rule for part in ("SECONDLY", "MINUTELY", "HOURLY")) and ("BYYEARDAY" in rule or rule.count("BY") > 2):
        continue  # dateutil would look at every second of years
    try:
        bounded = rrulestr(rule + ";UNTIL=20391231T235959", dtstart=start)
    except ValueError:
        continue  # it knows that there is no instance
    found = list(itertools.islice(bounded, 9))
    times = [t.strftime("%Y%m%dT%H%M%S") for t in [start] + [t for t in found if t != start]][:8]
    print(rule, start.strftime("%Y%m%dT%H%M%S"), *times)
    count += 1
