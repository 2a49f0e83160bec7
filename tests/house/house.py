"""The rules of the house: who may include whom, and what may stand where. `check(root)` returns the violations.

The table of modules is read from src/CMakeLists.txt, so there is one truth; floors follow from it.
"""
import os
import re
import subprocess
from dataclasses import dataclass

# Third-party headers and the rooms whose .cpp files may include them. Nobody else, and no public header.
FENCED = [
    (r"boost/asio/ssl|boost/asio/ssl\.hpp", {"http"}),
    (r"boost/beast", {"http"}),
    (r"boost/asio\.hpp|boost/asio/impl/src\.hpp|boost/asio/experimental", {"core", "http"}),
    (r"pqxx/|libpq-fe\.h|libpq/", {"db"}),
    (r"spdlog/", {"core"}),
    (r"openssl/", {"core", "http", "people", "blobs", "mail", "app"}),
    (r"argon2\.h", {"people"}),
    (r"toml\+\+/", {"app"}),
    (r"libxml/", {"wire"}),
    (r"unicode/", {"core", "calendars"}),
]
# What knowledge may take from wire: the two formats it stores. XML, JSON and the rest belong to protocols.
WIRE_FOR_KNOWLEDGE = re.compile(r"welkin/wire/(ical|vcard)(_[a-z]+)?\.hpp")
KNOWLEDGE = {"people", "files", "collections", "calendars", "contacts", "media"}
# Headers a door may take from outside the standard library.
DOOR_ALLOWED = re.compile(r"boost/asio/(awaitable|io_context)\.hpp|nlohmann/json_fwd\.hpp|fmt/core\.h")
STANDARD = re.compile(r"[a-z_0-9]+|sys/[a-z_]+\.h|(unistd|fcntl|errno|signal|poll|netdb|pwd|grp|syslog|dirent)\.h|"
                      r"(arpa|netinet|linux)/[a-z_0-9]+\.h")

HARD_LINES = {".cpp": 600, ".hpp": 350}
FORBIDDEN_CALLS = re.compile(r"(?<![\w.:>])(?:std::|::)?(system|popen|strcpy|strcat|sprintf|gets|tmpnam|mktemp)\s*\(")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
SQL = re.compile(r'"\s*(select\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s|create\s+table\s|'
                 r"truncate\s+\w)", re.IGNORECASE)
RAW_SQL = re.compile(r'R"(?:sql)?\(\s*(?:--[^\n]*\n\s*)*(select|insert|update|delete|with|create|alter|begin)\b', re.IGNORECASE)
STATEMENT = re.compile(r"\bconstexpr\s+(?:\w+::)*Stmt\s+k\w+\s*\{.*?\};", re.S)
# Files that build their SQL from pieces, with the reason why that is not in a *_store file.
SQL_BUILDERS = {"src/files/listing.cpp": "one statement per order of a listing, made from the same table that reads cursors"}
# Where a clone lies on somebody's machine; said in pieces, so that this file does not accuse itself.
MACHINE_PATHS = re.compile(r"(?<![\w.$}/])/(?:" + "|".join(["work", "home/[a-z]", "Us" + "ers", "ro" + "ot", "farm"]) + r")(?=[/\w])")


@dataclass(frozen=True)
class Violation:
    path: str
    line: int
    rule: str
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: [{self.rule}] {self.text}"


def module_table(root):
    """{module: set of modules it may include}, from the welkin_module lines of src/CMakeLists.txt."""
    with open(os.path.join(root, "src/CMakeLists.txt"), encoding="utf-8") as f:
        text = re.sub(r"#[^\n]*", "", f.read())
    table = {}
    for body in re.findall(r"welkin_module\(([^)]*)\)", text):
        words = body.split()
        depends, taking = set(), None
        for word in words[1:]:
            if word in ("DEPENDS", "LIBS"):
                taking = word
            elif taking == "DEPENDS":
                depends.add(word)
        table[words[0]] = depends
    return table


def tracked(root):
    """Files of the tree as git sees them, else as they lie there (planted trees of the self-test)."""
    if os.path.isdir(os.path.join(root, ".git")) or os.path.isfile(os.path.join(root, ".git")):
        out = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"],
                             capture_output=True, check=True).stdout.decode()
        names = [n for n in out.split("\0") if n]
    else:
        names = []
        for folder, below, files in os.walk(root):
            below[:] = [d for d in below if d not in ("build", "node_modules", ".svelte-kit", ".git", "__pycache__")]
            names += [os.path.relpath(os.path.join(folder, f), root) for f in files]
    return sorted(n for n in names if os.path.isfile(os.path.join(root, n)))


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as f:
        return f.read()


