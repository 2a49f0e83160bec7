"""The running server as an operator meets it: starts, ends, crashes, reloads, and what it gives away about itself."""
import http.client
import json
import os
import signal
import socket
import ssl
import sys
import threading
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "support"))
import pg  # noqa: E402
import processes  # noqa: E402
import server  # noqa: E402
import suite  # noqa: E402
from server import PASSWORD, Welkin, ask_on, self_signed, wait_until  # noqa: E402


def set_up(welkin, name="ada"):
    token = welkin.link.split("#token=")[1]
    return welkin.ask("POST", "/api/setup", {"username": name, "email": f"{name}@example.org", "password": PASSWORD,
                                             "setup_token": token})


class FirstSteps(unittest.TestCase):
    def test_first_start_second_start_and_the_link(self):
        with Welkin() as welkin:
            welkin.start()
            self.assertEqual(200, welkin.ask("GET", "/health").status)
            self.assertEqual(200, welkin.ask("GET", "/ready").status)
            self.assertIsNotNone(welkin.link)
            self.assertEqual(1, welkin.greeting.count("#token="))
            self.assertNotIn(welkin.link.split("#token=")[1], welkin.log())
            self.assertEqual(0o700, os.stat(welkin.data).st_mode & 0o777)
            old = welkin.link
            self.assertEqual(0, welkin.stop())
            self.assertEqual([], welkin.postgres_pids())

            welkin.start()
            self.assertNotEqual(old, welkin.link, "a new start makes a new token")
            new, welkin.link = welkin.link, old
            self.assertEqual(403, set_up(welkin).status)
            welkin.link = new
            self.assertEqual(201, set_up(welkin).status)
            self.assertEqual(403, set_up(welkin).status)
            self.assertTrue(welkin.login("ada"))
            self.assertEqual(0, welkin.stop())

            welkin.start()
            self.assertIsNone(welkin.link, "there is an account: no link")
            self.assertTrue(welkin.login("ada"))
            self.assertEqual(0, welkin.stop())

    def test_setup_without_a_token_for_automated_installs(self):
        with Welkin(WELKIN_SETUP_TOKEN="off") as welkin:
            welkin.start()
            self.assertTrue(welkin.link.endswith("/setup"), welkin.link)
            made = welkin.ask("POST", "/api/setup", {"username": "ada", "email": "a@example.org", "password": PASSWORD})
            self.assertEqual(201, made.status, made.body)

    def test_accounts_made_before_and_while_it_runs(self):
        with Welkin() as welkin:
            self.assertEqual(0, welkin.user_add("ada", "--admin").returncode)
            welkin.start()
            self.assertIsNone(welkin.link)
            self.assertTrue(welkin.login("ada"))
            made = welkin.user_add("bob")
            self.assertEqual(0, made.returncode, made.stderr)
            token = welkin.login("bob")
            self.assertEqual(200, welkin.ask("GET", "/api/auth/me", token=token).status)
            self.assertEqual(0, welkin.run("user", "disable", "bob").returncode)
            self.assertEqual(401, welkin.ask("GET", "/api/auth/me", token=token).status, "from the next request on")
            self.assertEqual(1, len(welkin.postgres_pids()), "commands used the server's cluster and left it alone")
            self.assertEqual(200, welkin.ask("GET", "/ready").status)

    def test_two_instances_side_by_side(self):
        with Welkin() as one, Welkin() as two:
            for welkin in (one, two):
                self.assertEqual(0, welkin.user_add("ada" if welkin is one else "bob").returncode)
                welkin.start()
            self.assertNotEqual(one.address, two.address)
            self.assertTrue(one.login("ada"))
            self.assertTrue(two.login("bob"))
            with self.assertRaises(RuntimeError):
                two.login("ada")
            self.assertEqual(0, one.stop())
            self.assertEqual(200, two.ask("GET", "/ready").status)

    def test_a_second_server_on_one_directory_is_refused(self):
        with Welkin() as welkin:
            welkin.start()
            done = welkin.run("serve")
            self.assertEqual(1, done.returncode)
            self.assertIn(f"is in use by the server with process id {welkin.pid}", done.stderr)
            self.assertEqual(200, welkin.ask("GET", "/ready").status)

    def test_a_taken_address_is_told(self):
        with socket.socket() as taken, Welkin() as welkin:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            for _ in range(3):  # threads run already then: whether they find what they use is a matter of luck
                done = welkin.run("serve", env={"WELKIN_LISTEN": "127.0.0.1:%d" % taken.getsockname()[1]})
                self.assertEqual(1, done.returncode, done.stderr[-4000:])
                self.assertRegex(done.stderr, "(?i)address already in use")
            self.assertEqual([], welkin.postgres_pids())


