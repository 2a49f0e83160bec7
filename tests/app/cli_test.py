"""Commands of the real binary, mostly without a server: what they say, what they refuse, what they leave behind."""
import json
import os
import stat
import subprocess
import sys
import threading
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "support"))
import pg  # noqa: E402
import server  # noqa: E402
import suite  # noqa: E402
from server import PASSWORD, Welkin  # noqa: E402


class Usage(unittest.TestCase):
    def setUp(self):
        self.welkin = Welkin()
        self.addCleanup(self.welkin.close)

    def check(self, words, code, *texts, **how):
        done = self.welkin.run(*words, **how)
        self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        for text in texts:
            self.assertIn(text, done.stdout + done.stderr)
        return done

    def test_version_and_help(self):
        self.check(["version"], 0, "welkin 0.")
        self.check(["--version"], 0, "welkin 0.")
        self.check(["help"], 0, "user add", "doctor", "serve")
        self.check(["help", "user", "add"], 0, "--admin", "--password-stdin")
        self.check(["user", "add", "--help"], 0, "--quota SIZE")
        self.check(["help", "user"], 0, "user passwd")
        self.check(["user", "--help"], 0, "user passwd")
        self.check([], 2, "usage:")

    def test_every_command_has_help(self):
        listed = self.check(["help"], 0).stdout
        names = [line.strip().split("  ")[0] for line in listed.split("\n") if line.startswith("  ")]
        self.assertGreater(len(names), 12)
        for name in names:
            self.check(["help", *name.split()], 0, "usage: welkin " + name)

    def test_unknown_words_get_a_hint(self):
        self.check(["serv"], 2, "there is no command 'serv' (did you mean 'serve'?)")
        self.check(["user", "ad"], 2, "did you mean 'user add'?")
        self.check(["user"], 2, "user list")
        self.check(["quux"], 2, "there is no command 'quux'", "welkin help")
        self.check(["help", "quux"], 2, "there is no command 'quux'")
        self.check(["doctor", "--jsno"], 2, "did you mean --json?")
        self.check(["serve", "now"], 2, "too many arguments")
        self.check(["user", "quota", "alice", "plenty"], 2, "'plenty' is no size")
        self.check(["app-password", "create", "alice", "--protocols", "webdev"], 2, "did you mean webdav?")

    def test_bad_settings_are_told_and_nothing_is_made(self):
        for command in (["serve"], ["user", "list"], ["migrate"], ["config", "print"], ["healthcheck"]):
            done = self.check(command, 1, "WELKIN_LISTN: there is no such setting (did you mean WELKIN_LISTEN?)",
                              env={"WELKIN_LISTN": "x"})
            self.assertNotIn("terminate", done.stderr)
        self.check(["doctor"], 2, "WELKIN_LISTN", env={"WELKIN_LISTN": "x"})
        self.assertFalse(os.path.exists(self.welkin.data))

    def test_control_characters_do_not_reach_the_terminal(self):
        done = self.check(["user\x1b[2J"], 2)
        self.assertNotIn("\x1b", done.stderr)

    def test_config_print(self):
        secret = "postgresql://welkin:hunter2hunter2@localhost/welkin"
        for form in ([], ["--json"], ["--markdown"]):
            done = self.check(["config", "print", *form], 0, env={"WELKIN_DATABASE_URL": secret})
            self.assertNotIn("hunter2", done.stdout + done.stderr)
        done = self.check(["config", "print", "--json"], 0)
        self.assertEqual("WELKIN_DATA_DIR", json.loads(done.stdout)["settings"]["data_dir"]["source"])
        self.assertFalse(os.path.exists(self.welkin.data))

    def test_config_file_next_to_the_data(self):
        os.mkdir(self.welkin.data, 0o700)
        with open(self.welkin.data + "/welkin.toml", "w", encoding="utf-8") as f:
            f.write("[limits]\nidle_secnods = 5\n")
        user = server.server_user()
        if os.geteuid() == 0:
            os.chown(self.welkin.data, user.pw_uid, user.pw_gid)
        self.check(["config", "print"], 1, "welkin.toml:2: unknown key 'idle_secnods' in [limits] (did you mean idle_seconds?)")

    def test_documentation_shows_the_table(self):
        table = self.check(["config", "print", "--markdown"], 0).stdout
        with open(os.path.join(server.ROOT, "docs/configuration.md"), encoding="utf-8") as f:
            self.assertIn(table, f.read(), "docs/configuration.md: put in what `welkin config print --markdown` says")

    def test_healthcheck_without_a_server(self):
        self.check(["healthcheck"], 1, "not ready", env={"WELKIN_LISTEN": f"127.0.0.1:{server.free_port()}"})
        done = self.check(["healthcheck", "--quiet"], 1, env={"WELKIN_LISTEN": f"127.0.0.1:{server.free_port()}"})
        self.assertEqual("", done.stdout + done.stderr)

    def test_doctor_before_the_first_start(self):
        done = self.check(["doctor", "--json"], 0, env={"WELKIN_LISTEN": f"127.0.0.1:{server.free_port()}"})
        report = json.loads(done.stdout)
        self.assertEqual("ok", report["verdict"])
        self.assertLessEqual({"configuration", "data_dir", "disk.space", "tls", "database", "server"},
                             {f["check"] for f in report["findings"]})
        self.assertFalse(os.path.exists(self.welkin.data), "the doctor only looks")


