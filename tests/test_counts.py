# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Steps and evaluations are counted exactly as DBSP counts them."""

import pytest
from conftest import with_probes
from profiles import circuits, invocations, reading, workers

STEPPING = ["spine", "sharded", "sleeper", "join", "nested", "wide", "stuck", "spin"]
LONG = ["long spine", "long sharded", "long sleeper", "long join", "long nested"]


@pytest.mark.seconds(200)
@pytest.mark.parametrize("name", with_probes(STEPPING + LONG))
class TestCounts:
    def test_steps(self, windows, name):
        window = windows[name]
        for worker in workers(window.builtin):
            counted = {
                circuit: reading(window.builtin, worker, circuit, "steps_count")
                for circuit in circuits(window.builtin, worker)
            }
            assert counted and all(counted.values())
            assert {
                circuit: reading(window.ours, worker, circuit, "steps_count")
                for circuit in circuits(window.ours, worker)
            } == counted, f"worker {worker}"

    def test_invocations(self, windows, name):
        window = windows[name]
        for worker in workers(window.builtin):
            builtin = invocations(window.builtin, worker)
            assert len(builtin) >= 2
            assert invocations(window.ours, worker) == builtin, f"worker {worker}"


def test_nested_circuits_step_more_often(windows):
    """What the equality above would not show: that the two circuits' counts are not one."""
    window = windows["nested"]
    for worker in workers(window.ours):
        root = reading(window.ours, worker, "n", "steps_count")
        assert root == 60
        assert reading(window.ours, worker, "nn4", "steps_count") > 5 * root


@pytest.mark.parametrize("name", with_probes(["join", "nested", "wide"]))
def test_evaluations_follow_steps(windows, name):
    """Every node is evaluated once in each step of its circuit."""
    window = windows[name]
    for worker in workers(window.ours):
        for node, count in invocations(window.ours, worker).items():
            circuit = node.rpartition("_")[0] or "n"
            assert count == reading(window.ours, worker, circuit, "steps_count"), node
