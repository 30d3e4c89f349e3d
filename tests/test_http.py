# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The HTTP server of the daemon against clients of all kinds, through a driver with a few routes."""

import http.client
import json
import os
import socket
import ssl
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import TOP, Process

DRIVER = TOP / "build" / "unit" / "http_driver"
TOKEN = "0123456789abcdef0123456789abcdef"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
FILE_SIZE = 16 << 20


class Server:
    def __init__(self, *words):
        self.process = Process([DRIVER, *words])
        [line] = self.process.expect("stdout", r"^listening (\d+) (\S+)$", 30)
        self.port, self.address = int(line[1]), line[2]
        self.tls = None

    def connect(self):
        if self.tls:
            return http.client.HTTPSConnection(
                "127.0.0.1", self.port, timeout=30, context=self.tls
            )
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(self, path, method="GET", headers=None, body=None):
        """Status, headers and body of the answer."""
        connection = self.connect()
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode(errors="replace")
        finally:
            connection.close()

    def say(self, data, wait=True):
        """What comes back for these bytes, until the server closes."""
        with self.raw() as raw:
            try:
                raw.sendall(data)
                return read_all(raw) if wait else b""
            except (ConnectionResetError, BrokenPipeError):
                return b""

    def raw(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def counts(self):
        return json.loads(self.ask("/counts")[2])

    def ends(self):
        """It ends of its own accord, with nothing to complain of."""
        self.process.popen.stdin.close()
        assert self.process.wait(30) == 0, self.process.describe()
        assert self.process.stderr == "", self.process.describe()

    def close(self):
        self.process.kill()


def read_all(raw):
    parts = []
    while part := raw.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def until(condition, timeout=30):
    end = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)
    return value


@pytest.fixture(scope="module")
def _driver():
    assert DRIVER.exists(), f"{DRIVER} is missing: run 'make unit'"


@pytest.fixture
def serve(_driver):
    servers = []

    def start(*words):
        servers.append(Server(*words))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="module")
def plain(_driver):
    server = Server()
    yield server
    server.close()


@pytest.fixture(scope="module")
def hasty(_driver):
    """It waits for a second."""
    server = Server("request=1")
    yield server
    server.close()


