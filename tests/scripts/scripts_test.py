"""The two commands of the README as an ordinary user with sudo meets them: a user of his own, a fresh copy, any directory."""
import os
import pwd
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "support"))
import processes  # noqa: E402
import suite  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(here))
BUILD_SECONDS = 1800
CACHE_BYTES_MAX = 1 << 30


def may_act_as_root():
    if os.geteuid() == 0:
        return shutil.which("sudo") is not None
    return shutil.which("sudo") is not None and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0


SUDO = [] if os.geteuid() == 0 else ["sudo", "-n"]


def as_root(*command, **how):
    return subprocess.run([*SUDO, *command], check=True, capture_output=True, text=True, **how)


@unittest.skipUnless(may_act_as_root(), "needs root or sudo without a password, to make a user")
class OrdinaryUser(unittest.TestCase):
    """Makes a user with sudo rights, gives him a copy of the tree, and takes both away at the end."""

    @classmethod
    def setUpClass(cls):
        cls.name = "welkintest" + secrets.token_hex(3)
        cls.sudoers = f"/etc/sudoers.d/{cls.name}"
        cls.home = tempfile.mkdtemp(prefix="welkin-home-")
        cls.addClassCleanup(cls.take_away)
        os.chmod(cls.home, 0o755)
        as_root("useradd", "--home-dir", cls.home, "--no-create-home", "--shell", "/bin/bash", cls.name)
        as_root("tee", cls.sudoers, input=f"{cls.name} ALL=(ALL) NOPASSWD: ALL\n")
        as_root("chmod", "440", cls.sudoers)
        cls.tree = cls.home + "/copy of welkin"  # a blank in the path, for good measure
        os.mkdir(cls.tree)
        names = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z"],
                               check=True, capture_output=True).stdout
        subprocess.run(["tar", "-C", ROOT, "--null", "-T", "-", "-cf", cls.home + "/tree.tar"], input=names, check=True)
        subprocess.run(["tar", "-C", cls.tree, "-xf", cls.home + "/tree.tar"], check=True)
        os.remove(cls.home + "/tree.tar")
        cls.copy_cache()
        as_root("chown", "-R", f"{cls.name}:", cls.home)

    @classmethod
    def copy_cache(cls):
        """What the compiler has done already need not be done again; the commands do not depend on it."""
        asked = subprocess.run(["ccache", "--get-config", "cache_dir"], capture_output=True, text=True, check=False).stdout.strip()
        cls.cache = cls.home + "/ccache"
        os.mkdir(cls.cache)
        found = [os.path.join(folder, f) for folder, _, files in os.walk(asked or "/nowhere") for f in files]
        left = CACHE_BYTES_MAX  # the newest: ccache touches what it uses
        for path in sorted(found, key=lambda p: -os.lstat(p).st_mtime):
            left -= os.lstat(path).st_size
            if left < 0:
                break
            target = os.path.join(cls.cache, os.path.relpath(path, asked))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(path, target)

    @classmethod
    def take_away(cls):
        try:
            pwd.getpwnam(cls.name)
        except KeyError:
            pass
        else:
            until = time.monotonic() + 30
            while (left := cls.processes()) and time.monotonic() < until:
                subprocess.run([*SUDO, "kill", "-9", *map(str, left)], capture_output=True, check=False)
                time.sleep(0.2)
            as_root("userdel", cls.name)
        as_root("rm", "-rf", cls.sudoers, cls.home)

    @classmethod
    def processes(cls):
        uid = pwd.getpwnam(cls.name).pw_uid
        out = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and os.stat("/proc/" + entry).st_uid == uid:
                    out.append(int(entry))
            except OSError:
                continue
        return out

    def command(self, *words, **settings):
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": self.home, "USER": self.name,
               "CCACHE_DIR": self.cache, "LC_ALL": "C.UTF-8", **settings}
        return [*SUDO, "runuser", "-u", self.name, "--", "env", "-i", *[f"{k}={v}" for k, v in env.items()], *words]

    def run_as_user(self, *words, cwd="/", timeout=BUILD_SECONDS):
        started = time.monotonic()
        done = subprocess.run(self.command(*words), cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False,
                              stdin=subprocess.DEVNULL)
        return done, time.monotonic() - started

    def serve_until_ready(self, cwd):
        """scripts/serve until it says where it is, then Ctrl-C. @return (seconds until then, what it said)"""
        started = time.monotonic()
        child = subprocess.Popen(self.command(self.tree + "/scripts/serve", WELKIN_LISTEN="127.0.0.1:0"), cwd=cwd,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 start_new_session=True)
        said = ""
        try:
            for line in child.stdout:
                said += line
                if "is ready: http://127.0.0.1:" in line:
                    break
            else:
                self.fail(f"scripts/serve ended: {said[-4000:]}")
            seconds = time.monotonic() - started
            link = child.stdout.readline()
            for pid in self.processes():
                if processes.command_line(pid)[:2] == [(self.tree + "/build/release/welkin").encode(), b"serve"]:
                    # A child of the server that has yet to become another program may have ended by now.
                    subprocess.run([*SUDO, "kill", "-INT", str(pid)], capture_output=True, check=False)
            child.stdout.read()
            self.assertEqual(0, child.wait(60))
            return seconds, said + link
        finally:
            if child.poll() is None:
                as_root("kill", "-9", f"-{child.pid}")
                child.wait()
            child.stdout.close()

    def test_1_setup_is_quick_when_nothing_is_missing(self):
        first, _ = self.run_as_user(self.tree + "/scripts/setup")
        self.assertEqual(0, first.returncode, first.stderr)
        # Relative: asking dpkg for one package is the unit. The best of three, because others may hold the machine up.
        seconds, units = [], []
        for _ in range(3):
            again, took = self.run_as_user(self.tree + "/scripts/setup", cwd="/usr")
            self.assertEqual((0, "", ""), (again.returncode, again.stdout, again.stderr))
            seconds.append(took)
            units.append(self.run_as_user("dpkg-query", "-W", "bash")[1])
        self.assertLess(min(seconds), 50 * min(units) + 1)

    def test_2_serve_twice_from_different_directories(self):
        first, said = self.serve_until_ready("/")
        self.assertRegex(said, r"first account here: http://127\.0\.0\.1:\d+/setup#token=\S+")
        second, said = self.serve_until_ready(self.home)
        self.assertTrue(os.path.isdir(self.home + "/.local/share/welkin/postgres"), "his data are in his home")
        owner = pwd.getpwnam(self.name).pw_uid
        self.assertEqual(owner, os.stat(self.home + "/.local/share/welkin").st_uid)
        self.assertNotIn("installing", said)
        self.assertLess(second, first / 2, f"the second start took {second:.1f} s, the first, with the build, {first:.1f} s")
        print(f"scripts/serve: first {first:.1f} s, second {second:.1f} s")

    def test_3_test_runs_a_suite(self):
        done, _ = self.run_as_user(self.tree + "/scripts/test", "house", cwd="/usr")
        self.assertEqual(0, done.returncode, done.stdout[-3000:] + done.stderr[-3000:])
        self.assertRegex(done.stdout.strip().split("\n")[-1], r"^[1-9]\d* passed, 0 failed$")
        missing, _ = self.run_as_user(self.tree + "/scripts/test", "nosuchsuite")
        self.assertNotEqual(0, missing.returncode)

    def test_4_build_refuses_what_it_does_not_know(self):
        done, _ = self.run_as_user(self.tree + "/scripts/build", "relaese")
        self.assertNotEqual(0, done.returncode)
        self.assertIn("dev|release|asan|tsan", done.stderr)
        done, _ = self.run_as_user(self.tree + "/scripts/setup", "--al")
        self.assertNotEqual(0, done.returncode)
        self.assertIn("unknown option '--al'", done.stderr)


