"""tus-js-client, the client of tus that browsers and scripts use, against the real server."""
import os
import subprocess
import sys
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "support"))
import suite  # noqa: E402
from server import Welkin  # noqa: E402

SECONDS = 600  # beyond it something hangs


class Npm(unittest.TestCase):
    @unittest.skipUnless(os.path.isdir(os.path.join(here, "node_modules/tus-js-client")),
                         "scripts/setup --clients could not install it")
    def test_the_client_of_browsers(self):
        with Welkin() as welkin:
            self.assertEqual(0, welkin.user_add("ada").returncode)
            welkin.start()
            done = subprocess.run(
                ["node", os.path.join(here, "npm_tus.mjs"), f"http://{welkin.address}", welkin.login("ada")],
                capture_output=True, text=True, timeout=SECONDS, check=False)
            self.assertEqual("fine\n", done.stdout, done.stderr)


if __name__ == "__main__":
    suite.main()
