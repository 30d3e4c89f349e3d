# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sampled mode: operators told by the stack, against the built-in profiler of the same window."""

import json

import pytest
from conftest import WINDOWS
from harness import COMPLETE
from profiles import (
    MILLISECOND,
    SECOND,
    nanos,
    operator_times,
    operators,
    reading,
    window_nanos,
    workers,
)

FREQUENCY = 997
SAMPLED = ["--mode", "sampled", "--frequency", FREQUENCY]
SAMPLES = 25_000  # of each worker
WINDOWS_AT_MOST = 3
RUNS = 20
SHORT_STEPS = 300


def samples(ours):
    """Of each worker."""
    return [worker["cpu"]["samples"] for worker in ours["dbprof"]["workers"]]


def shares(times):
    total = sum(times.values())
    return {node: time / total for node, time in times.items()}


def percent(ours, builtin):
    return 100 * (ours - builtin) / builtin


def add(sums, times):
    for node, time in times.items():
        sums[node] = sums.get(node, 0) + time


class Sampler:
    """Takes windows with enough samples; how many steps that are, the last window tells."""

    def __init__(self, windows):
        self.lab = windows.lab
        self.steps = WINDOWS["join"]["steps"]
        self.last = windows["join --mode sampled"]
        self.taken = []

    def take(self):
        for _ in range(3):
            cpu = min(nanos(worker["on_cpu"]) for worker in self.last.ours["dbprof"]["workers"])
            a_step = cpu / SECOND * FREQUENCY / self.steps
            self.steps = int(1.1 * SAMPLES / a_step)
            self.last = self.lab.both(
                "join", workers=2, steps=self.steps, profiler=SAMPLED, timeout=400
            )
            if min(samples(self.last.ours)) >= SAMPLES:
                self.taken.append(self.last)
                return self.last
        raise AssertionError(f"only {samples(self.last.ours)} samples in {self.last.seconds} s")


@pytest.fixture(scope="module")
def sampler(windows):
    return Sampler(windows)


@pytest.fixture(scope="module")
def many_samples(sampler):
    return sampler.take()


def far_off(taken):
    """Operators with 2 % of the time or more that are off by more than 7 %, and the others."""
    ours, builtin = {}, {}
    for window in taken:
        for worker in workers(window.builtin):
            add(ours, operator_times(window.ours, worker))
            add(builtin, operator_times(window.builtin, worker))
    lines = {True: [], False: []}
    for node, share in shares(builtin).items():
        off = percent(ours.get(node, 0), builtin[node])
        if share >= 0.02:
            lines[abs(off) > 7].append(f"{node}: {100 * share:.1f} % of the time, {off:+.2f} %")
    return lines[True], lines[False]


