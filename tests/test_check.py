# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`check` on this machine with each need taken away in turn: it must name that need, and no other."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness import (
    COMPLETE,
    FAILED,
    INCOMPLETE,
    PROGRAM,
    SANITIZED,
    TOP,
    USAGE,
    Lab,
    patched_copy,
    public_copy,
    public_folder,
    target_path,
)
from kernel import changed_code
from test_needs import NOBODY, as_user, old_kernel, without  # noqa: F401

STATUS = {"ok": COMPLETE, "degraded": INCOMPLETE, "missing": FAILED}
VERDICTS = {*STATUS, "not checked"}


class Check:
    """Runs it, and holds what is true of every result."""

    def __init__(self, lab):
        self.lab = lab

    def __call__(self, *arguments, **options):
        process = self.lab.run("check", "--json", *arguments, **options)
        assert process.stderr == "", process.describe()
        result = json.loads(process.stdout)
        self.needs = {need["name"]: need for need in result["needs"]}
        assert len(self.needs) == len(result["needs"]), "a need is told twice"
        for need in result["needs"]:
            assert need["verdict"] in VERDICTS and need["detail"], need
            bad = need["verdict"] in ("degraded", "missing")
            assert bool(need["lost"]) == bad and bool(need["remedy"]) == bad, need
        worst = max((self.verdict(name) for name in self.needs), key=self.rank)
        assert result["verdict"] == ("ok" if worst == "not checked" else worst)
        assert process.popen.returncode == STATUS[result["verdict"]], process.describe()
        return result

    @staticmethod
    def rank(verdict):
        return ["ok", "not checked", "degraded", "missing"].index(verdict)

    def verdict(self, name):
        return self.needs[name]["verdict"]

    def named(self, verdict="missing"):
        return {name for name in self.needs if self.verdict(name) == verdict}


@pytest.fixture
def check(lab):
    return Check(lab)


@pytest.fixture(scope="session")
def usual(_built, tmp_path_factory):
    """What is degraded on this machine as it is, as on one with an older kernel."""
    lab = Lab(tmp_path_factory.mktemp("usual"))
    check = Check(lab)
    check()
    lab.close()
    assert not check.named(), check.needs
    return check.named("degraded")


def mounted(script):
    """Runs what follows in mounts of its own, changed by the script."""
    return ["unshare", "--mount", "sh", "-e", "-c", script + '; exec "$@"', "sh"]


def bound(lab, path, content):
    """Runs what follows with another content of a file."""
    other = lab.path("other")
    other.write_bytes(content)
    return mounted(f"mount --bind {other} {path}")