class Texts(unittest.TestCase):
    def test_ci_runs_the_tests(self):
        with open(os.path.join(ROOT, ".ci/run"), encoding="utf-8") as f:
            self.assertIn("scripts/test", f.read())

    def test_shell_scripts_are_sound(self):
        folder = os.path.join(ROOT, "scripts")
        files = [os.path.join(folder, n) for n in sorted(os.listdir(folder))] + [os.path.join(ROOT, ".ci/run")]
        for path in files:
            if not path.endswith("lib.sh"):
                self.assertTrue(os.access(path, os.X_OK), path)
        done = subprocess.run(["shellcheck", "--shell=bash", "--external-sources", "--source-path=SCRIPTDIR", *files],
                              capture_output=True, text=True, check=False)
        self.assertEqual("", done.stdout)

    def test_every_library_of_the_build_has_its_package_in_setup(self):
        with open(os.path.join(ROOT, "scripts/setup"), encoding="utf-8") as f:
            setup = f.read()
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as f:
            cmake = f.read()
        packages = {"libpq": "libpq-dev", "libpqxx": "libpqxx-dev", "libargon2": "libargon2-dev", "libzstd": "libzstd-dev",
                    "icu-uc": "libicu-dev", "tomlplusplus": "libtomlplusplus-dev", "libxml-2.0": "libxml2-dev",
                    "jemalloc": "libjemalloc-dev"}
        for module in re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET ([\w.-]+)", cmake):
            self.assertIn(module, packages, "say here which package brings it")
            self.assertIn(packages[module], setup)


if __name__ == "__main__":
    suite.main()
