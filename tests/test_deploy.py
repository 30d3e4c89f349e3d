# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The package, and the files of deploy/ as the programs that read them see them."""

import copy
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
import sandbox
import yaml
from harness import COMPLETE, PROGRAM, TOP, eventually, public_copy, target_path
from kubernetes_types import check_object
from profiles import reading
from served import Served

DEPLOY = TOP / "deploy"
UNIT = DEPLOY / "systemd" / "dbprof-bpf.service"
ALERTS = "dbprof-alerts.yml"
NOBODY, SOMEBODY = 65534, 65533


def run(*command, **options):
    """What a command says; it must succeed."""
    result = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
        **options,
    )
    assert result.returncode == 0, f"{command}: {result.stdout}"
    return result.stdout


def version():
    return re.search(r"^VERSION := (\S+)$", (TOP / "Makefile").read_text(), re.MULTILINE)[1]


class TestPackage:
    @pytest.fixture(scope="class")
    def package(self, _built):
        """What `make deb` builds."""
        name = run("make", "-s", "-C", TOP, "deb").split()[-1]
        return TOP / name

    def test_lintian(self, package):
        assert run("lintian", "--fail-on", "error,warning", "--allow-root", package) == ""

    def test_installed(self, lab, package, idle):
        """Into a root of its own, from where the program profiles; removed, it leaves nothing."""
        root = lab.path("root")
        (root / "var/lib/dpkg/info").mkdir(parents=True)
        (root / "var/lib/dpkg/updates").mkdir()
        (root / "var/lib/dpkg/status").touch()
        dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-not-root"]
        run(*dpkg, "--install", package)
        program = root / "usr/bin/dbprof-bpf"
        assert run(program, "--version") == f"dbprof-bpf {version()}\n"
        process = lab.run(
            "--pid", idle.pid, "--duration", "200ms", "-o", lab.path("ours.json"), program=program
        )
        assert process.popen.returncode == COMPLETE, process.describe()
        documents = root / "usr/share/doc/dbprof-bpf"
        wanted = "copyright", "metrics.md.gz", "README.md.gz", "examples/grafana/dbprof-bpf.json"
        for name in wanted:
            assert (documents / name).is_file(), name
        assert (root / "usr/share/man/man1/dbprof-bpf.1.gz").is_file()
        # Until there is the command that it calls, no unit is where systemd looks.
        assert not list(root.rglob("lib/systemd"))
        run(*dpkg, "--purge", "dbprof-bpf")
        assert not (root / "usr").exists()

    def test_another_version(self):
        """The changelog and the program must be of one version."""
        command = [TOP / "tools" / "deb.sh", "99"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert result.returncode == 1 and "of 99" in result.stderr


class TestUnit:
    def test_verify(self, lab):
        """systemd knows all of its settings; the program is looked for where it was built."""
        unit = lab.path("dbprof-bpf.service")
        unit.write_text(UNIT.read_text().replace("/usr/bin/dbprof-bpf", str(PROGRAM)))
        assert run("systemd-analyze", "verify", "--man=no", unit) == ""

    def test_security(self):
        said = run(
            "systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", UNIT
        )
        level = re.search(r"Overall exposure level for dbprof-bpf.service: ([0-9.]+)", said)
        assert float(level[1]) <= 2.0

    def test_capabilities(self):
        unit = sandbox.read_unit(UNIT)
        assert unit["AmbientCapabilities"] == unit["CapabilityBoundingSet"]
        assert sandbox.capabilities(unit) == ["bpf", "perfmon", "sys_ptrace", "dac_read_search"]

    @pytest.mark.parametrize("mode", ["sampled", "exact"])
    def test_profiles_confined(self, lab, mode):
        """Another user's pipeline, with what the unit leaves: steps, operators, kernel's share."""
        target = lab.process(
            ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            + [public_copy(target_path(), lab.storage), "join", "--workers", "2"]
            + ["--steps", "100", "--hold"]
        )
        target.expect("stdout", r"^ready (\d+)$", 60)
        profiler = lab.process(
            sandbox.confined(sandbox.read_unit(UNIT), SOMEBODY, PROGRAM)
            + ["-v", "--pid", str(target.pid), "--mode", mode, "--output", "-"]
        )
        profiler.expect("stderr", "attached to", 60)
        target.say("\n")
        target.expect("stdout", r"^done$", 60)
        profiler.popen.send_signal(2)
        assert profiler.wait(60) == COMPLETE, profiler.describe()
        profile = json.loads(profiler.stdout)
        assert reading(profile, 0, "n", "steps_count") >= 100
        assert reading(profile, 1, "nn1", "runtime_seconds") > 0
        assert reading(profile, 0, "n", "run_queue_seconds") > 0

    @pytest.fixture
    def state_folder(self):
        """As systemd makes it, where the unit's processes see it."""
        folder = Path(tempfile.mkdtemp(dir="/var/lib", prefix="dbprof-test-"))
        os.chown(folder, SOMEBODY, SOMEBODY)
        yield folder
        shutil.rmtree(folder)

    def test_serves_confined(self, lab, state_folder):
        """The daemon finds another user's pipeline, keeps profiles and answers."""
        folder = state_folder
        started = sandbox.confined(sandbox.read_unit(UNIT), SOMEBODY, PROGRAM, folder)
        served = Served(lab, "--store", folder, started=started)
        target = lab.process(
            ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            + [public_copy(target_path(), lab.storage), "join", "--workers", "2"]
            + ["--steps", "1000000"]
        )
        served.wait_for(target.pid, "profiled")
        profile = served.json(f"/v1/profile?pid={target.pid}&seconds=1")
        assert reading(profile, 0, "n", "steps_count") > 0
        eventually(lambda: list(folder.glob("dbprof-*.dbprof")), 20, "a profile is kept")

    def test_the_confinement_confines(self, lab, idle):
        """What the unit does not grant is refused here, too."""

        def refusal(change):
            unit = sandbox.read_unit(UNIT)
            change(unit)
            process = lab.process(
                sandbox.confined(unit, SOMEBODY, PROGRAM)
                + ["--pid", str(idle.pid), "--duration", "200ms", "--output", output]
            )
            assert process.wait(60) == 1, process.describe()
            return process.stderr

        output = "-"
        less = {"AmbientCapabilities": ["CAP_BPF CAP_PERFMON CAP_DAC_READ_SEARCH"]}
        assert "CAP_SYS_PTRACE" in refusal(lambda unit: unit.update(less))
        assert "not permitted" in refusal(lambda unit: unit["SystemCallFilter"].append("~bpf"))
        output = str(lab.path("ours.json"))
        assert output in refusal(lambda unit: None)


def manifest():
    return list(yaml.safe_load_all((DEPLOY / "kubernetes" / "daemonset.yaml").read_text()))


class TestKubernetes:
    def test_types(self):
        kinds = [each["kind"] for each in manifest() if not check_object(each)]
        assert kinds == ["Namespace", "DaemonSet"]

    @pytest.mark.parametrize(
        "path, value, says",
        [
            (("spec", "template", "spec", "hostPid"), True, "no field hostPid"),
            (("spec", "template", "spec", "hostPID"), "yes", "hostPID is no bool"),
            (("spec", "selector"), None, "selector"),
            (("spec", "template", "spec", "containers", 0, "name"), None, "name"),
            (("spec", "template", "spec", "containers"), {}, "containers is no list"),
        ],
    )
    def test_the_check_finds_faults(self, path, value, says):
        daemons = copy.deepcopy(manifest()[1])
        at = daemons
        for step in path[:-1]:
            at = at[step]
        at.pop(path[-1], None) if value is None else at.update({path[-1]: value})
        with pytest.raises(ValueError, match=says):
            check_object(daemons)

    def test_no_more_than_needed(self):
        pod = manifest()[1]["spec"]["template"]["spec"]
        [container] = pod["containers"]
        context = container["securityContext"]
        wanted = [name.upper() for name in sandbox.capabilities(sandbox.read_unit(UNIT))]
        assert context["capabilities"] == {"drop": ["ALL"], "add": wanted}
        assert context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"]
        assert not context["privileged"] and context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["hostPID"] and not {"hostNetwork", "hostIPC"} & set(pod)
        assert not [volume for volume in pod["volumes"] if "hostPath" in volume]
        assert container["image"].endswith(f":{version()}")

    def test_ports_and_labels_agree(self):
        daemons = manifest()[1]["spec"]
        assert daemons["selector"]["matchLabels"] == daemons["template"]["metadata"]["labels"]
        [container] = daemons["template"]["spec"]["containers"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        assert f"--listen=0.0.0.0:{ports['https']}" in container["args"]
        assert f"localhost:{ports['https']}" in (DEPLOY / "prometheus/prometheus.yml").read_text()


@pytest.fixture
def prometheus(tmp_path):
    """A copy of the files for Prometheus, with those that an installation adds."""
    folder = shutil.copytree(DEPLOY / "prometheus", tmp_path / "prometheus")
    (folder / "dbprof-bpf.crt").touch()
    (folder / "dbprof-bpf.token").touch()
    return folder


class TestPrometheus:
    def test_config(self, prometheus):
        assert "SUCCESS" in run("promtool", "check", "config", prometheus / "prometheus.yml")

    def test_config_for_kubernetes(self, prometheus):
        """All but the discovery of pods, which Debian's Prometheus is built without."""
        path = prometheus / "prometheus-kubernetes.yml"
        config = yaml.safe_load(path.read_text())
        [discovery] = config["scrape_configs"][0].pop("kubernetes_sd_configs")
        path.write_text(yaml.safe_dump(config))
        assert "SUCCESS" in run("promtool", "check", "config", path)
        labels = manifest()[1]["spec"]["selector"]["matchLabels"]
        [label] = labels.items()
        assert discovery["namespaces"]["names"] == [manifest()[0]["metadata"]["name"]]
        assert discovery["selectors"] == [{"role": "pod", "label": "=".join(label)}]

    def test_alerts(self, prometheus):
        """Each fires in a test and is silent in another one."""
        assert "SUCCESS" in run("promtool", "check", "rules", prometheus / ALERTS)
        tests = prometheus / "dbprof-alerts-test.yml"
        assert "SUCCESS" in run("promtool", "test", "rules", tests, cwd=prometheus)
        names = {rule["alert"] for rule in alert_rules()}
        seen = {True: set(), False: set()}
        for test in yaml.safe_load(tests.read_text())["tests"]:
            for each in test["alert_rule_test"]:
                seen[bool(each.get("exp_alerts"))].add(each["alertname"])
        assert seen == {True: names, False: names}

    def test_metrics_are_documented(self):
        for rule in alert_rules():
            check_names(rule["expr"])


def alert_rules():
    groups = yaml.safe_load((DEPLOY / "prometheus" / ALERTS).read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def documented():
    """Names of metrics and of their labels in docs/metrics.md."""
    row = re.compile(r"^\| `(\w+)` \| \w+ \| \w* ?\| ([\w, ]*?) ?\| ", re.MULTILINE)
    rows = row.findall((TOP / "docs" / "metrics.md").read_text())
    labels = {label for _, listed in rows for label in listed.split(", ")} - {"", "process"}
    return {name for name, _ in rows}, labels | {"pid", "exe", "pipeline", "pipeline_name"}


def check_names(expression):
    """All metrics and labels of an expression are documented, or Prometheus' own."""
    metrics, labels = documented()
    used = set(re.findall(r"\bdbprof_\w+", expression))
    assert (used or "up" in expression) and used <= metrics, (expression, used - metrics)
    named = set(re.findall(r"(\w+)=~?\"", expression))
    for listed in re.findall(r"\bby \(([^)]*)\)", expression):
        named |= {name.strip() for name in listed.split(",")}
    assert named <= labels | {"instance", "job"}, (expression, named)


def dashboard():
    return json.loads((DEPLOY / "grafana" / "dbprof-bpf.json").read_text())


def dashboard_expressions():
    return [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]


class TestDashboard:
    def test_expressions(self, tmp_path):
        """Prometheus' parser takes each of them, with Grafana's variables filled in."""
        rules = [
            {"record": f"test:{i}", "expr": expr.replace("$__rate_interval", "5m")}
            for i, expr in enumerate(dashboard_expressions())
        ]
        path = tmp_path / "rules.yml"
        path.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
        assert f"{len(rules)} rules found" in run("promtool", "check", "rules", path)

    def test_metrics_are_documented(self):
        for expression in dashboard_expressions():
            check_names(expression)

    def test_variables(self):
        """All that are used are there, and ask for metrics that are."""
        variables = {each["name"]: each for each in dashboard()["templating"]["list"]}
        used = set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard())))
        assert used - {"__all", "__rate_interval"} == set(variables)
        for name in ("instance", "pid"):
            metric = re.match(r"label_values\((\w+)", variables[name]["query"]["query"])[1]
            assert metric in documented()[0]

    def test_panels(self):
        """None lies on another one."""
        panels = dashboard()["panels"]
        assert len({panel["id"] for panel in panels}) == len(panels)
        taken = [
            (x, y)
            for at in (panel["gridPos"] for panel in panels)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        ]
        assert len(set(taken)) == len(taken) and max(x for x, _ in taken) < 24


def test_everything_is_described():
    """deploy/README.md names each file."""
    text = (DEPLOY / "README.md").read_text()
    for folder in ("systemd", "kubernetes", "prometheus", "grafana"):
        for path in (DEPLOY / folder).iterdir():
            assert path.name in text
