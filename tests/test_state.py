# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--state: what only the engine knows, from the pipeline's own profile, put together with ours."""

import copy
import gzip
import http.server
import io
import json
import signal
import socket
import ssl
import subprocess
import threading
import time
import zipfile
from collections import Counter
from types import SimpleNamespace

import pytest
from harness import COMPLETE, FAILED, INCOMPLETE, PROGRAM, SANITIZED, USAGE, Lab, eventually, target_path
from profiles import graph_edges, graph_nodes, metadata, nanos, window_nanos, workers
from refusal import check_sentence
from test_viewer import SUFFIXES, all_readings, kind_of, suffix
from test_viewer import TestViewer as Viewer

Viewer.__test__ = False  # its tests are run by its own file; here they are called
LABEL = ["source", "dbprof"]
FOREVER = 3600


class Server:
    """Answers every request by `answer(handler)`."""

    def __init__(self, answer, port=0, context=None):
        self.requests = []
        self.ended = threading.Event()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.requests.append((self.path, dict(self.headers)))
                try:
                    answer(server, self)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # who asked has gone

            def log_message(self, *_):
                pass

        class Threads(http.server.ThreadingHTTPServer):
            daemon_threads = True

        self.http = Threads(("127.0.0.1", port), Handler)
        if context:
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.ended.set()
        self.http.shutdown()
        self.http.server_close()


def answer_with(body, status=200, **headers):
    def answer(_server, handler):
        handler.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            handler.send_header(name.replace("_", "-"), str(value))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def silence(server, _handler):
    server.ended.wait(FOREVER)


def endless(server, handler):
    handler.send_response(200)
    handler.end_headers()
    while not server.ended.wait(0.01):
        handler.wfile.write(b'{"metrics":[' + b" " * 65536)
        handler.wfile.flush()


def zipped(body):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("profile.json", body)
    return buffer.getvalue()


