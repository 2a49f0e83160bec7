#!/usr/bin/env python3
"""Eight uploads at once, and what memory they add: 128 MiB each, 2 GiB each with --full.

Starts the release server with data of its own, sends eight different bodies of random bytes by PUT on eight connections,
and reads the server's highest resident size since before. The SHA-256 of what was stored must be that of what was sent.
Aim: less than 100 MiB added. Prints the rate beside that of one upload alone.

usage: uploads.py WELKIN_BINARY [--full]
"""
import argparse
import hashlib
import http.client
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

from figures import Welkin, sign_in, wait_for
from propfind import peak_kib

UPLOADS, AIM_MIB = 8, 100
BLOCK = 1 << 20


class Body:
    """`mib` MiB of random bytes, other ones for each seed, made as they are read: nothing is held."""

    def __init__(self, seed, mib):
        self.random, self.left, self.digest = random.Random(seed), mib, hashlib.sha256()

    def read(self, _size=-1):
        if self.left == 0:
            return b""
        self.left -= 1
        block = self.random.randbytes(BLOCK)
        self.digest.update(block)
        return block


def send(port, token, folder, name, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600, blocksize=BLOCK)
    connection.request("PUT", f"/api/folders/{folder}/children/{name}", body,
                       {"Authorization": f"Bearer {token}", "Content-Length": str(body.left * BLOCK)})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 201:
        raise SystemExit(f"the upload was answered {answer.status}: {text[:200]}")
    if json.loads(text)["content_hash"] != body.digest.hexdigest():
        raise SystemExit("another body was stored than was sent")


def upload(port, token, home, first, count, mib):
    """Seconds until `count` parallel uploads are stored."""
    failed = []

    def one(i):
        try:
            send(port, token, home, f"body-{i}", Body(i, mib))
        except (SystemExit, OSError, http.client.HTTPException, ValueError, KeyError) as e:
            failed.append(e)

    threads = [threading.Thread(target=one, args=(first + i,)) for i in range(count)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise SystemExit(f"{len(failed)} uploads failed: {failed[0]}")
    return time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    mib = 2048 if arguments.full else 128
    folder = pathlib.Path(tempfile.mkdtemp(prefix="welkin-uploads-"))
    folder.chmod(0o755)
    welkin = Welkin(os.path.abspath(arguments.binary), folder / "data")
    try:
        welkin.start()
        wait_for(welkin.port, "/ready")
        welkin.user("bench")
        token, home = sign_in(welkin.port)
        alone = upload(welkin.port, token, home, 0, 1, min(mib, 128))
        time.sleep(1)
        before = peak_kib(welkin.process.pid, True)
        seconds = upload(welkin.port, token, home, 1, UPLOADS, mib)
        added = (peak_kib(welkin.process.pid) - before) / 1024
    finally:
        welkin.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{UPLOADS} uploads of {mib} MiB: {added:.1f} MiB added (aim < {AIM_MIB}), {UPLOADS * mib / seconds:.0f} MiB/s; "
          f"one alone {min(mib, 128) / alone:.0f} MiB/s")
    return 0 if added < AIM_MIB else 1


if __name__ == "__main__":
    sys.exit(main())
