# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The memory that reading takes grows with the graph, not with workers or the file."""

import hashlib
import subprocess

import pytest
from big_profile import write_big_profile
from harness import COMPLETE, ENVIRONMENT, PROGRAM

MEGABYTE = 1 << 20


def peak_memory(*arguments):
    """Peak of the memory, in bytes, and the digest of what is written; by the kernel's books."""
    digest = hashlib.sha256()
    peak = 0
    process = subprocess.Popen(
        [str(word) for word in (PROGRAM, *arguments)], stdout=subprocess.PIPE, env=ENVIRONMENT
    )
    # It cannot end before the last block is taken, but for what fits into the pipe.
    while block := process.stdout.read1(MEGABYTE):
        digest.update(block)
        with open(f"/proc/{process.pid}/status") as status:
            lines = [line.split() for line in status if line.startswith("VmHWM")]
        peak = max(peak, *(int(line[1]) * 1024 for line in lines), 0)
    assert process.wait(60) == COMPLETE
    process.stdout.close()
    return peak, digest.hexdigest()


@pytest.mark.seconds(170)
def test_memory_does_not_grow_with_workers(tmp_path):
    path = tmp_path / "big.json"
    write_big_profile(path, workers=64, nodes=5000)
    peak, digest = peak_memory("export", path, "--format", "json", "--output", "-")
    assert 1 * MEGABYTE < peak < 64 * MEGABYTE
    with open(path, "rb") as file:
        whole = hashlib.sha256()
        while block := file.read(16 * MEGABYTE):
            whole.update(block)
    assert digest == whole.hexdigest()
