"""kill -9 of the server, again and again, while writers upload; an oracle knows which bytes must be back.

For each path the oracle keeps the set of states it may be in: before a request leaves, what it asks for joins the set; a
success answer shrinks the set to that; an error or no answer leaves both (it happened completely or not at all). After
each restart every path must show one member of its set, byte for byte, and no name may exist that nobody asked for.
"""
import hashlib
import http.client
import json
import os
import random
import signal
import threading
import time

from server import ask_on

BYTES_MAX = 4 << 20
ABSENT = None


def digest(body):
    return hashlib.sha256(body).hexdigest()


class Oracle:
    def __init__(self):
        self.lock = threading.Lock()
        self.states = {}    # name -> set of digests, ABSENT among them when it may be missing
        self.touched = set()
        self.acknowledged = 0
        self.bytes = 0

    def asked(self, name, wanted):
        with self.lock:
            self.states.setdefault(name, {ABSENT}).add(wanted)
            self.touched.add(name)

    def answered(self, name, wanted, size):
        with self.lock:
            self.states[name] = {wanted}
            self.acknowledged += 1
            self.bytes += size

    def refused(self, name, wanted, before):
        """A clear refusal: nothing happened."""
        with self.lock:
            if before != {wanted}:
                self.states[name].discard(wanted)


class Writer(threading.Thread):
    """Creates and overwrites files of its own, one after the other, until the connection breaks."""

    def __init__(self, number, loop, seed):
        super().__init__(daemon=True)
        self.number, self.loop = number, loop
        self.random = random.Random(seed)
        self.faults = []

    def body(self):
        size = int(2 ** self.random.uniform(0, BYTES_MAX.bit_length() - 1))
        return os.urandom(size)

    def run(self):
        try:
            self.write()
        except (OSError, http.client.HTTPException):
            pass  # the server is gone, as intended

    def write(self):
        loop = self.loop
        connection = loop.welkin.connection(timeout=60)
        while not loop.stopping.is_set():
            name = f"w{self.number}-{self.random.randrange(loop.names_per_writer)}"
            body = self.body()
            wanted = digest(body)
            etag = loop.etags.get(name)
            headers = {"If_Match": etag} if etag else {"If_None_Match": "*"}
            before = set(loop.oracle.states.get(name, {ABSENT}))
            loop.oracle.asked(name, wanted)
            loop.etags.pop(name, None)
            answer = ask_on(connection, "PUT", f"/api/folders/{loop.home}/children/{name}", body, token=loop.token, **headers)
            if answer.status in (200, 201):
                loop.oracle.answered(name, wanted, len(body))
                loop.etags[name] = answer.headers["ETag"]
                if (answer.status == 201) != (etag is None):
                    self.faults.append(f"{name}: answered {answer.status} to {headers}")
            elif answer.status in (412, 503):
                loop.oracle.refused(name, wanted, before)
                if answer.status == 412 and len(before) == 1:
                    self.faults.append(f"{name}: refused 412 although nobody else writes: {answer.body[:200]}")
            else:
                self.faults.append(f"{name}: {answer.status} {answer.body[:200]}")
                return


class KillLoop:
    def __init__(self, welkin, writers=8, names_per_writer=12, seed=1):
        self.welkin, self.writers, self.names_per_writer = welkin, writers, names_per_writer
        self.oracle = Oracle()
        self.etags = {}
        self.random = random.Random(seed)
        self.stopping = threading.Event()
        self.token = self.home = None
        self.ready_seconds = []

    def begin(self):
        made = self.welkin.user_add("ada")
        if made.returncode != 0:
            raise RuntimeError(made.stderr)
        self.welkin.start()
        self.token = self.welkin.login("ada")
        self.home = self.welkin.home(self.token)

    def load_and_kill(self, seconds):
        """@return what the writers found wrong"""
        self.stopping.clear()
        writers = [Writer(n, self, self.random.random()) for n in range(self.writers)]
        for w in writers:
            w.start()
        time.sleep(seconds)
        self.welkin.stop(signal.SIGKILL)
        self.stopping.set()
        for w in writers:
            w.join(60)
        return [fault for w in writers for fault in w.faults]

    def restart(self):
        started = time.monotonic()
        self.welkin.start()
        if not self.welkin.wait_ready():
            raise RuntimeError("not ready again: " + self.welkin.log()[-4000:])
        self.ready_seconds.append(time.monotonic() - started)

    def listing(self):
        answer = self.welkin.ask("GET", f"/api/folders/{self.home}/listing", token=self.token, timeout=60)
        if answer.status != 200:
            raise RuntimeError(f"listing: {answer.status} {answer.body[:300]}")
        return {f["name"]: f for f in json.loads(answer.body)["files"]}

    def read(self, connection, file):
        """The digest of a file's bytes; what went wrong instead, as text that is no digest."""
        try:
            answer = ask_on(connection, "GET", f"/api/files/{file['id']}", token=self.token)
        except (OSError, http.client.HTTPException) as e:
            connection.close()
            return f"cut off: {e!r}"
        if answer.status != 200:
            return f"{answer.status} {answer.body[:200]}"
        if len(answer.body) != file["size"]:
            return f"{len(answer.body)} bytes, the listing says {file['size']}"
        self.etags[file["name"]] = answer.headers["ETag"]
        return digest(answer.body)

    def verify(self, everything):
        """Compares what is there with what may be. @return faults; afterwards each path has one state"""
        faults = []
        there = self.listing()
        for name in there.keys() - self.oracle.states.keys():
            faults.append(f"{name}: nobody asked for it")
        names = set(self.oracle.states) if everything else set(self.oracle.touched)
        connection = self.welkin.connection(timeout=60)
        for name in sorted(names):
            allowed = self.oracle.states[name]
            seen = self.read(connection, there[name]) if name in there else ABSENT
            if seen not in allowed:
                faults.append(f"{name}: {'is missing' if seen is ABSENT else seen}, allowed: {len(allowed)} states")
            self.oracle.states[name] = {seen}
            if seen is ABSENT:
                self.etags.pop(name, None)
        connection.close()
        self.oracle.touched.clear()
        return faults