@pytest.fixture
def serve():
    servers = []

    def start(answer, **options):
        servers.append(Server(answer, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="module")
def pipeline(_built, tmp_path_factory):
    """A pipeline that has made its steps and waits; its own profile; ours of the same steps, put
    together with it."""
    lab = Lab(tmp_path_factory.mktemp("state"))
    lab.environment["no_proxy"] = "127.0.0.1"
    builtin = lab.path("builtin.json")
    target = lab.target("join", workers=2, steps=60, builtin=builtin)
    merged, profiler = lab.profile_steps(target, "--state", builtin)
    alone = lab.path("alone.json")
    lab.run("--pid", target.pid, "--output", alone, "--duration", "10ms")
    yield SimpleNamespace(
        lab=lab,
        target=target,
        state=builtin,
        body=builtin.read_bytes(),
        builtin=target.builtin_profile(),
        merged=merged,
        profiler=profiler,
        alone=alone,
    )
    lab.close()


def take(pipeline, *arguments, status=COMPLETE, duration="100ms", program=PROGRAM):
    """Profiles the pipeline, which makes no step any more."""
    output = pipeline.lab.path("out.json")
    output.unlink(missing_ok=True)
    process = pipeline.lab.run(
        "--pid", pipeline.target.pid, "--output", output, "--duration", duration, *arguments,
        program=program,
    )  # fmt: skip
    assert process.popen.returncode == status, process.describe()
    return json.loads(output.read_text()), process


def export(pipeline, *arguments, status=COMPLETE, profile=None, program=PROGRAM):
    """Puts a profile of ours together with the engine's, without another window."""
    output = pipeline.lab.path("exported.json")
    output.unlink(missing_ok=True)
    process = pipeline.lab.run(
        "export", "--format", "json", "--output", output, profile or pipeline.alone, *arguments,
        program=program,
    )  # fmt: skip
    assert process.popen.returncode == status, process.describe()
    return json.loads(output.read_text()) if output.exists() else None, process


def readings_of(profile):
    """All readings as text, with their worker and node."""
    return Counter(
        (worker, node, json.dumps(entry))
        for worker in workers(profile)
        for node, entries in metadata(profile, worker).items()
        for entry in entries
    )


def metrics_of(profile):
    return {json.loads(entry)["metric_id"] for _, _, entry in readings_of(profile)}


def check_merged(merged, builtin):
    """The engine's readings are there to the byte; the others are ours, and told apart."""
    both, engine = readings_of(merged), readings_of(builtin)
    assert engine and not engine - both
    measured = metrics_of(builtin)
    rest = both - engine
    assert rest
    for _, node, text in rest:
        entry = json.loads(text)
        ours = LABEL in entry.get("labels", [])
        assert ours == (entry["metric_id"] in measured), f"{node} {text}"
        assert entry.get("labels", []).count(LABEL) <= 1
    assert graph_nodes(merged) == graph_nodes(builtin)
    assert graph_edges(merged) == graph_edges(builtin)
    assert merged["engine_profile"]["error"] is None
    assert merged["dbprof"]["complete"]


def check_alone(profile, process, *says):
    """Ours is whole, there is nothing of the engine in it, and both it and a sentence say why."""
    assert "used_memory_bytes" not in metrics_of(profile)
    assert not any(LABEL in json.loads(text).get("labels", []) for _, _, text in readings_of(profile))
    assert profile["dbprof"]["complete"]
    [sentence] = process.lines["stderr"]
    check_sentence(sentence, ["no engine metrics", *says])
    reason = profile["engine_profile"]["error"]
    assert reason and sentence.endswith(reason)
    if "export" not in process.popen.args:
        assert f"No engine metrics: {reason}" in process.stdout


class TestMerged:
    def test_readings(self, pipeline):
        check_merged(pipeline.merged, pipeline.builtin)
        assert "used_memory_bytes" in metrics_of(pipeline.merged)
        assert "blocked_seconds" in metrics_of(pipeline.merged)
        assert f"Engine metrics from {pipeline.state}" in pipeline.profiler.stdout

    def test_both_measured_the_steps(self, pipeline):
        for worker in workers(pipeline.merged):
            steps = [
                (entry.get("labels", []), entry["value"])
                for entry in metadata(pipeline.merged, worker)["n"]
                if entry["metric_id"] == "steps_count"
            ]
            assert [labels for labels, _ in steps] == [[], [LABEL]]
            assert steps[0][1] == steps[1][1] and steps[0][1]["value"] >= 60

    def test_totals(self, pipeline):
        """What both have measured is added up once."""
        merged = pipeline.lab.path("merged.json")
        merged.write_text(json.dumps(pipeline.merged))
        totals = [
            pipeline.lab.run("report", file, "--total", "invocations_count", "--as", "count")
            for file in (merged, pipeline.state)
        ]
        assert totals[0].stdout == totals[1].stdout != ""

    def test_opens_in_the_viewer(self, pipeline):
        window = SimpleNamespace(ours=pipeline.merged, builtin=pipeline.builtin)
        viewer = Viewer()
        kinds = {}
        for node, entry in all_readings(pipeline.merged):
            metric = entry["metric_id"]
            # The engine has metrics with another ending, which the viewer passes over.
            wanted = SUFFIXES.get(suffix(metric), "any")
            if wanted != "any":
                assert kind_of(entry["value"]) == wanted, f"{node} {metric}"
            kind = entry["value"].get("type", "map")
            assert kinds.setdefault(metric, kind) == kind, f"{metric} is of two kinds"
        viewer.test_encodings({"join": window}, "join")
        for check in ("test_order", "test_metadata_is_of_nodes_in_the_graph", "test_node_ids"):
            getattr(viewer, check)(pipeline.merged, "join")
        names = [metric["name"] for metric in pipeline.merged["metrics"]]
        engine = [metric["name"] for metric in pipeline.builtin["metrics"]]
        assert names[: len(engine)] == engine and len(set(names)) == len(names) > len(engine)
        assert metrics_of(pipeline.merged) - metrics_of(pipeline.builtin) <= set(names)
        assert list(pipeline.merged) == [
            *["metrics", "worker_profiles", "graph", "threads", "dbprof", "engine_profile"]
        ]


PACKED = {
    "plain": lambda body: answer_with(body),
    "gzip": lambda body: answer_with(gzip.compress(body), Content_Encoding="gzip"),
    "zip": lambda body: answer_with(zipped(body), Content_Type="application/zip"),
}


class TestUrl:
    @pytest.mark.parametrize("packing", PACKED)
    @pytest.mark.parametrize("program", [PROGRAM, SANITIZED], ids=["plain", "sanitized"])
    def test_answer(self, pipeline, serve, packing, program):
        server = serve(PACKED[packing](pipeline.body))
        profile, process = export(pipeline, "--state", server.url, program=program)
        check_merged(profile, pipeline.builtin)
        assert process.stderr == ""

    def test_beside_a_window(self, pipeline, serve):
        server = serve(answer_with(pipeline.body))
        profile, process = take(pipeline, "--state", server.url, program=SANITIZED)
        check_merged(profile, pipeline.builtin)
        [(path, headers)] = server.requests
        assert path == "/dump_json_profile"
        assert headers["User-Agent"].startswith("dbprof-bpf/")
        assert profile["engine_profile"]["from"] == server.url + path
        assert f"Engine metrics from {server.url}{path}" in process.stdout
        assert process.stderr == ""

    def test_path_and_secrets(self, pipeline, serve):
        """What may be a secret is sent, and shown nowhere."""
        server = serve(answer_with(pipeline.body))
        secret = server.url.replace("//", "//me:pa55word@") + "/v0/profile?key=t0ken"
        headers = pipeline.lab.path("headers")
        headers.write_text("Authorization: Bearer s3cret\nX-One: 1\n")
        profile, process = export(
            pipeline, "--state", secret, "--state-header", f"@{headers}",
            "--state-header", "X-Two: 2",
        )  # fmt: skip
        [(path, sent)] = server.requests
        assert path == "/v0/profile?key=t0ken"
        assert sent["Authorization"] == "Bearer s3cret"
        assert (sent["X-One"], sent["X-Two"]) == ("1", "2")
        assert profile["engine_profile"]["from"] == f"{server.url}/v0/profile"
        for secret in ("pa55word", "t0ken", "s3cret"):
            assert secret not in json.dumps(profile) + process.stdout + process.stderr

    def test_redirect(self, pipeline, serve):
        """Followed, but not by headers that are meant for one server."""
        there = serve(answer_with(pipeline.body))
        here = serve(answer_with(b"", 307, Location=there.url + "/profile"))
        profile, _ = export(pipeline, "--state", here.url)
        check_merged(profile, pipeline.builtin)
        header = ("--state-header", "X-Key: s3cret")
        profile, process = export(pipeline, "--state", here.url, *header, status=INCOMPLETE)
        check_alone(profile, process, "307", "redirect")
        assert len(there.requests) == 1

    def test_patience(self, pipeline, serve):
        """With a time limit of its own a late answer is waited for."""

        def late(server, handler):
            server.ended.wait(1.5)
            answer_with(pipeline.body)(server, handler)

        server = serve(late)
        profile, _ = take(pipeline, "--state", server.url, "--state-timeout", "1m")
        check_merged(profile, pipeline.builtin)
        assert nanos(profile["engine_profile"]["answer"]) > 10**9
        assert window_nanos(profile) < nanos(profile["engine_profile"]["answer"])

    def test_interrupted(self, pipeline, serve):
        """Ctrl-C ends the window, and another one the waiting."""
        server = serve(silence)
        output = pipeline.lab.path("out.json")
        profiler = pipeline.lab.profiler(
            "--pid", pipeline.target.pid, "--output", output, "--state", server.url,
            "--state-timeout", "1h",
        )  # fmt: skip
        profiler.wait_attached()

        def interrupt():
            if profiler.alive():
                profiler.popen.send_signal(signal.SIGINT)
                time.sleep(0.1)
            return not profiler.alive()

        eventually(interrupt, 60, "Ctrl-C ends the profiler")
        assert profiler.wait(10) == INCOMPLETE
        assert "did not answer" in json.loads(output.read_text())["engine_profile"]["error"]

    def test_launched(self, pipeline, serve):
        """A program that is started listens only after a while."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        output = pipeline.lab.path("launched.json")
        profiler = pipeline.lab.profiler(
            "--output", output, "--state", f"http://127.0.0.1:{port}", "--",
            target_path(), "join", "--workers", 2, "--steps", 5, "--hold",
        )  # fmt: skip
        profiler.expect("stdout", "^ready", 60)
        server = serve(answer_with(pipeline.body), port=port)
        eventually(lambda: server.requests, 60, "the request comes")
        profiler.say("\n")
        profiler.expect("stdout", "^done$", 60)
        profiler.popen.stdin.close()
        assert profiler.wait(60) == COMPLETE, profiler.describe()
        check_merged(json.loads(output.read_text()), pipeline.builtin)


def truncated(body):
    return answer_with(body[: len(body) // 2], Content_Length=len(body))


LATE = ["did not answer within"]
FAULTS = {
    "silence": (lambda body: silence, LATE),
    "endless": (lambda body: endless, LATE),
    "cut off": (truncated, ["broke its answer off after"]),
    "cut off unseen": (lambda body: answer_with(body[: len(body) // 2]), ["no profile"]),
    "gzip cut off": (lambda body: answer_with(gzip.compress(body)[:-100]), ["cut off"]),
    "not found": (lambda body: answer_with(b"?", 404), ["answered 404"]),
    "unauthorized": (lambda body: answer_with(b"?", 401), ["answered 401", "--state-header"]),
    "no content": (lambda body: answer_with(b"", 204), ["answered 204"]),
    "empty": (lambda body: answer_with(b""), ["empty"]),
    "garbage": (lambda body: answer_with(b"\x00\x01garbage" * 99), ["no profile"]),
    "text": (lambda body: answer_with(b"<html>sign in</html>"), ["no profile"]),
    "file": (lambda body: answer_with(b"", 302, Location="file:///etc/passwd"), ["file"]),
    "loop": (lambda body: answer_with(b"", 302, Location="/again"), ["redirects"]),
}


class TestFaults:
    """Our profile is written without the engine's metrics, in time."""

    @pytest.mark.parametrize("fault", FAULTS)
    def test_answer(self, pipeline, serve, fault):
        answer, says = FAULTS[fault]
        server = serve(answer(pipeline.body))
        limit = ["--state-timeout", "1s"] if says == LATE else []
        profile, process = export(pipeline, "--state", server.url, *limit, status=INCOMPLETE)
        check_alone(profile, process, *says)
        assert server.requests

    @pytest.mark.parametrize("fault", ["silence", "endless", "cut off", "garbage"])
    def test_beside_a_window(self, pipeline, serve, fault):
        answer, says = FAULTS[fault]
        profile, process = take(
            pipeline, "--state", serve(answer(pipeline.body)).url, status=INCOMPLETE
        )
        check_alone(profile, process, *says)

    def test_never_late(self, pipeline, serve):
        """Neither the window nor the run lasts as long as a server that never answers."""
        server = serve(silence)
        began = time.monotonic()
        profile, process = take(
            pipeline, "--state", server.url, status=INCOMPLETE, duration="500ms"
        )
        assert time.monotonic() - began < 20
        assert 0.5e9 <= window_nanos(profile) < 3e9
        assert nanos(profile["engine_profile"]["answer"]) > window_nanos(profile)
        began = time.monotonic()
        profile, process = take(
            pipeline, "--state", server.url, "--state-timeout", "10ms", status=INCOMPLETE
        )
        check_alone(profile, process, "did not answer within")
        assert time.monotonic() - began < 20

    def test_nobody_listens(self, pipeline, serve):
        server = serve(silence)
        server.close()
        profile, process = export(pipeline, "--state", server.url, status=INCOMPLETE)
        check_alone(profile, process, "cannot be asked", "onnect")

    def test_certificate(self, pipeline, serve):
        """A server that anybody could be gets no request."""
        key, certificate = pipeline.lab.path("key.pem"), pipeline.lab.path("certificate.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
             "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
             certificate],
            check=True, capture_output=True,
        )  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server = serve(answer_with(pipeline.body), context=context)
        profile, process = export(pipeline, "--state", server.url, status=INCOMPLETE)
        check_alone(profile, process, "certificate")
        assert not server.requests

    def test_missing_file(self, pipeline):
        profile, process = take(pipeline, "--state", "absent.json", status=INCOMPLETE)
        check_alone(profile, process, "absent.json: No such file")

    def test_folder(self, pipeline):
        profile, process = export(pipeline, "--state", "/tmp", status=INCOMPLETE)
        check_alone(profile, process, "/tmp")


