# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Where profiles go: names, standard output, and never a bad file in place of a good one."""

import json
import os
import subprocess

import pytest
from harness import COMPLETE, FAILED, run_into

GOOD = '{"a": "good profile"}\n'


@pytest.fixture
def tiny_disk(lab):
    """A file system that is full but for a few kilobytes."""
    folder = lab.path("tiny")
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


SHORT = ["--duration", "300ms"]


def test_default_name(lab, idle):
    process = lab.run("--pid", idle.pid, *SHORT, cwd=lab.folder)
    assert process.popen.returncode == COMPLETE, process.describe()
    assert os.listdir(lab.folder) == [f"dbprof-{idle.pid}.json"]
    assert f"dbprof-{idle.pid}.json" in process.stdout


def test_names_of_several(lab):
    first, second = (lab.target("idle", workers=1) for _ in range(2))
    pids = ["--pid", first.pid, "--pid", second.pid]
    assert lab.run(*pids, *SHORT, "-o", lab.path("x.json")).popen.returncode == COMPLETE
    assert set(os.listdir(lab.folder)) == {f"x-{first.pid}.json", f"x-{second.pid}.json"}
    for target in (first, second):
        profile = json.loads(lab.path(f"x-{target.pid}.json").read_text())
        assert profile["dbprof"]["pid"] == target.pid


def test_standard_output(lab, idle):
    """Only the profile goes there; the summary goes to the other one."""
    process = lab.run("--pid", idle.pid, *SHORT, "--output", "-")
    assert process.popen.returncode == COMPLETE
    assert json.loads(process.stdout)["dbprof"]["pid"] == idle.pid
    assert str(idle.pid) in process.stderr


def test_quiet(lab, idle):
    process = lab.run("-q", "--pid", idle.pid, *SHORT, "-o", lab.path("ours.json"))
    assert process.popen.returncode == COMPLETE
    assert process.stdout == "" and process.stderr == ""


def test_no_terminal_no_progress(lab, idle):
    process = lab.run("--pid", idle.pid, *SHORT, "-o", lab.path("ours.json"))
    assert process.stderr == "" and "\033" not in process.stdout and "\r" not in process.stdout


def test_unwritable_is_found_before_the_window(refused, idle):
    """Nobody waits ten minutes to learn that the folder does not exist."""
    for place in ("/nonexistent/ours.json", "/proc/ours.json", "/etc/passwd/ours.json", "/"):
        refused("--pid", idle.pid, "--duration", "1000s", "-o", place, says=[place])


def test_full_device(lab, refused, idle):
    sentence = refused(*SHORT, "--pid", idle.pid, "-o", "/dev/full", says=["No space left"])
    assert str(idle.pid) in sentence or "/dev/full" in sentence


def test_full_standard_output(lab, idle):
    with open("/dev/full", "w") as full:
        process = run_into(full, "-q", "--pid", idle.pid, *SHORT, "-o", "-")
    assert process.returncode == FAILED and "No space left" in process.stderr


def test_closed_standard_output(lab, idle):
    """A reader that goes away is an error of the write, not a silent death."""
    reader, writer = os.pipe()
    os.close(reader)
    process = run_into(writer, "-q", "--pid", idle.pid, *SHORT, "-o", "-")
    os.close(writer)
    assert process.returncode == FAILED and "Broken pipe" in process.stderr


class TestGoodFileStays:
    """A good file is replaced by a whole new one, or not at all (feldera 4595)."""

    def test_replaced(self, lab, idle):
        output = lab.path("ours.json")
        output.write_text(GOOD)
        assert lab.run("--pid", idle.pid, *SHORT, "-o", output).popen.returncode == COMPLETE
        assert json.loads(output.read_text())["dbprof"]["pid"] == idle.pid

    def test_no_such_process(self, lab):
        output = lab.path("ours.json")
        output.write_text(GOOD)
        assert lab.run("--pid", 2**22, *SHORT, "-o", output).popen.returncode == FAILED
        assert output.read_text() == GOOD and os.listdir(lab.folder) == ["ours.json"]

    def test_disk_full(self, lab, idle, tiny_disk):
        output = tiny_disk / "ours.json"
        output.write_text(GOOD)
        process = lab.run("--pid", idle.pid, *SHORT, "-o", output)
        assert process.popen.returncode == FAILED, process.describe()
        assert "No space left" in process.stderr
        assert output.read_text() == GOOD and os.listdir(tiny_disk) == ["ours.json"]

    def test_killed(self, lab, idle):
        output = lab.path("ours.json")
        output.write_text(GOOD)
        profiler = lab.profiler("--pid", idle.pid, "-o", output)
        profiler.wait_attached()
        profiler.kill()
        assert output.read_text() == GOOD and os.listdir(lab.folder) == ["ours.json"]

    def test_during_the_window(self, lab, idle):
        """Nothing is touched before the end."""
        output = lab.path("ours.json")
        output.write_text(GOOD)
        profiler = lab.profiler("--pid", idle.pid, "-o", output)
        profiler.wait_attached()
        assert output.read_text() == GOOD and os.listdir(lab.folder) == ["ours.json"]
        assert profiler.stop() == COMPLETE
        assert output.read_text() != GOOD
