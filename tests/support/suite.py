"""Runs the unittest cases of a module and reports them the way tests/run.py reads: `suite.main()` at its end."""
import argparse
import json
import signal
import sys
import time
import unittest


class _Result(unittest.TextTestResult):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.passed = []

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f"    {time.monotonic() - self.started:.1f} s")

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed.append(_name(test))


def _name(test):
    parts = test.id().split(".")
    return ".".join(parts[-2:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", help="write passed, failed and skipped tests to this file as JSON")
    parser.add_argument("names", nargs="*", help="Class or Class.test_name")
    options = parser.parse_args()
    # Asked to end, a suite still puts away the servers and users it made.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    module = sys.modules["__main__"]
    loader = unittest.defaultTestLoader
    tests = loader.loadTestsFromNames(options.names, module) if options.names else loader.loadTestsFromModule(module)
    started = time.monotonic()
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=_Result).run(tests)
    failed = sorted({_name(t) for t, _ in result.failures + result.errors} | {_name(t) for t in result.unexpectedSuccesses})
    skipped = [{"name": _name(t), "reason": why} for t, why in result.skipped]
    report = {
        "passed": len(result.passed),
        "failed": failed,
        # the end of a traceback names the assertion
        "why": {_name(t): "\n".join(text.strip().split("\n")[-10:]) for t, text in result.failures + result.errors},
        "skipped": skipped,
        "seconds": round(time.monotonic() - started, 2),
    }
    if options.report:
        with open(options.report, "w", encoding="utf-8") as out:
            json.dump(report, out)
    sys.exit(0 if not failed and (result.passed or skipped) else 1)
