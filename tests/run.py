"""Runs the suites that scripts/test has built: counts, names what failed or was skipped, keeps the logs.

A suite is a GoogleTest binary of build/asan/tests or a tests/*/*_test.py. A skipped test fails the run unless it stands in
tests/skips.txt with its reason. With --tsan: the binaries of build/tsan/tests, and nothing else.
"""
import argparse
import concurrent.futures
import fnmatch
import glob
import json
import os
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(HERE, "support"))
import pg  # noqa: E402

LOGS = os.path.join(ROOT, "build/test-logs")
TAIL_LINES = 60
WHY_LINES = 12
# What a suite may take; beyond it hangs. Generous: machines differ, and this asserts nothing about speed.
SECONDS_MAX, SECONDS_MAX_FULL = 900, 7200
# Suites that need the machine to themselves, or start servers of their own: one after the other, at the end.
ALONE = ("app", "crash", "scripts", "clients", "web")


class Suite:
    def __init__(self, name, command, kind):
        self.name, self.command, self.kind = name, command, kind
        self.group = name.split("/")[0].removesuffix("_test")
        self.passed, self.failed, self.skipped, self.seconds = 0, [], [], 0.0
        self.why = {}  # of a failed test, where the report tells
        self.log = os.path.join(LOGS, name.replace("/", ".") + ".log")
        self.report = os.path.join(LOGS, name.replace("/", ".") + ".json")


def find_suites(only, tsan):
    suites = []
    for path in sorted(glob.glob(os.path.join(ROOT, f"build/{'tsan' if tsan else 'asan'}/tests/*_test"))):
        suites.append(Suite(os.path.basename(path), [path], "gtest"))
    for path in sorted(glob.glob(os.path.join(HERE, "*/*_test.py"))) if not tsan else []:
        name = os.path.relpath(path, HERE).removesuffix(".py")
        suites.append(Suite(name, [sys.executable, path], "python"))
    if only:
        suites = [s for s in suites if any(s.name.startswith(word) for word in only)]
    return suites


def read_gtest(suite):
    with open(suite.report, encoding="utf-8") as f:
        report = json.load(f)
    for group in report.get("testsuites", []):
        for test in group.get("testsuite", []):
            name = f"{group['name']}.{test['name']}"
            if test.get("failures"):
                suite.failed.append(name)
                suite.why[name] = "\n".join(f.get("failure", "") for f in test["failures"])
            elif test.get("result") == "SKIPPED":
                why = "; ".join(s.get("message", "").strip() for s in test.get("skipped", [])) or "no reason given"
                suite.skipped.append((name, why.split("\n")[-1]))
            elif test.get("result") == "COMPLETED":
                suite.passed += 1
            elif test.get("result") == "SUPPRESSED":
                suite.skipped.append((name, "disabled"))


def read_python(suite):
    with open(suite.report, encoding="utf-8") as f:
        report = json.load(f)
    suite.passed = report["passed"]
    suite.failed = report["failed"]
    suite.why = report["why"]
    suite.skipped = [(s["name"], s["reason"]) for s in report["skipped"]]


def run(suite, env, seconds_max):
    if os.path.exists(suite.report):
        os.remove(suite.report)
    flags = [f"--gtest_output=json:{suite.report}"] if suite.kind == "gtest" else ["--report", suite.report]
    started = time.monotonic()
    with open(suite.log, "wb") as log:
        child = subprocess.Popen(suite.command + flags, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                 env=env, cwd=ROOT, start_new_session=True)
        try:
            code = child.wait(seconds_max)
        except subprocess.TimeoutExpired:
            code = None
            child.terminate()  # a chance to put away what it made
            try:
                child.wait(30)
            except subprocess.TimeoutExpired:
                pass
        try:  # what it left behind ends with it
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
    suite.seconds = time.monotonic() - started
    try:
        (read_gtest if suite.kind == "gtest" else read_python)(suite)
    except (OSError, ValueError, KeyError):
        suite.failed.append("(the suite wrote no report)")
    if code is None:
        suite.failed.append(f"(still running after {seconds_max} s)")
    elif code != 0 and not suite.failed:
        suite.failed.append(f"(exit code {code})")
    if not suite.passed and not suite.failed and not suite.skipped:
        suite.failed.append("(no test ran)")
    return suite


