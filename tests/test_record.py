# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Snapshot files: written by root where the pipeline runs, shown by anybody anywhere."""

import json
import os

import pytest
from harness import COMPLETE, FAILED, PROGRAM, USAGE, public_copy, public_folder

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
# Of the program and its arguments, with the command between them.
RECORD = ["sh", "-c", 'program=$1; shift; exec "$program" record "$@"', "sh"]
SHORT = ["--duration", "300ms"]


@pytest.fixture
def recorded(lab):
    """A snapshot of all steps of a pipeline, and its file."""
    target = lab.target("join", workers=2, steps=30)
    path = lab.path("x.dbprof")
    profiler = lab.profiler("--pid", target.pid, "-o", path, prefix=RECORD)
    profiler.wait_attached()
    target.go()
    target.wait_done()
    assert profiler.stop() == COMPLETE, profiler.describe()
    return profiler, path


def reading(path):
    """What to put in front of a command that reads the file as its standard input."""
    return ["sh", "-c", f'exec "$@" <{path}', "sh"]


def summary_of(text):
    """What was printed, without where the profile went."""
    return [line for line in text.splitlines() if not line.startswith("Profile written to")]


def test_report_says_what_the_run_said(lab, recorded):
    profiler, path = recorded
    report = lab.run("report", path)
    assert report.popen.returncode == COMPLETE and report.stderr == ""
    assert report.stdout.splitlines() == summary_of(profiler.stdout)
    assert f"Profile written to {path}" in profiler.stdout


def test_export(lab, idle):
    """
    JSON, and a snapshot with the same bytes. That the JSON has the same bytes as one that is written
    while profiling, test_snapshot_file.c checks, with one window in both formats.
    """
    series = lab.path("s.dbprof")
    process = lab.run("record", "-q", "--pid", idle.pid, "-d", "500ms", "-o", series)
    assert process.popen.returncode == COMPLETE, process.describe()
    out = lab.path("s.json")
    assert lab.run("export", series, "-f", "json", "-o", out).popen.returncode == COMPLETE
    profile = json.loads(out.read_text())
    assert profile["dbprof"]["pid"] == idle.pid and profile["dbprof"]["complete"]
    # And again from a copy of the file that was made by export.
    copy = lab.path("t.dbprof")
    assert lab.run("export", series, "-f", "snapshot", "-o", copy).popen.returncode == COMPLETE
    assert copy.read_bytes() == series.read_bytes()
    again = lab.run("export", "-", "-f", "json", "-o", "-", prefix=reading(copy))
    assert again.stdout == out.read_text()


def test_format_snapshot(lab, idle):
    """The main command writes the same kind of file, and names it so."""
    process = lab.run("--pid", idle.pid, *SHORT, "--format", "snapshot", cwd=lab.folder)
    assert process.popen.returncode == COMPLETE, process.describe()
    [path] = lab.folder.iterdir()
    assert path.name == f"dbprof-{idle.pid}.dbprof"
    assert lab.run("report", path).stdout.splitlines() == summary_of(process.stdout)


def test_without_privileges(lab, recorded):
    """Another user on another machine: no capability, no BPF, no such process."""
    _, path = recorded
    folder = public_folder()
    program, copy = public_copy(PROGRAM, folder), public_copy(path, folder)
    by_root = lab.run("report", path)
    for command in (["report", copy], ["export", copy, "-f", "json", "-o", "-"]):
        process = lab.run(*command, program=program, prefix=NOBODY)
        assert process.popen.returncode == COMPLETE, process.describe()
        if command[0] == "report":
            assert process.stdout == by_root.stdout
    assert lab.run("diff", copy, copy, program=program, prefix=NOBODY).popen.returncode == COMPLETE


def test_pipe(lab, recorded):
    """What comes through a pipe is told apart, too."""
    _, path = recorded
    wanted = lab.run("report", path).stdout
    for prefix in (reading(path), ["sh", "-c", f'cat {path} | "$@"', "sh"]):
        process = lab.run("report", "-", prefix=prefix)
        assert process.popen.returncode == COMPLETE, process.describe()
        assert process.stdout == wanted


class TestRefused:
    def refused(self, lab, path, *says):
        export = ["export", path, "-f", "json", "-o", "-"]
        for command in (["report", path], export, ["diff", path, path]):
            process = lab.run(*command)
            assert process.popen.returncode == FAILED, process.describe()
            assert process.stdout == "" and len(process.lines["stderr"]) == 1, process.describe()
            for words in (str(path), *says):
                assert words in process.stderr, process.describe()

    def test_version(self, lab, recorded):
        _, path = recorded
        data = bytearray(path.read_bytes())
        data[8] = 9
        path.write_bytes(data)
        self.refused(lab, path, "version 9", "version 2")

    def test_truncated(self, lab, recorded):
        _, path = recorded
        path.write_bytes(path.read_bytes()[:-100])
        self.refused(lab, path, "damaged")

    def test_changed(self, lab, recorded):
        _, path = recorded
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        self.refused(lab, path, "damaged", "checksum")

    def test_missing(self, lab):
        self.refused(lab, lab.path("none.dbprof"), "No such file")

    def test_json_becomes_no_snapshot(self, lab, recorded):
        """What is in a snapshot and not in the JSON cannot be made up."""
        _, path = recorded
        out = lab.path("x.json")
        assert lab.run("export", path, "-f", "json", "-o", out).popen.returncode == COMPLETE
        wanted = lab.path("y.dbprof")
        process = lab.run("export", out, "-f", "snapshot", "-o", wanted)
        assert process.popen.returncode == FAILED and "snapshot" in process.stderr
        assert not os.path.exists(wanted)

    def test_usage(self, lab):
        assert lab.run("report").popen.returncode == USAGE
        assert lab.run("record").popen.returncode == USAGE
