# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a profiler has left in the kernel and in a target's code."""

import json
import os
import re
import struct
import subprocess
from pathlib import Path

PT_LOAD, PF_X = 1, 1
UPROBE_EVENTS = Path("/sys/kernel/tracing/uprobe_events")


def executable_segments(image):
    """(file offset, virtual address, length) of the code in a 64-bit little-endian ELF file."""
    assert image[:6] == b"\x7fELF\x02\x01"
    (start,) = struct.unpack_from("<Q", image, 0x20)
    size, count = struct.unpack_from("<HH", image, 0x36)
    for index in range(count):
        kind, flags, offset, address, _, length = struct.unpack_from(
            "<IIQQQQ", image, start + index * size
        )
        if kind == PT_LOAD and flags & PF_X:
            yield offset, address, length


def mappings(pid):
    """(address, file offset, length) of the executable mappings of the process's own file."""
    own = os.stat(f"/proc/{pid}/exe")
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        fields = line.split(maxsplit=5)
        if "x" in fields[1] and int(fields[4]) == own.st_ino:
            low, high = (int(number, 16) for number in fields[0].split("-"))
            yield low, int(fields[2], 16), high - low


def changed_code(pid):
    """Offsets at which the code of a process differs from its file: where probes sit."""
    image = Path(f"/proc/{pid}/exe").read_bytes()
    assert sum(length for _, _, length in executable_segments(image)) > 0
    changed = []
    compared = 0
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for address, offset, length in mappings(pid):
            memory.seek(address)
            there = memory.read(length)
            here = image[offset : offset + length]
            there = there[: len(here)]
            compared += len(here)
            if there == here:
                continue
            for page in range(0, len(here), 4096):
                if there[page : page + 4096] != here[page : page + 4096]:
                    changed += [
                        offset + i
                        for i in range(page, min(page + 4096, len(here)))
                        if there[i] != here[i]
                    ]
    assert compared > 1_000_000, f"hardly any code of process {pid} was compared"
    return changed


def _bpftool(*arguments):
    result = subprocess.run(
        ["bpftool", "-j", *arguments], capture_output=True, text=True, check=True, timeout=30
    )
    return json.loads(result.stdout or "[]")


def bpf_objects(holder=None):
    """BPF programs as ("prog", id), of one process or of all."""
    if holder is None:
        return {("prog", entry["id"]) for entry in _bpftool("prog", "show")}
    found = set()
    for fd in os.listdir(f"/proc/{holder}/fdinfo"):
        try:
            text = Path(f"/proc/{holder}/fdinfo/{fd}").read_text()
        except OSError:
            continue
        found |= {("prog", int(number)) for number in re.findall(r"^prog_id:\s*(\d+)$", text, re.M)}
    return found


def uprobe_events():
    """Probes registered by name, which ours never are; None without tracefs."""
    return UPROBE_EVENTS.read_text() if UPROBE_EVENTS.exists() else None


def cpu_ticks(pid):
    """User and system time of a process, in ticks of 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