def refused(*words):
    """The sentence with which the server does not start."""
    result = subprocess.run(
        [DRIVER, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30
    )
    assert result.returncode == 1, result
    [line] = result.stderr.splitlines()
    return line


# Certificates


class Certificates:
    """A key, and certificates for it that are valid, expired and to come."""

    def __init__(self, folder):
        self.folder = folder
        self.key, self.other_key = folder / "key.pem", folder / "other-key.pem"
        for key in (self.key, self.other_key):
            self._run("ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", key)
            key.chmod(0o600)
        self._run("req", "-new", "-key", self.key, "-subj", "/CN=test", "-out", folder / "r.csr")
        self._run("req", "-x509", "-key", self.key, "-subj", "/CN=root", "-days", "9",
                  "-out", folder / "root.pem")  # fmt: skip
        (folder / "index").touch()
        (folder / "serial").write_text("01\n")
        (folder / "ca.conf").write_text(
            "[ca]\ndefault_ca = c\n[c]\ndatabase = index\nserial = serial\nnew_certs_dir = .\n"
            "certificate = root.pem\nprivate_key = key.pem\ndefault_md = sha256\npolicy = p\n"
            "unique_subject = no\nx509_extensions = x\n[p]\ncommonName = supplied\n"
            "[x]\nsubjectAltName = IP:127.0.0.1\n"
        )
        self.good = self._sign("good", "20200101000000Z", "20990101000000Z")
        self.expired = self._sign("expired", "20200101000000Z", "20200201000000Z")
        self.future = self._sign("future", "20980101000000Z", "20990101000000Z")

    def _run(self, *words):
        subprocess.run(
            ["openssl", *map(str, words)], cwd=self.folder, check=True, capture_output=True
        )

    def _sign(self, name, begin, end):
        path = self.folder / f"{name}.pem"
        self._run("ca", "-batch", "-config", "ca.conf", "-in", "r.csr", "-notext",
                  "-startdate", begin, "-enddate", end, "-out", path)  # fmt: skip
        return path

    def context(self):
        return ssl.create_default_context(cafile=self.folder / "root.pem")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


# Plain questions


def test_answers(plain):
    status, headers, body = plain.ask("/v1/now?seconds=5&format=pprof")
    assert (status, body) == (200, "/v1/now 5 pprof\n")
    assert headers["Content-Type"] == "text/plain" and headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert not [name for name in headers if name.lower().startswith("access-control")]
    assert plain.ask("/v1/now")[2] == "/v1/now 10 json\n"
    assert plain.ask("/healthz")[2] == "well\n"
    assert plain.address == f"http://127.0.0.1:{plain.port}"


@pytest.mark.parametrize(
    "query, sentence",
    [
        ("seconds=0", "seconds takes a number from 1 to 600, not '0'"),
        ("seconds=1e3", "seconds takes a number from 1 to 600, not '1e3'"),
        ("format=%2e%2e%2f", "format takes one of json, pprof, not '../'"),
        ("second=1", "there is no parameter 'second' here"),
        ("seconds=1&seconds=2", "the parameter 'seconds' is given twice"),
        ("seconds=%00", "the parameters are not escaped UTF-8 text"),
        ("format=%", "the parameters are not escaped UTF-8 text"),
    ],
)
def test_parameters(plain, query, sentence):
    assert plain.ask(f"/v1/now?{query}")[::2] == (400, sentence + "\n")


@pytest.mark.parametrize(
    "path",
    [
        "/", "/v1", "/v1/now/", "/v1//now", "/v1/../healthz", "/../../etc/passwd", "/./healthz",
        "/%2e%2e/%2e%2e/etc/passwd", "/..%2fetc%2fpasswd", "/v1/%6eow", "/healthz%00", "/healthz;x",
        "http://localhost/healthz", "//healthz", "/proc/self/environ", "/HEALTHZ", "*",
    ],
)  # fmt: skip
def test_no_such_path(plain, path):
    status, _, body = plain.ask(path)
    assert (status, body) == (404, "there is nothing here\n")


def test_methods(plain):
    status, headers, body = plain.ask("/v1/now", "HEAD")
    assert (status, body, headers["Content-Length"]) == (200, "", "16")
    status, headers, _ = plain.ask("/v1/later", "HEAD")
    assert (status, headers["Allow"]) == (405, "GET, POST")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"):
        status, headers, _ = plain.ask("/v1/now", method)
        assert (status, headers["Allow"]) == (405, "GET, HEAD")


def test_handlers_that_refuse(plain):
    status, headers, body = plain.ask("/v1/busy")
    assert (status, headers["Retry-After"]) == (429, "7")
    assert body == "process 4321 is being profiled\n"
    assert plain.ask("/v1/silent")[0] == 500
    status, _, body = plain.ask("/v1/large")
    assert status == 500 and "67108865 bytes" in body and "ask for less" in body


def test_streamed_file(plain):
    status, headers, body = plain.ask("/v1/file")
    assert status == 200 and headers["Content-Disposition"] == "attachment"
    assert len(body) == FILE_SIZE and not body.strip("\0")


def test_keep_alive(plain):
    connection = plain.connect()
    before = plain.counts()["connections"]
    for _ in range(20):
        connection.request("GET", "/v1/now")
        assert connection.getresponse().read() == b"/v1/now 10 json\n"
    connection.close()
    assert plain.counts()["connections"] == before + 2  # this one and that of the question itself


def test_other_names_are_refused(plain):
    """A page elsewhere may lead a browser here, by a name of its own."""
    assert plain.ask("/v1/now", headers={"Host": "evil.example"})[0] == 403
    assert plain.ask("/v1/now", headers={"Host": "localhost:1"})[0] == 200
    assert plain.ask("/healthz", headers={"Host": "evil.example"})[0] == 200


# Too much, or not at all what was expected


def test_large_requests(plain):
    megabyte = b"x" * (1 << 20)
    status, _, body = plain.ask("/v1/later", "POST", body=megabyte)
    assert (status, body) == (413, "a request has no body here\n")
    assert plain.say(b"POST /v1/later HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n"
                     b"\r\n").startswith(b"HTTP/1.1 413 ")  # fmt: skip
    assert plain.say(b"POST /v1/later HTTP/1.1\r\nHost: localhost\r\n"
                     b"Transfer-Encoding: chunked\r\n\r\n").startswith(b"HTTP/1.1 413 ")  # fmt: skip
    assert plain.ask("/healthz", headers={"X": "y" * 40000})[0] == 431
    assert plain.ask("/v1/now?" + "y" * 40000)[0] == 414
    assert plain.ask("/v1/now?" + "y" * 3000)[0] == 400
    assert plain.say(b"GET /" + megabyte).startswith((b"HTTP/1.1 414 ", b""))
    assert plain.ask("/healthz")[0] == 200


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n" * 10 + b"nonsense\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"\0" * 5000, b"GET\r\n\r\n", b"GET /healthz HTTP/9.9\r\n\r\n", b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\n",
    ],
    ids=range(8),
)  # fmt: skip
def test_garbage(hasty, data):
    """Refused or ignored; never a success, and others are served meanwhile."""
    with hasty.raw() as raw:
        raw.sendall(data)
        raw.shutdown(socket.SHUT_WR)
        try:
            answer = read_all(raw)
        except ConnectionResetError:
            answer = b""
    assert not answer or answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")), answer
    assert hasty.ask("/healthz")[0] == 200


