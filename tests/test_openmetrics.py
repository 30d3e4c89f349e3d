# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Metrics: what the profile of the same steps says, as Prometheus' own programs read it."""

import http.server
import json
import re
import shutil
import subprocess
import threading

import pytest
from harness import COMPLETE, FAILED, TOP, USAGE, Lab, eventually, target_path
from profiles import SECOND, breakdown, invocations, reading
from prometheus_server import Prometheus
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as parse_old

WORKERS = 2
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROCESS = {"pid", "exe", "pipeline", "pipeline_name"}
UUID = "01935c0e-2a6b-7cc3-9d7e-5f0e1a2b3c4d"
# What is awkward in a label: a quote, a backslash, a character of several bytes.
AWKWARD = 'a "b" \\n é'


def samples_of(text, parse=text_string_to_metric_families):
    """{name: [(labels, value)]} in the order of the text."""
    found = {}
    for family in parse(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def total(samples, name, **wanted):
    """The sum over all samples with these labels; there must be one."""
    values = [v for labels, v in samples[name] if wanted.items() <= labels.items()]
    assert values, f"{name} has no sample with {wanted}"
    return sum(values)


def total_nanos(samples, name, **wanted):
    return round(total(samples, name, **wanted) * SECOND)


class Taken:
    """The same steps as a profile and in both formats of metrics, and the process they are of."""

    def __init__(self, lab):
        folder = lab.path(AWKWARD)
        folder.mkdir()
        self.program = shutil.copy(target_path(), folder)
        # The pipeline takes no such option; where the kernel keeps arguments it looks the same.
        config = folder / "config.yaml"
        config.write_text(f"workers: 2\nname: pipeline-{UUID}\ngiven_name: 'it''s \"mine\"'\n")
        run_as = 'exec -a "--config-file=$1" "$0" "${@:2}"'
        target = lab.process(
            ["bash", "-c", run_as, self.program, config, "join", "--workers", WORKERS]
            + ["--steps", "300", "--builtin", lab.path("b.json"), "--hold"]
        )
        target.expect("stdout", r"^ready (\d+)$", 60)
        self.pid = target.pid
        formats = "json", "openmetrics", "prometheus"
        self.paths = {name: lab.path(f"ours.{name}") for name in formats}
        profilers = [
            lab.profiler("--pid", target.pid, "--format", name, "--output", path, "--quiet")
            for name, path in self.paths.items()
        ]
        for profiler in profilers:
            profiler.wait_attached()
        target.say("\n")
        target.expect("stdout", r"^done$", 60)
        for profiler in profilers:
            assert profiler.stop() == COMPLETE, profiler.describe()
        self.profile = json.loads(self.paths["json"].read_text())
        self.text = self.paths["openmetrics"].read_text()
        self.old_text = self.paths["prometheus"].read_text()
        self.samples = samples_of(self.text)


@pytest.fixture(scope="module")
def taken(_built, tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("metrics"))
    yield Taken(lab)
    lab.close()


def test_equal_to_the_profile(taken):
    """Engine mode reads the same counters for each of the profilers: equal to the nanosecond."""
    profile, samples = taken.profile, taken.samples
    assert profile["dbprof"]["mode"] == "engine"
    for i in range(WORKERS):
        worker = str(i)
        steps = reading(profile, i, "n", "steps_count")
        assert total(samples, "dbprof_steps_total", worker=worker) == steps >= 300
        for name, metric in (
            ("dbprof_step_seconds_total", "circuit_runtime_seconds"),
            ("dbprof_step_cpu_seconds_total", "circuit_cpu_time_seconds"),
        ):
            assert total_nanos(samples, name, worker=worker) == reading(profile, i, "n", metric) > 0
        waits = {
            labels["reason"]: round(value * SECOND)
            for labels, value in samples["dbprof_step_wait_seconds_total"]
            if labels["worker"] == worker
        }
        assert waits == breakdown(profile, i, "n") and sum(waits.values()) > 0


def test_operators_equal_the_profile(taken):
    """The 20 that took most time, with the time of all workers."""
    profile, samples = taken.profile, taken.samples
    times = {}
    for i in range(WORKERS):
        for node in invocations(profile, i):
            times[node] = times.get(node, 0) + reading(profile, i, node, "runtime_seconds")
    shown = {
        labels["node"]: round(value * SECOND)
        for labels, value in samples["dbprof_operator_seconds_total"]
    }
    assert len(shown) == 20 < len(times)
    assert shown == {node: times[node] for node in shown}
    assert min(shown.values()) >= max(times[node] for node in times if node not in shown)
    assert total_nanos(samples, "dbprof_operators_seconds_total") == sum(times.values())
    steps = reading(profile, 0, "n", "steps_count")
    for labels, value in samples["dbprof_operator_evaluations_total"]:
        assert value == steps * WORKERS
        assert labels["operator"]


def test_books_close(taken):
    samples = taken.samples
    for i in range(WORKERS):
        worker = str(i)
        parts = sum(
            total_nanos(samples, f"dbprof_step_{part}_seconds_total", worker=worker)
            for part in ("cpu", "run_queue", "preempted", "blocked", "unobserved")
        )
        step = total_nanos(samples, "dbprof_step_seconds_total", worker=worker)
        # Sums of several numbers of nine decimals, as floating point.
        assert abs(parts - step) <= 10
        idle = total_nanos(samples, "dbprof_idle_seconds_total", worker=worker)
        assert abs(step + idle - total_nanos(samples, "dbprof_window_seconds_total")) <= 10


def test_own_cost(taken):
    samples = taken.samples
    assert total(samples, "dbprof_profiler_cpu_seconds_total") > 0
    assert total(samples, "dbprof_process_cpu_seconds_total") > 0
    assert total(samples, "dbprof_incomplete") == total(samples, "dbprof_losses_total") == 0
    assert total(samples, "dbprof_windows_total") == 1


def test_labels_are_escaped(taken):
    """The reader gets back what the path of the executable is, as of all samples of a process."""
    for name, found in taken.samples.items():
        for labels, _ in found:
            if name.startswith("dbprof_profiler") or name == "dbprof_build_info":
                assert not PROCESS & set(labels)
            else:
                assert labels["pid"] == str(taken.pid) and labels["exe"] == taken.program
                assert labels["pipeline"] == UUID and labels["pipeline_name"] == 'it\'s "mine"'


def test_promtool(taken):
    """Types, help, units and suffixes are what Prometheus' linter wants."""
    result = subprocess.run(
        ["promtool", "check", "metrics"], input=taken.old_text, capture_output=True, text=True
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_both_formats_tell_the_same(taken):
    """Of the same process; the windows differ in what is not in steps."""
    old = samples_of(taken.old_text, parse_old)
    assert list(old) == list(taken.samples)
    for name in ("steps", "step_seconds", "step_wait_seconds", "operator_seconds"):
        assert old[f"dbprof_{name}_total"] == taken.samples[f"dbprof_{name}_total"]
    assert taken.text.endswith("\n# EOF\n") and "# EOF" not in taken.old_text


DOCUMENTED = re.compile(r"^\| `(\w+)` \| (\w+) \| (\w*) ?\| ([\w, ]*?) ?\| (.*?) \| ", re.MULTILINE)


def test_documented(taken):
    """docs/metrics.md has each metric with its type, unit, labels and number of series."""
    of_profiles, _ = (TOP / "docs" / "metrics.md").read_text().split("The daemon also tells")
    rows = DOCUMENTED.findall(of_profiles)
    families = {
        family.samples[0].name: family for family in text_string_to_metric_families(taken.text)
    }
    assert [row[0] for row in rows] == list(families)
    for name, kind, unit, labels, series in rows:
        family = families[name]
        assert (family.type, family.unit) == (kind, unit), name
        wanted = {word for word in labels.split(", ") if word}
        if "process" in wanted:
            wanted = wanted - {"process"} | PROCESS
        assert set(family.samples[0].labels) == wanted, name
        factor = re.sub(r"\s", "*", series.replace("W", str(WORKERS)).replace("K", "20"))
        assert len(family.samples) == eval(factor), name


@pytest.fixture
def prometheus(lab, taken):
    """A Prometheus that scrapes what was written; asks it a query."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            accepted.append(self.headers["Accept"])
            self.send_response(200)
            self.send_header("Content-Type", OPENMETRICS)
            self.end_headers()
            self.wfile.write(taken.text.encode())

        def log_message(self, *_):
            pass

    accepted = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server_of_metrics = Prometheus(lab, server.server_port)
    assert "openmetrics" in accepted[0]
    yield server_of_metrics.ask
    server.shutdown()
    server.server_close()


def test_prometheus_scrapes_it(prometheus, taken):
    """The server takes each sample of it."""
    count = sum(map(len, taken.samples.values()))
    [scraped] = prometheus("scrape_samples_scraped")
    assert int(scraped["value"][1]) == count
    result = prometheus("dbprof_step_wait_seconds_total")
    assert len(result) == 10 * WORKERS
    for series in result:
        labels = series["metric"]
        assert labels["exe"] == taken.program
        wanted = total(
            taken.samples, "dbprof_step_wait_seconds_total",
            worker=labels["worker"], reason=labels["reason"],
        )  # fmt: skip
        assert float(series["value"][1]) == wanted


def test_no_state(lab):
    """It would be lost, so it is refused before the window."""
    process = lab.run("--pid", "1", "--format", "openmetrics", "--state", "x.json")
    assert process.popen.returncode == USAGE and "--state" in process.stderr


def test_only_of_a_window(lab, taken):
    """What a JSON profile does not have is not made up."""
    output = lab.path("x.om")
    process = lab.run("export", taken.paths["json"], "-f", "openmetrics", "-o", output)
    assert process.popen.returncode == FAILED and "lacks a part" in process.stderr
    assert not output.exists()


def test_full_disk(lab, idle):
    process = lab.run(
        "--pid", idle.pid, "--duration", "200ms", "--format", "openmetrics", "--output", "/dev/full"
    )
    assert process.popen.returncode == FAILED and "No space left" in process.stderr
