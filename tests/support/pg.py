"""A PostgreSQL cluster for tests: unix socket only, on no port, run by an ordinary user."""
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

BIN = "/usr/lib/postgresql/15/bin"


def ordinary_user():
    """Who PostgreSQL runs as: ourselves, or when we are root (which it refuses) the user of its package."""
    return pwd.getpwuid(os.geteuid()) if os.geteuid() != 0 else pwd.getpwnam("postgres")


def as_user(user, command):
    if os.geteuid() == user.pw_uid:
        return command
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--pdeathsig=INT", *command]


class Cluster:
    """`with Cluster() as c:` c.url is libpq's text for its database `postgres`, as superuser.

    @param durable  False: fsync off, for suites that never cut the power
    """

    def __init__(self, durable=False, connections=200):
        self.user = ordinary_user()
        self.folder = tempfile.mkdtemp(prefix="welkin-pg-")  # a short name: a socket's path has 107 bytes at most
        os.chmod(self.folder, 0o755)
        self.data, self.run = self.folder + "/data", self.folder + "/run"
        for path in (self.data, self.run):
            os.mkdir(path, 0o700)
            os.chown(path, self.user.pw_uid, self.user.pw_gid)
        os.chmod(self.run, 0o755)
        self.log = open(self.folder + "/log", "ab")
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": self.folder}
        self._env = env
        try:
            subprocess.run(
                as_user(self.user, [BIN + "/initdb", "-D", self.data, "-U", "welkin", "--auth-local=peer",
                                    "--auth-host=reject", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions",
                                    "--data-checksums", *([] if durable else ["--no-sync"])]),
                check=True, env=env, cwd="/", stdout=self.log, stderr=self.log)
            self._configure(durable, connections)
            self.resume()
        except BaseException:
            self.stop()
            raise
        self.url = f"host={self.run} user=welkin dbname=postgres"

    def resume(self):
        """Starts it (again)."""
        self.process = subprocess.Popen(as_user(self.user, [BIN + "/postgres", "-D", self.data]), env=self._env, cwd="/",
                                        stdout=self.log, stderr=self.log, start_new_session=True)
        self._wait()

    def pause(self, how=signal.SIGINT):
        """Stops it, its data stay."""
        self.process.send_signal(how)
        self.process.wait(60)

    def _configure(self, durable, connections):
        with open(self.data + "/postgresql.conf", "a", encoding="utf-8") as f:
            f.write(f"listen_addresses = ''\nunix_socket_directories = '{self.run}'\nunix_socket_permissions = 0777\n"
                    f"max_connections = {connections}\nshared_buffers = 128MB\njit = off\nwal_level = minimal\n"
                    f"max_wal_senders = 0\ntimezone = 'UTC'\n")
            if not durable:
                f.write("fsync = off\nfull_page_writes = off\n")
        users = {"root", self.user.pw_name, pwd.getpwuid(os.geteuid()).pw_name}
        users |= {"welkin"} if _exists("welkin") else set()
        with open(self.data + "/pg_hba.conf", "w", encoding="utf-8") as f:
            f.write("local all all peer map=welkin\n")
        with open(self.data + "/pg_ident.conf", "w", encoding="utf-8") as f:
            f.writelines(f"welkin {name} welkin\n" for name in sorted(users))

    def _wait(self):
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            try:
                with open(self.data + "/postmaster.pid", encoding="utf-8") as f:
                    lines = f.read().split("\n")
                if len(lines) >= 8 and lines[7].strip() == "ready":
                    return
            except FileNotFoundError:
                pass
            time.sleep(0.02)
        with open(self.folder + "/log", encoding="utf-8", errors="replace") as f:
            raise RuntimeError("PostgreSQL does not start:\n" + f.read()[-2000:])

    def sql(self, statement, database="postgres"):
        """Runs a statement with psql; returns its rows as text."""
        return subprocess.run([BIN + "/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", self.url_of(database), "-c", statement],
                              check=True, capture_output=True, text=True, env={**self._env, "PGOPTIONS": ""}).stdout.strip()

    def url_of(self, database):
        return f"host={self.run} user=welkin dbname={database}"

    def stop(self, how=signal.SIGINT):
        process = getattr(self, "process", None)
        if process and process.poll() is None:
            process.send_signal(how)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()


def _exists(name):
    try:
        return pwd.getpwnam(name) is not None
    except KeyError:
        return False
