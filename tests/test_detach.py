# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Nothing stays behind in the target or in the kernel, however the profiler ends."""

import json
import os
import signal
import subprocess

import pytest
from harness import COMPLETE, eventually, target_path
from kernel import bpf_objects, changed_code, cpu_ticks, uprobe_events
from profiles import reading, workers

STEPS = 8000
RECORDS = 500  # into each step, each with a key of its own

ENDS = {
    "SIGINT": lambda profiler: profiler.popen.send_signal(signal.SIGINT),
    "SIGTERM": lambda profiler: profiler.popen.send_signal(signal.SIGTERM),
    "SIGHUP": lambda profiler: profiler.popen.send_signal(signal.SIGHUP),
    "SIGKILL": lambda profiler: profiler.popen.kill(),
}


def private_target(lab, scenario, **options):
    """A target whose file nobody else runs or probes."""
    copy = lab.path("private-target")
    if not copy.exists():
        subprocess.run(["cp", target_path(), copy], check=True)
    return lab.target(scenario, program=copy, **options)


@pytest.mark.parametrize("uprobes", ["multi", "perf"])
@pytest.mark.parametrize("end", ENDS)
def test_nothing_stays_behind(lab, end, uprobes):
    """The profiler ends in the middle of steps; the target goes on as if nothing had been."""
    builtin = lab.path("builtin.json")
    target = private_target(
        lab, "sharded", workers=2, steps=STEPS, records=RECORDS, builtin=builtin
    )
    assert changed_code(target.pid) == []
    events = uprobe_events()
    profiler = lab.profiler(
        "--pid", target.pid, "--output", lab.path("ours.json"), "--uprobes", uprobes,
        "--mode", "waits",
    )  # fmt: skip
    profiler.wait_attached()
    probes = changed_code(target.pid)
    assert len(probes) >= 4, "attached, but no probe is in the code"
    objects = bpf_objects(profiler.pid)
    assert objects, "attached, but no BPF program is held"
    target.go()
    used = cpu_ticks(target.pid)
    eventually(lambda: cpu_ticks(target.pid) > used + 20, 20, "the target makes steps")
    ENDS[end](profiler)
    status = profiler.wait(60)
    assert status == (-signal.SIGKILL if end == "SIGKILL" else COMPLETE), profiler.describe()
    # The kernel frees what a killed process held soon, not at once.
    eventually(lambda: changed_code(target.pid) == [], 10, "the code is as in the file again")
    eventually(lambda: not objects & bpf_objects(), 10, "BPF programs and links are gone")
    assert uprobe_events() == events

    target.wait_done()
    target.finish()
    profile = target.builtin_profile()
    records = 0
    for worker in workers(profile):
        assert reading(profile, worker, "n", "steps_count") == STEPS
        records += reading(profile, worker, "n", "state_records_count")
    assert records == STEPS * RECORDS


def test_killed_profiler_leaves_no_file(lab):
    """Neither the profile nor a temporary one."""
    target = private_target(lab, "idle")
    folder = lab.path("out")
    folder.mkdir()
    profiler = lab.profiler("--pid", target.pid, "--output", folder / "ours.json")
    profiler.wait_attached()
    profiler.popen.kill()
    profiler.wait(10)
    assert os.listdir(folder) == []


def test_can_be_profiled_again(lab):
    """One window after another, each with its own steps only."""
    target = private_target(lab, "sleeper", workers=1, steps=3000)
    target.go()
    totals = []
    for number in range(3):
        output = lab.path(f"ours-{number}.json")
        profiler = lab.profiler("--pid", target.pid, "--output", output, "--duration", "500ms")
        assert profiler.wait(60) == COMPLETE, profiler.describe()
        totals.append(reading(json.loads(output.read_text()), 0, "n", "steps_count"))
        assert changed_code(target.pid) == []
    assert all(100 < total < 500 for total in totals), totals


def test_bystanders_are_left_alone(lab):
    """Another process of the same file gets no probe."""
    bystander = private_target(lab, "idle")
    target = private_target(lab, "idle")
    profiler = lab.profiler(
        "--pid", target.pid, "--output", lab.path("ours.json"), "--uprobes", "multi"
    )
    profiler.wait_attached()
    assert changed_code(target.pid) and changed_code(bystander.pid) == []
    assert profiler.stop() == COMPLETE


def test_target_that_ends_takes_its_probes_along(lab):
    target = private_target(lab, "idle")
    profiler = lab.profiler("--pid", target.pid, "--output", lab.path("ours.json"))
    profiler.wait_attached()
    objects = bpf_objects(profiler.pid)
    target.kill()
    profiler.wait(60)
    eventually(lambda: not objects & bpf_objects(), 10, "BPF programs and links are gone")
