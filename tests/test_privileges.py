# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A plain user profiles by file capabilities, and `check` names the one that is missing."""

import json
import shutil
import subprocess

import pytest
from harness import COMPLETE, FAILED, INCOMPLETE, PROGRAM, Window
from harness import public_copy, public_folder, target_path
from profiles import all_threads, workers
from test_books import check_thread
from test_needs import ENOUGH, NOBODY, SOMEBODY, as_user, check_counts

OTHERS = [*ENOUGH, "dac_read_search"]


class Installed:
    """The program and the target in a public folder, for users without any privileges."""

    def __init__(self, lab, folder):
        self.lab, self.folder = lab, folder
        self.program = public_copy(PROGRAM, folder)
        self.target_program = public_copy(target_path(), folder)

    def grant(self, capabilities):
        """Capabilities of the file, as an administrator gives them."""
        names = ",".join(f"cap_{name}" for name in capabilities)
        subprocess.run(["setcap", f"{names}=ep" if names else "-r", self.program], check=True)

    def target(self, user, scenario, *options):
        target = self.lab.process(
            [*as_user(user), self.target_program, scenario, *options, "--hold"], cwd=self.folder
        )
        target.expect("stdout", r"^ready (\d+)$", 60)
        return target

    def check(self, user, *arguments):
        """The exit status of `check`, and the needs by verdict."""
        process = self.lab.run(
            "check", "--json", *arguments, program=self.program, prefix=as_user(user)
        )
        assert process.stderr == "", process.describe()
        named = {}
        for need in json.loads(process.stdout)["needs"]:
            named.setdefault(need["verdict"], set()).add(need["name"])
        return process.popen.returncode, named

    def profile_steps(self, user, target, *options):
        """Profiles all steps of a target; returns its profile and the profiler."""
        output = self.folder / f"ours-{user}.json"
        profiler = self.lab.profiler(
            "--pid", target.pid, "-o", output, *options,
            program=self.program, prefix=as_user(user), cwd=self.folder,
        )  # fmt: skip
        profiler.wait_attached()
        target.say("\n")
        target.expect("stdout", r"^done$", 60)
        assert profiler.stop() == COMPLETE, profiler.describe()
        return json.loads(output.read_text()), profiler


@pytest.fixture
def installed(lab):
    folder = public_folder()
    folder.chmod(0o777)
    yield Installed(lab, folder)
    for process in lab.started:
        process.kill()
    shutil.rmtree(folder)


def check_profile(ours, target, builtin, profiler):
    """Steps and evaluations as the built-in profiler counts them, and the books closed."""
    target.popen.stdin.close()
    assert target.wait(60) == 0, target.describe()
    window = Window(ours, json.loads(builtin.read_text()), COMPLETE, 0, profiler, ())
    assert len(list(workers(ours))) == 2
    check_counts(window)
    threads = list(all_threads(ours))
    assert len(threads) > 2
    for thread in threads:
        check_thread(thread, "as a plain user")


class TestPlainUser:
    @pytest.mark.parametrize("mode", ["engine", "sampled", "exact", "waits"])
    @pytest.mark.parametrize(
        "user, capabilities", [(NOBODY, ENOUGH), (SOMEBODY, OTHERS)], ids=["own", "another's"]
    )
    def test_profile(self, installed, user, capabilities, mode):
        builtin = installed.folder / "builtin.json"
        options = ["--workers", "2", "--steps", "60", "--builtin", builtin]
        target = installed.target(NOBODY, "join", *options)
        installed.grant(capabilities)
        ours, profiler = installed.profile_steps(user, target, "--mode", mode)
        check_profile(ours, target, builtin, profiler)
        # What it costs is not all known then, and said to be so.
        assert "CAP_SYS_ADMIN" in profiler.stdout
        assert ours["dbprof"]["cost"]["program"] is None

    def test_check_agrees(self, installed):
        """It promises what the profile above keeps: all but the cost."""
        target = installed.target(NOBODY, "idle", "--workers", "1")
        installed.grant(ENOUGH)
        status, named = installed.check(NOBODY, "--pid", target.pid)
        assert status == INCOMPLETE and "missing" not in named
        assert "CAP_SYS_ADMIN" in named["degraded"]
        assert "CAP_DAC_READ_SEARCH" in named["ok"]

    @pytest.mark.parametrize("lacking", ENOUGH)
    def test_lacking(self, installed, lacking):
        """Without one of the three both name it, and nothing is written."""
        target = installed.target(NOBODY, "idle", "--workers", "1")
        installed.grant([name for name in ENOUGH if name != lacking])
        status, named = installed.check(NOBODY, "--pid", target.pid)
        assert status == FAILED
        assert {n for n in named["missing"] if n.startswith("CAP_")} == {f"CAP_{lacking.upper()}"}
        self.refuse(installed, NOBODY, target, f"CAP_{lacking.upper()}")

    def test_anothers_without_leave(self, installed):
        target = installed.target(NOBODY, "idle", "--workers", "1")
        installed.grant(ENOUGH)
        status, named = installed.check(SOMEBODY, "--pid", target.pid)
        assert status == FAILED and {"threads", "workers"} >= named["missing"] >= {"threads"}
        assert "CAP_DAC_READ_SEARCH" in named["degraded"]
        self.refuse(installed, SOMEBODY, target, "CAP_DAC_READ_SEARCH")

    def test_none(self, installed):
        target = installed.target(NOBODY, "idle", "--workers", "1")
        status, named = installed.check(NOBODY, "--pid", target.pid)
        assert status == FAILED
        assert named["missing"] == {"CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"}
        # Its own program's memory a user may read, where Yama allows it.
        assert "memory" in named["ok"] | named["missing"]

    @staticmethod
    def refuse(installed, user, target, name):
        output = installed.folder / "none.json"
        process = installed.lab.run(
            "--pid", target.pid, "-d", "300ms", "-o", output,
            program=installed.program, prefix=as_user(user),
        )  # fmt: skip
        assert process.popen.returncode == FAILED and not output.exists()
        [sentence] = process.lines["stderr"]
        assert name in sentence, sentence
