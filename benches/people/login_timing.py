#!/usr/bin/env python3
"""Does the time of a refused sign-in tell whether the account exists?

Asks a running server in turn for a name that exists and for one that does not, with a wrong password, and compares the
two sets of times with Welch's t-test. |t| below 4.5 says that nothing can be seen. By hand, never in CI: it needs a
quiet machine, a server whose limits are off (login_attempts_per_minute and lockout_failures large) and some minutes.

  benches/people/login_timing.py http://127.0.0.1:8086 KNOWN_NAME [pairs]
"""
import http.client
import json
import statistics
import sys
import time
import urllib.parse


def attempt(connection, path, name):
    body = json.dumps({"username": name, "password": "certainly not the password"})
    began = time.perf_counter_ns()
    connection.request("POST", path + "/api/auth/login", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    took = time.perf_counter_ns() - began
    if answer.status != 403:
        sys.exit(f"answer {answer.status}: are the limits off?")
    return took / 1000


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    url = urllib.parse.urlsplit(sys.argv[1])
    known, pairs = sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    connection = http.client.HTTPConnection(url.hostname, url.port or 80)
    unknown = known[:-1] + ("x" if known[-1] != "x" else "y")
    times = {known: [], unknown: []}
    for i in range(pairs):
        for name in (known, unknown) if i % 2 else (unknown, known):
            times[name].append(attempt(connection, url.path.rstrip("/"), name))
    a, b = times[known], times[unknown]
    cut = statistics.quantiles(a + b, n=20)[-1]  # what the scheduler did to the slowest of both says nothing
    a, b = [t for t in a if t <= cut], [t for t in b if t <= cut]
    spread = statistics.variance(a) / len(a) + statistics.variance(b) / len(b)
    t = (statistics.mean(a) - statistics.mean(b)) / spread ** 0.5
    print(f"known {statistics.mean(a):.1f} us, unknown {statistics.mean(b):.1f} us, Welch t = {t:.2f} "
          f"({len(a)} and {len(b)} samples)")
    sys.exit(abs(t) >= 4.5)


if __name__ == "__main__":
    main()
