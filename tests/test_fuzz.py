# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hostile input: some thousands for each fuzzer here, more by `make fuzz FUZZ_SECONDS=600`."""

import sys

import pytest
from harness import TOP

sys.path.insert(0, str(TOP / "tests" / "fuzz"))

import bases  # noqa: E402
import run  # noqa: E402

# How many inputs; to plan for a program's code takes a hundredth of a second.
RUNS, RUNS_OF_CODE = 1000, 60


@pytest.fixture(scope="module")
def variables(_built):
    return bases.environment()


def test_fuzzers_are_built():
    sources = {path.stem.removeprefix("fuzz_") for path in bases.TOP.glob("tests/fuzz/fuzz_*.c")}
    if not (bases.TOP / "user" / "snapshot" / "snapshot_file.h").exists():
        sources.remove("snapshot")
    assert sources == set(run.names()), "run 'make fuzzers'"


@pytest.mark.parametrize("name", run.names())
def test_fuzz(variables, name, tmp_path):
    """Each first makes sure that without a fault its base is read to the end."""
    runs = RUNS_OF_CODE if name == "code" else RUNS
    count, text, well = run.run(name, f"-runs={runs}", variables, tmp_path)
    assert well and count >= runs, text
