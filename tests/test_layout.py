# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Layout files: how one is made, and what becomes of damaged ones."""

import json
import os
import shutil
import subprocess

import pytest
from harness import COMPLETE, FAILED, INCOMPLETE, PROGRAM, SANITIZED, Lab, run_into, target_path
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from profiles import graph_edges, graph_nodes

BOTH_BUILDS = pytest.mark.parametrize("program", [PROGRAM, SANITIZED], ids=["plain", "sanitized"])
SHORT = ["--duration", "100ms"]


@pytest.fixture(scope="module")
def module_lab(_built, tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("layout"))
    yield lab
    lab.close()


@pytest.fixture(scope="module")
def idle(module_lab):
    return module_lab.target("idle", workers=1)


class TestMake:
    def test_equals_the_shipped_one(self, lab, layout_target, shipped_layout):
        """Byte for byte: the shipped file was made so."""
        process = lab.run("layout", layout_target)
        assert process.popen.returncode == 0, process.describe()
        assert process.stdout + "\n" == shipped_layout.read_text()
        assert process.stderr == ""

    def test_compressed_debug_info(self, lab, layout_target, shipped_layout):
        """As distributions ship it."""
        copy = lab.path("compressed")
        subprocess.run(
            ["objcopy", "--compress-debug-sections=zlib", layout_target, copy], check=True
        )
        process = lab.run("layout", copy, timeout=110)
        assert process.popen.returncode == 0, process.describe()
        assert process.stdout + "\n" == shipped_layout.read_text()

    def test_separate_debug_file(self, lab, layout_target, shipped_layout):
        """Debug info that a debug link names, beside the stripped program."""
        program, debug = lab.path("split"), lab.path("split.debug")
        for command in (
            ["objcopy", "--only-keep-debug", layout_target, debug],
            ["objcopy", "--strip-debug", f"--add-gnu-debuglink={debug}", layout_target, program],
        ):
            subprocess.run(command, check=True)
        process = lab.run("layout", program, timeout=110)
        assert process.popen.returncode == 0, process.describe()
        assert process.stdout + "\n" == shipped_layout.read_text()

    @BOTH_BUILDS
    def test_refused(self, refused, program):
        refused("layout", target_path(), says=["debug info"], program=program)
        refused("layout", "/etc/passwd", says=["/etc/passwd", "ELF"], program=program)
        refused("layout", "/nonexistent", says=["/nonexistent"], program=program)
        refused("layout", "/tmp", says=["/tmp"], program=program)
        refused("layout", "/dev/null", says=["/dev/null"], program=program)

    def test_full_device(self, layout_target):
        with open("/dev/full", "w") as full:
            process = run_into(full, "layout", layout_target, timeout=100)
        assert process.returncode == FAILED and "No space left" in process.stderr


class TestUse:
    def test_given(self, lab, idle, shipped_layout):
        """The file that the user gives is the one that is used."""
        layout = lab.path("mine.json")
        shutil.copy(shipped_layout, layout)
        output = lab.path("ours.json")
        process = lab.run("--pid", idle.pid, *SHORT, "--layout", layout, "-o", output)
        assert process.popen.returncode == COMPLETE, process.describe()
        assert "mine.json" in json.loads(output.read_text())["dbprof"]["layout"]

    def test_from_debug_info(self, lab, layout_target, windows):
        """A program with debug info needs no file; the graph is that of one without."""
        target = lab.target("join", workers=2, program=layout_target)
        output = lab.path("ours.json")
        process = lab.run("--pid", target.pid, *SHORT, "-o", output, timeout=100)
        assert process.popen.returncode == COMPLETE, process.describe()
        ours = json.loads(output.read_text())
        assert "layouts/" not in ours["dbprof"]["layout"]
        assert graph_nodes(ours) == graph_nodes(windows["join"].ours)
        assert graph_edges(ours) == graph_edges(windows["join"].ours)


def place_of(path, root):
    """What holds the last key of a path of keys."""
    for key in path[:-1]:
        root = root[key]
    return root


def change(*path, to):
    """Sets what is at a path of keys in a layout file."""

    def apply(text):
        root = json.loads(text)
        place_of(path, root)[path[-1]] = to
        return json.dumps(root)

    return apply


