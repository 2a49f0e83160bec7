#!/usr/bin/env python3
"""Calendars over CalDAV, as ratios against Debian's Radicale and Xandikos in the same run: PUT of many events over 8
connections, REPORT of a whole calendar with its data, sync from nothing and with an up-to-date token. Then Welkin alone: a poll
against a listing, and many whole-calendar REPORTs at once with the memory they take.

Welkin answers a PUT when it is on the disk; the peers answer when it is in the page cache. Starts everything with data of its
own and ends it. Bounded: about three minutes with the sizes it has by itself.

usage: groupware.py WELKIN_BINARY [--events N] [--rounds N] [--large N] [--parallel N]
"""
import argparse
import base64
import concurrent.futures
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import sys
import tempfile
import threading
import time

from figures import PASSWORD, Welkin, free_port, seconds_of, wait_for
from propfind import Peer, peak_kib

CONNECTIONS = 8
SPACES = 'xmlns:d="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:CS="http://calendarserver.org/ns/"'
QUERY = (f'<C:calendar-query {SPACES}><d:prop><d:getetag/><C:calendar-data/></d:prop><C:filter><C:comp-filter name="VCALENDAR"/>'
         "</C:filter></C:calendar-query>")
LISTING = f"<d:propfind {SPACES}><d:prop><d:getetag/></d:prop></d:propfind>"
POLL = f"<d:propfind {SPACES}><d:prop><CS:getctag/><d:sync-token/></d:prop></d:propfind>"


def sync_body(token):
    return (f"<d:sync-collection {SPACES}><d:sync-token>{token}</d:sync-token><d:sync-level>1</d:sync-level><d:prop><d:getetag/></d:prop>"
            "</d:sync-collection>")


def event(number):
    """0.9 kB; every fifth is a series with an instance that was moved."""
    series = number % 5 == 0
    moved = ("BEGIN:VEVENT\r\nUID:load-%d\r\nDTSTAMP:20260101T000000Z\r\nRECURRENCE-ID:20260112T100000Z\r\nDTSTART:20260112T120000Z\r\n"
             "DTEND:20260112T130000Z\r\nSUMMARY:moved\r\nEND:VEVENT\r\n" % number) if series else ""
    return ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//load//EN\r\nBEGIN:VEVENT\r\nUID:load-%d\r\nDTSTAMP:20260101T000000Z\r\n"
            "DTSTART:20260105T100000Z\r\nDTEND:20260105T110000Z\r\nSUMMARY:Event %d\r\nDESCRIPTION:%s\r\n%sEND:VEVENT\r\n%s"
            "END:VCALENDAR\r\n" % (number, number, "words " * 100, "RRULE:FREQ=WEEKLY;COUNT=9\r\n" if series else "", moved))


class Target:
    """A server and the calendar in it."""

    def __init__(self, name, port, path, login, pids):
        self.name, self.port, self.path, self.pids = name, port, path, pids
        self.headers = {"Authorization": "Basic " + base64.b64encode(login.encode()).decode()}

    def ask(self, method, body="", path=None, depth=None, connection=None):
        c = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        headers = {**self.headers, "Content-Type": "text/calendar" if method == "PUT" else "application/xml"}
        if depth is not None:
            headers["Depth"] = depth
        c.request(method, path or self.path, body, headers)
        answer = c.getresponse()
        return answer.status, answer.read()

    def put_all(self, count, first=0):
        """Seconds for `count` events; fails on the first that is refused."""
        local = threading.local()

        def one(number):
            if not hasattr(local, "c"):
                local.c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            status, text = self.ask("PUT", event(number), f"{self.path}load-{number}.ics", connection=local.c)
            if status not in (201, 204):
                raise SystemExit(f"{self.name} answers a PUT with {status}: {text[:300]}")

        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
            return seconds_of(lambda: list(pool.map(one, range(first, first + count))))

    def whole(self, method, body, count, depth=None):
        """Seconds for an answer with `count` members."""
        begun = time.monotonic()
        status, text = self.ask(method, body, depth=depth)
        took = time.monotonic() - begun
        members = len(re.findall(rb"load-\d+\.ics</", text))
        if status != 207 or members != count:
            raise SystemExit(f"{self.name} answers {method} with {status} and {members} of {count} members")
        return took, text

    def token(self):
        _, text = self.ask("REPORT", sync_body(""), depth="0")
        found = re.findall(rb"sync-token[^>]*>([^<]+)<", text)
        return found[-1].decode() if found else None


def radicale(folder):
    if not shutil.which("radicale"):
        return None
    port, storage = free_port(), folder / "radicale"
    storage.mkdir()
    (folder / "radicale.conf").write_text(f"""[server]
hosts = 127.0.0.1:{port}
max_connections = 64
[auth]
type = none
[rights]
type = authenticated
[storage]
filesystem_folder = {storage}
[logging]
level = error
""")
    peer = Peer(["radicale", "--config", str(folder / "radicale.conf")], port)
    return peer, Target("radicale", port, "/bench/load/", "bench:x", peer.pids)


