# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Programs and profilers in containers: nested PID namespaces, roots of their own, overlays, user
namespaces, and binaries that are gone.
"""

import json
import os
import shutil

import pytest
from conftest import LONG
from containers import Container, Host, only_child, thread_numbers
from harness import COMPLETE, Window, target_path
from kernel import changed_code
from profiles import all_threads, breakdown, metadata, reading, workers
from test_attach import check_books, check_same_counts
from test_books import check_thread
from test_parity import METRICS, compare

# How deep the profiler's PID namespace is, and the program's.
DEPTHS = [(0, 1), (0, 3), (1, 1), (1, 2), (2, 4)]
NAMES = ["join", "nested"]


def both(lab, profiling, running, scenario, *arguments, program=None, **options):
    """The same window for both profilers; ours runs in one container, the program in another."""
    builtin, output = lab.path(f"builtin-{len(lab.started)}.json"), lab.path("ours.json")
    target = running.target(scenario, builtin=builtin, program=program, **options)
    threads = thread_numbers(target.host_pid, profiling.depth)
    profiler = profiling.profiler(
        "--pid", profiling.inner(target.host_pid), "-o", output, *arguments
    )
    profiler.wait_attached()
    target.go()
    seconds = target.wait_done()
    assert profiler.stop() == COMPLETE, profiler.describe()
    target.finish()
    ours = json.loads(output.read_text())
    check_ids(ours, threads)
    return Window(ours, target.builtin_profile(), COMPLETE, seconds, profiler, ())


def check_ids(ours, threads):
    """Threads bear the numbers that the profiler's own tools show for them."""
    found = {w["tid"]: f"dbsp-worker-{w['worker']}" for w in ours["dbprof"]["workers"]}
    found |= {t["tid"]: t["name"] for t in ours["threads"] if "exited" not in t}
    there = {tid: name for tid, name in threads.items() if name.startswith(("dbsp-", "merger-"))}
    assert len(there) >= 2 and there.items() <= found.items()


def check_window(window):
    """Steps, evaluations, the graph, and closed books."""
    check_same_counts(window.ours, window.builtin)
    check_books(window.ours)
    for thread in all_threads(window.ours):
        check_thread(thread, "in a container")


def pair(lab, profiling, running):
    """Where the profiler and the program run: the program's place lies in the other one, or is it."""
    outer = Container(lab, profiling) if profiling else Host(lab)
    return outer, Container(lab, running - profiling, within=outer) if running > profiling else outer


@pytest.mark.parametrize("mode", ["engine", "sampled", "exact", "waits"])
@pytest.mark.parametrize("profiling, running", DEPTHS)
def test_depths(lab, profiling, running, mode):
    """A profiler sees programs of its own PID namespace and of those in it, at any depth."""
    scenario = ["join", "nested"][(profiling + running) % 2]
    outer, inner = pair(lab, profiling, running)
    check_window(both(lab, outer, inner, scenario, "--mode", mode, workers=2, steps=60, records=20))