def drop(*path):
    def apply(text):
        root = json.loads(text)
        del place_of(path, root)[path[-1]]
        return json.dumps(root)

    return apply


DAMAGES = {
    "empty": lambda text: "",
    "blank": lambda text: " \n",
    "not JSON": lambda text: "offset = 5",
    "cut": lambda text: text[: len(text) // 2],
    "trailing": lambda text: text + "{}",
    "array": lambda text: "[]",
    "number": lambda text: "17",
    "deep": lambda text: "[" * 10000,
    "long": lambda text: text + " " * 10_000_000,
    "NUL": lambda text: text.replace("dbsp", "db\0p", 1),
    "not UTF-8": lambda text: text.replace("0.354.0", "0.354.\udcff", 1),
    "no format": drop("dbprof_layout"),
    "format 2": change("dbprof_layout", to=2),
    "format of text": change("dbprof_layout", to="1"),
    "no dbsp": drop("dbsp"),
    "dbsp is a number": change("dbsp", to=354),
    "long dbsp": change("dbsp", to="9" * 5000),
    "odd dbsp": change("dbsp", to="0.354.0\n\x1b[31m"),
    "no target": drop("target"),
    "other machine": change("target", to="aarch64"),
    "no items": drop("items"),
    "items is an array": change("items", to=[]),
    "item is missing": drop("items", "root_circuit.nodes"),
    "item is negative": change("items", "root_circuit.nodes", to=-8),
    "item is text": change("items", "root_circuit.nodes", to="112"),
    "item is a fraction": change("items", "root_circuit.nodes", to=112.5),
    "item is null": change("items", "root_circuit.nodes", to=None),
    "item is beyond 64 bits": change("items", "root_circuit.nodes", to=2**70),
    "item twice": lambda text: text.replace(
        '"items": {', '"items": {"root_circuit.nodes": 8, "root_circuit.nodes": 16, '
    ),
}


class TestDamaged:
    @BOTH_BUILDS
    @pytest.mark.parametrize("damage", DAMAGES)
    def test_damage(self, lab, idle, refused, shipped_layout, program, damage):
        """One sentence that names the file."""
        layout = lab.path("damaged.json")
        text = DAMAGES[damage](shipped_layout.read_text())
        layout.write_bytes(text.encode(errors="surrogateescape"))
        sentence = refused(
            "--pid", idle.pid, *SHORT, "--layout", layout, says=["damaged.json"], program=program
        )
        assert sentence.isprintable()

    @pytest.mark.parametrize("path", ["/nonexistent.json", "/tmp", "/dev/zero"])
    def test_no_file(self, idle, refused, path):
        refused("--pid", idle.pid, *SHORT, "--layout", path, says=[path])

    @pytest.mark.seconds(300)
    @settings(
        max_examples=60,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def test_wrong_numbers(self, module_lab, idle, shipped_layout, data):
        """Any numbers: it refuses, or they were harmless; it never crashes, hangs or writes junk."""
        root = json.loads(shipped_layout.read_text())
        names = st.sampled_from(sorted(root["items"]))
        for name in data.draw(st.lists(names, min_size=1, max_size=3, unique=True)):
            old = root["items"][name]
            root["items"][name] = data.draw(
                st.one_of(
                    st.sampled_from([0, 1, 7, 4096, 2**31, 2**32, 2**63, 2**64 - 2]),
                    st.integers(max(0, old - 64), old + 64).map(lambda n: min(n, 2**64 - 2)),
                )
            )
        layout, output = module_lab.path("odd.json"), module_lab.path("odd-output.json")
        layout.write_text(json.dumps(root))
        output.unlink(missing_ok=True)
        process = module_lab.run(
            "--pid", idle.pid, *SHORT, "-q", "--layout", layout, "-o", output, program=SANITIZED
        )
        assert process.popen.returncode in (COMPLETE, FAILED, INCOMPLETE), process.describe()
        if process.popen.returncode == FAILED:
            assert len(process.lines["stderr"]) == 1 and not output.exists()
        else:
            json.loads(output.read_text())
        assert idle.alive() and os.path.exists(f"/proc/{idle.pid}")
