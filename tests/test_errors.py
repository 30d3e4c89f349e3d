# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Bad input: each one clear sentence, a non-zero exit status and no file."""

import json
import os
import re
import subprocess
import time

import pytest
from harness import COMPLETE, PROGRAM, SANITIZED, TOP, patched_copy, target_path
from profiles import SECOND, window_nanos

BOTH_BUILDS = pytest.mark.parametrize("program", [PROGRAM, SANITIZED], ids=["plain", "sanitized"])
NO_SUCH_PID = 2**22  # PID_MAX_LIMIT, include/linux/threads.h: one more than the greatest id


@BOTH_BUILDS
class TestProcess:
    def test_no_such_pid(self, refused, program):
        refused("--pid", NO_SUCH_PID, says=[NO_SUCH_PID, "no process"], program=program)

    def test_not_dbsp(self, lab, refused, program):
        sleep = lab.process(["sleep", "60"])
        refused("--pid", sleep.pid, says=["sleep", sleep.pid, "DBSP"], program=program)

    def test_kernel_thread(self, refused, program):
        refused("--pid", 2, says=["kernel thread"], program=program)

    def test_thread_of_a_process(self, lab, refused, program, idle):
        tid = max(map(int, os.listdir(f"/proc/{idle.pid}/task")))
        refused("--pid", tid, says=[tid, idle.pid, "thread"], program=program)

    def test_zombie(self, lab, refused, program):
        """It has an id, but no memory any more."""
        child = subprocess.Popen(["true"])
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        refused("--pid", child.pid, says=[child.pid], program=program)
        child.wait()

    def test_itself(self, refused, program):
        """A shell of its own pid, then the profiler in its place."""
        prefix = ["sh", "-c", 'exec "$@" --pid $$', "sh"]
        refused(prefix=prefix, says=["DBSP"], program=program)

    def test_one_of_two_is_bad(self, refused, program, idle):
        """Nothing is profiled then, and no half of the result is written."""
        refused("--pid", idle.pid, "--pid", NO_SUCH_PID, says=[NO_SUCH_PID], program=program)
        assert idle.alive()

    def test_command_that_does_not_exist(self, refused, program):
        refused("--", "/nonexistent/program", says=["/nonexistent/program"], program=program)

    def test_command_that_is_not_dbsp(self, refused, program):
        """It is not left behind either."""
        marker = "86399.5"
        refused("--", "sleep", marker, says=["sleep", "DBSP"], program=program)
        assert subprocess.run(["pgrep", "-f", f"^sleep {marker}$"]).returncode == 1

    def test_command_that_ends_at_once(self, refused, program):
        refused("--", "false", says=["DBSP"], program=program)


class TestExit:
    def test_during_attach(self, lab):
        """Killed at many moments: a sentence and no file, or else what was seen until then."""
        statuses = []
        for moment in range(24):
            target = lab.target("idle", workers=1)
            folder = lab.path(f"out-{moment}")
            folder.mkdir()
            profiler = lab.profiler("-q", "--pid", target.pid, cwd=folder)
            time.sleep(moment * 0.004)
            target.kill()
            status = profiler.wait(60)
            statuses.append(status)
            if "attached" in profiler.stderr:
                assert status != 2, profiler.describe()
            else:
                assert status == 1, profiler.describe()
            assert os.listdir(folder) == ([] if status == 1 else [f"dbprof-{target.pid}.json"])
            if status == 1:
                [sentence] = [line for line in profiler.lines["stderr"] if "attached" not in line]
                assert str(target.pid) in sentence, sentence
        assert 1 in statuses, "the target never ended during the attach"