class TestMachine:
    def test_all_is_there(self, check, usual):
        check()
        assert not check.named() and check.named("degraded") == usual
        for name in ("BPF programs", "uprobe_multi", "perf events"):
            assert check.verdict(name) in ("ok", "degraded")
        assert "not needed" in check.needs["tracefs"]["detail"]

    @pytest.mark.parametrize(
        "dropped, named",
        [
            ("bpf sys_admin", {"CAP_BPF"}),
            ("perfmon sys_admin", {"CAP_PERFMON"}),
            ("sys_ptrace", {"CAP_SYS_PTRACE"}),
            ("bpf perfmon sys_ptrace sys_admin", {"CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"}),
        ],
    )
    def test_capabilities(self, check, usual, dropped, named):
        check(prefix=without(*dropped.split()))
        assert check.named() == named
        assert check.named("degraded") - usual <= {"CAP_SYS_ADMIN"}
        for name in named:
            assert "setcap" in check.needs[name]["remedy"]

    @pytest.mark.parametrize("name", ["sys_admin", "dac_read_search dac_override"])
    def test_lesser_capabilities(self, check, usual, name):
        check(prefix=without(*name.split()))
        first = "CAP_" + name.split()[0].upper()
        assert check.named("degraded") - usual == {first} and not check.named()

    @pytest.mark.parametrize("action", ["EPERM", "ENOSYS", "kill"])
    @pytest.mark.parametrize("call", ["bpf", "perf_event_open", "pidfd_open"])
    def test_seccomp(self, check, usual, call, action):
        check(prefix=[sys.executable, TOP / "tests" / "seccomp_filter.py", call, action])
        assert check.named() == {f"{call}()"}
        assert "seccomp" in check.needs[f"{call}()"]["detail"]

    def test_no_btf(self, check, usual):
        check(prefix=mounted("mount -t tmpfs none /sys/kernel/btf"))
        assert check.named() == {"BTF", "BPF programs"}
        assert "CONFIG_DEBUG_INFO_BTF" in check.needs["BTF"]["remedy"]

    def test_no_tracepoints(self, lab, check, usual):
        """BTF without the types of tracepoints."""
        btf = lab.path("btf")
        subprocess.run(
            ["bpftool", "gen", "min_core_btf", "/sys/kernel/btf/vmlinux", btf]
            + [TOP / "build" / "bpf" / "dbprof.linked.o"],
            check=True,
        )
        where = "/sys/kernel/btf"
        check(prefix=mounted(f"mount -t tmpfs none {where}; cp {btf} {where}/vmlinux"))
        assert check.named() == {"tracepoints", "BPF programs"}

    def test_option_off(self, lab, check, usual):
        config = Path("/proc/config.gz")
        if not config.exists():
            config = Path(f"/boot/config-{os.uname().release}")
        if not config.exists():
            assert check.verdict("options") == "not checked"
            return
        text = config.read_bytes()
        text = gzip.decompress(text) if config.suffix == ".gz" else text
        assert b"\nCONFIG_UPROBES=y" in text
        text = text.replace(b"\nCONFIG_UPROBES=y", b"\n# CONFIG_UPROBES is not set")
        check(prefix=bound(lab, config, text))
        assert check.named() == {"options"}
        assert "CONFIG_UPROBES" in check.needs["options"]["detail"]
        assert "CONFIG_BPF_SYSCALL" not in check.needs["options"]["detail"]

    def test_old_version(self, check, usual):
        check(prefix=["setarch", "--uname-2.6"])
        assert check.named() == {"version"}
        assert "2.6." in check.needs["version"]["detail"]

    def test_no_uprobe_multi(self, check, old_kernel):  # noqa: F811
        check(env=old_kernel)
        assert not check.named() and check.verdict("uprobe_multi") == "degraded"

    def test_no_jit(self, lab, check, usual):
        check(prefix=bound(lab, "/proc/sys/net/core/bpf_jit_enable", b"0\n"))
        assert check.named("degraded") - usual == {"BPF JIT"} and not check.named()

    @pytest.mark.parametrize("mode", ["none", "integrity", "confidentiality"])
    def test_lockdown(self, check, usual, mode):
        text = "none integrity confidentiality".replace(mode, f"[{mode}]")
        where = "/sys/kernel/security"
        check(prefix=mounted(f"mount -t tmpfs none {where}; echo '{text}' >{where}/lockdown"))
        assert check.named() == ({"lockdown"} if mode == "confidentiality" else set())
        assert check.needs["lockdown"]["detail"] == mode

    @pytest.mark.parametrize("scope", range(4))
    def test_sysctls(self, check, usual, scope):
        """Whatever Yama and perf are set to, capabilities override, but for Yama's 3."""
        script = "mount -t tmpfs none /proc/sys/kernel; cd /proc/sys/kernel; mkdir yama"
        for name in ("yama/ptrace_scope", "perf_event_paranoid"):
            script += f"; echo {scope} >{name}"
        check(prefix=mounted(script))
        assert check.named() == ({"yama"} if scope == 3 else set())
        assert f"= {scope}" in check.needs["yama"]["detail"]
        assert check.needs["perf_event_paranoid"]["detail"].startswith(f"{scope},")

    def test_pid_namespace(self, check, usual):
        check(prefix=["unshare", "--pid", "--fork", "--mount-proc"])
        assert not check.named() and "its own" in check.needs["PID namespace"]["detail"]

    def test_proc_of_another_pid_namespace(self, check, usual):
        check(prefix=["unshare", "--pid", "--fork"])
        assert check.named() == {"PID namespace"}

    def test_user_namespace(self, check):
        check(prefix=["unshare", "--user", "--map-root-user"])
        assert check.named() >= {"user namespace"}

    def test_time_namespace(self, check, usual):
        check(prefix=["unshare", "--time", "--monotonic", "1000", "--fork"])
        assert check.named() >= {"time namespace"}

    def test_without_privileges(self, check):
        folder = public_folder()
        try:
            check(program=public_copy(PROGRAM, folder), prefix=as_user(NOBODY))
        finally:
            (folder / PROGRAM.name).unlink()
            folder.rmdir()
        assert check.named() == {"CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"}
        assert "CAP_BPF" in check.needs["BPF programs"]["detail"]
        assert check.verdict("BPF programs") == "not checked"


@pytest.fixture
def stripped(lab):
    copy = lab.path("stripped")
    subprocess.run(["strip", "-s", "-o", copy, target_path()], check=True)
    return copy


