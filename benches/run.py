"""Runs the gates of benches/ that scripts/bench has built, beside a PostgreSQL with the settings of production."""
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "tests/support"))
import pg  # noqa: E402

LOGS = os.path.join(ROOT, "build/bench-logs")


def main(words):
    flags = words[words.index("--") + 1:] if "--" in words else []
    names = words[:words.index("--")] if "--" in words else words
    gates = sorted(p for p in glob.glob(os.path.join(ROOT, "build/release/benches/*"))
                   if os.access(p, os.X_OK) and not os.path.isdir(p))
    if names:
        gates = [g for g in gates if any(os.path.basename(g).startswith(n) for n in names)]
    if not gates:
        raise SystemExit(f"no bench is called {' or '.join(names)}" if names else "no bench was built")
    os.makedirs(LOGS, exist_ok=True)
    bad = []
    with pg.Cluster(durable=True) as cluster:
        env = {k: v for k, v in os.environ.items() if not k.startswith("WELKIN_")}
        env.update(LC_ALL="C.UTF-8", WELKIN_TEST_DATABASE_URL=cluster.url)
        for gate in gates:
            name = os.path.basename(gate)
            print(f"== {name}", flush=True)
            out = f"--benchmark_out={LOGS}/{name}.json"
            code = subprocess.run([gate, out, "--benchmark_out_format=json", *flags], env=env, cwd=ROOT, check=False).returncode
            if code != 0:
                bad.append(f"{name} (exit code {code})")
    for name in bad:
        print(f"FAILED {name}")
    print(f"{len(gates) - len(bad)} gates ran, {len(bad)} failed; JSON in build/bench-logs")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