class Ends(unittest.TestCase):
    def test_kill_takes_the_cluster_along_and_the_next_start_recovers(self):
        with Welkin() as welkin:
            welkin.user_add("ada")
            welkin.start()
            token = welkin.login("ada")
            folder = welkin.ask("POST", "/api/folders", {"name": "kept"}, token=token)
            self.assertEqual(201, folder.status, folder.body)
            self.assertEqual(-signal.SIGKILL, welkin.stop(signal.SIGKILL))
            self.assertTrue(wait_until(lambda: not welkin.postgres_pids(), 60), "PostgreSQL outlived its server")
            welkin.start()
            names = [f["name"] for f in welkin.ask("GET", f"/api/folders/{welkin.home(token)}/contents", token=token).json()]
            self.assertEqual(["kept"], names)

    def test_a_killed_cluster_comes_back_by_itself(self):
        with Welkin() as welkin:
            welkin.user_add("ada")
            welkin.start()
            token = welkin.login("ada")
            (postmaster,) = welkin.postgres_pids()
            os.kill(postmaster, signal.SIGKILL)
            self.assertTrue(wait_until(lambda: welkin.postgres_pids() not in ([], [postmaster]), 60))
            self.assertTrue(welkin.wait_ready(60), welkin.log())
            self.assertEqual(200, welkin.ask("GET", "/api/auth/me", token=token).status)
            self.assertEqual(0, welkin.stop())

    def test_sigterm_under_load_exits_0_and_keeps_what_was_acknowledged(self):
        with Welkin() as welkin:
            welkin.user_add("ada")
            welkin.start()
            token = welkin.login("ada")
            home = welkin.home(token)
            kept, go_on = {}, threading.Event()
            go_on.set()

            def write(number):
                connection = welkin.connection()
                count = 0
                while go_on.is_set():
                    name, body = f"w{number}-{count}", os.urandom(100_000)
                    try:
                        answer = ask_on(connection, "PUT", f"/api/folders/{home}/children/{name}", body, token=token)
                    except (OSError, http.client.HTTPException):
                        return
                    if answer.status == 201:
                        kept[name] = (answer.json()["id"], body)
                    count += 1

            writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
            for w in writers:
                w.start()
            self.assertTrue(wait_until(lambda: len(kept) > 20))
            self.assertEqual(0, welkin.stop())
            go_on.clear()
            for w in writers:
                w.join()
            self.assertEqual([], welkin.postgres_pids())
            welkin.start()
            token = welkin.login("ada")
            for name, (file, body) in kept.items():
                self.assertEqual(body, welkin.ask("GET", f"/api/files/{file}", token=token).body, name)

    def test_a_second_signal_ends_it_at_once(self):
        with Welkin(WELKIN_SHUTDOWN_SECONDS="60", WELKIN_BODY_STALL_SECONDS="120") as welkin:
            welkin.user_add("ada")
            welkin.start()
            token = welkin.login("ada")
            home = welkin.home(token)
            host, port = welkin.address.split(":")
            with socket.create_connection((host, int(port))) as s:
                s.sendall((f"PUT /api/folders/{home}/children/slow HTTP/1.1\r\nHost: {welkin.address}\r\n"
                           f"Authorization: Bearer {token}\r\nContent-Length: 1000000\r\n\r\nbegun").encode())
                self.assertTrue(wait_until(lambda: welkin.ask("GET", "/health").status == 200))
                welkin.process.send_signal(signal.SIGTERM)
                with self.assertRaises(Exception):
                    welkin.process.wait(1.5)  # the upload may still finish
                self.assertEqual(128 + signal.SIGTERM, welkin.stop(signal.SIGTERM, timeout=20))
            self.assertTrue(wait_until(lambda: not welkin.postgres_pids(), 60))


