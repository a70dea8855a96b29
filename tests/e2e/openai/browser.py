# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over a pipe (the DevTools protocol): keys as a hand presses them, pictures, what a page says."""
import base64
import json
import os
import select
import shutil
import subprocess
import time

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "ArrowUp": (38, ""), "Tab": (9, "")}
CONTROL, ALT, SHIFT = 2, 1, 8


class Browser:
    def __init__(self, folder):
        to_browser, self.out = os.pipe()
        self.inp, from_browser = os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
                 "--no-proxy-server", f"--user-data-dir={folder}", "about:blank"]
        # Chromium reads from 3 and writes to 4.
        self.process = subprocess.Popen(["/bin/sh", "-c", f'exec 3<&{to_browser} 4>&{from_browser} "$0" "$@"', BROWSER, *flags],
                                        pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "HOME": str(folder)})
        os.close(to_browser)
        os.close(from_browser)
        self.held, self.number, self.session, self.console = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        os.close(self.out)
        os.close(self.inp)

    def read(self, seconds):
        while b"\0" not in self.held:
            if not select.select([self.inp], [], [], seconds)[0]:
                raise TimeoutError("the browser says nothing")
            got = os.read(self.inp, 1 << 16)
            if not got:
                raise EOFError("the browser has ended")
            self.held += got
        one, self.held = self.held.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            said = self.read(60)
            if said.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                self.console.append(said["params"])
            if said.get("id") == self.number:
                if "error" in said:
                    raise AssertionError(f"{method}: {said['error']}")
                return said["result"]

    def js(self, expression):
        said = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in said:
            raise AssertionError(said["exceptionDetails"])
        return said["result"].get("value")

    def until(self, expression, seconds=30):
        end = time.monotonic() + seconds
        while not self.js(expression):
            if time.monotonic() > end:
                raise AssertionError(f"{expression} did not come true; the page says {self.js('JSON.stringify(document.body.dataset)')}")
            time.sleep(0.03)

    def size(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.body && document.body.dataset.ready === 'yes'")

    def write(self, text):
        self.call("Input.insertText", text=text)

    def key(self, name, modifiers=0):
        code, text = KEYS.get(name, (ord(name.upper()) if len(name) == 1 else 0, name if not modifiers else ""))
        key = {"key": name, "code": f"Key{name.upper()}" if name.isalpha() and len(name) == 1 else name, "windowsVirtualKeyCode": code,
               "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    def click(self, selector):
        x, y = self.js(f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                       " return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
