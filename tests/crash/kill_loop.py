"""kill -9 of the server, again and again, while writers change what they have; an oracle knows what must be back.

Each writer has a folder of its own, changes it with one request after the other, and keeps it as a world: path -> digest
of the file there (FOLDER for folders). A success makes the next world the only one; no answer, and a 503,
leave both: it happened wholly or not at all. After each restart the tree below each writer's folder must be one of
its possible worlds, byte for byte: a move that left a file in both places, or in none, is seen. What a writer has deleted
lies in the trash until he restores or purges it; the trash must hold exactly that.
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
FOLDER = "folder"
SUBFOLDERS = 3


def digest(body):
    return hashlib.sha256(body).hexdigest()


def below(path, top):
    return path == top or path.startswith(top + "/")


class World:
    """What a writer's folder holds, and by which ids and etags its parts are asked for."""

    def __init__(self):
        self.entries = {}   # "a/f3" -> digest or FOLDER
        self.ids = {}       # "" is the writer's folder itself
        self.etags = {}
        self.trash = {}     # id -> (the parent's id, its name, entries and ids from there on)

    def copy(self):
        other = World()
        other.entries, other.ids, other.etags = dict(self.entries), dict(self.ids), dict(self.etags)
        other.trash = dict(self.trash)
        return other

    def equals(self, other):
        return self.entries == other.entries and self.trash.keys() == other.trash.keys()

    def move(self, source, target):
        for table in (self.entries, self.ids, self.etags):
            for path in [p for p in table if below(p, source)]:
                table[target + path[len(source):]] = table.pop(path)

    def remove(self, top):
        for table in (self.entries, self.ids, self.etags):
            for path in [p for p in table if below(p, top)]:
                del table[path]

    def to_trash(self, top):
        parent = self.ids[top[:max(top.rfind("/"), 0)]]
        inside = {p[len(top):]: (what, self.ids.get(p)) for p, what in self.entries.items() if below(p, top)}
        self.trash[self.ids[top]] = (parent, top[top.rfind("/") + 1:], inside)
        self.remove(top)

    def place_of(self, trashed):
        """Where it would come back to; None when its folder is gone or the name taken."""
        parent, name, _ = self.trash[trashed]
        folders = [p for p, id_ in self.ids.items() if id_ == parent]
        place = folders and (folders[0] + "/" if folders[0] else "") + name
        return place if folders and place not in self.entries else None

    def from_trash(self, trashed, place):
        for suffix, (what, id_) in self.trash.pop(trashed)[2].items():
            self.entries[place + suffix] = what
            if id_:
                self.ids[place + suffix] = id_

    def duplicate(self, source, target):
        for path in [p for p in self.entries if below(p, source)]:
            self.entries[target + path[len(source):]] = self.entries[path]

    def files(self):
        return [p for p, what in self.entries.items() if what != FOLDER and p in self.ids]

    def folders(self):
        return [p for p, what in self.entries.items() if what == FOLDER and p in self.ids]


