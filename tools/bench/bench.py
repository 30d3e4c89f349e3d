#!/usr/bin/env python3
"""Slowdown of a real pipeline by profilers: paired, alternating runs, as ratios with their spread.

Each pair is a run alone and a run under the profiler, one right after the other, so that the
machine's drift hits both; the order alternates. Prints Markdown.
"""

import argparse
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

from runs import Pipeline, Tool, timed_run

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# What runs once for each poll of an operator.
POLL = "Timed<T> as core::future::future::Future>::poll"
# What polls a task; its second argument is the task's state, which names circuit and node.
TASK = "dynamic_scheduler::Inner::spawn_task::{{closure}}"


def functions(target, part):
    """Names and addresses of the functions whose demangled names end with `part`."""
    names = subprocess.run(["nm", target], capture_output=True, text=True, check=True).stdout
    plain = subprocess.run(["nm", "-C", target], capture_output=True, text=True, check=True).stdout
    found = [
        (mangled.split()[-1], int(mangled.split()[0], 16))
        for mangled, readable in zip(names.splitlines(), plain.splitlines())
        if readable.split(" ", 2)[-1].endswith(part) and " t " in mangled.lower()
    ]
    if not found:
        raise RuntimeError(f"no function {part} in {target}")
    return found


SCENARIOS = ["default", "join", "wide", "growth"]
# Of the median's standard error, where a cost is to be known well.
ENOUGH = 0.005


def standard_error(ratios):
    """Of the median, for what is about normally distributed."""
    return 1.2533 * statistics.stdev(ratios) / len(ratios) ** 0.5


