#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the fuzzers, each for some seconds: run.py [--seconds N] [NAME...]

Inputs that led to new code are kept in build/fuzz/corpus and are the beginning of the next run. An
input that makes one fail is kept in build/fuzz/found; `build/fuzz/fuzz/fuzz_NAME FILE` runs it again.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bases import FUZZ, SEEDS, TOP, environment  # noqa: E402

FOUND, CORPUS = FUZZ / "found", FUZZ / "corpus"
# Of the longest inputs; those with faults have 14 bytes a fault.
LENGTHS = {"layout": 20000, "profile": 60000, "snapshot": 40000, "elf": 600, "code": 600, "dwarf": 600, "memory": 600}
# On a busy machine an input takes long for no fault of its own.
SECONDS_EACH, MEGABYTES = 60, 1024
EXECUTED = re.compile(r"^stat::number_of_executed_units: *(\d+)", re.M)
COVERED = re.compile(r"cov: (\d+)")


def names():
    """Those that the Makefile builds."""
    return sorted(path.name.removeprefix("fuzz_") for path in (FUZZ / "fuzz").glob("fuzz_*"))


def command(name, corpus, *options):
    """One of the fuzzers on a corpus, its seeds, and what has once made it fail."""
    more = [SEEDS / name, TOP / "tests" / "fuzz" / "regressions" / name]
    folders = [corpus, *(folder for folder in more if folder.exists())]
    corpus.mkdir(parents=True, exist_ok=True)
    FOUND.mkdir(exist_ok=True)
    return [
        FUZZ / "fuzz" / f"fuzz_{name}",
        f"-max_len={LENGTHS.get(name, 4096)}",
        "-len_control=0",
        f"-timeout={SECONDS_EACH}",
        f"-rss_limit_mb={MEGABYTES}",
        "-print_final_stats=1",
        f"-artifact_prefix={FOUND}/{name}-",
        *options,
        *folders,
    ]


def run(name, limit, variables, corpus=CORPUS):
    """(executions, text for people, whether it went well)"""
    result = subprocess.run(
        command(name, corpus / name, limit),
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    executed = EXECUTED.search(result.stdout)
    covered = COVERED.findall(result.stdout)
    count = int(executed[1]) if executed else 0
    text = f"{name:10} {count:12,} executions, {covered[-1] if covered else '?':>6} edges"
    if result.returncode:
        text += f"\n{result.stdout[-6000:]}\nfailed: see {FOUND}"
    return count, text, result.returncode == 0


def main():
    parser = argparse.ArgumentParser(description="Runs the fuzzers.")
    parser.add_argument("--seconds", type=int, default=60, help="for each of them")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    options = parser.parse_args()
    variables = environment()
    total, well = 0, True
    for name in options.names or names():
        count, text, good = run(name, f"-max_total_time={options.seconds}", variables)
        print(text, flush=True)
        total, well = total + count, well and good
    print(f"{'all':10} {total:12,} executions")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
