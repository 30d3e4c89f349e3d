# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hostile input: each fuzzer for a few seconds here, longer by `make fuzz FUZZ_SECONDS=600`."""

import sys

import pytest
from harness import TOP

sys.path.insert(0, str(TOP / "tests" / "fuzz"))

import bases  # noqa: E402
import run  # noqa: E402

SECONDS = 4


@pytest.fixture(scope="module")
def variables(_built):
    return bases.environment()


def test_fuzzers_are_built():
    sources = {path.stem.removeprefix("fuzz_") for path in bases.TOP.glob("tests/fuzz/fuzz_*.c")}
    if not (bases.TOP / "user" / "snapshot" / "snapshot_file.h").exists():
        sources.remove("snapshot")
    assert sources == set(run.names()), "run 'make fuzzers'"


@pytest.mark.parametrize("name", run.names())
def test_fuzz(variables, name):
    """Each first makes sure that without a fault its base is read to the end."""
    count, text, well = run.run(name, SECONDS, variables)
    assert well and count > 50, text