class Operating(unittest.TestCase):
    def test_healthcheck_and_doctor_of_a_running_server(self):
        with Welkin() as welkin:
            welkin.start()
            done = welkin.run("healthcheck")
            self.assertEqual((0, f"ready: {welkin.address}\n"), (done.returncode, done.stdout), done.stderr)
            other = welkin.run("healthcheck", env={"WELKIN_LISTEN": welkin.address, "WELKIN_DATA_DIR": welkin.data + "-other"})
            self.assertEqual(1, other.returncode, "another server has that address")
            self.assertIn("no server runs on", other.stderr)
            doctor = welkin.run("doctor", "--json")
            self.assertEqual(0, doctor.returncode, doctor.stdout)
            texts = {f["check"]: f["text"] for f in json.loads(doctor.stdout)["findings"]}
            self.assertIn(f"process {welkin.pid} serves {welkin.address}", texts["server"])
            with open(welkin.data + "/store.id", "w", encoding="utf-8") as f:
                f.write("00000000-0000-0000-0000-000000000000\n")
            doctor = welkin.run("doctor")
            self.assertEqual(2, doctor.returncode)
            self.assertRegex(doctor.stdout, r"fault +store\.id +the database belongs to the chunk store")
            welkin.stop()
            self.assertEqual(1, welkin.run("healthcheck", env={"WELKIN_LISTEN": f"127.0.0.1:{server.free_port()}"}).returncode)
            refused = welkin.run("serve")
            self.assertEqual(1, refused.returncode, "bytes of another store are not served")

    def test_a_suspect_store_stays_so_until_an_operator_has_looked(self):
        with Welkin() as welkin:
            welkin.user_add("ada")
            welkin.start()
            token, user = welkin.login("ada"), server.server_user()
            home = welkin.home(token)
            self.assertEqual(201, welkin.ask("PUT", f"/api/folders/{home}/children/before", b"x" * 100_000, token=token).status)
            welkin.stop()
            with open(welkin.data + "/store.suspect", "w", encoding="utf-8") as f:
                f.write("fdatasync of a chunk failed\n")
            os.chown(f.name, user.pw_uid, user.pw_gid)
            for _ in range(2):
                welkin.start()
                refused = welkin.ask("PUT", f"/api/folders/{home}/children/after", b"x" * 100_000, token=token)
                self.assertEqual(503, refused.status, refused.body)
                names = welkin.ask("GET", f"/api/folders/{home}/listing", token=token).json()["files"]
                self.assertEqual(["before"], [f["name"] for f in names])
                self.assertEqual(b"x" * 100_000, welkin.ask("GET", f"/api/files/{names[0]['id']}", token=token).body)
                ready = welkin.ask("GET", "/ready")
                self.assertEqual(503, ready.status)
                doctor = welkin.run("doctor")
                self.assertEqual(2, doctor.returncode)
                self.assertRegex(doctor.stdout, r"fault +store\.writable +takes no writes since: fdatasync of a chunk failed")
                welkin.stop()
            reset = welkin.run("doctor", "--reset-store", env={"WELKIN_LISTEN": f"127.0.0.1:{server.free_port()}"})
            self.assertEqual(0, reset.returncode, reset.stdout)
            welkin.start()
            self.assertEqual(200, welkin.ask("GET", "/ready").status)
            self.assertEqual(201, welkin.ask("PUT", f"/api/folders/{home}/children/after", b"x" * 100_000, token=token).status)

    def test_tls_healthcheck_and_reload(self):
        with Welkin() as welkin:
            cert, key = self_signed(welkin.parent, "tls", common_name="one.test")
            welkin.settings.update(WELKIN_TLS_CERT=cert, WELKIN_TLS_KEY=key)
            welkin.start()
            self.assertTrue(welkin.tls)
            self.assertEqual(200, welkin.ask("GET", "/ready").status)
            self.assertEqual(0, welkin.run("healthcheck").returncode)

            def served():
                host, port = welkin.address.split(":")
                return ssl.get_server_certificate((host, int(port)))

            first = served()
            self_signed(welkin.parent, "tls", common_name="two.test")
            welkin.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: served() != first, 30), "the new certificate is not served")
            second = served()
            with open(cert, "w", encoding="utf-8") as f:
                f.write("no certificate")
            welkin.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: welkin.log().count("reloading") == 2, 30))
            self.assertEqual(second, served(), "a bad one changes nothing")
            doctor = welkin.run("doctor")
            self.assertEqual(2, doctor.returncode)
            self.assertRegex(doctor.stdout, r"fault +tls\.certificate")

    def test_log_level_is_read_again(self):
        with Welkin(WELKIN_LOG_LEVEL=None) as welkin:
            config = welkin.parent + "/welkin.toml"

            def write(level):
                with open(config, "w", encoding="utf-8") as f:
                    f.write(f'[observing]\nlog_level = "{level}"\n')
                os.chmod(config, 0o644)

            write("info")
            welkin.start(WELKIN_CONFIG=config)
            welkin.ask("GET", "/health?one")
            write("wrong")
            welkin.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: "the configuration is not usable" in welkin.log(), 30))
            write("error")
            welkin.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: welkin.log().count("reloading") == 2, 30))
            self.assertEqual(0, welkin.stop())
            self.assertNotIn("stopped", welkin.log(), "info is no longer logged")

    def test_metrics(self):
        token = "0123456789abcdef0123456789abcdef"
        with Welkin() as welkin:
            welkin.start()
            self.assertEqual(404, welkin.ask("GET", "/metrics").status, "off until it is asked for")
            welkin.stop()
            own = f"127.0.0.1:{server.free_port()}"
            welkin.start(WELKIN_METRICS_LISTEN=own, WELKIN_METRICS_TOKEN=token)
            self.assertEqual(401, welkin.ask("GET", "/metrics").status)
            self.assertEqual(401, welkin.ask("GET", "/metrics", token="x" * 32).status)
            with_token = welkin.ask("GET", "/metrics", token=token)
            self.assertEqual(200, with_token.status)
            main, welkin.address = welkin.address, own
            alone = welkin.ask("GET", "/metrics")
            self.assertEqual(200, alone.status)
            for name in ("welkin_process_resident_bytes", "welkin_process_open_fds", "welkin_process_uptime_seconds"):
                self.assertRegex(alone.body.decode(), rf"(?m)^{name} [1-9]?[0-9]+$")
            self.assertEqual(404, welkin.ask("GET", "/api/auth/status").status, "nothing else is there")
            welkin.address = main

    def test_an_external_database_that_comes_late_and_goes(self):
        with pg.Cluster() as cluster:
            cluster.sql("create database welkin template template0")
            cluster.pause()
            address = f"127.0.0.1:{server.free_port()}"
            with Welkin(WELKIN_DATABASE_URL=cluster.url_of("welkin"), WELKIN_LISTEN=address) as welkin:
                welkin.start(wait=False)
                welkin.address = address

                def status(path):
                    try:
                        return welkin.ask("GET", path, timeout=5).status
                    except OSError:
                        return 0

                self.assertTrue(wait_until(lambda: status("/health") == 200, 60), welkin.log())
                self.assertEqual(503, status("/ready"))
                self.assertEqual(503, status("/api/auth/status"))
                self.assertEqual(200, status("/status.php"), "clients of Nextcloud wait")
                cluster.resume()
                welkin.wait_greeting()
                self.assertTrue(welkin.wait_ready(60), welkin.log())
                self.assertFalse(os.path.exists(welkin.data + "/postgres"))
                cluster.pause(signal.SIGQUIT)
                self.assertTrue(wait_until(lambda: status("/ready") == 503, 60))
                self.assertEqual(200, status("/health"))
                cluster.resume()
                self.assertTrue(welkin.wait_ready(60), welkin.log())
                self.assertEqual(0, welkin.stop())

    def test_waiting_for_a_database_can_be_stopped(self):
        with Welkin(WELKIN_DATABASE_URL="host=/nowhere dbname=x user=x") as welkin:
            welkin.start(wait=False)
            self.assertTrue(wait_until(lambda: "trying again" in welkin.log(), 60))
            self.assertEqual(0, welkin.stop())

    def test_base_path(self):
        with Welkin(WELKIN_BASE_URL="https://cloud.example.org/welkin") as welkin:
            welkin.start()
            self.assertTrue(welkin.link.startswith("https://cloud.example.org/welkin/setup#token="), welkin.link)
            self.assertEqual(200, welkin.ask("GET", "/welkin/ready", Host="cloud.example.org").status)
            self.assertEqual(0, welkin.run("healthcheck").returncode)
            self.assertEqual(0, welkin.run("doctor").returncode)


