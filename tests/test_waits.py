# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What DBSP's own tests (src/profile.rs) state of a wait breakdown, asked of our output."""

import pytest
from conftest import with_probes
from profiles import MILLISECOND, REASONS, breakdown, circuits, metadata, reading, workers

ALL = ["spine", "sharded", "sleeper", "join", "nested", "wide"]
LONG = ["long spine", "long sharded", "long sleeper", "long join", "long nested"]


def breakdowns(profile):
    """(worker, circuit, breakdown) of every circuit that has one; at least one has."""
    found = [
        (worker, circuit, breakdown(profile, worker, circuit))
        for worker in workers(profile)
        for circuit in circuits(profile, worker)
    ]
    assert found
    return found


@pytest.mark.seconds(200)
@pytest.mark.parametrize("name", with_probes(ALL + LONG))
class TestEveryBreakdown:
    def test_names_every_reason(self, windows, name):
        for worker, circuit, waits in breakdowns(windows[name].ours):
            assert sorted(waits) == sorted(REASONS), f"worker {worker} circuit {circuit}"

    def test_sums_to_the_wait(self, windows, name):
        """To the nanosecond."""
        ours = windows[name].ours
        for worker, circuit, waits in breakdowns(ours):
            wait = reading(ours, worker, circuit, "circuit_wait_time_seconds")
            assert sum(waits.values()) == wait, f"worker {worker} circuit {circuit}: {waits}"

    def test_belongs_to_circuits_only(self, windows, name):
        """A wait without a breakdown, or the reverse, does not occur; operators have neither."""
        ours = windows[name].ours
        for worker in workers(ours):
            for node, meta in metadata(ours, worker).items():
                ids = {r["metric_id"] for r in meta}
                assert ("circuit_wait_time_seconds" in ids) == (
                    "circuit_wait_by_reason_seconds" in ids
                ), node
                if node != "n":
                    assert not {"steps_count", "invocations_count"} < ids or node in circuits(
                        ours, worker
                    )

    def test_says_why(self, windows, name):
        """Every park inside a step happens under some declaration."""
        for worker, circuit, waits in breakdowns(windows[name].ours):
            assert waits["unattributed"] == 0, f"worker {worker} circuit {circuit}: {waits}"


@pytest.mark.parametrize("name", with_probes(["spine"]))
def test_a_backlogged_spine_waits_for_its_mergers(windows, name):
    window = windows[name]
    assert reading(window.ours, 0, "n", "steps_count") == 400
    for _, circuit, waits in breakdowns(window.ours):
        assert waits["merge_backpressure"] > 0, f"{circuit}: {waits}"
        assert waits["peers"] == 0, f"{circuit}: {waits}"


@pytest.mark.parametrize("name", with_probes(["sharded"]))
def test_sharded_workers_wait_for_their_peers(windows, name):
    window = windows[name]
    assert len(window.ours["worker_profiles"]) == 2
    for worker, circuit, waits in breakdowns(window.ours):
        assert reading(window.ours, worker, circuit, "steps_count") == 100
        assert waits["peers"] > 0, f"worker {worker} {circuit}: {waits}"


@pytest.mark.parametrize("name", with_probes(["sleeper"]))
def test_a_pending_operator_is_told_apart_from_an_idle_runtime(windows, name):
    """Twenty naps of a millisecond."""
    window = windows[name]
    assert reading(window.ours, 0, "n", "steps_count") == 20
    for _, circuit, waits in breakdowns(window.ours):
        assert waits["operator_pending"] >= 20 * MILLISECOND, f"{circuit}: {waits}"
