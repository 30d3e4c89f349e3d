# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The daemon and those who ask it: Prometheus, pprof; and whoever kills it."""

import json
import os
import random
import subprocess
import time

import pytest
from harness import COMPLETE, TOP, eventually
from kernel import changed_code
from profiles import SECOND, breakdown
from prometheus_server import Prometheus
from served import Served

KILLS = int(os.environ.get("KILLS", "10"))


def test_prometheus(lab):
    """Its answer has the waits of a profile that was taken over the same steps."""
    served = Served(lab, "--mode", "waits")
    prometheus = Prometheus(lab, served.address.rsplit(":", 1)[1])
    target = lab.target("join", workers=2, steps=600)
    served.wait_for(target.pid, "profiled")
    output = lab.path("ours.json")
    profiler = lab.profiler("--pid", target.pid, "-o", output, "--mode", "waits")
    profiler.wait_attached()
    target.go()
    target.wait_done()
    assert profiler.stop() == COMPLETE, profiler.describe()
    ours = json.loads(output.read_text())
    steps = served.value("dbprof_steps_total", pid=target.pid)
    windows = served.value("dbprof_windows_total", pid=target.pid)
    query = f'dbprof_windows_total{{pid="{target.pid}"}}'
    eventually(lambda: (prometheus.number(query) or 0) > windows + 1, 30, "the last window")
    assert prometheus.number(f'sum(dbprof_steps_total{{pid="{target.pid}"}})') >= steps
    for worker in range(2):
        for reason, nanos in breakdown(ours, worker, "n").items():
            asked = prometheus.number(
                f'dbprof_step_wait_seconds_total{{pid="{target.pid}",worker="{worker}",'
                f'reason="{reason}"}}'
            )
            assert abs(asked * SECOND - nanos) <= 0.02 * nanos + SECOND / 1000, reason


def test_pprof_fetches(lab):
    """As Parca and Pyroscope do: pprof asks for the profile by itself, and shows operators."""
    pprof = subprocess.check_output([TOP / "tools" / "pprof.sh"], text=True).strip()
    served = Served(lab)
    target = lab.target("join", workers=2, steps=10**6)
    target.go()
    served.wait_for(target.pid, "profiled")
    asked = lab.process(
        [pprof, "-top", "-seconds", "2", f"{served.address}/debug/pprof/profile?pid={target.pid}"],
        env={**os.environ, "PPROF_TMPDIR": str(lab.path("pprof"))},
    )
    assert asked.wait(60) == 0, asked.describe()
    assert "JoinTrace" in asked.stdout and "Duration: 2" in asked.stdout


@pytest.mark.seconds(30 + 10 * KILLS)
def test_killed(lab):
    """At any moment: the store opens, no probe is left, and the next one goes on where it was."""
    moments = random.Random("always the same")
    folder = lab.path("store")
    target = lab.target("join", workers=2, steps=10**8)
    target.go()
    kept = 0
    for _ in range(KILLS):
        served = Served(lab, "--store", folder, interval="100ms")
        if moments.random() < 0.8:
            served.wait_for(target.pid, "profiled")
        time.sleep(moments.uniform(0, 0.6))
        served.process.kill()
        eventually(lambda: not changed_code(target.pid), 20, "all probes are gone")
        listed = sorted(folder.glob("dbprof-*.dbprof"))
        assert len(listed) >= kept
        kept = len(listed)
    assert kept > 0
    for path in listed:
        report = lab.run("report", path)
        assert report.popen.returncode in (COMPLETE, 3), report.describe()
    served = Served(lab, "--store", folder, interval="100ms")
    served.wait_for(target.pid, "profiled")
    eventually(lambda: len(list(folder.glob("dbprof-*.dbprof"))) > kept, 20, "one more is kept")
    # Nothing half-written stays once a daemon has opened the store again.
    assert not [name for name in os.listdir(folder) if not name.startswith("dbprof-")]
    assert served.end() == COMPLETE, served.process.describe()