# Time


def test_slow_clients(serve):
    """One that says nothing, and one that says a byte now and then: both are dropped."""
    server = serve("request=1")
    with server.raw() as silent, server.raw() as slow:
        slow.settimeout(0.2)
        ended = False
        request = b"GET /healthz HTTP/1.1\r\nX: " + b"y" * 1000
        for byte in request:
            try:
                slow.sendall(bytes([byte]))
                ended = slow.recv(1) == b""
            except TimeoutError:
                continue
            except OSError:
                ended = True
            if ended:
                break
        assert ended
        assert read_all(silent) == b""
    assert until(lambda: server.counts()["timed_out"] >= 2)


def test_client_that_does_not_read(serve):
    server = serve("transfer=1")
    with server.raw() as raw:
        raw.sendall(b"GET /v1/file HTTP/1.1\r\nHost: localhost\r\n\r\n")
        until(lambda: server.counts()["timed_out"] == 1)
        raw.settimeout(5)
        got = 0
        with pytest.raises(OSError):
            while part := raw.recv(1 << 20):
                got += len(part)
            raise ConnectionResetError
        assert got < FILE_SIZE


# Answers that come later


def test_later(plain):
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(plain.ask, f"/v1/later?ms={100 + i}") for i in range(20)]
        assert plain.ask("/healthz")[0] == 200
        assert all(one.result()[::2] == (200, "later\n") for one in waiting)
    assert plain.ask("/v1/later?ms=0")[::2] == (200, "later\n")