class TestVersion:
    """A dbsp version of which no layout is known: the nearest is tried, and must fit."""

    OLD, NEW = b"dbsp-0.354.0", b"dbsp-0.999.9"

    @pytest.fixture
    def newer(self, lab):
        copy = patched_copy(target_path(), lab.path("newer"), {self.OLD: self.NEW})
        return lab.target("idle", workers=1, program=copy)

    # What makes the shipped layout one of another version: each is a fault of another kind.
    MISFITS = {
        "no circuit is found": (b'"root_circuit.nodes": 112', b'"root_circuit.nodes": 128'),
        "the graph is garbage": (b'"node.size": 240', b'"node.size": 232'),
        "no monitor is found": (
            b'"root_circuit.circuit_event_handlers": 40',
            b'"root_circuit.circuit_event_handlers": 72',
        ),
    }

    @pytest.mark.parametrize("kind", MISFITS)
    def test_misfit(self, lab, refused, newer, kind):
        """It names the version and how to make a layout."""
        program = patched_copy(PROGRAM, lab.path("other-layout"), dict([self.MISFITS[kind]]))
        refused(
            "--pid", newer.pid, "--duration", "300ms",
            says=["0.999.9", "1.95.0", "dbprof-bpf layout"],
            program=program,
        )  # fmt: skip
        assert newer.alive()

    def test_misfit_given(self, lab, refused, newer, shipped_layout):
        """The same with a layout file of the user's."""
        old, new = self.MISFITS["the graph is garbage"]
        wrong = patched_copy(shipped_layout, lab.path("wrong.json"), {old: new})
        refused(
            "--pid", newer.pid, "--layout", wrong, "--duration", "300ms",
            says=["0.999.9", "dbprof-bpf layout"],
        )  # fmt: skip

    def test_nearest_fits(self, lab, newer):
        """Layouts change seldom: with -v it says that it is not the exact one."""
        output = lab.path("ours.json")
        profiler = lab.profiler("--pid", newer.pid, "-d", "300ms", "--output", output)
        assert profiler.wait(60) == COMPLETE, profiler.describe()
        assert "0.999.9" in profiler.stderr and "nearest" in profiler.stderr
        assert output.exists()


@BOTH_BUILDS
class TestUsage:
    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["--pid"],
            ["--pid", "0"],
            ["--pid", "-1"],
            ["--pid", "12x"],
            ["--pid", ""],
            ["--pid", "99999999999999999999"],
            ["--nonsense"],
            ["--pid", "1", "--duration", "0"],
            ["--pid", "1", "--duration", "-5s"],
            ["--pid", "1", "--duration", "5 parsecs"],
            ["--pid", "1", "--duration", "ms"],
            ["--pid", "1", "--duration", "1e3"],
            ["--pid", "1", "--duration", "nan"],
            ["--pid", "1", "--duration", "99999999999999999999s"],
            ["--pid", "1", "--duration", "9999999999999m"],
            ["--pid", "1", "--format", "xml"],
            ["--pid", "1", "--output", ""],
            ["--pid", "1", "--uprobes", "maybe"],
            ["--pid", "1", "--max-threads", "0"],
            ["--pid", "1", "--max-threads", "many"],
            ["--pid", "1", "--pid", "2", "--output", "-"],
            ["--pid", "1", "--", "true"],
            ["--"],
            ["layout"],
            ["layout", "a", "b"],
        ],
        ids=" ".join,
    )
    def test_usage(self, lab, program, arguments):
        process = lab.run(*arguments, program=program)
        assert process.popen.returncode == 2, process.describe()
        assert "dbprof-bpf" in process.lines["stderr"][0]
        assert "--help" in process.stderr and process.stdout == ""

    @pytest.mark.parametrize("option", ["--help", "--version", "--usage"])
    def test_help(self, lab, program, option):
        process = lab.run(option, program=program)
        assert process.popen.returncode == 0 and process.stderr == ""
        assert "dbprof-bpf" in process.stdout

    def test_help_and_manual_name_every_option(self, lab, program):
        text = lab.run("--help", program=program).stdout
        manual = (TOP / "docs" / "dbprof-bpf.1.md").read_text()
        options = set(re.findall(r"--([a-z-]+)", text.partition("Mandatory")[0]))
        assert len(options) >= 16
        for option in options:
            assert f"**\\--{option}**" in manual, f"--{option} is not in the manual"


@pytest.mark.parametrize(
    "text, seconds",
    [("300ms", 0.3), ("1", 1), ("1s", 1), ("0.5s", 0.5), ("0.01m", 0.6), ("250000us", 0.25)],
)
def test_durations(lab, idle, text, seconds):
    """The window is as long as was asked for."""
    output = lab.path("ours.json")
    profiler = lab.profiler("--pid", idle.pid, "--duration", text, "-o", output)
    assert profiler.wait(30) == COMPLETE, profiler.describe()
    window = window_nanos(json.loads(output.read_text())) / SECOND
    assert seconds <= window < seconds + 0.3
    assert idle.alive()