def without_comments(text, keep_literals=False):
    """C++ with comments and, unless asked, the insides of string literals blanked; line numbers kept."""
    out = []
    i = 0
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
    for m in pattern.finditer(text):
        if m.group().startswith("'") and m.start() and text[m.start() - 1].isalnum():
            continue  # a digit separator
        out.append(text[i:m.start()])
        piece = m.group()
        blank = "\n" * piece.count("\n")
        if piece[0] == "/":
            out.append(blank or " ")
        else:
            out.append(piece if keep_literals else '""' + blank)
        i = m.end()
    out.append(text[i:])
    return "".join(out)


def owner_of(name):
    """(kind, module): door | room | test | bench | other."""
    parts = name.split("/")
    if name.startswith("include/welkin/") and len(parts) >= 4:
        return "door", parts[2]
    if parts[0] == "src" and len(parts) >= 3:
        return "room", parts[1]
    if name == "src/main.cpp":
        return "room", "main"
    if parts[0] in ("tests", "benches") and len(parts) >= 3:
        return ("test" if parts[0] == "tests" else "bench"), parts[1]
    return "other", ""


def include_rule(table, kind, module, target, path_exists):
    """Why `target` (the text between the marks) may not be included here; None when it may."""
    if target.startswith("welkin/"):
        other = target.split("/")[1]
        if other not in table:
            return "unknown-door", f"{target} is in no module"
        if kind in ("test", "bench", "other") or module == "main" or other == module:
            return None
        if other not in table.get(module, set()):
            return "upward-or-sideways", f"{module} may not include {target}; it may include: " + (
                ", ".join(sorted(table.get(module, set()))) or "nothing")
        if other == "wire" and module in KNOWLEDGE and not WIRE_FOR_KNOWLEDGE.fullmatch(target):
            return "upward-or-sideways", f"{module} is knowledge and may take iCalendar and vCard from wire, not {target}"
        return None
    if not path_exists(target):
        return None
    other = target.split("/")[0] if "/" in target else module
    if kind == "door":
        return "private-in-door", f"a door may not include the private header {target}"
    if kind == "room" and other != module and not (module == "main" and other == "app"):
        return "private", f"{module} may not include {target}, a private header of {other}"
    if kind in ("test", "bench") and other != module and other in table and os.path.dirname(target) == other:
        return "private", f"suites of {module} may not include {target}, a private header of {other}"
    return None


def check_includes(root, names, table):
    private = {n[len("src/"):] for n in names if n.startswith("src/") and n.endswith(".hpp")}
    include = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
    for name in names:
        if not name.endswith((".cpp", ".hpp")):
            continue
        kind, module = owner_of(name)
        text = read(root, name)
        here = os.path.dirname(name[len("src/"):]) if name.startswith("src/") else ""
        for m in include.finditer(text):
            target = m.group(2)
            line = text.count("\n", 0, m.start()) + 1
            beside = os.path.normpath(os.path.join(here, target)) if m.group(1) == '"' else target
            resolved = beside if beside in private and target not in private else target
            fault = include_rule(table, kind, module, resolved, lambda t: t in private)
            if fault:
                yield Violation(name, line, *fault)
            for pattern, rooms in FENCED:
                if not re.match(pattern, target):
                    continue
                if kind == "door":
                    yield Violation(name, line, "fenced", f"a door may not include {target}")
                elif kind == "room" and module not in rooms:
                    yield Violation(name, line, "fenced", f"only {', '.join(sorted(rooms))} may include {target}")
            if kind == "door" and not target.startswith("welkin/") and target not in private:
                if not STANDARD.fullmatch(target) and not DOOR_ALLOWED.fullmatch(target):
                    yield Violation(name, line, "heavy-door", f"a door may not include {target}")
            if kind == "room" and name.endswith(".hpp") and target == "nlohmann/json.hpp":
                yield Violation(name, line, "heavy-header", "headers take nlohmann/json_fwd.hpp")


def check_doors(root, names):
    for name in names:
        if name.endswith(".hpp") and read(root, name).count("#pragma once") != 1:
            yield Violation(name, 1, "pragma-once", "a header says #pragma once, once")


def check_sources(root, names, table):
    for name in names:
        kind, module = owner_of(name)
        if not name.endswith((".cpp", ".hpp")) or kind not in ("door", "room"):
            continue
        text = read(root, name)
        lines = text.count("\n")
        limit = HARD_LINES[os.path.splitext(name)[1]]
        if lines > limit:
            yield Violation(name, lines, "too-long", f"{lines} lines, {limit} at most: a second idea moved in")
        plain = without_comments(text)
        for m in FORBIDDEN_CALLS.finditer(plain):
            yield Violation(name, plain.count("\n", 0, m.start()) + 1, "forbidden-call", m.group(1))
        is_store = os.path.basename(name).endswith(("_store.cpp", "_store.hpp"))
        if module != "db" and not is_store and name not in SQL_BUILDERS:
            literals = without_comments(text, keep_literals=True)
            if "db" in table.get(module, ()) and module != "app":
                # Knowledge and tools may keep a named statement beside its only use.
                literals = STATEMENT.sub(lambda m: "\n" * m.group().count("\n"), literals)
            for pattern in (SQL, RAW_SQL, STATEMENT):
                for m in pattern.finditer(literals):
                    yield Violation(name, literals.count("\n", 0, m.start()) + 1, "sql",
                                    "SQL stands in src/db, migrations/, *_store files and named statements of rooms that know db")
    for module in table:
        rooms = [n for n in names if n.startswith(f"src/{module}/") and n.endswith(".cpp")]
        if rooms and f"src/{module}/README.md" not in names:
            yield Violation(f"src/{module}", 0, "readme", "every room has a README.md")


