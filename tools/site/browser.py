"""A headless Chromium, driven through a pipe: opens pages, tells what went wrong in them, and takes pictures of them."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
WAIT = 60  # seconds for an answer
ENDED = b"\0"
OVERFLOW = """(() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return "";
  const wide = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width + 1 && !e.closest(".sidebar-drawer, .toc-drawer"));
  const first = wide[0];
  return document.documentElement.scrollWidth + " pixels wide: " + (first ? first.tagName + "." + first.className + " " + first.textContent.slice(0, 60) : "?");
})()"""
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"


def program():
    """Returns the browser of this machine, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One tab of a browser. `errors` collects what the console and the loader report."""

    def __init__(self, process, to, source):
        self.process, self.to, self.source = process, to, source
        self.number, self.rest, self.session = 0, b"", None
        self.errors, self.events = [], []

    def _read(self):
        until = time.monotonic() + WAIT
        while ENDED not in self.rest:
            ready, _, _ = select.select([self.source], [], [], max(0.0, until - time.monotonic()))
            data = os.read(self.source, 1 << 20) if ready else b""
            if not data:
                raise RuntimeError("the browser does not answer")
            self.rest += data
        message, _, self.rest = self.rest.partition(ENDED)
        return json.loads(message)

    def _note(self, message):
        kind, told = message.get("method"), message.get("params", {})
        if kind == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif kind == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.errors.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")
        elif kind == "Runtime.consoleAPICalled" and told["type"] == "error":
            self.errors.append(" ".join(str(one.get("value", one.get("description"))) for one in told["args"]))
        self.events.append(kind)

    def ask(self, method, **arguments):
        """Returns the answer to a command."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": arguments} | ({"sessionId": self.session} if self.session else {})
        os.write(self.to, json.dumps(message).encode() + ENDED)
        while (answer := self._read()).get("id") != self.number:
            self._note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def attach(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def size(self, width, height=900, sharpness=1):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=sharpness, mobile=False)

    def theme(self, name):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, path):
        """Loads the page of a file, and returns the errors that it reports."""
        self.errors, self.events = [], []
        self.ask("Page.navigate", url=path.resolve().as_uri())
        while "Page.loadEventFired" not in self.events:
            self._note(self._read())
        self.evaluate(SETTLED)
        return self.errors

    def evaluate(self, script):
        result = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "a script failed"))
        return result["result"].get("value")

    def overflow(self):
        """Returns what makes the page wider than the window, or nothing."""
        return self.evaluate(OVERFLOW)

    def picture(self, area=None):
        """Returns a PNG of the window, or of an area (x, y, width, height) of the page."""
        clip = {"clip": dict(zip(("x", "y", "width", "height"), area), scale=1), "captureBeyondViewport": True} if area else {}
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png", **clip)["data"])


@contextlib.contextmanager
def browser():
    """Starts a browser, and ends it."""
    theirs, to = os.pipe()
    source, answers = os.pipe()
    with tempfile.TemporaryDirectory(prefix="taut-browser-", ignore_cleanup_errors=True) as profile:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={profile}"]

        def pipes():  # what the browser expects: commands at 3, answers to 4
            a, b = os.dup(theirs), os.dup(answers)
            os.dup2(a, 3)
            os.dup2(b, 4)

        process = subprocess.Popen([program(), *options, "about:blank"], preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (theirs, answers):
            os.close(end)
        try:
            one = Browser(process, to, source)
            one.attach()
            yield one
        finally:
            process.terminate()
            process.wait()
            os.close(to)
            os.close(source)
