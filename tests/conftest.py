# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Time limits, the policy on skips, and the fixtures that start processes."""

import os
import signal
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from harness import PROGRAM, TOP, Lab, target_path  # noqa: E402
from refusal import Refuser  # noqa: E402

SECONDS_PER_TEST = 120
SKIPS_ALLOWED = Path(__file__).parent / "skips-allowed"


def pytest_configure(config):
    config.addinivalue_line("markers", "seconds(limit): the test's time limit, set-up included")


def allowed_skips():
    """Patterns of test names in skips-allowed; each must come with a reason."""
    for line in SKIPS_ALLOWED.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, reason = line.partition(" ")
            if not reason.strip():
                raise pytest.UsageError(f"{SKIPS_ALLOWED}: {pattern} has no reason")
            yield pattern


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """With CI=true a skip that nobody has allowed is a failure."""
    outcome = yield
    report = outcome.get_result()
    if not report.skipped or os.environ.get("CI") != "true":
        return
    if not any(fnmatch(item.nodeid, pattern) for pattern in allowed_skips()):
        report.outcome = "failed"
        report.longrepr = f"skipped, which tests/skips-allowed does not allow: {report.longrepr}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Ends a test that hangs."""
    marker = item.get_closest_marker("seconds")
    limit = marker.args[0] if marker else SECONDS_PER_TEST

    def expired(_signal, _frame):
        raise TimeoutError(f"the test did not end within {limit} s")

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(limit)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def _built():
    """The program and the test pipeline, without which nothing can be profiled."""
    if os.geteuid() != 0:
        pytest.skip("profiling another process needs root")
    for path, goal in ((PROGRAM, "all"), (target_path(), "target")):
        assert path.exists(), f"{path} is missing: run 'make {goal}'"


@pytest.fixture
def lab(_built, tmp_path):
    lab = Lab(tmp_path)
    yield lab
    lab.close()


@pytest.fixture
def refused(lab):
    """Runs the program, which must refuse what it is asked."""
    return Refuser(lab)


@pytest.fixture
def idle(lab):
    """A pipeline that makes no step."""
    return lab.target("idle", workers=1)


@pytest.fixture(scope="session")
def nopie_target(_built):
    """The pipeline linked to run at a fixed address."""
    subprocess.run([TOP / "tools" / "target.sh", "nopie"], check=True)
    return target_path("nopie")


@pytest.fixture(scope="session")
def layout_target(_built):
    """The pipeline with debug info."""
    path = target_path("layout")
    assert path.exists(), f"{path} is missing: run 'make layout-target'"
    return path


# Each window is taken once and serves all tests that look at it. Those of at least
# LONG seconds are for comparisons of times. The built-in profiler is on in all of them, so that by
# default ours reads its counters; "NAME --mode MODE" is the window NAME in another mode.
LONG = 5
WINDOWS = {
    # On one CPU: with one for themselves, its mergers keep pace with it now and then.
    "spine": dict(scenario="spine", workers=1, steps=400, cpu=0),
    "sharded": dict(scenario="sharded", workers=2, steps=100),
    "sleeper": dict(scenario="sleeper", workers=1, steps=20),
    "join": dict(scenario="join", workers=2, steps=300),
    "nested": dict(scenario="nested", workers=2, steps=60, records=30),
    "wide": dict(scenario="wide", workers=2, steps=10, operators=1000, records=10),
    "stuck": dict(scenario="stuck", workers=2, steps=2),
    "spin": dict(scenario="spin", workers=2, steps=2),
    "idle": dict(scenario="idle", workers=2),
    "perf join": dict(scenario="join", workers=2, steps=100, profiler=["--uprobes", "perf"]),
    "long spine": dict(scenario="spine", workers=2, steps=20000, least_seconds=LONG),
    "long sharded": dict(scenario="sharded", workers=2, steps=18000, least_seconds=LONG),
    "long sleeper": dict(scenario="sleeper", workers=2, steps=4500, least_seconds=LONG),
    "long join": dict(scenario="join", workers=2, steps=2500, least_seconds=LONG),
    "long nested": dict(scenario="nested", workers=2, steps=140, least_seconds=LONG),
}


def with_probes(names):
    """The windows as they are, and once more with the numbers that the probes count."""
    return [*names, *(f"{name} --mode waits" for name in names)]


class Windows:
    def __init__(self, lab):
        self.lab = lab
        self.taken = {}

    def __getitem__(self, name):
        if name not in self.taken:
            try:
                self.taken[name] = self._take(name)
            except Exception as fault:  # seen by every test that asks for this window
                self.taken[name] = fault
        if isinstance(self.taken[name], Exception):
            raise self.taken[name]
        return self.taken[name]

    def _take(self, name):
        base, _, mode = name.partition(" --mode ")
        options = dict(WINDOWS[base])
        if mode:
            options["profiler"] = [*options.get("profiler", ()), "--mode", mode]
        return self._run(**options)

    def _run(self, scenario, least_seconds=None, **options):
        if least_seconds:
            return self.lab.both_for(least_seconds, scenario, **options)
        return self.lab.both(scenario, **options)


@pytest.fixture(scope="session")
def windows(_built, tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("windows"))
    yield Windows(lab)
    lab.close()


@pytest.fixture(scope="session")
def shipped_layout():
    [path] = (TOP / "user" / "layouts").glob("dbsp-0.354.0-rustc-*.json")
    return path
