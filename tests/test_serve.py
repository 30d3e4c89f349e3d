# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The daemon: finds every pipeline of the host, and nothing of those that have gone stays."""

import io
import json
import re
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import pytest
from harness import (
    COMPLETE,
    FAILED,
    PROGRAM,
    SANITIZED,
    TOP,
    USAGE,
    eventually,
    patched_copy,
    public_copy,
    target_path,
)
from profiles import reading, workers
from served import Served


@pytest.fixture
def serve(lab):
    def start(*arguments, **options):
        return Served(lab, *arguments, **options)

    return start


def test_found_before_and_after(lab, serve):
    """Those that run already, and those that start; they go when they end."""
    before = lab.target("sleeper", workers=1, steps=10**6)
    served = serve()
    assert served.wait_for(before.pid, "profiled")["dbsp"] == "0.354.0"
    after = lab.target("sleeper", workers=2, steps=10**6)
    assert served.wait_for(after.pid, "profiled")["workers"] == 2
    for target in (before, after):
        target.kill()
        served.wait_gone(target.pid)
        served.process.expect("stderr", rf"attached {target.pid}: ", 5)
        served.process.expect("stderr", rf"detached {target.pid}: it has ended", 5)
    assert served.end() == COMPLETE, served.process.describe()


def test_exec_in_place(lab, serve):
    """The same process id, another program: first the shell's, then a pipeline, then none."""
    served = serve()
    script = f"read go; exec {target_path()} sleeper --workers 1 --steps 1000000"
    process = lab.process(["sh", "-c", script])
    assert not served.listed(process.pid)
    process.say("\n")
    served.wait_for(process.pid, "profiled")
    process.kill()
    served.wait_gone(process.pid)


@pytest.mark.parametrize("mode", ["auto", "sampled"])
def test_steps_are_those_of_the_engine(lab, serve, mode):
    """Sums over windows against DBSP's own profile of the whole run, worker by worker."""
    builtin = lab.path("builtin.json")
    served = serve("--mode", mode, interval="200ms")
    target = lab.target("join", workers=2, steps=200, builtin=builtin)
    used = served.wait_for(target.pid, "profiled")["mode"]
    assert used == ("sampled" if mode == "sampled" else "engine")
    target.go()
    target.wait_done()
    windows = served.value("dbprof_windows_total", pid=target.pid)
    eventually(
        lambda: served.value("dbprof_windows_total", pid=target.pid) > windows + 1, 20,
        "a window after the last step",
    )  # fmt: skip
    assert windows >= 1
    steps = [
        served.value("dbprof_steps_total", pid=target.pid, worker=worker) for worker in range(2)
    ]
    target.finish()
    own = json.loads(builtin.read_text())
    assert steps == [reading(own, worker, "n", "steps_count") for worker in workers(own)]
    assert steps[0] > 200


def test_one_that_cannot_be_profiled(lab, serve):
    """It is listed with the reason, tried again, and in nobody's way."""
    copy = patched_copy(target_path(), lab.path("newer"), {b"dbsp-0.354.0": b"dbsp-0.999.9"})
    misfit = {b'"root_circuit.nodes": 112': b'"root_circuit.nodes": 128'}
    target = lab.target("idle", workers=1, program=copy)
    served = serve(program=patched_copy(PROGRAM, lab.path("other-layout"), misfit))
    refused = served.wait_for(target.pid, "refused")
    assert "0.999.9" in refused["reason"] and "dbprof-bpf layout" in refused["reason"]
    served.process.expect("stderr", rf"cannot profile {target.pid}: .*0\.999\.9", 5)
    status, body = served.get(f"/v1/profile?pid={target.pid}")
    assert status == 404 and b"0.999.9" in body
    eventually(lambda: served.listed(target.pid)["tries"] > 2, 20, "it is tried again")
    said = [line for line in served.process.lines["stderr"] if f"profile {target.pid}:" in line]
    assert len(said) == 1
    target.kill()
    eventually(lambda: not served.listed(target.pid), 20, "it is forgotten")