class Writer(threading.Thread):
    """Changes one folder until the connection breaks or somebody says stop."""

    # what -> how often
    MIX = {"put": 40, "overwrite": 15, "rename_file": 8, "move_file": 8, "delete_file": 8, "make_folder": 6,
           "rename_folder": 4, "move_folder": 4, "delete_folder": 2, "copy_file": 5, "copy_folder": 2, "restore": 6, "purge": 3,
           "batch_move": 3, "batch_delete": 2}

    def __init__(self, number, loop, seed):
        super().__init__(daemon=True)
        self.number, self.loop = number, loop
        self.random = random.Random(seed)
        self.faults = []

    @property
    def world(self):
        return self.loop.worlds[self.number][0]

    def body(self):
        return os.urandom(int(2 ** self.random.uniform(0, BYTES_MAX.bit_length() - 1)))

    def run(self):
        try:
            self.work()
        except (OSError, http.client.HTTPException):
            pass  # the server is gone, as intended

    def work(self):
        self.connection = self.loop.welkin.connection(timeout=60)
        names, weights = zip(*self.MIX.items())
        while not self.loop.stopping.is_set():
            what = self.random.choices(names, weights)[0]
            if getattr(self, what)() is False:
                self.put()  # nothing there to do it to

    def ask(self, what, method, path, body, after, **headers):
        """One request. `after(answer)` makes the world that a success leads to; with None, the one that a lost answer may
        have led to."""
        worlds = self.loop.worlds[self.number]
        with self.loop.gate:  # nothing begins after the moment that counts
            if self.loop.stopping.is_set():
                return
            worlds[1:] = [after(None)]
        answer = ask_on(self.connection, method, path, body, token=self.loop.token, **headers)
        with self.loop.gate:  # and no answer counts that came after it
            if self.loop.frozen:
                return
            self.loop.count(what, answer.status, len(body) if isinstance(body, bytes) else 0)
            if 200 <= answer.status < 300 and answer.status != 206:
                worlds[:] = [after(answer)]
                return True
            if answer.status == 503:
                # The database went before, in or after the commit: both worlds stay possible, this writer's work is done.
                raise OSError("nobody knows")
            del worlds[1:]
        self.faults.append(f"writer {self.number}: {what} {path}: {answer.status} {answer.body[:200]}")
        self.loop.stopping.set()

    def pick(self, paths):
        return self.random.choice(sorted(paths)) if paths else None

    def free_place(self, folders=None):
        """(folder, name, path) of a name that is not taken."""
        folder = self.pick([""] + self.world.folders() if folders is None else folders)
        name = f"n{self.random.randrange(10 ** 9)}"
        return folder, name, (folder + "/" if folder else "") + name

    def put(self):
        folder, name, path = self.free_place()
        body = self.body()
        world = self.world

        def after(answer):
            next_world = world.copy()
            next_world.entries[path] = digest(body)
            if answer:
                next_world.ids[path], next_world.etags[path] = answer.json()["id"], answer.headers["ETag"]
            return next_world
        self.ask("put", "PUT", f"/api/folders/{world.ids[folder]}/children/{name}", body, after, If_None_Match="*")

    def overwrite(self):
        path = self.pick(self.world.files())
        if not path:
            return False
        body, world = self.body(), self.world

        def after(answer):
            next_world = world.copy()
            next_world.entries[path] = digest(body)
            if answer:
                next_world.etags[path] = answer.headers["ETag"]
            return next_world
        match = {"If_Match": world.etags[path]} if path in world.etags else {}
        self.ask("overwrite", "PUT", f"/api/files/{world.ids[path]}/content", body, after, **match)

    def relocate(self, what, path, to, url, body):
        world = self.world

        def after(answer):
            next_world = world.copy()
            next_world.move(path, to)
            if answer and to in next_world.etags:
                next_world.etags[to] = answer.headers["ETag"] or f'"{answer.json()["etag"]}"'
            return next_world
        self.ask(what, "PUT", url, body, after)

    def rename(self, kind, path):
        if not path:
            return False
        name = f"r{self.random.randrange(10 ** 9)}"
        to = path[:path.rfind("/") + 1] + name
        return self.relocate(f"rename_{kind}", path, to, f"/api/{kind}s/{self.world.ids[path]}/rename", {"name": name})

    def free_folders(self, path):
        """Folders that could take `path` in under its name: not itself, and no copy of it lies there."""
        name = path[path.rfind("/") + 1:]
        return [f for f in [""] + self.world.folders()
                if not below(f, path) and (f + "/" if f else "") + name not in self.world.entries]

    def move(self, kind, path):
        there = path and self.free_folders(path)
        if not there:
            return False
        folder = self.pick(there)
        to = (folder + "/" if folder else "") + path[path.rfind("/") + 1:]
        field = "folder_id" if kind == "file" else "parent_id"
        return self.relocate(f"move_{kind}", path, to, f"/api/{kind}s/{self.world.ids[path]}/move",
                             {field: self.world.ids[folder]})

    def delete(self, kind, path):
        if not path:
            return False
        world = self.world

        def after(_):
            next_world = world.copy()
            next_world.to_trash(path)
            return next_world
        self.ask(f"delete_{kind}", "DELETE", f"/api/{kind}s/{world.ids[path]}", None, after)

    def change(self, what, method, url, body, alter, refresh=False):
        """A request whose success alters the world as `alter` does. With `refresh`, what came into being is asked for its id."""
        world = self.world

        def after(_):
            next_world = world.copy()
            alter(next_world)
            return next_world
        if self.ask(what, method, url, body, after) and refresh:
            seen = self.loop.look(self.connection, self.number, everything=False, patient=False)
            with self.loop.gate:
                if not self.loop.frozen and seen.entries == self.world.entries:
                    self.world.ids, self.world.etags = seen.ids, seen.etags

    def copy_to(self, kind, path):
        free = path and self.free_folders(path)
        if not free:
            return False
        folder = self.pick(free)
        to = (folder + "/" if folder else "") + path[path.rfind("/") + 1:]
        return self.change(f"copy_{kind}", "POST", f"/api/batch/{kind}s/copy",
                           {f"{kind}_ids": [self.world.ids[path]], "target_folder_id": self.world.ids[folder]},
                           lambda world: world.duplicate(path, to), refresh=True)

    def copy_file(self):
        return self.copy_to("file", self.pick(self.world.files()))

    def copy_folder(self):
        few = [f for f in self.world.folders() if len([p for p in self.world.entries if below(p, f)]) < 8]
        return self.copy_to("folder", self.pick(few)) if len(self.world.folders()) < 3 * SUBFOLDERS else False

    def restore(self):
        trashed = self.pick([t for t in self.world.trash if self.world.place_of(t)])
        if not trashed:
            return False
        place = self.world.place_of(trashed)
        return self.change("restore", "POST", f"/api/trash/{trashed}/restore", {}, lambda w: w.from_trash(trashed, place))

    def purge(self):
        trashed = self.pick(self.world.trash)
        if not trashed:
            return False
        return self.change("purge", "DELETE", f"/api/trash/{trashed}", None, lambda world: world.trash.pop(trashed))

    def some_files(self):
        files = self.world.files()
        return self.random.sample(sorted(files), min(3, len(files))) if len(files) > 1 else []

    def batch_move(self):
        """Several files into one folder: all of them or none."""
        paths, folder = self.some_files(), self.pick(self.world.folders())
        paths = [p for p in paths if folder and p[:max(p.rfind("/"), 0)] != folder]
        targets = [folder + p[p.rfind("/"):] if "/" in p else f"{folder}/{p}" for p in paths]
        if not paths or len(set(targets)) < len(targets) or any(t in self.world.entries for t in targets):
            return False

        def alter(world):
            for path, to in zip(paths, targets):
                world.move(path, to)
                world.etags.pop(to, None)
        return self.change("batch_move", "POST", "/api/batch/files/move",
                           {"file_ids": [self.world.ids[p] for p in paths], "target_folder_id": self.world.ids[folder]}, alter)

    def batch_delete(self):
        paths = self.some_files()
        if not paths:
            return False
        return self.change("batch_delete", "POST", "/api/batch/files/delete", {"file_ids": [self.world.ids[p] for p in paths]},
                           lambda world: [world.to_trash(p) for p in paths])

    def rename_file(self):
        return self.rename("file", self.pick(self.world.files()))

    def move_file(self):
        return self.move("file", self.pick(self.world.files()))

    def delete_file(self):
        return self.delete("file", self.pick(self.world.files()))

    def rename_folder(self):
        return self.rename("folder", self.pick(self.world.folders()))

    def move_folder(self):
        return self.move("folder", self.pick(self.world.folders()))

    def delete_folder(self):
        return self.delete("folder", self.pick(self.world.folders()))

    def make_folder(self):
        if len(self.world.folders()) >= SUBFOLDERS:
            return False
        folder, name, path = self.free_place([""] + [f for f in self.world.folders() if f.count("/") < 3])
        world = self.world

        def after(answer):
            next_world = world.copy()
            next_world.entries[path] = FOLDER
            if answer:
                next_world.ids[path] = answer.json()["id"]
            return next_world
        return self.ask("make_folder", "POST", "/api/folders", {"name": name, "parent_id": world.ids[folder]}, after)


