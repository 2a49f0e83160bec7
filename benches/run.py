"""Runs the gates of benches/ that scripts/bench has built, beside a PostgreSQL that flushes.

A gate is a Google Benchmark binary of build/release/benches, or a benches/load/NAME.py, called load_NAME here, which
measures a whole server. Arms that are repeated take turns, so that all see the same neighbours.
"""
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "tests/support"))
import pg  # noqa: E402

LOGS = os.path.join(ROOT, "build/bench-logs")
LOADS = os.path.join(HERE, "load")
WELKIN = os.path.join(ROOT, "build/release/welkin")


def find_gates(names):
    """[(name, command)], those whose names begin with one of `names`."""
    binaries = [p for p in glob.glob(os.path.join(ROOT, "build/release/benches/*_bench")) if os.access(p, os.X_OK)]
    gates = [(os.path.basename(p), [p]) for p in sorted(binaries)]
    for path in sorted(glob.glob(os.path.join(LOADS, "*.py"))):
        gates.append(("load_" + os.path.basename(path).removesuffix(".py"), [sys.executable, path, WELKIN]))
    return [g for g in gates if not names or any(g[0].startswith(n) for n in names)]


def main(words):
    flags = words[words.index("--") + 1:] if "--" in words else []
    names = words[:words.index("--")] if "--" in words else words
    gates = find_gates(names)
    if not gates:
        raise SystemExit(f"no bench is called {' or '.join(names)}" if names else "no bench was built")
    os.makedirs(LOGS, exist_ok=True)
    bad = []
    with pg.Cluster(durable=True) as cluster:
        env = {k: v for k, v in os.environ.items() if not k.startswith("WELKIN_")}
        env.update(LC_ALL="C.UTF-8", WELKIN_TEST_DATABASE_URL=cluster.url)
        for name, command in gates:
            print(f"== {name}", flush=True)
            if not name.startswith("load_"):
                command = [*command, f"--benchmark_out={LOGS}/{name}.json", "--benchmark_out_format=json",
                           "--benchmark_enable_random_interleaving=true", "--benchmark_display_aggregates_only=true"]
            code = subprocess.run([*command, *flags], env=env, cwd=ROOT, check=False).returncode
            if code != 0:
                bad.append(f"{name} (exit code {code})")
    for name in bad:
        print(f"FAILED {name}")
    print(f"{len(gates) - len(bad)} gates ran, {len(bad)} failed; JSON in build/bench-logs")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