def allowed_skips():
    """[(pattern, reason)] of tests/skips.txt: `suite.Test  why`."""
    out = []
    with open(os.path.join(HERE, "skips.txt"), encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split(None, 1)
            if words and len(words) < 2:
                raise SystemExit(f"tests/skips.txt: '{words[0]}' has no reason")
            if words:
                out.append((words[0], words[1].strip()))
    return out


_printing = threading.Lock()


def tell(suite):
    with _printing:
        state = "FAILED" if suite.failed else "ok"
        print(f"{suite.name:<28} {suite.passed:>5} passed {len(suite.failed):>3} failed {len(suite.skipped):>3} skipped "
              f"{suite.seconds:>7.1f} s  {state}", flush=True)
        if suite.failed:
            print(f"  --- the end of {os.path.relpath(suite.log, ROOT)}")
            with open(suite.log, encoding="utf-8", errors="replace") as f:
                for line in f.read().split("\n")[-TAIL_LINES:]:
                    print("  " + line[:300])


def environment(full, url):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("WELKIN_", "GTEST_"))}
    env.update({
        "LC_ALL": "C.UTF-8",
        "WELKIN_TEST_FULL": "1" if full else "",
        "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TSAN_OPTIONS": f"suppressions={HERE}/tsan.supp:external_symbolizer_path=/usr/bin/llvm-symbolizer-19",
        "ASAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
        "PYTHONDONTWRITEBYTECODE": "1",
    })
    if url:
        env["WELKIN_TEST_DATABASE_URL"] = url
    return env


def main():
    parser = argparse.ArgumentParser(prog="scripts/test")
    parser.add_argument("--full", action="store_true", help="the long sizes too")
    parser.add_argument("--tsan", action="store_true", help="the binaries of build/tsan instead")
    parser.add_argument("suites", nargs="*", help="only suites whose names begin so")
    options = parser.parse_args()
    os.makedirs(LOGS, exist_ok=True)
    suites = find_suites(options.suites, options.tsan)
    if not suites:
        raise SystemExit(f"no suite is called {' or '.join(options.suites)}")
    seconds_max = SECONDS_MAX_FULL if options.full else SECONDS_MAX
    together = [s for s in suites if s.kind == "gtest"]
    alone = sorted((s for s in suites if s.kind != "gtest"), key=lambda s: (s.group in ALONE, s.name))

    started = time.monotonic()
    if together:
        with pg.Cluster() as cluster:
            env = environment(options.full, cluster.url)
            with concurrent.futures.ThreadPoolExecutor(max(2, (os.cpu_count() or 2))) as pool:
                for done in concurrent.futures.as_completed([pool.submit(run, s, env, seconds_max) for s in together]):
                    tell(done.result())
    for suite in alone:
        tell(run(suite, environment(options.full, None), seconds_max))

    skips = allowed_skips()
    unexcused = 0
    for suite in suites:
        for name, why in suite.skipped:
            full_name = f"{suite.name}:{name}"
            reasons = [reason for pattern, reason in skips if fnmatch.fnmatch(full_name, pattern)]
            if not reasons:
                unexcused += 1
            print(f"skipped {full_name}: {why}" + (f" (listed: {reasons[0]})" if reasons else
                                                  " - NOT LISTED in tests/skips.txt, so it counts as failed"))
    for suite in suites:
        for name in suite.failed:
            print(f"FAILED {suite.name}:{name}")
            for line in suite.why.get(name, "").strip().split("\n")[:WHY_LINES]:
                print(f"  {line[:300]}")
    passed = sum(s.passed for s in suites)
    failed = sum(len(s.failed) for s in suites) + unexcused
    skipped = sum(len(s.skipped) for s in suites) - unexcused
    print(f"suites: {len(suites)}, {time.monotonic() - started:.0f} s; logs in build/test-logs")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
