"""The tree keeps the rules of the house, and the checker sees each kind of violation when one is planted."""
import os
import re
import shutil
import sys
import tempfile
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), "support")]
import house  # noqa: E402
import suite  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(here))

MODULES = """
welkin_module(core    LIBS fmt)
welkin_module(http    DEPENDS core LIBS OpenSSL::SSL)
welkin_module(db      DEPENDS core)
welkin_module(wire    DEPENDS core)
welkin_module(files   DEPENDS core db)   # a comment (with brackets)
welkin_module(calendars DEPENDS core wire db)
welkin_module(rest    DEPENDS core http files)
welkin_module(app     DEPENDS core http db files rest LIBS fmt)
"""
COMPOSE = ("services:\n  a:\n    read_only: true\n    cap_drop: [ALL]\n"
           '    security_opt: ["no-new-privileges:true"]\n')
CLEAN = {
    "src/CMakeLists.txt": MODULES,
    "include/welkin/core/text.hpp": "#pragma once\n#include <string>\n",
    "include/welkin/db/db.hpp": '#pragma once\n#include "welkin/core/text.hpp"\n',
    "include/welkin/files/files.hpp": '#pragma once\n#include "welkin/db/db.hpp"\n',
    "include/welkin/http/server.hpp": '#pragma once\n#include "welkin/core/text.hpp"\n',
    "src/db/db.cpp": '#include "welkin/db/db.hpp"\n#include <libpq-fe.h>\nauto q = "select 1";\n',
    "src/db/README.md": "db\n",
    "src/files/node_store.hpp": "#pragma once\n",
    "src/files/node_store.cpp": '#include "files/node_store.hpp"\nauto q = "select id from nodes";\n',
    "src/files/README.md": "files\n",
    "include/welkin/wire/ical_value.hpp": "#pragma once\n",
    "include/welkin/wire/xml.hpp": "#pragma once\n",
    "src/calendars/calendars.cpp": '#include "welkin/wire/ical_value.hpp"\n',
    "src/calendars/README.md": "calendars\n",
    "src/rest/routes.cpp": '#include "welkin/files/files.hpp"\n#include "welkin/http/server.hpp"\n',
    "src/rest/README.md": "rest\n",
    "src/main.cpp": '#include "app/cli.hpp"\nint main() {}\n',
    "src/app/cli.hpp": "#pragma once\n",
    "src/app/cli.cpp": '#include "app/cli.hpp"\n#include "welkin/db/db.hpp"\n',
    "src/app/README.md": "app\n",
    "tests/files/a_test.cpp": '#include "files/node_store.hpp"\n',
    "docker/compose.yaml": COMPOSE + "volumes:\n  data:\n",
    "docker/Dockerfile": "FROM debian\nRUN scripts/setup --run\nUSER welkin\nHEALTHCHECK CMD [\"welkin\", \"healthcheck\"]\n",
}