def rename_node(profile):
    profile["graph"]["nodes"]["nodes"][0]["Simple"]["label"] = "Another"


def drop_edge(profile):
    profile["graph"]["edges"].pop()


def drop_worker(profile):
    profile["worker_profiles"].pop()


def drop_graph(profile):
    profile["graph"] = None


def mix_kinds(profile):
    for entry in metadata(profile, 1)["n"]:
        if entry["metric_id"] == "steps_count":
            entry["value"] = {"type": "bool", "value": True}


class TestWrongProfile:
    @pytest.mark.parametrize(
        "change, says",
        [
            (rename_node, "its node nn0 is 'Another'"),
            (drop_edge, "edges"),
            (drop_worker, "1 workers, the process has 2"),
            (drop_graph, "graph"),
            (mix_kinds, "steps_count are of two kinds"),
        ],
    )
    def test_changed(self, pipeline, change, says):
        other = copy.deepcopy(pipeline.builtin)
        change(other)
        state = pipeline.lab.path("other.json")
        state.write_text(json.dumps(other))
        profile, process = export(pipeline, "--state", state, status=INCOMPLETE)
        check_alone(profile, process, state, says)

    def test_beside_a_window(self, pipeline):
        """Another pipeline's profile is none of ours."""
        other = copy.deepcopy(pipeline.builtin)
        drop_edge(other)
        state = pipeline.lab.path("other.json")
        state.write_text(json.dumps(other))
        profile, process = take(pipeline, "--state", state, status=INCOMPLETE)
        check_alone(profile, process, state, "edges")

    def test_ours(self, pipeline):
        """A profile that we have written is not the engine's."""
        merged = pipeline.lab.path("merged.json")
        merged.write_text(json.dumps(pipeline.merged))
        for state in (pipeline.alone, merged):
            profile, process = export(pipeline, "--state", state, status=INCOMPLETE)
            check_alone(profile, process, "dbprof-bpf has written it")


