# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The unit tests in C, plain and under the sanitizers; each prints what is not so."""

import os
import subprocess

import pytest
from harness import TOP

SOURCES = sorted(path.stem for path in (TOP / "tests" / "unit").glob("test_*.c"))
FOLDERS = ["build/unit", "build/sanitized/unit"]
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", SOURCES)
def test_unit(folder, name, tmp_path):
    program = TOP / folder / name
    assert program.exists(), f"{program} is missing: run 'make check'"
    source = TOP / "tests" / "unit" / f"{name}.c"
    assert program.stat().st_mtime >= source.stat().st_mtime, f"{program} is older than its source"
    result = subprocess.run(
        [program],
        cwd=TOP,
        env={**os.environ, **SANITIZERS, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=100,
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-8000:]
