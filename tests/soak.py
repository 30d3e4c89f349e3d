# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Eight pipelines of eight workers that are started and killed at random under the daemon: all of them
are found, and nothing of those that have gone stays.

Run as a program it takes SOAK_SECONDS (default 1200), lets pipelines live longer, and looks at the
daemon's CPU time, too; `make check` runs a short one.
"""

import os
import random
import sys
import tempfile
import time

from harness import COMPLETE, Lab
from served import Served

PIPELINES, WORKERS = 8, 8
SCENARIOS = ("join", "sleeper", "sharded", "idle")
SHORT_LIFE, LIFE = (1, 8), (2, 60)  # seconds
QUIET = 30  # seconds in which none comes or goes
# Of a core, while pipelines come and go, and while none does.
CPU_MAX, QUIET_CPU_MAX = 0.02, 0.01
FIND = 20  # seconds, on a busy machine
WARM = 0.25  # of the time
RESIDENT_MAX_KIB, GROWTH_MAX_KIB = 40 * 1024, 2048


class Soak:
    def __init__(self, lab, seed, life=SHORT_LIFE):
        self.lab, self.random, self.life = lab, random.Random(seed), life
        self.served = Served(lab, interval="2s")
        self.living = []  # pairs: pipeline, when it is killed
        self.started = 0

    def start_one(self):
        scenario = self.random.choice(SCENARIOS)
        target = self.lab.target(scenario, workers=WORKERS, steps=10**6)
        target.go()
        self.served.wait_for(target.pid, "profiled", FIND)
        self.started += 1
        self.living.append((target, time.monotonic() + self.random.uniform(*self.life)))

    def kill_one(self, pair):
        target, _ = pair
        self.living.remove(pair)
        target.kill()
        self.lab.started.remove(target)
        self.served.wait_gone(target.pid, FIND)

    def turn(self):
        """Starts what is missing, kills what is due."""
        while len(self.living) < PIPELINES:
            self.start_one()
        for pair in [pair for pair in self.living if time.monotonic() >= pair[1]]:
            self.kill_one(pair)
        time.sleep(0.1)

    def kill_all(self):
        for pair in list(self.living):
            self.kill_one(pair)

    def quiet(self):
        """The daemon's CPU time while the pipelines work and none comes or goes."""
        time.sleep(5)
        began, cpu = time.monotonic(), self.served.cpu_seconds()
        time.sleep(QUIET)
        return (self.served.cpu_seconds() - cpu) / (time.monotonic() - began)

    def run(self, seconds):
        began, resident = time.monotonic(), []
        empty = self.served.counts()
        while time.monotonic() - began < WARM * seconds:
            self.turn()
        warm, cpu = time.monotonic(), self.served.cpu_seconds()
        while time.monotonic() - began < seconds:
            self.turn()
            resident.append(self.served.resident_kib())
        cpu = (self.served.cpu_seconds() - cpu) / (time.monotonic() - warm)
        quiet = self.quiet() if self.life == LIFE else 0
        self.kill_all()
        quarter = len(resident) // 4
        first, last = max(resident[:quarter]), max(resident[-quarter:])
        print(
            f"{self.started} pipelines, resident {first} KiB and then {last} KiB, CPU of the "
            f"daemon {100 * cpu:.2f} % of one and then {100 * quiet:.2f} %, {self.served.counts()}",
        )  # fmt: skip
        self.check(empty, first, last)
        # Not in a test that has to pass on a busy machine, with pipelines that hardly live.
        assert self.life != LIFE or (cpu <= CPU_MAX and quiet <= QUIET_CPU_MAX)

    def check(self, empty, first, last):
        served = self.served
        served.wait_settled(empty)
        assert last < first + GROWTH_MAX_KIB and last < RESIDENT_MAX_KIB
        assert served.value("dbprof_profiler_attached_total") >= self.started
        assert served.value("dbprof_profiler_detached_total") >= self.started
        for kind in ("windows", "edges", "discovery"):
            assert not served.value("dbprof_profiler_errors_total", kind=kind), kind
        assert served.end() == COMPLETE, served.process.describe()


def main():
    seconds = float(os.environ.get("SOAK_SECONDS", "1200"))
    seed = os.environ.get("SOAK_SEED", str(time.time_ns()))
    print(f"SOAK_SECONDS={seconds} SOAK_SEED={seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(folder)
        try:
            Soak(lab, seed, LIFE).run(seconds)
        finally:
            lab.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
