#!/usr/bin/env python3
"""Folders of 10,000 and of 100,000 files listed to their end by GET /api/folders/{id}/resources, 200 rows a page.

Starts the release server beside a PostgreSQL of its own, puts the files in by the set, and reads both folders in turns.
Every file must come once. Prints milliseconds a page (median, and of the last tenth, whose cursors lie deepest) and how
much the server grew: pages by cursor cost the same wherever they are, and no listing is held. About twenty seconds.

usage: listing.py WELKIN_BINARY [--rounds N]
"""
import argparse
import http.client
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/support"))
import pg  # noqa: E402
from figures import Welkin, sign_in, wait_for  # noqa: E402
from propfind import peak_kib  # noqa: E402

SIZES = (10_000, 100_000)
GROW = """
with f as (select n.id, n.drive_id from nodes n where n.name = 'n{n}'),
c as (insert into contents (size, crc32, sha256, n_chunks) values (0, 0, sha256(''), 0) returning id)
insert into nodes (parent_id, content_id, size, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name)
select f.id, c.id, 0, 1, 1, 1, f.drive_id, f.drive_id, 1, 'IMG_' || i || '.jpg' from f, c, generate_series(1, {n}) i
"""


def make_folder(connection, headers, name, parent):
    connection.request("POST", "/api/folders", json.dumps({"name": name, "parent_id": parent}),
                       {**headers, "Content-Type": "application/json"})
    return json.loads(connection.getresponse().read())["id"]


def list_all(connection, headers, folder, count):
    """Milliseconds of every page."""
    times, names, cursor = [], set(), ""
    while True:
        begun = time.monotonic()
        connection.request("GET", f"/api/folders/{folder}/resources?limit=200{cursor}", headers=headers)
        body = connection.getresponse().read()
        times.append((time.monotonic() - begun) * 1000)
        page = json.loads(body)
        names.update(item["resource"]["name"] for item in page["items"])
        if "next_cursor" not in page:
            break
        cursor = "&cursor=" + page["next_cursor"]
    if len(names) != count or len(times) != (count + 199) // 200:
        raise SystemExit(f"{len(names)} of {count} names came on {len(times)} pages")
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="welkin-listing-"))
    folder.chmod(0o755)
    with pg.Cluster(durable=True) as cluster:
        cluster.sql("create database welkin")
        welkin = Welkin(os.path.abspath(arguments.binary), folder / "data")
        welkin.environment["WELKIN_DATABASE_URL"] = cluster.url_of("welkin")
        try:
            welkin.start()
            wait_for(welkin.port, "/ready")
            welkin.user("bench")
            token, home = sign_in(welkin.port)
            headers = {"Authorization": f"Bearer {token}"}
            connection = http.client.HTTPConnection("127.0.0.1", welkin.port, timeout=60)
            ids = {}
            for n in SIZES:
                ids[n] = make_folder(connection, headers, f"n{n}", home)
                cluster.sql(GROW.format(n=n), "welkin")
            cluster.sql("analyze", "welkin")
            list_all(connection, headers, ids[SIZES[0]], SIZES[0])
            times, grown = {n: [] for n in SIZES}, dict.fromkeys(SIZES, 0)
            for _ in range(arguments.rounds):
                for n in SIZES:
                    before = peak_kib(welkin.process.pid, True)
                    times[n].append(list_all(connection, headers, ids[n], n))
                    grown[n] = max(grown[n], peak_kib(welkin.process.pid) - before)
        finally:
            welkin.stop()
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{'children':>8} {'ms/page':>8} {'last tenth':>10} {'total ms':>9} {'grown MiB':>9}")
    for n in SIZES:
        pages = [t for one in times[n] for t in one]
        last = [t for one in times[n] for t in one[-max(1, len(one) // 10):]]
        total = statistics.median(sum(one) for one in times[n])
        print(f"{n:8} {statistics.median(pages):8.2f} {statistics.median(last):10.2f} {total:9.0f} {grown[n] / 1024:9.1f}")


if __name__ == "__main__":
    main()