def test_profiles_on_demand(lab, serve):
    served = serve()
    target = lab.target("join", workers=2, steps=10**6)
    target.go()
    served.wait_for(target.pid, "profiled")
    profile = served.json(f"/v1/profile?pid={target.pid}&seconds=1&format=json")
    assert profile["dbprof"]["pid"] == target.pid
    length = profile["dbprof"]["window"]["length"]
    assert length["secs"] >= 1
    assert reading(profile, 0, "n", "steps_count") > 0
    status, body = served.get(f"/v1/profile?pid={target.pid}&seconds=1&format=bundle")
    assert status == 200 and zipfile.ZipFile(io.BytesIO(body)).namelist()
    for path, wanted in {
        "/v1/profile?pid=1": 404,
        "/v1/profile?pid=x": 400,
        f"/v1/profile?pid={target.pid}&seconds=0": 400,
        f"/v1/profile?pid={target.pid}&format=exe": 400,
        "/v1/nothing": 404,
        "/readyz": 200,
        "/healthz": 200,
    }.items():
        assert served.get(path)[0] == wanted, path


def test_one_at_a_time(lab, serve):
    """A second profile of the same process has to wait; the first ends with the process."""
    served = serve()
    target = lab.target("sleeper", workers=1, steps=10**6)
    target.go()
    served.wait_for(target.pid, "profiled")
    url = f"{served.address}/v1/profile?pid={target.pid}&seconds=100"
    output = lab.path("cut.json")
    first = lab.process(["curl", "-s", "-o", output, url])
    eventually(lambda: served.listed(target.pid)["busy"], 10, "the first one is being taken")
    assert served.get(f"/v1/profile?pid={target.pid}&seconds=1")[0] == 429
    target.kill()
    assert first.wait(20) == 0
    assert json.loads(output.read_text())["dbprof"]["target_exited"]


def test_nothing_grows(lab, serve):
    """After thirty pipelines have come and gone: descriptors, links, maps as before."""
    served = serve()

    def come_and_go(count):
        for _ in range(count):
            target = lab.target("join", workers=2, steps=10**6)
            target.go()
            served.wait_for(target.pid, "profiled")
            target.kill()
            served.wait_gone(target.pid)

    empty = served.counts()
    come_and_go(5)
    served.wait_settled(empty)
    resident = served.resident_kib()
    come_and_go(30)
    served.wait_settled(empty)
    assert served.resident_kib() < resident + 2048
    assert served.value("dbprof_profiler_detached_total") >= 35


def test_ends_within_a_second(lab, serve):
    for number in (signal.SIGTERM, signal.SIGINT):
        target = lab.target("join", workers=2, steps=10**6)
        target.go()
        served = serve()
        served.wait_for(target.pid, "profiled")
        served.process.popen.send_signal(signal.SIGHUP)
        assert served.get("/healthz")[0] == 200
        began = time.monotonic()
        served.process.popen.send_signal(number)
        assert served.process.wait(20) == COMPLETE, served.process.describe()
        # A second is promised; a busy machine takes its time to end a process.
        assert time.monotonic() - began < 5
        target.kill()


def test_store(lab, serve):
    """A profile of each window is kept, and can be read like any other."""
    target = lab.target("join", workers=1, steps=10**6)
    target.go()
    folder = lab.path("store")
    served = serve("--store", folder)
    served.wait_for(target.pid, "profiled")
    found = eventually(
        lambda: sorted(folder.glob(f"dbprof-*-p{target.pid:010}-*.dbprof")), 20, "one is kept"
    )
    report = lab.run("report", found[0])
    assert report.popen.returncode == COMPLETE and f"pid {target.pid}" in report.stdout


@pytest.mark.seconds(200)
def test_sanitized(lab, serve):
    """The whole way through under the sanitizers: pipelines come and go, every kind of answer."""
    folder = lab.path("store")
    served = serve("--store", folder, program=SANITIZED)
    for number in range(2):
        target = lab.target("join", workers=2, steps=10**6)
        target.go()
        served.wait_for(target.pid, "profiled", 60)
        for form in ("json", "bundle", "html", "pprof"):
            status, body = served.get(f"/v1/profile?pid={target.pid}&seconds=1&format={form}")
            assert status == 200 and body, (number, form, body[:200])
        assert served.get(f"/v1/profile?pid={target.pid}&format=exe")[0] == 400
        assert served.value("dbprof_steps_total", pid=target.pid) > 0
        target.kill()
        served.wait_gone(target.pid, 60)
    assert sorted(folder.glob("dbprof-*.dbprof"))
    served.process.popen.terminate()
    assert served.process.wait(60) == COMPLETE, served.process.describe()


