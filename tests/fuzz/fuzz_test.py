"""Every fuzzer over its corpus; each must end without a finding. As a rule a short run that is the same each time, so that
a change is told by it and chance is not; with --full five minutes of new chances, and WELKIN_FUZZ_SECONDS says how long.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "support"))
import suite  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(here))
PROGRAMS = os.path.join(ROOT, "build/asan/tests/fuzz")
FULL = bool(os.environ.get("WELKIN_TEST_FULL"))
SECONDS = int(os.environ.get("WELKIN_FUZZ_SECONDS", "300" if FULL else "0"))
RUNS = 20_000
PATIENCE = 600


class Fuzz(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="welkin-fuzz-")
        self.addCleanup(shutil.rmtree, self.folder)

    def run_one(self, name):
        corpus = os.path.join(ROOT, "tests/corpus", name)
        self.assertGreater(len(os.listdir(corpus)), 3, "a corpus to begin with")
        found = os.path.join(self.folder, "found")
        os.mkdir(found)
        dictionary = os.path.join(here, name + ".dict")
        length = [f"-max_total_time={SECONDS}"] if SECONDS else ["-seed=1", f"-runs={RUNS}"]
        command = [os.path.join(PROGRAMS, name + "_fuzz"), *length, "-timeout=60", "-rss_limit_mb=2048",
                   "-max_len=8192", "-print_final_stats=1", f"-artifact_prefix={self.folder}/", found, corpus]
        if os.path.exists(dictionary):
            command.insert(1, "-dict=" + dictionary)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=SECONDS + PATIENCE)
        finding = ""
        for artifact in sorted(os.listdir(self.folder)):
            if artifact != "found":
                with open(os.path.join(self.folder, artifact), "rb") as f:
                    finding += f"{artifact}: {f.read()[:2000]!r}\n"
        self.assertEqual(0, done.returncode, done.stdout[-4000:] + finding)
        runs = [line for line in done.stdout.split("\n") if "number_of_executed_units" in line]
        self.assertTrue(runs, done.stdout[-2000:])
        self.assertGreater(int(runs[0].split()[-1]), 100)
        print(runs[0])

    def test_ical(self):
        self.run_one("ical")

    def test_rrule(self):
        self.run_one("rrule")

    def test_vcard(self):
        self.run_one("vcard")

    def test_xml(self):
        self.run_one("xml")


if __name__ == "__main__":
    suite.main()