@pytest.mark.seconds(900)
class TestAccuracy:
    def test_enough_samples(self, many_samples):
        about = many_samples.ours["dbprof"]
        assert about["mode"] == "sampled" and about["frequency_hz"] == FREQUENCY
        assert min(samples(many_samples.ours)) >= SAMPLES, samples(many_samples.ours)
        assert many_samples.status == COMPLETE, about["lost"]

    def test_total_variation(self, many_samples):
        """Half the sum of the differences between our shares and the built-in's."""
        for worker in workers(many_samples.builtin):
            ours = shares(operator_times(many_samples.ours, worker))
            builtin = shares(operator_times(many_samples.builtin, worker))
            assert len(builtin) >= 49
            nodes = ours.keys() | builtin.keys()
            distance = sum(abs(ours.get(n, 0) - builtin.get(n, 0)) for n in nodes) / 2
            print(f"worker {worker}: total variation {100 * distance:.2f} %")
            assert distance <= 0.03, f"worker {worker}: {100 * distance:.2f} %"

    def test_sum(self, many_samples):
        for worker in workers(many_samples.builtin):
            ours = sum(operator_times(many_samples.ours, worker).values())
            builtin = sum(operator_times(many_samples.builtin, worker).values())
            print(f"worker {worker}: sum {percent(ours, builtin):+.2f} %")
            assert abs(percent(ours, builtin)) <= 3, f"worker {worker}: {ours}, built-in {builtin}"

    def test_large_operators(self, sampler, many_samples):
        """
        Of all workers together. An operator with 2 % of the time has some 600 samples in a window,
        so that the bound is about two standard errors: a window more decides when it is passed.
        """
        for _ in range(WINDOWS_AT_MOST):
            far, near = far_off(sampler.taken)
            print("\n".join([f"{len(sampler.taken)} windows", *far, *near]))
            assert len(far) + len(near) >= 8
            if not far or len(sampler.taken) == WINDOWS_AT_MOST:
                break
            sampler.take()
        assert not far, "\n" + "\n".join(far)

    def test_parts_add_up(self, many_samples):
        """Operators, clock reads, scheduler and rest are all the CPU time that the worker had."""
        for worker in many_samples.ours["dbprof"]["workers"]:
            cpu = worker["cpu"]
            parts = [cpu[part] for part in ("operators", "engine_timing", "scheduler")]
            total = sum(map(nanos, [*parts, cpu["outside_steps"]]))
            on_cpu = nanos(worker["on_cpu"])
            assert all(nanos(part) > on_cpu / 1000 for part in parts)
            assert abs(total - on_cpu) <= on_cpu / 50, (total, on_cpu)

    def test_engine_timing(self, many_samples):
        """The engine reads its clocks around each evaluation, for less than a few microseconds."""
        ours = many_samples.ours
        for worker in workers(ours):
            of_operators = operator_times(ours, worker, "engine_timing_seconds")
            timing = sum(time for time in of_operators.values() if time)
            whole = reading(ours, worker, "n", "engine_timing_seconds")
            assert abs(timing - whole) <= whole / 100
            evaluations = sum(operator_times(ours, worker, "invocations_count").values())
            print(f"worker {worker}: {timing / evaluations:.0f} ns an evaluation")
            assert 50 < timing / evaluations < 5000

    def test_nonblocking_percent(self, many_samples):
        """CPU time over wall time, of the values in microseconds."""
        ours = many_samples.ours
        for worker in workers(ours):
            total = sum(operator_times(ours, worker).values())
            for node in operators(ours, worker):
                wall = reading(ours, worker, node, "runtime_seconds") // 1000
                cpu = reading(ours, worker, node, "nonblocking_percent")
                assert cpu["denominator"] == wall and cpu["numerator"] <= wall
                share = reading(ours, worker, node, "runtime_percent")
                assert share == {"numerator": wall, "denominator": total // 1000}


@pytest.mark.seconds(300)
def test_intervals(lab):
    """95 % intervals: the built-in's value lies inside for at least 90 % of the operators."""
    inside = outside = 0
    widths = []
    for _ in range(RUNS):
        window = lab.both("join", workers=2, steps=SHORT_STEPS, profiler=SAMPLED)
        assert window.ours["dbprof"]["mode"] == "sampled"
        for worker in workers(window.builtin):
            ours = operator_times(window.ours, worker)
            halves = operator_times(window.ours, worker, "runtime_interval_seconds")
            builtin = operator_times(window.builtin, worker)
            for node, time in builtin.items():
                if node not in ours or halves[node] is None:
                    outside += 1
                    continue
                assert halves[node] >= 0
                if abs(ours[node] - time) <= halves[node]:
                    inside += 1
                else:
                    outside += 1
            nodes = [node for node in ours if ours[node] > sum(ours.values()) / 20]
            widths += [halves[node] / ours[node] for node in nodes]
    print(f"{inside} of {inside + outside} inside")
    assert inside + outside >= RUNS * 2 * 49
    assert inside >= 0.9 * (inside + outside), f"{inside} of {inside + outside}"
    # An interval that holds everything says nothing.
    assert sorted(widths)[len(widths) // 2] < 0.5


def is_prime(number):
    return number > 1 and all(number % i for i in range(2, int(number**0.5) + 1))


def test_default_frequency(lab):
    """The highest prime rate that the budget allows: a larger one allows no less."""
    target = lab.target("join", workers=2, steps=100_000)
    target.go()
    rates = []
    for budget in ("0.05", "1", "50"):
        output = lab.path(f"{budget}.json")
        lab.run("-q", "--pid", target.pid, "--budget", budget, "-d", "300ms", "-o", output)
        rates.append(json.loads(output.read_text())["dbprof"]["frequency_hz"])
    print(rates)
    assert all(map(is_prime, rates)) and rates == sorted(rates) and rates[0] < rates[-1]


def test_slot_that_cannot_be_learned(lab):
    """No operator is ever evaluated: said within 2 s; the rest of the profile is there."""
    target = lab.target("idle", workers=2)
    output = lab.path("ours.json")
    profiler = lab.profiler("--pid", target.pid, "-o", output, "--mode", "sampled")
    profiler.wait_attached()
    profiler.expect("stderr", r"could not be learned", 3)
    assert profiler.stop() == COMPLETE, profiler.describe()
    ours = json.loads(output.read_text())
    for worker in workers(ours):
        edge = reading(ours, worker, "n", "circuit_edge_idle_seconds")
        assert abs(edge - window_nanos(ours)) <= MILLISECOND
        assert operators(ours, worker) == []