class Accounts(unittest.TestCase):
    """One directory for the class: every command starts and stops the private cluster by itself."""

    @classmethod
    def setUpClass(cls):
        cls.welkin = Welkin()
        made = cls.welkin.user_add("ada", "--admin", "--email", "ada@example.org", "--quota", "10GB")
        if made.returncode != 0:
            cls.welkin.close()
            raise RuntimeError(made.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.welkin.close()

    def users(self):
        return {u["name"]: u for u in json.loads(self.welkin.run("user", "list", "--json").stdout)}

    def refused(self, done, text):
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertIn(text, done.stderr)

    def test_add_before_the_first_start(self):
        ada = self.users()["ada"]
        self.assertTrue(ada["admin"])
        self.assertEqual("ada@example.org", ada["email"])
        self.assertEqual(10_000_000_000, ada["quota_bytes"])
        self.assertEqual([], self.welkin.postgres_pids(), "the cluster was started for the command and ended with it")

    def test_add_refuses(self):
        self.refused(self.welkin.user_add("ada"), "ada")
        self.refused(self.welkin.user_add("Not Valid!"), "welkin: ")
        self.refused(self.welkin.user_add("bob", password="short"), "welkin: ")
        self.refused(self.welkin.run("user", "add", "bob", "--password-stdin"), "standard input ended")
        self.assertEqual(2, self.welkin.run("user", "add", "bob").returncode, "no terminal and no --password-stdin")
        self.assertEqual({"ada"}, set(self.users()) - {"carl", "dora", "eve"})

    def test_two_at_the_same_time_wait_for_each_other(self):
        done = {}
        threads = [threading.Thread(target=lambda n=n: done.update({n: self.welkin.user_add(n)})) for n in ("carl", "dora")]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual([0, 0], [d.returncode for d in done.values()], [d.stderr for d in done.values()])
        self.assertLessEqual({"carl", "dora"}, set(self.users()))

    def test_quota_disable_enable_passwd(self):
        self.assertEqual(0, self.welkin.user_add("eve").returncode)
        self.assertEqual(0, self.welkin.run("user", "quota", "eve", "64MiB").returncode)
        self.assertEqual(0, self.welkin.run("user", "disable", "eve").returncode)
        self.assertEqual((64 << 20, True), (self.users()["eve"]["quota_bytes"], self.users()["eve"]["disabled"]))
        self.assertEqual(0, self.welkin.run("user", "enable", "eve").returncode)
        self.assertFalse(self.users()["eve"]["disabled"])
        self.assertEqual(0, self.welkin.run("user", "passwd", "eve", "--password-stdin", stdin="quite another phrase\n").returncode)
        for command in (["quota", "nobody", "1GB"], ["disable", "nobody"], ["enable", "nobody"]):
            self.refused(self.welkin.run("user", *command), "welkin: ")

    def test_app_passwords(self):
        made = self.welkin.run("app-password", "create", "ada", "--label", "phone", "--protocols", "webdav,rest", "--read-only",
                               "--expires-in-days", "30")
        self.assertEqual(0, made.returncode, made.stderr)
        secret = made.stdout.strip()
        self.assertGreater(len(secret), 20)
        self.assertNotIn("\n", secret, "only the secret on standard output")
        listed = json.loads(self.welkin.run("app-password", "list", "ada", "--json").stdout)
        entry = next(e for e in listed if e["label"] == "phone")
        self.assertEqual(("webdav,rest", True, "active"), (entry["protocols"], entry["read_only"], entry["state"]))
        self.assertNotIn(secret, json.dumps(listed))
        self.assertEqual(0, self.welkin.run("app-password", "revoke", "ada", str(entry["id"])).returncode)
        self.assertIn("revoked", self.welkin.run("app-password", "list", "ada").stdout)
        self.refused(self.welkin.run("app-password", "revoke", "ada", "999999"), "welkin: ")

    def test_nothing_is_open_to_others(self):
        for folder, below, files in os.walk(self.welkin.data):
            for name in [*below, *files]:
                mode = stat.S_IMODE(os.lstat(os.path.join(folder, name)).st_mode)
                if not stat.S_ISSOCK(os.lstat(os.path.join(folder, name)).st_mode):
                    self.assertEqual(0, mode & 0o077, os.path.join(folder, name))

    def test_doctor_with_a_cluster_at_rest(self):
        done = self.welkin.run("doctor", "--json", env={"WELKIN_LISTEN": f"127.0.0.1:{server.free_port()}"})
        report = json.loads(done.stdout)
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertEqual("ok", next(f for f in report["findings"] if f["check"] == "schema")["verdict"])
        self.assertEqual("ok", next(f for f in report["findings"] if f["check"] == "database.fsync")["verdict"])


class External(unittest.TestCase):
    """Commands with a database that somebody else runs."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = pg.Cluster()
        cls.cluster.sql("create database welkin template template0")
        cls.url = cls.cluster.url_of("welkin")

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()

    def setUp(self):
        self.welkin = Welkin(WELKIN_DATABASE_URL=self.url, WELKIN_LISTEN=f"127.0.0.1:{server.free_port()}")
        self.addCleanup(self.welkin.close)

    def test_migrate_twice_and_newer_schema(self):
        first = self.welkin.run("migrate")
        self.assertEqual(0, first.returncode, first.stderr)
        again = self.welkin.run("migrate")
        self.assertIn("up to date", again.stdout)
        self.assertFalse(os.path.exists(self.welkin.data + "/postgres"))
        self.cluster.sql("insert into schema_migrations (id, finished_at) values ('209901010000_from_the_future', now())", "welkin")
        try:
            for command in (["migrate"], ["serve"], ["user", "list"]):
                done = self.welkin.run(*command)
                self.assertEqual(1, done.returncode)
                self.assertIn("newer Welkin", done.stderr)
                self.assertIn("209901010000_from_the_future", done.stderr)
            doctor = self.welkin.run("doctor")
            self.assertEqual(2, doctor.returncode)
            self.assertIn("newer Welkin", doctor.stdout)
        finally:
            self.cluster.sql("delete from schema_migrations where id like '2099%'", "welkin")

    def test_doctor_sees_that_fsync_is_off(self):
        done = self.welkin.run("doctor")
        self.assertEqual(2, done.returncode, done.stdout)
        self.assertRegex(done.stdout, r"fault +database\.fsync +fsync is off")

    def test_doctor_of_an_unreachable_database(self):
        done = self.welkin.run("doctor", env={"WELKIN_DATABASE_URL": "host=/nowhere user=x dbname=x"})
        self.assertEqual(2, done.returncode)
        self.assertRegex(done.stdout, r"fault +database ")


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Root(unittest.TestCase):
    def test_a_directory_of_somebody_else_is_refused(self):
        with Welkin() as welkin:
            os.mkdir(welkin.data, 0o700)
            os.chown(welkin.data, 65534, 65534)
            done = welkin.run("serve")
            self.assertEqual(1, done.returncode)
            self.assertIn("belongs to nobody", done.stderr)
            self.assertEqual(65534, os.stat(welkin.data).st_uid, "and left alone")

    def test_a_full_directory_of_root_is_refused(self):
        with Welkin() as welkin:
            os.mkdir(welkin.data, 0o755)
            with open(welkin.data + "/something", "w", encoding="utf-8"):
                pass
            done = welkin.run("serve")
            self.assertIn("belongs to root and is not empty", done.stderr)

    def test_a_link_is_not_followed(self):
        with Welkin() as welkin:
            os.mkdir(welkin.parent + "/victim")
            os.symlink(welkin.parent + "/victim", welkin.data)
            done = welkin.run("serve")
            self.assertEqual(1, done.returncode)
            self.assertEqual(0, os.stat(welkin.parent + "/victim").st_uid)

    def test_a_closed_parent_is_told(self):
        with Welkin() as welkin:
            os.chmod(welkin.parent, 0o700)
            done = welkin.run("user", "list")
            self.assertEqual(1, done.returncode)
            self.assertIn("every directory above it must be open to that user", done.stderr)

    def test_commands_leave_root_too(self):
        with Welkin() as welkin:
            self.assertEqual(0, welkin.user_add("ada").returncode)
            owner = server.server_user().pw_uid
            for folder, below, files in os.walk(welkin.data):
                for name in [*below, *files]:
                    self.assertEqual(owner, os.lstat(os.path.join(folder, name)).st_uid, os.path.join(folder, name))

    def test_an_ordinary_user_is_told_whose_directory_it_is(self):
        with Welkin() as welkin:
            self.assertEqual(0, welkin.user_add("ada").returncode)
            done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", welkin.binary, "user", "list"],
                                  env=welkin.env(), capture_output=True, text=True, check=False)
            self.assertEqual(1, done.returncode)
            self.assertIn("belongs to welkin and is closed to nobody", done.stderr)


if __name__ == "__main__":
    suite.main()