class KillLoop:
    writer = Writer

    def __init__(self, welkin, writers=8, seed=1):
        self.welkin, self.writers = welkin, writers
        self.random = random.Random(seed)
        self.stopping = threading.Event()
        self.gate = threading.Lock()
        self.frozen = False
        self.strangers = set()  # in the trash, and told already
        self.worlds = [[World()] for _ in range(writers)]
        self.token = self.home = None
        self.ready_seconds = []
        self.acknowledged, self.bytes, self.done = 0, 0, {}

    def count(self, what, status, size):
        if 200 <= status < 300:
            self.acknowledged += 1
            self.bytes += size
            self.done[what] = self.done.get(what, 0) + 1

    def freeze(self):
        """The moment that counts: from now on nothing is asked, and no answer is taken for one."""
        with self.gate:
            self.frozen = True
            self.stopping.set()

    def begin(self):
        made = self.welkin.user_add("ada")
        if made.returncode != 0:
            raise RuntimeError(made.stderr)
        self.welkin.start()
        self.token = self.welkin.login("ada")
        self.home = self.welkin.home(self.token)
        for number in range(self.writers):
            answer = self.welkin.ask("POST", "/api/folders", {"name": f"w{number}", "parent_id": self.home}, token=self.token)
            self.worlds[number][0].ids[""] = answer.json()["id"]

    def load(self, seconds, end):
        """Writers at work for so long; then `end()`. @return what they found wrong"""
        self.stopping.clear()
        self.frozen = False
        writers = [self.writer(n, self, self.random.random()) for n in range(self.writers)]
        for w in writers:
            w.start()
        time.sleep(seconds)
        end()
        self.stopping.set()
        for w in writers:
            w.join(60)
        return [fault for w in writers for fault in w.faults]

    def load_and_kill(self, seconds):
        return self.load(seconds, lambda: self.welkin.stop(signal.SIGKILL))

    def restart(self):
        started = time.monotonic()
        self.welkin.start()
        if not self.welkin.wait_ready():
            raise RuntimeError("not ready again: " + self.welkin.log()[-4000:])
        self.ready_seconds.append(time.monotonic() - started)

    # -- looking
    def get(self, connection, path, patient=True):
        """Who only looks asks again while the database is away; a writer's work is done then."""
        for _ in range(600):
            answer = ask_on(connection, "GET", path, token=self.token)
            if answer.status != 503:
                return answer
            if not patient:
                raise OSError("the database is away")
            time.sleep(0.1)
        return answer

    def listing(self, connection, folder, patient):
        answer = self.get(connection, f"/api/folders/{folder}/listing", patient)
        if answer.status != 200:
            raise RuntimeError(f"listing: {answer.status} {answer.body[:300]}")
        return json.loads(answer.body)

    def read(self, connection, file, patient):
        """The digest of a file's bytes; what went wrong instead, as text that is no digest."""
        try:
            answer = self.get(connection, f"/api/files/{file['id']}", patient)
        except (OSError, http.client.HTTPException) as e:
            if not patient:
                raise
            connection.close()
            return f"cut off: {e!r}", None
        if answer.status != 200:
            return f"{answer.status} {answer.body[:200]}", None
        if len(answer.body) != file["size"]:
            return f"{len(answer.body)} bytes, the listing says {file['size']}", None
        return digest(answer.body), answer.headers["ETag"]

    def look(self, connection, number, everything, patient=True):
        """The world as the server shows it. Without `everything` only files whose bytes may have changed are read; of others
        it is enough that they are there."""
        seen = World()
        possible = self.worlds[number]
        seen.ids[""], seen.trash = possible[0].ids[""], dict(possible[0].trash)
        waiting = [""]
        while waiting:
            path = waiting.pop()
            listing = self.listing(connection, seen.ids[path], patient)
            for folder in listing["folders"]:
                inner = (path + "/" if path else "") + folder["name"]
                seen.entries[inner], seen.ids[inner] = FOLDER, folder["id"]
                waiting.append(inner)
            for file in listing["files"]:
                inner = (path + "/" if path else "") + file["name"]
                seen.ids[inner] = file["id"]
                known = {world.entries.get(inner) for world in possible}
                etags = {world.etags.get(inner) for world in possible}
                if everything or len(known) > 1 or None in known or None in etags:
                    seen.entries[inner], seen.etags[inner] = self.read(connection, file, patient)
                else:
                    seen.entries[inner], seen.etags[inner] = known.pop(), etags.pop()
        return seen

    def verify(self, everything):
        """Compares what is there with what may be. @return faults; afterwards each writer has one world"""
        faults = []
        connection = self.welkin.connection(timeout=60)
        trash = self.get(connection, "/api/trash")
        if trash.status != 200:
            raise RuntimeError(f"trash: {trash.status} {trash.body[:300]}")
        trashed = {item["id"] for item in trash.json()}
        unexplained = trashed - self.strangers
        for number, possible in enumerate(self.worlds):
            seen = self.look(connection, number, everything)
            mine = {id_: item for world in possible for id_, item in world.trash.items() if id_ in trashed}
            seen.trash = mine
            unexplained -= mine.keys()
            if not any(seen.equals(world) for world in possible):
                faults.append(f"writer {number}: " + " / ".join(difference(seen, world) for world in possible))
            self.worlds[number][:] = [seen]
        if unexplained:
            faults.append(f"in the trash, and nobody put it there: {sorted(unexplained)}")
            self.strangers |= unexplained
        connection.close()
        return faults


def difference(seen, world):
    out = []
    for path in sorted(seen.entries.keys() | world.entries.keys()):
        is_there, should = seen.entries.get(path), world.entries.get(path)
        if is_there != should:
            out.append(f"{path} is {is_there}, should be {should}")
    for id_ in seen.trash.keys() ^ world.trash.keys():
        out.append(f"{id_} is {'' if id_ in seen.trash else 'not '}in the trash")
    return "; ".join(out)
