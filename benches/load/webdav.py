#!/usr/bin/env python3
"""Bodies over WebDAV, as ratios against Debian's Apache (mod_dav), nginx and rclone in the same run: many small PUTs over 8
connections, one large GET, locks.

Welkin answers a PUT when its bytes are on the disk; the peers answer when they are in the page cache. So beside the ratio
stand what a durable file costs on this disk at all (written, synced, its folder synced, by as many threads) and how often
Welkin's database has flushed. Ends everything it has started. Bounded: about two minutes.

usage: webdav.py WELKIN_BINARY [--files N] [--gib SIZE] [--locks N]
"""
import argparse
import concurrent.futures
import glob
import http.client
import base64
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from figures import PASSWORD, Welkin, curl_seconds, seconds_of, wait_for
from propfind import start_peers

CONNECTIONS = 8
LOGIN = ["-u", f"bench:{PASSWORD}"]
LOCK = ('<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>'
        "<owner>me</owner></lockinfo>")


def put_many(url, count, folder, *login):
    """Seconds for `count` files of 1 KiB over a few connections that are kept. Fails on the first that is refused."""
    body = folder / "small"
    body.write_bytes(os.urandom(1024))
    config = folder / "curl.conf"
    config.write_text("".join(f'url = "{url}file-{i:06}.bin"\nupload-file = "{body}"\noutput = /dev/null\n' for i in range(count)))
    command = ["curl", "-sS", "-f", "--fail-early", *login, "-Z", "--parallel-max", str(CONNECTIONS), "-K", config]
    return seconds_of(lambda: subprocess.run(command, check=True, stderr=subprocess.DEVNULL))


def durable_files(folder, count):
    """Seconds for as many files by as many threads, each written, synced and its folder synced."""
    content = os.urandom(1024)
    top = os.open(folder, os.O_RDONLY)

    def one(i):
        file = os.open(folder / f"f{i}", os.O_CREAT | os.O_WRONLY)
        os.write(file, content)
        os.fsync(file)
        os.close(file)
        os.fsync(top)

    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        took = seconds_of(lambda: list(pool.map(one, range(count))))
    os.close(top)
    return took


def flushes(welkin):
    """How often the private database has synced its log; None where it cannot be asked."""
    sockets = glob.glob(f"{welkin.directory}/**/.s.PGSQL.*", recursive=True) + glob.glob("/tmp/welkin*/.s.PGSQL.*") + glob.glob(
        "/run/welkin*/**/.s.PGSQL.*", recursive=True)
    sockets = [s for s in sockets if not s.endswith(".lock")]
    if not sockets:
        return None
    owner = pathlib.Path(sockets[0]).owner()
    query = ["/usr/lib/postgresql/15/bin/psql", "-h", os.path.dirname(sockets[0]), "-p", sockets[0].rsplit(".", 1)[1], "-At", "-d",
             "postgres", "-c", "select wal_sync from pg_stat_wal"]
    done = subprocess.run(["runuser", "-u", owner, "--", *query] if os.geteuid() == 0 else query, capture_output=True, text=True,
                          check=False, cwd="/")
    return int(done.stdout) if done.returncode == 0 else None