class GivenAway(unittest.TestCase):
    """What the process shows to others on the machine."""

    def status_of(self, pid):
        with open(f"/proc/{pid}/status", encoding="utf-8") as f:
            return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)

    def test_secrets_leave_the_environment(self):
        secret = "s3cret-0123456789abcdef"
        with Welkin(WELKIN_METRICS_TOKEN=secret, WELKIN_SETUP_TOKEN=secret) as welkin:
            welkin.start()
            try:
                with open(f"/proc/{welkin.pid}/environ", "rb") as f:
                    seen = f.read()
            except PermissionError:
                seen = b""  # closed to everybody but root: better still
            self.assertNotIn(secret.encode(), seen)
            for postmaster in welkin.postgres_pids():
                self.assertNotIn(b"WELKIN_", processes.of(postmaster, "environ"))
            self.assertNotIn(secret, welkin.log())

    def test_nobody_may_attach(self):
        with Welkin() as welkin:
            welkin.start()
            self.assertEqual(0, os.stat(f"/proc/{welkin.pid}/mem").st_uid, "dumpable processes own their files in /proc")
            self.assertEqual("1", self.status_of(welkin.pid)["NoNewPrivs"])

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_root_is_left_behind(self):
        user = server.server_user()
        with Welkin() as welkin:
            welkin.start()
            for pid in [welkin.pid, *welkin.postgres_pids()]:
                status = self.status_of(pid)
                self.assertEqual({str(user.pw_uid)}, set(status["Uid"].split()))
                self.assertEqual({str(user.pw_gid)}, set(status["Gid"].split()))
                self.assertEqual("", status["Groups"].strip())
                for kind in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
                    self.assertEqual(0, int(status[kind], 16), kind)
            self.assertEqual(user.pw_uid, os.stat(welkin.data).st_uid)
            for folder, below, files in os.walk(welkin.data):
                for name in [*below, *files]:
                    path = os.path.join(folder, name)
                    self.assertEqual(user.pw_uid, os.lstat(path).st_uid, path)


if __name__ == "__main__":
    suite.main()
