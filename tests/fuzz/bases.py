# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the fuzzers begin with, made of the test pipeline: too large to be kept, and quickly made."""

import contextlib
import json
import os
import random
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FUZZ = TOP / "build" / "fuzz"
BASES, SEEDS = FUZZ / "base", FUZZ / "seeds"
# Of the pipeline's symbols those that are looked for, and some that are not.
SYMBOLS = re.compile(
    rb"RuntimeIdle|dynamic_scheduler|circuit_builder.*Timed|PARKING_FOR|BLOCKING_DEPTH|4main|_start"
)
FUNCTION_MAX = 30000
CHUNK, TABLE = 64, 128
# The fuzzers that put faults into a base, and how many bytes of input say one (patches.h).
FAULTY, FAULT_BYTES = ("code", "dwarf", "elf", "memory"), 14
PT_LOAD, PT_NOTE, PT_TLS, SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_NOTE = 1, 4, 7, 1, 2, 3, 7
STT_FUNC, STT_TLS = 2, 6


def target_path():
    command = [TOP / "tools" / "target.sh", "--print", "release"]
    return Path(subprocess.check_output(command, text=True).strip())


class Elf:
    """As much of a 64-bit ELF file as is needed to take a part of it."""

    def __init__(self, path):
        self.data = Path(path).read_bytes()
        head = struct.unpack_from("<16sHHIQQQIHHHHHH", self.data)
        self.head = head
        self.segments = [
            struct.unpack_from("<IIQQQQQQ", self.data, head[5] + i * head[9])
            for i in range(head[10])
        ]
        sections = [
            struct.unpack_from("<IIQQQQIIQQ", self.data, head[6] + i * head[11])
            for i in range(head[12])
        ]
        names = self.content(sections[head[13]])
        self.sections = {
            names[s[0] : names.index(b"\0", s[0])].decode(): s for s in reversed(sections)
        }

    def content(self, section):
        return self.data[section[4] : section[4] + section[5]]

    def at(self, address, size):
        for kind, _, offset, start, _, file_size, _, _ in self.segments:
            if kind == PT_LOAD and start <= address and address + size <= start + file_size:
                return self.data[offset + address - start :][:size]
        return None

    def symbols(self):
        names = self.content(self.sections[".strtab"])
        for entry in struct.iter_unpack("<IBBHQQ", self.content(self.sections[".symtab"])):
            name = names[entry[0] : names.index(b"\0", entry[0])]
            if SYMBOLS.search(name):
                yield name, entry