def test_usage(lab):
    for arguments in (["--interval", "1ms"], ["--keep", "x"], ["--budget", "0"], ["word"]):
        process = lab.run("serve", *arguments)
        assert process.popen.returncode == USAGE, process.describe()
    for arguments in (["--listen", "0.0.0.0:0"], ["--store", "/proc/nothing"]):
        process = lab.run("serve", *arguments)
        assert process.popen.returncode == FAILED and len(process.lines["stderr"]) == 1


def test_documented(lab, serve):
    """docs/metrics.md has all metrics of the daemon, and no others."""
    text = (TOP / "docs" / "metrics.md").read_text()
    documented = set(re.findall(r"^\| `(dbprof_\w+)` \|", text, re.MULTILINE))
    served = serve("--store", lab.path("store"))
    target = lab.target("join", workers=1, steps=10**6)
    target.go()
    served.wait_for(target.pid, "profiled")
    eventually(lambda: served.value("dbprof_operator_seconds_total"), 20, "operators are told")
    told = {name for name, _, _ in served.metrics()}
    assert told - {f"dbprof_step_latency_seconds_{part}" for part in ("sum", "count")} == documented


def test_latency_of_steps(lab, serve):
    """Each step that was seen whole is in one bucket, and their times add up to that of steps."""
    served = serve("--mode", "sampled", interval="200ms")
    target = lab.target("join", workers=2, steps=300)
    served.wait_for(target.pid, "profiled")
    target.go()
    target.wait_done()
    windows = served.value("dbprof_windows_total", pid=target.pid)
    eventually(
        lambda: served.value("dbprof_windows_total", pid=target.pid) > windows + 1, 20,
        "a window after the last step",
    )  # fmt: skip
    buckets = [
        (float(labels["le"]), value)
        for name, labels, value in served.metrics()
        if name == "dbprof_step_latency_seconds_bucket" and labels["pid"] == str(target.pid)
    ]
    assert [limit for limit, _ in buckets] == sorted({limit for limit, _ in buckets})
    assert len(buckets) == 20 and buckets[-1][0] == float("inf")
    assert [value for _, value in buckets] == sorted(value for _, value in buckets)
    count = served.value("dbprof_step_latency_seconds_count", pid=target.pid)
    total = served.value("dbprof_step_latency_seconds_sum", pid=target.pid)
    assert count == buckets[-1][1] == served.value("dbprof_steps_total", pid=target.pid) > 600
    assert abs(total - served.value("dbprof_step_seconds_total", pid=target.pid)) < 1e-6 * count
    # The mean lies where the buckets say that it may.
    least = sum(
        limit * (value - below)
        for (limit, _), (_, value), (_, below) in zip(
            [(0, 0), *buckets], buckets, [(0, 0), *buckets], strict=False
        )
    )
    assert least <= total


NEEDED = ["dac_read_search", "sys_ptrace", "perfmon", "bpf"]
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def test_capabilities(lab, serve):
    """It gives up what it does not need, says what is left, and that is enough for all it does."""
    served = serve("--store", lab.path("store"))
    assert served.json("/v1/processes")["profiler"]["capabilities"] == NEEDED
    status = Path(f"/proc/{served.pid}/status").read_text()
    masks = {name: int(mask, 16) for name, mask in re.findall(r"^Cap(\w+):\s+(\w+)$", status, re.M)}
    assert masks["Eff"] == masks["Prm"] and bin(masks["Prm"]).count("1") == len(NEEDED)
    assert masks["Bnd"] == masks["Inh"] == masks["Amb"] == 0
    assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)
    copy = public_copy(target_path(), lab.storage)
    target = lab.process([*AS_NOBODY, copy, "join", "--workers", "1", "--steps", "1000000"])
    served.wait_for(target.pid, "profiled")
    profile = served.json(f"/v1/profile?pid={target.pid}&seconds=1")
    assert reading(profile, 0, "n", "steps_count") > 0 and profile["dbprof"]["complete"]


def test_metrics_are_clean(lab, serve):
    served = serve()
    target = lab.target("join", workers=1, steps=10**6)
    target.go()
    served.wait_for(target.pid, "profiled")
    eventually(lambda: served.value("dbprof_steps_total", pid=target.pid), 20, "steps are told")
    _, body = served.get("/metrics")
    checked = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True)
    assert checked.returncode == 0, checked.stderr + checked.stdout