def xandikos(folder):
    if not shutil.which("xandikos"):
        return None
    port = free_port()
    peer = Peer(["xandikos", "-d", str(folder / "xandikos"), "--defaults", "-l", "127.0.0.1", "-p", str(port)], port)
    return peer, Target("xandikos", port, "/user/calendars/calendar/", "user:x", peer.pids)


def row(what, ours, peer="", ratio=""):
    print(f"{what:<58} {ours:>24} {peer:>30} {ratio:>8}", flush=True)


def compare(targets, count, rounds):
    """One line for each measure and peer; `targets[0]` is Welkin. Rounds are interleaved."""
    put = {t.name: t.put_all(count) for t in targets}
    times = {}
    tokens = {t.name: t.token() for t in targets}
    for _ in range(rounds):
        for t in targets:
            times.setdefault((t.name, "REPORT with data"), []).append(t.whole("REPORT", QUERY, count, "1")[0])
            times.setdefault((t.name, "sync from nothing"), []).append(t.whole("REPORT", sync_body(""), count, "0")[0])
            if tokens[t.name]:
                took, _ = t.whole("REPORT", sync_body(tokens[t.name]), 0, "0")
                times.setdefault((t.name, "sync, nothing new"), []).append(took)
    mine = targets[0].name
    for peer in targets[1:]:
        row(f"PUT of {count} events, {CONNECTIONS} connections", f"{count / put[mine]:.0f}/s", f"{peer.name} {count / put[peer.name]:.0f}/s",
            f"{put[peer.name] / put[mine]:.1f}")
        for what in ("REPORT with data", "sync from nothing", "sync, nothing new"):
            ours, theirs = (statistics.median(times.get((n, what), [float("nan")])) for n in (mine, peer.name))
            row(f"{what}, {count} events", f"{ours * 1000:.1f} ms", f"{peer.name} {theirs * 1000:.1f} ms", f"{theirs / ours:.1f}")


def poll_against_listing(target, count):
    c = http.client.HTTPConnection("127.0.0.1", target.port, timeout=60)
    polls = [seconds_of(lambda: target.ask("PROPFIND", POLL, depth="0", connection=c)) for _ in range(200)]
    listings = [target.whole("PROPFIND", LISTING, count, "1")[0] for _ in range(5)]
    poll, listing = statistics.median(polls), statistics.median(listings)
    row(f"poll with an up-to-date ctag, {count} events", f"{poll * 1000:.2f} ms", f"listing {listing * 1000:.1f} ms", f"{listing / poll:.0f}")


def drain(port, request):
    """Bytes of one answer, read as fast as they come and thrown away."""
    total = 0
    with socket.create_connection(("127.0.0.1", port), timeout=600) as s:
        s.sendall(request)
        while piece := s.recv(1 << 16):
            total += len(piece)
    return total


def many_at_once(target, count, parallel):
    body = QUERY.encode()
    head = (f"REPORT {target.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {target.headers['Authorization']}\r\nDepth: 1\r\n"
            f"Content-Type: application/xml\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n").encode()
    target.whole("REPORT", QUERY, count, "1")
    before = sum(peak_kib(p, True) for p in target.pids())
    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        begun = time.monotonic()
        sizes = list(pool.map(lambda _: drain(target.port, head + body), range(parallel)))
        took = time.monotonic() - begun
    grown = sum(peak_kib(p) for p in target.pids()) - before
    if max(sizes) - min(sizes) > 4096 or min(sizes) < count * 500:
        raise SystemExit(f"answers of {min(sizes)} to {max(sizes)} bytes")
    row(f"{parallel} REPORTs of {count} events at once", f"+{grown / 1024:.1f} MiB", f"{sum(sizes) / took / 1e6:.0f} MB/s, {took:.1f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", type=int, default=12_000)
    parser.add_argument("--parallel", type=int, default=256)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="welkin-groupware-"))
    folder.chmod(0o755)
    welkin = Welkin(os.path.abspath(arguments.binary), folder / "data")
    started = [welkin]
    try:
        welkin.start()
        wait_for(welkin.port, "/ready")
        welkin.user("bench")
        login = f"bench:{PASSWORD}"
        targets = [Target("welkin", welkin.port, "/dav/calendars/bench/personal/", login, lambda: [welkin.process.pid])]
        for made in (radicale(folder), xandikos(folder)):
            if made:
                started.append(made[0])
                targets.append(made[1])
                wait_for(made[1].port)
        for target in targets:
            if target.name == "radicale":
                target.ask("MKCALENDAR", "")
        compare(targets, arguments.events, arguments.rounds)
        if arguments.large:
            large = Target("welkin", welkin.port, "/dav/calendars/bench/large/", login, targets[0].pids)
            large.ask("MKCALENDAR", "")
            took = large.put_all(arguments.large)
            row(f"PUT of {arguments.large} events, {CONNECTIONS} connections", f"{arguments.large / took:.0f}/s")
            poll_against_listing(large, arguments.large)
            many_at_once(large, arguments.large, arguments.parallel)
    finally:
        for one in reversed(started):
            one.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