def lock_pairs(port, path, pairs, headers):
    """LOCK and UNLOCK of a file of their own by each connection: pairs a second of all together, and how many failed."""
    refused = []

    def one(i):
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        target = f"{path}file-{i:06}.bin"
        for _ in range(pairs):
            c.request("LOCK", target, LOCK, {**headers, "Depth": "0", "Content-Type": "application/xml"})
            taken = c.getresponse()
            taken.read()
            c.request("UNLOCK", target, headers={**headers, "Lock-Token": taken.getheader("Lock-Token", "")})
            ended = c.getresponse()
            ended.read()
            if (taken.status, ended.status) != (200, 204):
                refused.append((taken.status, ended.status))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(CONNECTIONS)]
    begun = time.monotonic()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return (CONNECTIONS * pairs - len(refused)) / (time.monotonic() - begun), len(refused)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--gib", type=float, default=1.0)
    parser.add_argument("--locks", type=int, default=100)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="welkin-webdav-"))
    folder.chmod(0o755)
    root = folder / "root"
    for name in ("w", "durable"):
        (root / name).mkdir(parents=True)
    for name in ("", "w"):
        (root / name).chmod(0o777)  # Apache writes as a user of its own
    big, size = root / "big.bin", int(arguments.gib * (1 << 30))
    with open(big, "wb") as out:  # before the peers start: one of them remembers what it saw
        for _ in range(size >> 20):
            out.write(os.urandom(1 << 20))
    big.chmod(0o644)
    welkin = Welkin(arguments.binary, folder / "data")
    started = [welkin]

    def row(what, ours, peer, ratio):
        print(f"{what:<48} {ours:>26} {peer:>30} {ratio:>8}", flush=True)

    try:
        welkin.start()
        wait_for(welkin.port, "/ready")
        welkin.user("bench")
        top = f"http://127.0.0.1:{welkin.port}/webdav/"
        subprocess.run(["curl", "-sS", "-f", *LOGIN, "-X", "MKCOL", top + "w"], check=True)
        peers = start_peers(folder, root, started)
        if arguments.files:
            before = flushes(welkin)
            mine = put_many(top + "w/", arguments.files, folder, *LOGIN)
            after = flushes(welkin)
            durable = durable_files(root / "durable", arguments.files)
            said = f"{mine:.2f} s" + (f", {after - before} flushes" if before is not None and after is not None else "")
            for name in ("apache", "rclone"):
                if name in peers:
                    theirs = put_many(f"http://127.0.0.1:{peers[name].port}/w/", arguments.files, folder)
                    row(f"PUT of {arguments.files} files of 1 KiB, 8 connections", said, f"{name}, not synced {theirs:.2f} s",
                        f"{theirs / mine:.2f}")
            row("the same against durable files of their own", said, f"write, fsync, folder {durable:.2f} s", f"{durable / mine:.2f}")

        if arguments.locks and arguments.files >= CONNECTIONS:
            basic = {"Authorization": "Basic " + base64.b64encode(f"bench:{PASSWORD}".encode()).decode()}
            ours, refused = lock_pairs(welkin.port, "/webdav/w/", arguments.locks, basic)
            if refused:
                raise SystemExit(f"{refused} pairs of LOCK and UNLOCK were refused")
            if "apache" in peers:
                theirs, refused = lock_pairs(peers["apache"].port, "/w/", arguments.locks, {})
                row("LOCK and UNLOCK, 8 connections", f"{ours:.0f} pairs/s",
                    f"apache {theirs:.0f} pairs/s, {refused} refused", f"{ours / theirs:.2f}")

        if arguments.gib:
            subprocess.run(["curl", "-sS", "-f", *LOGIN, "-H", "Expect:", "-T", big, "-o", "/dev/null", top + "big.bin"], check=True)
            same = subprocess.run(f"curl -sS -f -u 'bench:{PASSWORD}' {top}big.bin | cmp - {big}", shell=True, check=False).returncode
            if same != 0:
                raise SystemExit("what came back is not what was sent")
            best = {}
            for _ in range(4):  # interleaved, so that all see the same neighbours
                for name, peer in peers.items():
                    took = curl_seconds(f"http://127.0.0.1:{peer.port}/big.bin")
                    best[name] = min(best.get(name, took), took)
                took = curl_seconds(*LOGIN, top + "big.bin")
                best["welkin"] = min(best.get("welkin", took), took)
            for name in peers:
                row(f"GET of {arguments.gib:g} GiB", f"{size / best['welkin'] / 1e9:.2f} GB/s",
                    f"{name} {size / best[name] / 1e9:.2f} GB/s", f"{best[name] / best['welkin']:.2f}")
    finally:
        for one in reversed(started):
            one.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
