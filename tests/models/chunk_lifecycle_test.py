"""Searches every state of the chunk model with spin: no promise is broken, and each planted mistake is refuted."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(here), "support")]
import suite  # noqa: E402

MODEL = os.path.join(here, "chunk_lifecycle.pml")
MISTAKES = ["REUSE_DYING", "UNLINK_EARLY", "SWEEP_UNLINKS", "NO_OWN_LOOK", "EARLY_PROOF", "NO_DIR_SYNC"]
COMPILERS = ["cc", "gcc", "clang", "clang-19"]
SECONDS_MAX = 120  # a quiet machine takes about 5 for the whole search and 1 for each mistake


class ChunkLifecycle(unittest.TestCase):
    def setUp(self):
        if not shutil.which("spin"):
            self.skipTest("spin is not installed")
        self.compiler = next((name for name in COMPILERS if shutil.which(name)), None)
        if not self.compiler:
            self.skipTest("spin's verifier needs a C compiler")

    def search(self, mistake=None):
        """What the verifier says of the model, with one mistake in it or none."""
        with tempfile.TemporaryDirectory() as folder:
            define = [f"-D{mistake}"] if mistake else []
            for command in (["spin", "-a", *define, MODEL],
                            [self.compiler, "-O1", "-w", "-DSAFETY", "-DMEMLIM=2000", "-o", "pan", "pan.c"]):
                subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=SECONDS_MAX)
            done = subprocess.run(["./pan", "-m200000", "-n"], cwd=folder, capture_output=True, text=True,
                                  timeout=SECONDS_MAX, check=False)
            return done.stdout

    def test_no_promise_is_broken(self):
        report = self.search()
        self.assertIn("errors: 0", report)
        for unfinished in ("max search depth too small", "out of memory", "search not completed"):
            self.assertNotIn(unfinished, report.lower())


def refuted(mistake):
    def test(self):
        self.assertIn("assertion violated", self.search(mistake))
    return test


for name in MISTAKES:
    setattr(ChunkLifecycle, f"test_{name.lower()}_is_refuted", refuted(name))

if __name__ == "__main__":
    suite.main()