class Part:
    """A new ELF file with some functions at their addresses, and what tells versions."""

    def __init__(self, elf):
        self.elf, self.body = elf, bytearray()
        self.segments, self.sections = [], []
        self.symbols, self.names = bytearray(24), bytearray(b"\0")
        self.chunks = set()

    def add(self, content, align=16):
        self.body += b"\0" * (-len(self.body) % align)
        offset = len(self.body)
        self.body += content
        return offset

    def add_symbols(self):
        seen = set()
        for name, (_, info, other, index, value, size) in self.elf.symbols():
            kind = info & 15
            if kind == STT_FUNC and 0 < size <= FUNCTION_MAX:
                code = self.elf.at(value, size)
                if code is None:
                    continue
                if value not in seen:
                    self.segments.append([PT_LOAD, 5, self.add(code), value, size, size, 1])
                    self.note_constants(value, code)
                seen.add(value)
            elif kind != STT_TLS:
                continue
            self.symbols += struct.pack("<IBBHQQ", len(self.names), info, other, index, value, size)
            self.names += name + b"\0"

    def note_constants(self, address, code):
        """What the code takes addresses of: jump tables, and words of the global offset table."""
        for match in re.finditer(rb"[\x48-\x4f][\x8d\x8b][\x05\x0d\x15\x1d\x25\x2d\x35\x3d]|\xff[\x15\x25]", code):
            if match.end() + 4 > len(code):
                continue
            (distance,) = struct.unpack_from("<i", code, match.end())
            place = (address + match.end() + 4 + distance) // CHUNK
            self.chunks.update(range(place, place + 1 + TABLE // CHUNK))

    def add_noted(self):
        chunks = sorted(chunk for chunk in self.chunks if self.elf.at(chunk * CHUNK, CHUNK))
        while chunks:
            count = 1
            while count < len(chunks) and chunks[count] == chunks[0] + count:
                count += 1
            start, size = chunks[0] * CHUNK, count * CHUNK
            content = self.elf.at(start, size)
            if content:
                self.segments.append([PT_LOAD, 4, self.add(content), start, size, size, 1])
            del chunks[:count]

    def add_constants(self):
        """Some of .rodata, with the path of the crate."""
        section = self.elf.sections[".rodata"]
        content = self.elf.content(section)
        at = content.index(b"/dbsp-")
        start = max(0, at - 200) & ~15
        part = content[start : start + 2048]
        offset = self.add(part)
        self.segments.append(
            [PT_LOAD, 4, offset, section[3] + start, len(part), len(part), 1]
        )
        self.sections.append((".rodata", SHT_PROGBITS, section[3] + start, offset, len(part), 0, 0))

    def write(self, path):
        self.add_symbols()
        self.add_noted()
        self.add_constants()
        for kind, flags, _, vaddr, _, _, memory, align in self.elf.segments:
            if kind == PT_TLS:
                self.segments.append([kind, flags, 0, vaddr, 0, memory, align])
        for name, kind in ((".comment", SHT_PROGBITS), (".note.gnu.build-id", SHT_NOTE)):
            content = self.elf.content(self.elf.sections[name])
            self.sections.append((name, kind, 0, self.add(content), len(content), 0, 0))
            if kind == SHT_NOTE:
                size = len(content)
                self.segments.append([PT_NOTE, 4, self.sections[-1][3], 0, size, size, 4])
        symtab, strtab = self.add(self.symbols), self.add(self.names)
        link = len(self.sections) + 2
        self.sections.append((".symtab", SHT_SYMTAB, 0, symtab, len(self.symbols), link, 24))
        self.sections.append((".strtab", SHT_STRTAB, 0, strtab, len(self.names), 0, 0))
        Path(path).write_bytes(self.assemble())

    def assemble(self):
        names = bytearray(b"\0")
        shift = 64 + 56 * len(self.segments)
        table = bytearray(64)
        for name, kind, address, offset, size, link, entry in self.sections:
            table += struct.pack(
                "<IIQQQQIIQQ", len(names), kind, 0, address, offset + shift, size, link, 0, 1, entry
            )
            names += name.encode() + b"\0"
        names += b".shstrtab\0"
        self.add(b"", align=8)
        start = shift + len(self.body)
        table += struct.pack(
            "<IIQQQQIIQQ", len(names) - 10, SHT_STRTAB, 0, 0, start, len(names), 0, 0, 1, 0
        )
        head = list(self.elf.head)
        at = len(names)
        names += b"\0" * (-at % 8)
        head[5], head[6] = 64, start + len(names)
        head[10], head[12], head[13] = len(self.segments), len(self.sections) + 2, len(self.sections) + 1
        program = b"".join(
            struct.pack("<IIQQQQQQ", kind, flags, offset + shift, vaddr, vaddr, size, memory, align)
            for kind, flags, offset, vaddr, size, memory, align in self.segments
        )
        return struct.pack("<16sHHIQQQIHHHHHH", *head) + program + self.body + names + table


def make_elf(path):
    Part(Elf(target_path())).write(path)


def make_dwarf(path):
    """Debug info of rustc's, of types that bear the names of DBSP's."""
    path_variable = f"{os.environ['PATH']}:{Path.home() / '.cargo' / 'bin'}"
    with tempfile.TemporaryDirectory() as folder:
        rlib = Path(folder) / "types.o"
        subprocess.run(
            ["rustc", "--edition", "2024", "--crate-name", "dbsp", "--crate-type", "lib"]
            + ["--emit", "obj", "-g", "-C", "codegen-units=1", "-C", "panic=abort"]
            + ["-o", rlib, TOP / "tests" / "fuzz" / "types.rs"],
            check=True,
            env={**os.environ, "PATH": path_variable},
        )
        subprocess.run(
            ["ld", "-shared", "--unresolved-symbols=ignore-all", "-o", path, rlib], check=True
        )


@contextlib.contextmanager
def pipeline(*options):
    """A pipeline with nested circuits and one worker, before its first step."""
    target = subprocess.Popen(
        [target_path(), "nested", "--workers", "1", "--records", "5", "--hold", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert target.stdout.readline().startswith("ready")
        yield target
    finally:
        target.kill()
        target.wait()


def go(target):
    target.stdin.write("\n")
    target.stdin.flush()


def make_memory(path):
    """That of a worker after some steps and with its profiler on."""
    with tempfile.TemporaryDirectory() as folder:
        builtin = Path(folder) / "builtin.json"
        with pipeline("--steps", "3", "--builtin", builtin) as target:
            go(target)
            assert target.stdout.readline().startswith("done")
            for _ in range(5):
                result = subprocess.run(
                    [FUZZ / "fuzz" / "record_memory", str(target.pid), path],
                    stdout=subprocess.DEVNULL,
                )
                if result.returncode == 0:
                    break
            assert result.returncode == 0, "the memory of the pipeline cannot be recorded"
            target.stdin.close()
            assert target.wait(60) == 0
            shutil.copy(builtin, BASES / "profile.json")


def make_snapshots(folder):
    """One in each of two modes."""
    folder.mkdir(parents=True, exist_ok=True)
    for mode in ("waits", "sampled"):
        with pipeline("--steps", "1000000") as target:
            go(target)
            subprocess.run(
                [TOP / "build" / "dbprof-bpf", "record", "-q", "--pid", str(target.pid)]
                + ["--mode", mode, "-d", "300ms", "-o", folder / mode],
                check=True,
                stderr=subprocess.DEVNULL,
            )


def small_profile(profile):
    """One worker, and of its nodes the first few."""
    profile["worker_profiles"] = profile["worker_profiles"][:1]
    meta = profile["worker_profiles"][0]["metadata"]
    for node in list(meta)[4:]:
        del meta[node]
    return profile


def make_seeds():
    for name in ("layout", "profile", *FAULTY):
        (SEEDS / name).mkdir(parents=True, exist_ok=True)
    numbers = random.Random(1)
    for name in FAULTY:
        for count in range(1, 17):
            (SEEDS / name / f"faults-{count}").write_bytes(numbers.randbytes(FAULT_BYTES * count))
    for layout in (TOP / "user" / "layouts").glob("*.json"):
        text = layout.read_text()
        # Without blanks more of it is changed.
        (SEEDS / "layout" / "shipped").write_text(json.dumps(json.loads(text)))
    profile = json.loads((BASES / "profile.json").read_text())
    (SEEDS / "profile" / "small").write_text(json.dumps(small_profile(profile)))
    if (FUZZ / "fuzz" / "fuzz_snapshot").exists():
        make_snapshots(SEEDS / "snapshot")


MAKERS = {"elf": make_elf, "dwarf": make_dwarf, "memory": make_memory}


def environment():
    """Makes what is missing; returns the variables that name it."""
    BASES.mkdir(parents=True, exist_ok=True)
    for name, make in MAKERS.items():
        path = BASES / name
        if not path.exists() or path.stat().st_mtime < target_path().stat().st_mtime:
            partial = path.with_suffix(".part")
            make(partial)
            partial.rename(path)
    if not (SEEDS / "memory").exists():
        make_seeds()
    return {f"DBPROF_FUZZ_{name.upper()}": str(BASES / name) for name in MAKERS}