class TestExport:
    """The same afterwards, from two files."""

    def test_ours_is_kept(self, pipeline):
        ours = json.loads(pipeline.alone.read_text())
        assert "engine_profile" not in ours
        exported, process = export(pipeline, "--state", pipeline.state)
        check_merged(exported, pipeline.builtin)
        assert exported["dbprof"] == ours["dbprof"] and exported["threads"] == ours["threads"]
        assert process.stderr == ""

    def test_second_attempt(self, pipeline):
        """A profile that was to have the engine's metrics gets them later."""
        ours, _ = take(pipeline, "--state", "absent.json", status=INCOMPLETE)
        first = pipeline.lab.path("first.json")
        first.write_text(json.dumps(ours))
        exported, process = export(
            pipeline, "--state", "gone.json", profile=first, status=INCOMPLETE
        )
        [sentence] = process.lines["stderr"]
        check_sentence(sentence, ["no engine metrics", "gone.json"])
        assert "gone.json" in exported["engine_profile"]["error"]
        exported, _ = export(pipeline, "--state", pipeline.state, profile=first)
        check_merged(exported, pipeline.builtin)

    def test_twice(self, pipeline):
        merged = pipeline.lab.path("merged.json")
        merged.write_text(json.dumps(pipeline.merged))
        exported, process = export(
            pipeline, "--state", pipeline.state, profile=merged, status=FAILED
        )
        check_sentence(process.stderr, [merged, "already"])
        assert exported is None


class TestUsage:
    @pytest.mark.parametrize(
        "arguments, says",
        [
            (["--pid", 1, "--state", "ftp://host/x"], "http"),
            (["--pid", 1, "--state", ""], "--state"),
            (["--pid", 1, "--state", "x.json", "--state-header", "A: b"], "URL"),
            (["--pid", 1, "--state", "x.json", "--state-timeout", "1s"], "URL"),
            (["--pid", 1, "--state", "http://h", "--state-timeout", "soon"], "soon"),
            (["--pid", 1, "--pid", 2, "--state", "x.json"], "one --pid"),
        ],
    )
    def test_mistake(self, lab, arguments, says):
        process = lab.run(*arguments)
        assert process.popen.returncode == USAGE
        assert says in process.stderr

    @pytest.mark.parametrize(
        "arguments, says",
        [
            (["--state", "http://h:port"], ["URL"]),
            (["--state", "http://h", "--state-header", "no header"], ["--state-header"]),
            (["--state", "http://h", "--state-header", "@absent"], ["absent"]),
        ],
    )
    def test_refused(self, refused, idle, arguments, says):
        """Known before the window."""
        refused("--pid", idle.pid, *arguments, says=says)