def check_words(root, names):
    for name in names:
        if name.endswith((".png", ".ico", ".gz", ".zip", ".woff2")) or name.startswith("tests/house/"):
            continue
        text = read(root, name)
        for m in UNFINISHED.finditer(text):
            yield Violation(name, text.count("\n", 0, m.start()) + 1, "unfinished", m.group(1))
        for m in MACHINE_PATHS.finditer(text):
            yield Violation(name, text.count("\n", 0, m.start()) + 1, "machine-path", m.group())


def check_docker(root, names):
    """Every RUN of a Dockerfile is a call of scripts/, so that images are made the way everything else is."""
    call = re.compile(r"RUN\s+(?:--mount=\S+\s+)*(?:/\S+/)?scripts/[a-z]+(?:\s+[\w./:=-]+)*\s*")
    for name in names:
        if not os.path.basename(name).startswith("Dockerfile"):
            continue
        text = read(root, name).replace("\\\n", " ")
        for number, line in enumerate(text.split("\n"), 1):
            if re.match(r"\s*RUN\b", line, re.I) and not call.fullmatch(line.strip()):
                yield Violation(name, number, "docker-run", f"not a call of scripts/: {line.strip()}")
        if not re.search(r"^USER\s+(?!root\b|0\b)", text, re.M):
            yield Violation(name, 1, "docker-user", "an image runs as an ordinary user")
        if not re.search(r"^HEALTHCHECK\b.*\bhealthcheck\b", text, re.M):
            yield Violation(name, 1, "docker-health", "an image says how it is asked for its health")


def check_compose(root, names):
    """Every service is shut in: read-only root, no capabilities but named ones, no way to gain any."""
    for name in names:
        if not re.search(r"(^|/)compose[\w.-]*\.ya?ml$", name):
            continue
        text = read(root, name)
        body = re.split(r"^services:\s*$", text, maxsplit=1, flags=re.M)[-1]
        body = re.split(r"^\S", body, maxsplit=1, flags=re.M)[0]
        services = re.split(r"^  (\w[\w-]*):\s*$", body, flags=re.M)[1:]
        for service, block in zip(services[::2], services[1::2]):
            for wanted in ("read_only: true", "cap_drop: [ALL]", "no-new-privileges:true"):
                if wanted not in block:
                    yield Violation(name, 1, "compose", f"service {service} lacks {wanted}")


def check_floors(table):
    """The table itself: no cycles, and the floors of the architecture."""
    floors = [{"core"}, {"wire", "http", "db", "blobs", "jobs", "mail"},
              KNOWLEDGE,
              {"rest", "dav", "nextcloud", "wopi", "web"}, {"app"}]
    floor = {m: i for i, ms in enumerate(floors) for m in ms}
    for module, depends in table.items():
        if module not in floor:
            yield Violation("src/CMakeLists.txt", 0, "floor", f"module {module} stands on no floor")
            continue
        for other in sorted(depends):
            if floor.get(other, 99) > floor[module]:
                yield Violation("src/CMakeLists.txt", 0, "floor", f"{module} may not depend upward on {other}")
            if floor[module] == 3 and other in ("db", "blobs", "jobs"):
                yield Violation("src/CMakeLists.txt", 0, "floor", f"{module} is a protocol and may not know {other}")
            if floor[module] == 2 and other == "http":
                yield Violation("src/CMakeLists.txt", 0, "floor", f"{module} is knowledge and may not know http")
            if module in ("wire", "http", "db") and other != "core":
                yield Violation("src/CMakeLists.txt", 0, "floor", f"{module} is a tool and may not know {other}")
    seen, stack = set(), []

    def visit(module):
        if module in stack:
            yield Violation("src/CMakeLists.txt", 0, "floor", "a cycle: " + " -> ".join([*stack, module]))
            return
        if module in seen:
            return
        stack.append(module)
        for other in sorted(table.get(module, ())):
            yield from visit(other)
        stack.pop()
        seen.add(module)

    for module in table:
        yield from visit(module)


def check(root):
    names = tracked(root)
    table = module_table(root)
    found = list(check_floors(table))
    found += check_includes(root, names, table)
    found += check_doors(root, names)
    found += check_sources(root, names, table)
    found += check_words(root, names)
    found += check_docker(root, names)
    found += check_compose(root, names)
    return found


if __name__ == "__main__":
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    violations = check(top)
    for v in violations:
        print(v)
    raise SystemExit(1 if violations else 0)
