#!/usr/bin/env python3
"""PROPFIND of a folder of many files, as a ratio against whatever peers Debian has installed: Apache's mod_dav, nginx with
dav-ext, rclone serve webdav.

Starts the release server with data of its own and the peers over files of the same names and sizes, asks all of them the
same two questions (five properties by name, allprop) and prints first byte, total, bytes a row and how much the server
grew. Ends everything it has started. Bounded: about a minute for 10,000 files.

usage: propfind.py WELKIN_BINARY [--files N] [--rounds N]
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

from figures import PASSWORD, Welkin, free_port, wait_for

NAMED = ('<d:propfind xmlns:d="DAV:"><d:prop><d:resourcetype/><d:getcontentlength/><d:getlastmodified/><d:getetag/>'
         "<d:displayname/></d:prop></d:propfind>")


def ask(url, body, *more):
    """First byte and total in milliseconds, and bytes."""
    command = ["curl", "-sS", "-f", "-o", "/dev/null", "-X", "PROPFIND", "-H", "Depth: 1",
               "-H", "Content-Type: application/xml", "-w", "%{time_starttransfer} %{time_total} %{size_download}", *more]
    if body:
        command += ["--data-binary", body]
    first, total, size = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout.split()
    return float(first) * 1000, float(total) * 1000, int(size)


def peak_kib(pid, reset=False):
    if reset:
        pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


def measure(name, url, pids, rounds, count, *more):
    rows = []
    for kind, body in (("named", NAMED), ("allprop", "")):
        ask(url, body, *more)
        before = [peak_kib(p, True) for p in pids]
        times = [ask(url, body, *more) for _ in range(rounds)]
        grown = sum(peak_kib(p) - b for p, b in zip(pids, before))
        first, total = (statistics.median(t[i] for t in times) for i in (0, 1))
        rows.append((name, kind, first, total, times[0][2] / (count + 1), grown / 1024))
    return rows


class Peer:
    def __init__(self, command, port):
        self.port = port
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def pids(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def apache(folder, root):
    modules = pathlib.Path("/usr/lib/apache2/modules")
    if not (modules / "mod_dav_fs.so").exists():
        return None
    port = free_port()
    conf = folder / "apache.conf"
    locks = folder / "apache-locks"
    locks.mkdir()
    locks.chmod(0o777)  # it works as a user of its own
    wanted = "mpm_event authz_core dav dav_fs mime dir".split()
    conf.write_text("".join(f"LoadModule {m}_module {modules}/mod_{m}.so\n" for m in wanted) + f"""
ServerName localhost
ServerRoot {folder}
PidFile {folder}/apache.pid
Listen 127.0.0.1:{port}
User www-data
Group www-data
StartServers 1
ServerLimit 1
TypesConfig /etc/mime.types
ErrorLog {folder}/apache.log
DavLockDB {locks}/locks
DocumentRoot {root}
<Directory {root}>
  Dav On
  Require all granted
</Directory>
""")
    return Peer(["apache2", "-X" if os.geteuid() else "-DFOREGROUND", "-f", str(conf)], port)


def nginx(folder, root):
    module = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"
    if not os.path.exists(module):
        return None
    port = free_port()
    conf = folder / "nginx.conf"
    temp = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("proxy", "fastcgi", "uwsgi", "scgi"))
    conf.write_text(f"""
load_module {module}; daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path {folder}/body; {temp}
  server {{ listen 127.0.0.1:{port}; root {root}; dav_methods PUT DELETE MKCOL COPY MOVE;
           dav_ext_methods PROPFIND OPTIONS; }}
}}
""")
    return Peer(["nginx", "-c", str(conf)], port)


def rclone(_folder, root):
    if not shutil.which("rclone"):
        return None
    port = free_port()
    return Peer(["rclone", "serve", "webdav", str(root), "--addr", f"127.0.0.1:{port}"], port)


def start_peers(folder, root, started):
    """Those that are installed, by their names, all over the same files. Whoever calls ends what is in `started`."""
    peers = {}
    for name, start in (("apache", apache), ("nginx", nginx), ("rclone", rclone)):
        peer = start(folder, root)
        if peer is None:
            print(f"{name}: not installed")
            continue
        started.append(peer)
        wait_for(peer.port)
        peers[name] = peer
    return peers


def fill(welkin, count):
    """Makes the files over the wire, on a few connections that are kept."""
    url = f"http://127.0.0.1:{welkin.port}/webdav/d"
    login = ["-u", f"bench:{PASSWORD}"]
    subprocess.run(["curl", "-sS", "-f", *login, "-X", "MKCOL", url], check=True)
    with tempfile.NamedTemporaryFile("w") as body, tempfile.NamedTemporaryFile("w") as config:
        body.write("x" * 100)
        body.flush()
        for i in range(count):
            config.write(f'url = "{url}/file-{i:06}.txt"\nupload-file = "{body.name}"\noutput = /dev/null\n')
        config.flush()
        subprocess.run(["curl", "-sS", "-f", *login, "-Z", "--parallel-max", "32", "-K", config.name], check=True,
                       stderr=subprocess.DEVNULL)
    return url + "/", login


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended
    folder = pathlib.Path(tempfile.mkdtemp(prefix="welkin-propfind-"))
    folder.chmod(0o755)
    root = folder / "root"
    (root / "d").mkdir(parents=True)
    for i in range(arguments.files):
        (root / "d" / f"file-{i:06}.txt").write_text("x" * 100)
    welkin = Welkin(arguments.binary, folder / "data")
    started = [welkin]
    rows = []
    try:
        welkin.start()
        wait_for(welkin.port, "/ready")
        welkin.user("bench")
        url, login = fill(welkin, arguments.files)
        asked = [("welkin", url, lambda: [welkin.process.pid], login)]
        for name, peer in start_peers(folder, root, started).items():
            asked.append((name, f"http://127.0.0.1:{peer.port}/d/", peer.pids, []))
        print("asking", flush=True)
        for name, url, pids, more in asked:
            rows += measure(name, url, pids(), arguments.rounds, arguments.files, *more)
    finally:
        for one in reversed(started):
            one.stop()
        shutil.rmtree(folder, ignore_errors=True)
    ours = {row[1]: row[3] for row in rows if row[0] == "welkin"}
    print(f"{'server':8} {'asked':8} {'first ms':>9} {'total ms':>9} {'bytes/row':>9} {'grown MiB':>9} {'x welkin':>8}")
    for name, kind, first, total, size, grown in rows:
        print(f"{name:8} {kind:8} {first:9.1f} {total:9.1f} {size:9.0f} {grown:9.1f} {total / ours[kind]:8.2f}")


if __name__ == "__main__":
    main()
