# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A real browser without a window, spoken to over its DevTools pipe."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

# Of what a browser does on its own nothing is wanted here, least of all on the network.
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--remote-debugging-pipe",
]


class Browser:
    """One headless Chromium with one page."""

    def __init__(self, width=1440, height=1000):
        program = shutil.which("chromium")
        assert program, "chromium is missing: run 'make deps'"
        self.home = tempfile.mkdtemp(prefix="dbprof-browser-")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # It reads commands from descriptor 3 and answers on 4; above them nothing is in the way.
        os.set_inheritable(theirs_in, True)
        os.set_inheritable(theirs_out, True)
        command = [program, *FLAGS, f"--user-data-dir={self.home}", f"--window-size={width},{height}"]
        redirect = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["bash", "-c", redirect, "bash", *command, "about:blank"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.home},
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.reader, self.writer = ours_in, ours_out
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        [target] = [
            target
            for target in self.command("Target.getTargets")["targetInfos"]
            if target["type"] == "page"
        ]
        attached = self.command("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")

    def _receive(self, deadline):
        """The next message."""
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.reader], [], [], max(0, left))
            assert ready, "the browser does not answer"
            data = os.read(self.reader, 1 << 20)
            assert data, "the browser has gone"
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def command(self, method, timeout=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writer, data) :]
        deadline = time.monotonic() + timeout
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def open(self, path, timeout=30):
        """Opens a file and returns the seconds until its script says that all is drawn."""
        self.events.clear()
        begin = time.monotonic()
        self.command("Page.navigate", url=Path(path).resolve().as_uri())
        drawn = "document.body?.dataset.ready && document.querySelector('#canvas').dataset.drawn"
        while self.run(f"Boolean({drawn})") is not True:
            assert time.monotonic() < begin + timeout, f"{path} is not drawn: {self.complaints()}"
            time.sleep(0.02)
        return time.monotonic() - begin

    def run(self, script):
        """What an expression of JavaScript yields."""
        answer = self.command(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def settle(self):
        """Waits until what was asked for is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

    def complaints(self):
        """Errors and messages of the console."""
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event["params"] for event in self.events if event["method"] in kinds]

    def requests(self):
        """What it asked for, beside the page itself."""
        sent = [e["params"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [s["request"]["url"] for s in sent if s.get("type") != "Document"]

    def click(self, x, y, count=1):
        for kind in ("mousePressed", "mouseReleased"):
            self.command(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count
            )
        self.settle()

    def click_on(self, selector):
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        self.click(x, y)

    def type(self, selector, text):
        """Puts `text` into a field, as typing does."""
        self.run(f"document.querySelector({json.dumps(selector)}).select()")
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")
        self.command("Input.insertText", text=text)
        self.settle()

    def key(self, key, shift=False):
        for kind in ("keyDown", "keyUp"):
            self.command("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 if shift else 0)
        self.settle()

    def screenshot(self, path, whole=False, dark=False):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        self.settle()
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        os.close(self.writer)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.reader)
        shutil.rmtree(self.home, ignore_errors=True)
