#!/usr/bin/env python3
"""The figures of the foundation, each as a ratio against a peer measured in the same run.

Starts the release server and Debian's nginx on loopback with data of their own, asks both the same things, prints a
table, and ends both. Bounded in time: about two minutes. Needs curl, nginx, openssl, wrk.

usage: figures.py WELKIN_BINARY [--gib SIZE_IN_GIB]
"""
import argparse
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

WRK_SECONDS = 3
CONNECTIONS = 64
ROUNDS = 3
PASSWORD = "correct horse battery staple 9"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, path="/", seconds=30):
    """Seconds until the server answers `path` with something below 500."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        try:
            c = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            c.request("GET", path)
            if c.getresponse().status < 500:
                return time.monotonic() - begun
        except OSError:
            pass
        time.sleep(0.01)
    raise SystemExit(f"nothing answers on port {port}")


def wrk(url, *headers):
    """Requests a second, and whether every answer was 2xx."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{WRK_SECONDS}s", "--latency"]
    for h in headers:
        command += ["-H", h]
    out = subprocess.run(command + [url], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in out:
        raise SystemExit(f"{url} did not answer 2xx:\n{out}")
    p99 = re.search(r"99%\s+(\S+)", out)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1)), p99.group(1) if p99 else "?"


def best(measure, rounds=ROUNDS):
    return max(measure() for _ in range(rounds))


def curl_seconds(*arguments):
    out = subprocess.run(["curl", "-sS", "-f", "-o", "/dev/null", "-w", "%{time_total}", *arguments],
                         capture_output=True, text=True, check=True).stdout
    return float(out)


class Welkin:
    def __init__(self, binary, directory, tls=None):
        self.port = free_port()
        self.directory = directory
        environment = {k: v for k, v in os.environ.items() if not k.startswith("WELKIN_")}
        environment.update(WELKIN_DATA_DIR=str(directory), WELKIN_LISTEN=f"127.0.0.1:{self.port}",
                           WELKIN_ACCESS_LOG="false", WELKIN_CONNECTIONS_PER_ADDRESS_MAX="4096")
        if tls:
            environment.update(WELKIN_TLS_CERT=str(tls[0]), WELKIN_TLS_KEY=str(tls[1]))
        self.environment = environment
        self.binary = binary
        self.log = open(str(directory) + ".log", "ab")
        self.process = None

    def start(self):
        self.process = subprocess.Popen([self.binary, "serve"], env=self.environment, stdout=self.log, stderr=self.log)

    def user(self, name):
        subprocess.run([self.binary, "user", "add", "--admin", name, "--password-stdin"], env=self.environment,
                       input=PASSWORD, text=True, check=True, stdout=subprocess.DEVNULL)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(40)

    def resident_mib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


class Nginx:
    def __init__(self, directory, tls):
        self.port, self.tls_port = free_port(), free_port()
        self.directory = directory
        directory.mkdir()
        directory.chmod(0o755)
        (directory / "www").mkdir()
        (directory / "www" / "small.json").write_text('{"status":"ok"}')
        modules = "include /etc/nginx/modules-enabled/*.conf;" if os.path.isdir("/etc/nginx/modules-enabled") else ""
        (directory / "nginx.conf").write_text(f"""
daemon off; worker_processes 2; pid {directory}/pid; error_log {directory}/error.log; {modules}
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; open_file_cache max=100; default_type application/json;
  client_body_temp_path {directory}/t1; proxy_temp_path {directory}/t2; fastcgi_temp_path {directory}/t3;
  uwsgi_temp_path {directory}/t4; scgi_temp_path {directory}/t5;
  server {{
    listen 127.0.0.1:{self.port}; listen 127.0.0.1:{self.tls_port} ssl;
    ssl_certificate {tls[0]}; ssl_certificate_key {tls[1]}; ssl_protocols TLSv1.3;
    root {directory}/www;
  }}
}}
""")
        user = ["-g", "user root;"] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(["nginx", "-c", str(directory / "nginx.conf"), *user], stderr=subprocess.DEVNULL)

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def sign_in(port):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    c.request("POST", "/api/auth/login", json.dumps({"username": "bench", "password": PASSWORD}),
              {"Content-Type": "application/json"})
    answer = json.loads(c.getresponse().read())
    token = answer["access_token"]
    c.request("GET", "/api/folders", headers={"Authorization": f"Bearer {token}"})
    return token, json.loads(c.getresponse().read())[0]["id"]