def test_client_that_goes_away(serve):
    server = serve()
    with server.raw() as raw:
        raw.sendall(b"GET /v1/later?ms=100000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        server.process.expect("stdout", "^pending$", 20)
    server.process.expect("stdout", "^gone$", 20)
    assert until(lambda: server.counts()["open"] == 1)
    server.ends()


def test_answer_that_is_never_ready(serve):
    """The driver's limit is two seconds."""
    server = serve()
    status, _, body = server.ask("/v1/later?ms=100000")
    assert (status, body) == (503, "the answer was not ready in time\n")
    server.process.expect("stdout", "^gone$", 20)


def test_end_with_clients_that_wait(serve):
    server = serve()
    with server.raw() as raw:
        raw.sendall(b"GET /v1/later?ms=100000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        server.process.expect("stdout", "^pending$", 20)
        server.ends()
        assert read_all(raw) == b""
    assert "gone" in server.process.stdout


# Many


def test_thousand_connections(serve):
    """They take the places of each other; who asks is served all the time."""
    server = serve()
    descriptors = f"/proc/{server.process.pid}/fd"
    before = len(os.listdir(descriptors))
    many = []
    try:
        for i in range(1000):
            many.append(server.raw())
            if i % 100 == 99:
                assert server.ask("/healthz")[0] == 200
        assert len(os.listdir(descriptors)) <= before + 64 + 16
        counts = server.counts()
        assert counts["open"] <= 64 and counts["evicted"] + counts["refused"] >= 900
        assert counts["connections"] + counts["refused"] >= 1000
    finally:
        for one in many:
            one.close()
    until(lambda: server.counts()["open"] == 1)
    assert len(os.listdir(descriptors)) <= before + 1
    server.ends()


def test_full_of_clients_that_wait(serve):
    """Who waits for an answer keeps the place; another one is told to come back."""
    server = serve("connections=4")
    waiting = [server.raw() for _ in range(4)]
    for one in waiting:
        one.sendall(b"GET /v1/later?ms=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    server.process.expect("stdout", "^pending$", 20, count=4)
    status, headers, _ = server.ask("/healthz")
    assert (status, headers["Retry-After"]) == (503, "1")
    for one in waiting:
        assert one.recv(1000).startswith(b"HTTP/1.1 200 ")
        one.close()
    until(lambda: server.ask("/healthz")[0] == 200)


# Addresses, certificates and tokens


def test_port_in_use(plain):
    assert refused(f"listen=127.0.0.1:{plain.port}") == (
        f"cannot listen on 127.0.0.1:{plain.port}: another program does; choose another port"
    )
    assert "numeric address and a port" in refused("listen=example.org:80")


def test_other_machines(certificates, token_file):
    """Only with all of certificate, key and token."""
    both = [f"cert={certificates.good}", f"key={certificates.key}"]
    for words in ([], both, [f"token={token_file}"]):
        for address in ("0.0.0.0:0", "[::]:0"):
            assert refused(f"listen={address}", *words) == (
                f"other machines can reach {address}: give --tls-cert, --tls-key and --token-file, "
                "or listen on 127.0.0.1"
            )
    assert "belong together" in refused(both[0])
    assert "belong together" in refused(both[1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tls(serve, certificates, token_file):
    server = serve(
        "listen=0.0.0.0:0", "request=4", f"cert={certificates.good}", f"key={certificates.key}",
        f"token={token_file}",
    )  # fmt: skip
    server.tls = certificates.context()
    assert server.address.startswith("https://")
    assert server.ask("/healthz")[0] == 200
    assert server.ask("/v1/now")[0] == 401
    assert server.ask("/v1/now", headers=BEARER)[::2] == (200, "/v1/now 10 json\n")
    assert len(server.ask("/v1/file", headers=BEARER)[2]) == FILE_SIZE
    assert server.ask("/v1/later", headers=BEARER)[::2] == (200, "later\n")
    assert server.ask("/v1/later", "POST", BEARER, b"x" * (1 << 20))[0] == 413
    connection = server.connect()
    for _ in range(5):
        connection.request("GET", "/v1/now", headers=BEARER)
        assert connection.getresponse().read() == b"/v1/now 10 json\n"
    connection.close()
    # Who does not speak TLS, or only an old one, gets nothing and harms nobody.
    assert b"200 OK" not in server.say(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    old = certificates.context()
    old.minimum_version = ssl.TLSVersion.TLSv1
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    with server.raw() as raw, pytest.raises((ssl.SSLError, ConnectionError)):
        old.wrap_socket(raw, server_hostname="127.0.0.1")
    many = [server.raw() for _ in range(100)]
    assert server.ask("/healthz")[0] == 200
    for one in many:
        one.close()
    server.ends()


def test_certificates_that_are_refused(certificates, tmp_path):
    key = f"key={certificates.key}"
    assert refused(f"cert={certificates.expired}", key) == (
        f"the certificate in {certificates.expired} has expired on 2020-02-01 00:00 UTC: renew it"
    )
    assert "is not valid before 2098-01-01" in refused(f"cert={certificates.future}", key)
    missing = tmp_path / "missing.pem"
    assert refused(f"cert={missing}", key) == (
        f"cannot read the certificate in {missing}: No such file or directory"
    )
    assert "is not that of the certificate" in refused(
        f"cert={certificates.good}", f"key={certificates.other_key}"
    )
    garbage = tmp_path / "garbage.pem"
    garbage.write_bytes(b"\0garbage" * 100)
    garbage.chmod(0o600)
    assert "cannot read a certificate in PEM" in refused(f"cert={garbage}", key)
    assert "cannot use the key" in refused(f"cert={certificates.good}", f"key={garbage}")
    open_key = tmp_path / "open.pem"
    open_key.write_bytes(certificates.key.read_bytes())
    open_key.chmod(0o644)
    assert "others may open the file" in refused(f"cert={certificates.good}", f"key={open_key}")


@pytest.mark.parametrize(
    "header",
    [
        None, "", "Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}", f"Bearer {'x' * 5000}", TOKEN,
    ],
)  # fmt: skip
def test_wrong_tokens(guarded, header):
    status, headers, body = guarded.ask("/v1/now", headers={"Authorization": header} if header else {})
    assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
    assert TOKEN not in body
    # Nor is it said which paths there are.
    assert guarded.ask("/nothing", headers={"Authorization": header} if header else {})[0] == 401
    assert guarded.ask("/healthz")[0] == 200


@pytest.fixture(scope="module")
def guarded(_driver, tmp_path_factory):
    path = tmp_path_factory.mktemp("token") / "token"
    path.write_text(TOKEN)
    path.chmod(0o600)
    server = Server(f"token={path}")
    yield server
    server.close()


def test_right_token(guarded):
    assert guarded.ask("/v1/now", headers=BEARER)[0] == 200
    assert guarded.ask("/nothing", headers=BEARER)[0] == 404
    assert guarded.ask("/v1/now", headers={**BEARER, "Host": "any.example"})[0] == 200


def test_token_that_changes(serve, token_file):
    server = serve(f"token={token_file}")
    assert server.ask("/v1/now", headers=BEARER)[0] == 200
    other = "f" * 32
    token_file.write_text(other)
    assert server.ask("/v1/now", headers=BEARER)[0] == 401
    assert server.ask("/v1/now", headers={"Authorization": f"Bearer {other}"})[0] == 200
    assert server.counts()["trouble"] == ""
    token_file.chmod(0o644)
    assert server.ask("/v1/now", headers={"Authorization": f"Bearer {other}"})[0] == 401
    assert "others may open the file" in server.counts()["trouble"]
    token_file.unlink()
    assert server.ask("/v1/now", headers={"Authorization": f"Bearer {other}"})[0] == 401
    token_file.write_text(TOKEN)
    token_file.chmod(0o600)
    assert server.ask("/v1/now", headers=BEARER)[0] == 200


def test_token_files_that_are_refused(tmp_path):
    path = tmp_path / "token"
    assert "No such file" in refused(f"token={path}")
    path.write_text("short")
    path.chmod(0o600)
    assert "5 characters; 16 to 512 are needed" in refused(f"token={path}")
    path.write_text(TOKEN)
    path.chmod(0o604)
    assert "others may open the file (mode 0604)" in refused(f"token={path}")


def test_counts(serve):
    server = serve()
    for path in ("/v1/now", "/v1/now", "/nothing", "/v1/busy", "/v1/silent"):
        server.ask(path)
    server.ask("/healthz", headers={"X": "y" * 40000})
    counts = server.counts()
    assert (counts["2xx"], counts["5xx"]) == (2, 1)
    assert counts["4xx"] >= 2
