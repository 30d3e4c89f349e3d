# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Times equal the built-in profiler's, on windows of at least five seconds."""

import pytest
from conftest import LONG as LEAST_SECONDS
from conftest import with_probes
from profiles import MILLISECOND, REASONS, SECOND, breakdown, circuits, reading, workers

LONG = with_probes(["long spine", "long sharded", "long sleeper", "long join", "long nested"])
METRICS = [
    "circuit_wait_time_seconds",
    "circuit_runtime_seconds",
    "circuit_cpu_time_seconds",
    "circuit_idle_time_seconds",
]


PROBES = " --mode waits"


def is_close(ours, builtin):
    return abs(ours - builtin) <= 0.02 * builtin + MILLISECOND


def compare(window, values):
    """One line for every value that is not close; `values` reads them from a profile."""
    faults = []
    for worker in workers(window.builtin):
        nodes = circuits(window.builtin, worker)
        assert nodes == circuits(window.ours, worker)
        for circuit in nodes:
            builtin = values(window.builtin, worker, circuit)
            ours = values(window.ours, worker, circuit)
            assert set(ours) == set(builtin)
            faults += [
                f"worker {worker} {circuit} {name}: {ours[name] / 1e6:.3f} ms, "
                f"built-in {builtin[name] / 1e6:.3f} ms "
                f"({(ours[name] - builtin[name]) / 1e6:+.3f} ms, "
                f"{100 * (ours[name] - builtin[name]) / max(builtin[name], 1):+.2f} %)"
                for name in builtin
                if not is_close(ours[name], builtin[name])
            ]
    return faults


@pytest.mark.seconds(200)
@pytest.mark.parametrize("name", LONG)
class TestParity:
    def test_window(self, windows, name):
        assert windows[name].seconds >= LEAST_SECONDS

    def test_wait_reasons(self, windows, name):
        faults = compare(windows[name], breakdown)
        assert not faults, "\n" + "\n".join(faults)

    def test_nonblocking_percent(self, windows, name):
        """CPU time over run time, of the same values in microseconds."""
        ours = windows[name].ours
        for worker in workers(ours):
            for circuit in circuits(ours, worker):
                percent = reading(ours, worker, circuit, "circuit_nonblocking_percent")
                cpu = reading(ours, worker, circuit, "circuit_cpu_time_seconds")
                run = reading(ours, worker, circuit, "circuit_runtime_seconds")
                assert percent == {"numerator": cpu // 1000, "denominator": run // 1000}


@pytest.mark.seconds(200)
@pytest.mark.parametrize("name, metric", [(name, metric) for name in LONG for metric in METRICS])
def test_times(windows, name, metric):
    faults = compare(windows[name], lambda *where: {metric: reading(*where, metric)})
    assert not faults, "\n" + "\n".join(faults)


@pytest.mark.seconds(200)
def test_modes(windows):
    """The comparisons above are of two ways to measure."""
    for name in LONG:
        mode = "waits" if name.endswith(PROBES) else "engine"
        assert windows[name].ours["dbprof"]["mode"] == mode


def test_the_comparison_can_fail(windows):
    """The tolerance is narrow against what is compared."""
    window = windows["long sleeper"]
    pending = breakdown(window.builtin, 0, "n")["operator_pending"]
    assert pending > 3 * SECOND
    assert not is_close(0.97 * pending, pending) and not is_close(1.03 * pending, pending)
    for other in REASONS:
        if other != "operator_pending":
            assert not is_close(pending, breakdown(window.builtin, 0, "n")[other])