def durable_copy(source, target):
    with open(source, "rb") as i, open(target, "wb") as o:
        shutil.copyfileobj(i, o, 1 << 20)
        o.flush()
        os.fsync(o.fileno())
    folder = os.open(os.path.dirname(target), os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def seconds_of(work):
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("--gib", type=float, default=1.0)
    options = arguments.parse_args()
    binary = os.path.abspath(options.binary)
    rows = []

    def row(what, ours, peer, ratio, aim):
        rows.append((what, ours, peer, ratio, aim))
        print(f"{what:<44} {ours:>22} {peer:>22} {ratio:>8} {aim}", flush=True)

    with tempfile.TemporaryDirectory(prefix="wk-") as folder:
        base = pathlib.Path(folder)
        base.chmod(0o755)
        tls = base / "cert.pem", base / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                        "2", "-subj", "/CN=localhost", "-keyout", tls[1], "-out", tls[0]], check=True, capture_output=True)
        tls[1].chmod(0o644)  # a throw-away key, read by whatever user the server drops to
        welkin = Welkin(binary, base / "data")
        nginx = Nginx(base / "nginx", tls)
        secure = None
        try:
            welkin.start()
            first = wait_for(welkin.port, "/ready")
            row("ready on an empty directory", f"{first:.2f} s", "", "", "about 8 s")
            welkin.user("bench")
            welkin.stop()
            welkin.start()
            again = wait_for(welkin.port, "/ready")
            row("ready on an existing directory", f"{again:.2f} s", "", "", "about 1 s")
            time.sleep(2)
            row("idle resident memory", f"{welkin.resident_mib():.1f} MiB", "", "", "below 40 MiB")
            wait_for(nginx.port, "/small.json")

            token, home = sign_in(welkin.port)
            bearer = f"Authorization: Bearer {token}"
            ours = peers = asked = listed = (0.0, "")
            for _ in range(ROUNDS):  # interleaved, so that both see the same neighbours
                peers = max(peers, wrk(f"http://127.0.0.1:{nginx.port}/small.json"))
                ours = max(ours, wrk(f"http://127.0.0.1:{welkin.port}/health"))
                asked = max(asked, wrk(f"http://127.0.0.1:{welkin.port}/api/auth/me", bearer))
                listed = max(listed, wrk(f"http://127.0.0.1:{welkin.port}/api/folders/{home}", bearer))
            row("GET /health, keep-alive", f"{ours[0]:.0f}/s p99 {ours[1]}", f"nginx {peers[0]:.0f}/s", f"{ours[0] / peers[0]:.2f}", ">= 1.2")
            row("session and one SELECT (GET /api/auth/me)", f"{asked[0]:.0f}/s p99 {asked[1]}", f"nginx {peers[0]:.0f}/s",
                f"{asked[0] / peers[0]:.2f}", ">= 0.6")
            row("session, gate and node (GET /api/folders/id)", f"{listed[0]:.0f}/s p99 {listed[1]}", f"nginx {peers[0]:.0f}/s",
                f"{listed[0] / peers[0]:.2f}", "")

            big = base / "nginx" / "www" / "big"
            size = int(options.gib * (1 << 30))
            digest = hashlib.sha256()
            with open(big, "wb") as out:
                for _ in range(size >> 20):
                    block = os.urandom(1 << 20)
                    digest.update(block)
                    out.write(block)
            os.sync()
            hashed = min(seconds_of(lambda: subprocess.run(["sha256sum", big], check=True, capture_output=True)) for _ in range(2))
            copied = min(seconds_of(lambda: durable_copy(big, base / "copy")) for _ in range(2))
            (base / "copy").unlink()
            sent = []
            for i in range(3):
                out = base / "answer"
                sent.append(float(subprocess.run(
                    ["curl", "-sS", "-f", "-T", big, "-H", bearer, "-H", "Expect:", "-o", out, "-w", "%{time_total}",
                     f"http://127.0.0.1:{welkin.port}/api/folders/{home}/children/big{i}"], capture_output=True, text=True,
                    check=True).stdout))
                answer = json.loads(out.read_text())
                if answer.get("content_hash") not in (None, digest.hexdigest()):
                    raise SystemExit("the upload's digest is wrong")
            row(f"upload of {options.gib:g} GiB, hashed, cut, durable", f"{min(sent):.2f} s",
                f"sha256sum+copy {hashed + copied:.2f} s", f"{min(sent) / (hashed + copied):.2f}", "<= 1.3")

            def get(port, path, scheme="http"):
                return curl_seconds("-k", "-H", bearer, f"{scheme}://127.0.0.1:{port}{path}")

            # In turns, each first as often as second: a round differs from the next by more than the two from each other.
            mine, theirs = [], []
            for i in range(16):
                turns = [lambda: theirs.append(get(nginx.port, "/big")),
                         lambda: mine.append(get(welkin.port, f"/api/files/{answer['id']}"))]
                for turn in turns if i % 2 else reversed(turns):
                    turn()
            ours, peer = statistics.median(mine), statistics.median(theirs)
            row(f"download of {options.gib:g} GiB, median of 16", f"{size / ours / 1e9:.2f} GB/s",
                f"nginx {size / peer / 1e9:.2f} GB/s", f"{peer / ours:.2f}", ">= 1")
            body = hashlib.sha256()
            c = http.client.HTTPConnection("127.0.0.1", welkin.port, timeout=60)
            c.request("GET", f"/api/files/{answer['id']}", headers={"Authorization": f"Bearer {token}"})
            reply = c.getresponse()
            while part := reply.read(1 << 20):
                body.update(part)
            if body.digest() != digest.digest():
                raise SystemExit("the download's digest is wrong")

            welkin.stop()
            secure = Welkin(binary, base / "data", tls)
            secure.start()
            time.sleep(2)
            mine, theirs = [], []
            for _ in range(4):
                theirs.append(get(nginx.tls_port, "/big", "https"))
                mine.append(get(secure.port, f"/api/files/{answer['id']}", "https"))
            row(f"download of {options.gib:g} GiB, TLS", f"{size / min(mine) / 1e9:.2f} GB/s", f"nginx {size / min(theirs) / 1e9:.2f} GB/s",
                f"{min(theirs) / min(mine):.2f}", ">= 1")
        finally:
            welkin.stop()
            if secure:
                secure.stop()
            nginx.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
