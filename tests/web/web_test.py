"""The web app that the binary serves, used in a real browser; and the tests of its parts."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))
import server  # noqa: E402
import suite  # noqa: E402

FRONTEND = os.path.join(server.ROOT, "frontend")
JOURNEY_SECONDS = 300  # beyond it something hangs
PASSWORD = server.PASSWORD
packages = unittest.skipUnless(os.path.isdir(os.path.join(FRONTEND, "node_modules/playwright-core")), "scripts/setup --build could not install the app's packages")
browser = unittest.skipUnless(os.environ.get("WELKIN_CHROMIUM") or shutil.which("chromium"), "there is no chromium")


def node():
    """The one that scripts/setup brought where the machine's is too old."""
    own = os.path.join(FRONTEND, "node_modules/.bin/node")
    return own if os.access(own, os.X_OK) else "node"


class Journey(unittest.TestCase):
    def go(self, journey, origin, name, *words):
        with tempfile.TemporaryDirectory(prefix="welkin-t-") as home:
            done = subprocess.run([node(), os.path.join(HERE, "journeys.mjs"), journey, origin, name, PASSWORD, *words],
                                  capture_output=True, text=True, timeout=JOURNEY_SECONDS, check=False,
                                  env={**os.environ, "HOME": home, "WELKIN_CHROMIUM": os.environ.get("WELKIN_CHROMIUM") or shutil.which("chromium")})
        self.assertEqual(0, done.returncode, (done.stdout + done.stderr)[-6000:])
        self.assertIn("fine", done.stdout)
        return done.stdout


def set_up(welkin, base=""):
    """The first account. @return its token"""
    token = welkin.link.split("token=")[1]
    made = welkin.ask("POST", f"{base}/api/setup", {"username": "root-of-all", "password": PASSWORD, "setup_token": token})
    if made.status not in (200, 201):
        raise RuntimeError(f"set-up: {made.status} {made.body!r}")
    return welkin.ask("POST", f"{base}/api/auth/login", {"username": "root-of-all", "password": PASSWORD}).json()["access_token"]


@packages
@browser
class FirstStart(Journey):
    def test_from_the_link_to_the_first_upload(self):
        with server.Welkin() as welkin:
            welkin.start()
            self.go("first_start", f"http://{welkin.address}", "ada", welkin.link)


@packages
@browser
class BasePath(Journey):
    def test_addresses_below_a_path(self):
        port = server.free_port()
        with server.Welkin(WELKIN_LISTEN=f"127.0.0.1:{port}", WELKIN_BASE_URL=f"http://127.0.0.1:{port}/cloud/of-mine") as welkin:
            welkin.start()
            set_up(welkin, "/cloud/of-mine")
            self.go("deep_links", f"http://127.0.0.1:{port}/cloud/of-mine", "root-of-all")


@packages
@browser
class Everyday(Journey):
    @classmethod
    def setUpClass(cls):
        cls.welkin = server.Welkin().start()
        cls.token = set_up(cls.welkin)

    @classmethod
    def tearDownClass(cls):
        cls.welkin.close()

    def person(self, role="user"):
        """An account nobody has used."""
        name = re.sub("[^a-z]", ".", self.id().rsplit(".test_", 1)[1])[:60]
        made = self.welkin.ask("POST", "/api/admin/users", {"username": name, "password": PASSWORD, "email": f"{name}@example.org", "role": role}, self.token)
        self.assertIn(made.status, (200, 201), made.body)
        return name

    def walk(self, journey, role="user"):
        return self.go(journey, f"http://{self.welkin.address}", self.person(role))

    def test_rename_move_delete_undo_restore(self):
        self.walk("everyday")

    def test_favourites_search_and_recent(self):
        self.walk("finding")

    def test_with_the_keyboard_alone(self):
        self.walk("keyboard")

    def test_changes_elsewhere_are_shown(self):
        self.walk("live")

    def test_a_name_that_is_taken(self):
        self.walk("conflict")

    def test_axe_finds_nothing_in_light_and_dark(self):
        self.walk("accessible", "admin")

    def test_addresses_inside_of_the_app(self):
        self.walk("deep_links")

    def test_the_view_of_files_is_light(self):
        print(self.walk("weight").splitlines()[0])


@packages
class Parts(unittest.TestCase):
    def test_units(self):
        with tempfile.TemporaryDirectory(prefix="welkin-t-") as out:
            report = os.path.join(out, "report.json")
            done = subprocess.run([node(), "node_modules/vitest/vitest.mjs", "run", "--reporter=json", f"--outputFile={report}"], cwd=FRONTEND,
                                  capture_output=True, text=True, timeout=JOURNEY_SECONDS, check=False, env={**os.environ, "CI": "1"})
            self.assertTrue(os.path.exists(report), done.stdout + done.stderr)
            with open(report, encoding="utf-8") as f:
                told = json.load(f)
        failures = [f"{t['fullName']}: {' '.join(t['failureMessages'])[:400]}" for s in told["testResults"] for t in s["assertionResults"] if t["status"] == "failed"]
        self.assertEqual([], failures + [s["message"] for s in told["testResults"] if s["status"] == "failed" and not s["assertionResults"]])
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertGreaterEqual(told["numPassedTests"], 20)
        print(f"{told['numPassedTests']} tests of the app's parts passed")


if __name__ == "__main__":
    suite.main()