# (rule, path, content): each must be found, at that path, when planted into the clean tree.
PLANTED = [
    ("upward-or-sideways", "src/files/bad.cpp", '#include "welkin/http/server.hpp"\n'),
    ("upward-or-sideways", "src/calendars/bad.cpp", '#include "welkin/wire/xml.hpp"\n'),
    ("upward-or-sideways", "src/db/bad.cpp", '#include "welkin/files/files.hpp"\n'),
    ("upward-or-sideways", "src/rest/bad.cpp", '#include "welkin/db/db.hpp"\n'),
    ("upward-or-sideways", "src/core/bad.cpp", '#  include   <welkin/db/db.hpp>\n'),
    ("upward-or-sideways", "include/welkin/http/bad.hpp", '#pragma once\n#include "welkin/db/db.hpp"\n'),
    ("unknown-door", "src/rest/bad.cpp", '#include "welkin/nowhere/x.hpp"\n'),
    ("private", "src/rest/bad.cpp", '#include "files/node_store.hpp"\n'),
    ("private", "src/rest/bad.cpp", '#include "../files/node_store.hpp"\n'),
    ("private", "tests/rest/bad_test.cpp", '#include "files/node_store.hpp"\n'),
    ("private-in-door", "include/welkin/files/bad.hpp", '#pragma once\n#include "files/node_store.hpp"\n'),
    ("fenced", "src/rest/bad.cpp", "#include <boost/beast/http.hpp>\n"),
    ("fenced", "src/files/bad.cpp", "#include <pqxx/pqxx>\n"),
    ("fenced", "src/files/bad.cpp", "#include <boost/asio.hpp>\n"),
    ("fenced", "src/files/bad.cpp", "#include <spdlog/spdlog.h>\n"),
    ("fenced", "include/welkin/http/bad.hpp", "#pragma once\n#include <boost/asio/ssl.hpp>\n"),
    ("heavy-door", "include/welkin/http/bad.hpp", "#pragma once\n#include <boost/asio/ip/tcp.hpp>\n"),
    ("heavy-header", "src/rest/bad.hpp", "#pragma once\n#include <nlohmann/json.hpp>\n"),
    ("pragma-once", "include/welkin/core/bad.hpp", "#include <string>\n"),
    ("pragma-once", "include/welkin/core/bad.hpp", "#pragma once\n#pragma once\n"),
    ("too-long", "src/rest/bad.cpp", "int x;\n" * 700),
    ("sql", "src/rest/bad.cpp", 'auto q = "select name from users";\n'),
    ("sql", "src/files/bad.cpp", 'auto q = R"sql(\n  -- why\n  update nodes set x = 1)sql";\n'),
    ("sql", "src/files/bad.cpp", 'void f() { tx.script("delete from nodes"); }\n'),
    ("sql", "src/app/bad.cpp", 'constexpr db::Stmt kThing{"app.thing", "show all"};\n'),
    ("sql", "src/rest/bad.cpp", 'constexpr db::Stmt kThing{"rest.thing", kText};\n'),
    ("forbidden-call", "src/core/bad.cpp", 'void f() { system("ls"); }\n'),
    ("forbidden-call", "src/core/bad.cpp", 'void f() { std::system("ls"); }\n'),
    ("forbidden-call", "src/core/bad.cpp", "void f() { strcpy(a, b); }\n"),
    ("unfinished", "src/core/bad.cpp", "// TO" "DO: later\n"),
    ("unfinished", "scripts/bad", "# FIX" "ME\n"),
    ("machine-path", "scripts/bad", "cd /wo" "rk/main\n"),
    ("machine-path", "docs/bad.md", "see /ho" "me/alice/x\n"),
    ("readme", "src/http/server.cpp", "int x;\n"),
    ("docker-run", "docker/Dockerfile.bad", "FROM debian\nRUN apt-get update\nUSER welkin\nHEALTHCHECK CMD healthcheck\n"),
    ("docker-run", "docker/Dockerfile.bad", "FROM debian\nRUN scripts/setup && rm x\nUSER welkin\nHEALTHCHECK CMD healthcheck\n"),
    ("docker-user", "docker/Dockerfile.bad", "FROM debian\nUSER root\nHEALTHCHECK CMD healthcheck\n"),
    ("docker-health", "docker/Dockerfile.bad", "FROM debian\nUSER welkin\n"),
    ("compose", "docker/compose.yaml", COMPOSE + "  b:\n    image: x\nvolumes:\n  c:\n"),
    ("compose", "docker/compose.yaml", COMPOSE.replace("read_only: true", "read_only: false")),
    ("floor", "src/CMakeLists.txt", MODULES + "welkin_module(dav DEPENDS core db)\n"),
    ("floor", "src/CMakeLists.txt", MODULES.replace("http    DEPENDS core", "http    DEPENDS core db")),
    ("floor", "src/CMakeLists.txt", MODULES.replace("core    LIBS", "core    DEPENDS app LIBS")),
    ("floor", "src/CMakeLists.txt", MODULES + "welkin_module(games DEPENDS core)\n"),
]
# Legal things that look like violations.
INNOCENT = {
    "src/files/fine.cpp": '// system("x"), TO-DO lists, "select something"\n'
                          '#include "node_store.hpp"\n'
                          'auto a = "the system (ours)"; auto b = 1\'000; auto c = "selected";\n'
                          "void f() { file_system(1); x.system(2); }\n",
    "src/files/named.cpp": 'constexpr db::Stmt kOne{"files.one",\n  "select 1 "\n  "from x"};\n',
    "docs/fine.md": "a/work of art, /var/lib/welkin, /workers\n".replace("/workers", "/w"),
}


class Tree:
    """A small tree in a temporary directory."""

    def __init__(self, files):
        self.path = tempfile.mkdtemp(prefix="welkin-house-")
        for name, content in files.items():
            full = os.path.join(self.path, name)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as f:
                f.write(content)

    def __enter__(self):
        return self.path

    def __exit__(self, *unused):
        shutil.rmtree(self.path)


class House(unittest.TestCase):
    maxDiff = None

    def test_the_tree_keeps_its_rules(self):
        violations = [str(v) for v in house.check(ROOT)]
        self.assertEqual([], violations, "\n" + "\n".join(violations))

    def test_the_table_is_read(self):
        table = house.module_table(ROOT)
        self.assertEqual(set(), table["core"])
        self.assertIn("people", table["files"])
        self.assertNotIn("db", table["rest"])

    def test_every_member_of_config_is_in_the_table(self):
        header = house.read(ROOT, "include/welkin/core/config.hpp")
        body = header[header.index("struct Config {"):]
        members = re.findall(r"^  (?:std::\S+|unsigned|bool)\s+([\w, ]+?)\s*(?:=|;)", body, re.M)
        names = {name.strip() for group in members for name in group.split(",")} - {"config_file"}
        self.assertGreater(len(names), 30)
        rows = re.findall(r"&C::(\w+)", house.read(ROOT, "src/app/config.cpp"))
        self.assertEqual(names, set(rows))
        self.assertEqual(len(rows), len(set(rows)), "a member stands twice")

    def test_a_clean_tree_is_clean(self):
        with Tree({**CLEAN, **INNOCENT}) as root:
            self.assertEqual([], [str(v) for v in house.check(root)])


def plant(rule, path, content):
    def test(self):
        with Tree({**CLEAN, path: content}) as root:
            found = {(v.rule, v.path) for v in house.check(root)}
        wanted = os.path.dirname(path) if rule == "readme" else path
        self.assertIn((rule, wanted), found)
    return test


for number, (rule, path, content) in enumerate(PLANTED):
    setattr(House, f"test_planted_{number:02}_{rule.replace('-', '_')}", plant(rule, path, content))

if __name__ == "__main__":
    suite.main()