class Bench:
    def __init__(self, options):
        self.options = options
        self.program = os.path.join(ROOT, "build", "dbprof-bpf")
        self.target = subprocess.run(
            ["make", "-s", "-C", ROOT, "print-target"], capture_output=True, text=True, check=True
        ).stdout.strip()
        self.folder = tempfile.mkdtemp(prefix="dbprof-bench-")

    def ours(self, mode, others=()):
        """On the measured pipeline, and on others at once; then each has a file of its own."""
        out = os.path.join(self.folder, "ours.json")
        where = [word for pid in others for word in ("--pid", str(pid))]
        where += [] if others else ["-o", out]
        return lambda pid: Tool(
            [self.program, "-v", "-q", "--mode", mode, "--pid", str(pid), *where],
            attached="attached to",
            folder=self.folder,
        )

    def bpftrace(self):
        """The job of our exact mode: time and count of evaluations by thread and operator."""
        script = ""
        for _, task in functions(self.target, TASK):
            script += (
                f"uprobe:{self.target}:{task:#x} {{ @start[tid] = nsecs; "
                "@op[tid] = (*(uint64 *)arg1, *(uint64 *)(arg1 + 16)); } "
                f"uretprobe:{self.target}:{task:#x} /@start[tid]/ {{ $op = @op[tid]; "
                "@ns[tid, $op.0, $op.1] = sum(nsecs - @start[tid]); "
                "@n[tid, $op.0, $op.1] = count(); delete(@start[tid]); } "
            )
        return lambda pid: Tool(["bpftrace", "-p", str(pid), "-e", script], settle=3.0)

    def funclatency(self):
        poll, _ = functions(self.target, POLL)[0]
        return lambda pid: Tool(
            ["/usr/sbin/funclatency", "-p", str(pid), f":{poll}"], settle=4.0
        )

    def offcputime(self):
        return lambda pid: Tool(["/usr/sbin/offcputime", "-p", str(pid)], settle=4.0)

    def perf_record(self):
        out = os.path.join(self.folder, "perf.data")
        return lambda pid: Tool(
            ["perf", "record", "-q", "-F", "997", "-g", "-p", str(pid), "-o", out], settle=1.0
        )

    def perf_sched(self):
        out = os.path.join(self.folder, "sched.data")
        return lambda pid: Tool(["perf", "sched", "record", "-o", out], settle=1.0)

    def variants(self):
        """Name, extra arguments of the pipeline, tool, what it tells."""
        builtin = ["--builtin", os.path.join(self.folder, "builtin.json")]
        rows = [
            ("built-in CPU profiler", builtin, None, "operators, circuits, waits"),
            ("ours, waits", [], self.ours("waits"), "circuits, waits, kernel's share"),
            ("ours, auto", [], self.ours("auto"), "operators (sampled), circuits, waits, kernel's share"),
            ("ours, sampled", [], self.ours("sampled"), "the same, without a budget"),
            ("ours, exact", [], self.ours("exact"), "operators to the nanosecond, the rest as above"),
            (
                "ours, engine (with the built-in)",
                builtin,
                self.ours("engine"),
                "operators to the nanosecond, circuits, waits, kernel's share",
            ),
        ]
        others = [
            ("bpftrace", "bpftrace, entry + return uprobe", self.bpftrace, "wall time of operators, by address"),
            ("/usr/sbin/offcputime", "libbpf-tools offcputime", self.offcputime, "off-CPU time by stack"),
            ("/usr/sbin/funclatency", "libbpf-tools funclatency", self.funclatency, "a histogram of evaluations"),
            ("perf", "perf record -g at 997 Hz", self.perf_record, "on-CPU time by stack"),
            ("perf", "perf sched record", self.perf_sched, "run queue, context switches"),
        ]
        for command, name, make, tells in others:
            if shutil.which(command):
                rows.append((name, [], make(), tells))
            else:
                print(f"{command} is not installed: {name} is left out", file=sys.stderr)
        wanted = self.options.only
        return [row for row in rows if not wanted or any(part in row[0] for part in wanted)]

    def pairs(self, arguments, extra, tool, count=None):
        ratios, cpus, memories = [], [], []
        for pair in range(count or self.options.pairs):
            alone = lambda: timed_run(self.target, arguments)
            with_tool = lambda: timed_run(self.target, arguments + extra, tool)
            if pair % 2:
                observed, plain = with_tool(), alone()
            else:
                plain, observed = alone(), with_tool()
            ratios.append(observed[0] / plain[0])
            cpus.append(observed[1] / observed[0])
            memories.append(observed[2])
        return ratios, cpus, memories

    def table(self, name, arguments):
        print(f"\n### `{name}`: `dbsp-target {' '.join(arguments)}`\n")
        print("| profiler | slowdown, median | quartiles | its CPU, % of a core | memory, MiB | tells |")
        print("| --- | --- | --- | --- | --- | --- |")
        for label, extra, tool, tells in self.variants():
            try:
                ratios, cpus, memories = self.pairs(arguments, extra, tool)
            except RuntimeError as error:
                print(f"| {label} | failed: {error} | | | | {tells} |")
                continue
            first, _, third = statistics.quantiles(ratios, n=4)
            print(
                f"| {label} | {statistics.median(ratios):.4f} | {first:.4f} - {third:.4f} | "
                f"{statistics.median(cpus) * 100:.2f} | {statistics.median(memories) / 1024:.1f} | "
                f"{tells} |",
                flush=True,
            )

    def default(self):
        """The default mode, over as many pairs as it takes to know its cost to half a per cent."""
        arguments = ["join", "--workers", "2", "--steps", "2000"]
        print(f"\n### The default: `dbsp-target {' '.join(arguments)}`\n")
        ratios = []
        tool = self.ours("auto")
        while len(ratios) < self.options.pairs or (
            standard_error(ratios) > ENOUGH and len(ratios) < self.options.most_pairs
        ):
            more, cpus, memories = self.pairs(arguments, [], tool, 2)
            ratios += more
        first, median, third = statistics.quantiles(ratios, n=4)
        print(
            f"{len(ratios)} pairs: slowdown {median:.4f} (median; quartiles {first:.4f} - "
            f"{third:.4f}, standard error {standard_error(ratios):.4f}), mean "
            f"{statistics.mean(ratios):.4f}; its CPU {statistics.median(cpus) * 100:.2f} % of a "
            f"core, {statistics.median(memories) / 1024:.1f} MiB",
            flush=True,
        )

    def growth(self):
        print("\n### How the cost of `auto` grows\n")
        print("| pipeline | slowdown, median | quartiles | its CPU, % of a core | memory, MiB |")
        print("| --- | --- | --- | --- | --- |")
        for n, steps in ((50, 1500), (500, 300), (5000, 30)):
            self.growth_row(
                f"wide, {n} operators, 2 workers",
                ["wide", "--operators", str(n), "--steps", str(steps)],
            )
        for n, steps in ((2, 600), (8, 200), (32, 40)):
            self.growth_row(
                f"join, {n} workers", ["join", "--workers", str(n), "--steps", str(steps)]
            )
        for n, steps in ((1, 1000), (100, 800), (1000, 400)):
            self.growth_row(
                f"join, 2 workers, {n} records a step: fewer evaluations a second with more",
                ["join", "--workers", "2", "--records", str(n), "--steps", str(steps)],
            )
        self.growth_row(
            "sleeper, 1 worker: a thread starts and ends with each step",
            ["sleeper", "--workers", "1", "--steps", "800"],
        )
        join = ["join", "--workers", "2", "--steps", "600"]
        others = [Pipeline(self.target, ["join", "--workers", "2"]) for _ in range(7)]
        try:
            self.growth_row("join, 2 workers, beside it 7 more pipelines that wait", join)
            self.growth_row("join, 2 workers, these 8 pipelines attached at once", join, others)
        finally:
            for other in others:
                other.end()

    def growth_row(self, label, arguments, others=()):
        tool = self.ours("auto", [other.pid for other in others])
        ratios, cpus, memories = self.pairs(arguments, [], tool)
        first, _, third = statistics.quantiles(ratios, n=4)
        print(
            f"| {label} | {statistics.median(ratios):.4f} | {first:.4f} - {third:.4f} | "
            f"{statistics.median(cpus) * 100:.2f} | {statistics.median(memories) / 1024:.1f} |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", action="append", help="profilers whose name contains this")
    parser.add_argument("--scenario", action="append", choices=SCENARIOS)
    parser.add_argument("--most-pairs", type=int, default=200, help="of the default mode's table")
    options = parser.parse_args()
    if os.geteuid():
        sys.exit("The benchmark attaches profilers: run it as root.")
    bench = Bench(options)
    wanted = options.scenario or SCENARIOS
    print(
        f"{datetime.date.today()}, Linux {platform.release()}, {os.cpu_count()} CPUs, "
        f"{options.pairs} pairs each, command: `make bench`"
    )
    if "default" in wanted:
        bench.default()
    if "join" in wanted:
        bench.table("join", ["join", "--workers", "2", "--steps", "1000"])
    if "wide" in wanted:
        bench.table("wide", ["wide", "--workers", "2", "--operators", "2000", "--steps", "60"])
    if "growth" in wanted:
        bench.growth()
    shutil.rmtree(bench.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