class TestProgram:
    def test_sampled(self, check, usual, idle):
        result = check("--pid", idle.pid)
        assert result["pid"] == idle.pid and result["mode"] == "sampled"
        assert not check.named() and check.named("degraded") == usual
        assert "off" in check.needs["CPU profiler"]["detail"]
        assert "0.354.0" in check.needs["DBSP"]["detail"]
        for name in ("steps", "parks", "operators", "slots", "exact probes", "workers", "layout"):
            assert check.verdict(name) == "ok"
        assert changed_code(idle.pid) == []

    def test_engine(self, lab, check, usual):
        target = lab.target("idle", workers=2, builtin=lab.path("builtin.json"))
        assert check("--pid", target.pid)["mode"] == "engine"
        assert not check.named() and check.named("degraded") == usual
        assert check.needs["workers"]["detail"].startswith("2,")

    def test_stripped(self, lab, check, usual, stripped):
        target = lab.target("idle", workers=1, program=stripped)
        assert check("--pid", target.pid)["mode"] is None
        assert check.named() == {"steps"}
        assert check.named("degraded") - usual == {"symbols"}
        assert "stripped" in check.needs["steps"]["detail"]

    def test_stripped_but_profiled(self, lab, check, usual, stripped):
        """The engine's counters need no symbols."""
        target = lab.target("idle", workers=1, program=stripped, builtin=lab.path("builtin.json"))
        assert check("--pid", target.pid)["mode"] == "engine"
        assert not check.named()

    def test_layout_misfit(self, lab, check, usual, idle, shipped_layout):
        wrong = patched_copy(
            shipped_layout, lab.path("wrong.json"), {b'"node.size": 240': b'"node.size": 232'}
        )
        check("--pid", idle.pid, "--layout", wrong)
        assert check.named() == {"workers"}
        assert "layout" in check.needs["workers"]["remedy"]

    def test_no_layout(self, lab, check, usual, idle):
        check("--pid", idle.pid, "--layout", lab.path("none.json"))
        assert check.named() == {"layout"}

    def test_another_version(self, lab, check, usual):
        """The nearest layout fits, as reading with it shows."""
        copy = patched_copy(target_path(), lab.path("newer"), {b"dbsp-0.354.0": b"dbsp-0.999.9"})
        check("--pid", lab.target("idle", workers=1, program=copy).pid)
        assert not check.named() and "0.999.9" in check.needs["DBSP"]["detail"]
        assert "nearest" in check.needs["layout"]["detail"]

    def test_no_dbsp_program(self, check, usual):
        check("--pid", os.getpid())
        assert check.named() == {"DBSP"}

    def test_no_process(self, check, usual):
        check("--pid", 2**22 + 1)
        assert check.named() == {"process"}

    def test_kernel_thread(self, check, usual):
        check("--pid", 2)
        assert check.named() == {"DBSP"}

    def test_container(self, lab, check, usual):
        """PID and mount namespaces of the program's own do no harm."""
        command = ["unshare", "--pid", "--mount", "--fork", "--kill-child", target_path()]
        parent = lab.process([*command, "idle", "--workers", "1", "--hold"])
        parent.expect("stdout", r"^ready \d+$", 60)
        [pid] = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        check("--pid", pid)
        assert not check.named()
        assert "pid, mnt" in check.needs["namespaces"]["detail"]

    def test_not_allowed(self, lab, check):
        """Of a program of root's a plain user sees the threads' names."""
        folder = public_folder()
        target = lab.target("idle", workers=3)
        try:
            check("--pid", target.pid, program=public_copy(PROGRAM, folder), prefix=as_user(NOBODY))
        finally:
            (folder / PROGRAM.name).unlink()
            folder.rmdir()
        assert "memory" in check.named()
        assert "3 DBSP workers" in check.needs["DBSP"]["detail"]


@pytest.mark.parametrize("program", [PROGRAM, SANITIZED], ids=["plain", "sanitized"])
class TestOutput:
    def test_table(self, lab, check, usual, program, idle):
        """Every need has its line, in the same words."""
        check("--pid", idle.pid, program=program, prefix=without("sys_admin"))
        process = lab.run("check", "--pid", idle.pid, program=program, prefix=without("sys_admin"))
        assert process.popen.returncode == INCOMPLETE and process.stderr == ""
        words = " ".join(process.stdout.split())
        for name, need in check.needs.items():
            if name not in ("uprobe_multi", "process"):  # which tell of times and pids
                assert f"{need['verdict']} {name} {' '.join(need['detail'].split())}" in words
            for text in (need["lost"], need["remedy"]):
                assert text is None or " ".join(text.split()) in words
        assert max(map(len, process.lines["stdout"])) <= 100
        assert "\033" not in process.stdout

    @pytest.mark.parametrize(
        "arguments", [["--pid"], ["--pid", "0"], ["--pid", "x"], ["7"], ["--pid", "1", "--pid", "2"]]
    )
    def test_usage(self, lab, program, arguments):
        process = lab.run("check", *arguments, program=program)
        assert process.popen.returncode == USAGE and process.stdout == ""
        assert "dbprof-bpf check" in process.lines["stderr"][0]

    def test_full_disk(self, program):
        with open("/dev/full", "w") as full:
            result = subprocess.run(
                [program, "check"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
            )
        assert result.returncode == FAILED and "cannot be written" in result.stderr
