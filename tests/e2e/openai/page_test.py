# SPDX-License-Identifier: Apache-2.0
"""The page to chat at `/`, in a headless Chromium: with the real model, and with a server of the test's own that says what
it should."""
import http.server
import json
import os
import tempfile
import threading
import time
import unittest
from pathlib import Path

from browser import ALT, BROWSER, CONTROL, SHIFT, Browser
from served import ServedTest

HOSTILE = '<img src=x onerror="document.title=1"> </script><script>document.title=2</script>'
MARKDOWN = f"""# Title
Some **bold** and *italic* words, `code`, {HOSTILE} and [a link](https://example.org/).

- one
- two
  - inner

1. first
2. second

```python
print("<b>not bold</b>")
```
> quoted
"""


class Stand(http.server.BaseHTTPRequestHandler):
    """Serves the real page, and answers chats as the test's `script` says: pieces, (thoughts,), numbers (seconds to
    wait), or errors."""
    protocol_version = "HTTP/1.1"
    page, script, asked, gone = b"", [], [], None

    def log_message(self, *args):
        pass

    def reply(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/":
            return self.reply(200, "text/html; charset=utf-8", self.page)
        models = [{"id": name, "object": "model", "max_model_len": 4096} for name in ("small-model", "a-much-larger-model-with-a-long-name")]
        return self.reply(200, "application/json", json.dumps({"data": models}).encode())

    def do_POST(self):
        type(self).asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if isinstance(self.script, dict):
            return self.reply(400, "application/json", json.dumps({"error": self.script}).encode())
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

        def event(data):
            self.wfile.write(b"data: " + json.dumps(data).encode() + b"\n\n")
            self.wfile.flush()
        try:
            for one in self.script:
                if isinstance(one, (int, float)):
                    time.sleep(one)
                elif isinstance(one, dict):
                    return event({"error": one})
                elif isinstance(one, tuple):
                    event({"choices": [{"index": 0, "delta": {"reasoning_content": one[0]}, "finish_reason": None}]})
                else:
                    event({"choices": [{"index": 0, "delta": {"content": one}, "finish_reason": None}]})
            event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            event({"choices": [], "usage": {"completion_tokens": 7}})
            self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            type(self).gone.set()
        self.close_connection = True


@unittest.skipUnless(BROWSER, "there is no Chromium here (scripts/bootstrap build test installs it)")
class PageTest(ServedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.TemporaryDirectory(prefix="nereid-page-", ignore_cleanup_errors=True)
        cls.addClassCleanup(cls.folder.cleanup)
        cls.browser = Browser(Path(cls.folder.name) / "browser")
        cls.addClassCleanup(cls.browser.close)
        Stand.page = cls.fetch_page()
        cls.stand = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stand)
        cls.stand.daemon_threads = True
        threading.Thread(target=cls.stand.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.stand.server_close)
        cls.addClassCleanup(cls.stand.shutdown)

    @classmethod
    def fetch_page(cls):
        import urllib.request
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(cls.served.url + "/") as answer:
            cls.headers = answer.headers
            return answer.read()

    def setUp(self):
        Stand.script, Stand.asked, Stand.gone = ["Hello", " there."], [], threading.Event()
        self.browser.console.clear()
        self.browser.size(1280, 800)

    def tearDown(self):
        said = [one for one in self.browser.console if one.get("entry", {}).get("level") not in ("verbose", "info")]
        self.assertEqual([one for one in said if "status of 400" not in json.dumps(one)], [], "the page writes to the console")

    def open(self, real=False):
        url = self.served.url if real else f"http://127.0.0.1:{self.stand.server_port}"
        self.browser.open(url + "/")

    def say(self, text):
        self.browser.js("document.getElementById('input').focus()")
        self.browser.write(text)
        self.browser.key("Enter")

    def wait_idle(self, seconds=60):
        self.browser.until("document.body.dataset.busy === 'no' && Number(document.body.dataset.turns) > 0", seconds)

    def answer(self):
        return self.browser.js("[...document.querySelectorAll('.turn.assistant .words')].at(-1).innerText")

    def test_the_page_asks_no_other_server(self):
        self.assertIn("default-src 'none'", self.headers["Content-Security-Policy"])
        self.assertNotRegex(Stand.page.decode(), r"""<(script|img|iframe)[^>]*(src|href)=""")

    def test_thoughts_stand_above_the_answer_and_close_when_it_comes(self):
        Stand.script = [("It may",), (" <b>rain</b>.",), 1, "Yes", "."]
        self.open()
        self.say("Rain?")
        self.browser.until("document.querySelector('.thought')?.open && document.querySelector('.thought div').innerText.length > 8", 30)
        self.wait_idle()
        self.assertEqual(self.answer(), "Yes.")
        self.assertFalse(self.browser.js("document.querySelector('.thought').open"))
        self.assertEqual(self.browser.js("document.querySelector('.thought div').textContent"), "It may <b>rain</b>.")
        self.assertEqual(Stand.asked[0]["messages"][-1]["content"], "Rain?")

    def test_the_real_model_answers(self):
        self.open(real=True)
        self.assertEqual(self.browser.js("document.getElementById('model').value"), "smollm2")
        self.browser.js("for (const [id, value] of [['temperature', '0'], ['max_tokens', '60']]) document.getElementById(id).value = value")
        self.say("What is the capital of France?")
        self.wait_idle()
        self.assertIn("Paris", self.answer())
        self.assertGreater(float(self.browser.js("document.body.dataset.rate")), 1)
        self.assertRegex(self.browser.js("document.querySelector('.turn.assistant .foot').innerText"), r"\d+ tokens · [\d.]+ tokens/s · first after")

    def test_the_real_model_is_stopped(self):
        self.open(real=True)
        self.say("Write a very long story about the sea, with many chapters.")
        self.browser.until("(document.querySelector('.turn.assistant .words') || {innerText: ''}).innerText.length > 20")
        self.browser.key("Escape")
        self.wait_idle(5)
        self.assertIn("stopped", self.browser.js("document.querySelector('.turn.assistant .foot').innerText"))
        end = time.monotonic() + 5
        while self.running() > 0:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_settings_reach_the_server(self):
        self.open()
        self.browser.key(",", CONTROL)
        self.assertEqual(self.browser.js("document.body.dataset.settings"), "open")
        self.browser.write("Be brief.")
        self.browser.js("""for (const [id, value] of [["temperature", "0.3"], ["max_tokens", "50"], ["seed", "9"]]) {
            const one = document.getElementById(id); one.value = value; one.dispatchEvent(new Event("input", {bubbles: true})); }""")
        self.browser.js("document.getElementById('model').value = 'a-much-larger-model-with-a-long-name'")
        self.browser.key("Escape")
        self.say("Hi")
        self.wait_idle()
        asked = Stand.asked[-1]
        self.assertEqual(asked["messages"], [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
        self.assertEqual((asked["temperature"], asked["max_tokens"], asked["seed"], asked["model"], asked["stream"]),
                         (0.3, 50, 9, "a-much-larger-model-with-a-long-name", True))
        self.browser.js("document.getElementById('defaults').click()")

    def test_a_chat_grows_and_its_history_is_sent(self):
        self.open()
        self.say("One")
        self.wait_idle()
        self.say("Two")
        self.wait_idle()
        self.assertEqual([one["content"] for one in Stand.asked[-1]["messages"]], ["One", "Hello there.", "Two"])
        self.browser.key("ArrowUp")  # the last message again
        self.assertEqual(self.browser.js("document.getElementById('input').value"), "Two")
        self.assertEqual(self.browser.js("document.body.dataset.turns"), "2")
        self.browser.key("n", CONTROL | ALT)
        self.assertEqual(self.browser.js("document.body.dataset.turns"), "0")

    def test_shift_enter_is_a_line_end(self):
        self.open()
        self.browser.js("document.getElementById('input').focus()")
        self.browser.write("a")
        self.browser.key("Enter", SHIFT)
        self.browser.write("b")
        self.browser.key("Enter")
        self.wait_idle()
        self.assertEqual(Stand.asked[-1]["messages"][-1]["content"], "a\nb")

    def test_what_a_model_says_is_shown_and_never_run(self):
        Stand.script = [MARKDOWN[i:i + 7] for i in range(0, len(MARKDOWN), 7)]
        self.open()
        self.say(HOSTILE)
        self.wait_idle()
        self.assertEqual(self.browser.js("document.title"), "Nereid")
        self.assertEqual(self.browser.js("document.querySelectorAll('.words img, .words script').length"), 0)
        self.assertIn(HOSTILE, self.browser.js("document.querySelector('.turn.user .words').innerText"))
        counts = self.browser.js("['h3', 'strong', 'em', 'code', 'ul ul li', 'ol li', 'pre', 'blockquote', 'a']"
                                 ".map(one => document.querySelectorAll('.turn.assistant .words ' + one).length)")
        self.assertEqual(counts, [1, 1, 1, 2, 1, 2, 1, 1, 1])
        self.assertEqual(self.browser.js("document.querySelector('.words pre').innerText"), 'print("<b>not bold</b>")')

    def test_stopping_closes_the_connection(self):
        Stand.script = ["Once"] + [0.1, " more"] * 200
        self.open()
        self.say("Go on.")
        self.browser.until("(document.querySelector('.turn.assistant .words') || {innerText: ''}).innerText.includes('more')")
        self.browser.click("#send")
        self.wait_idle(5)
        self.assertTrue(Stand.gone.wait(10), "the server still writes")

    def test_errors_are_shown(self):
        Stand.script = {"message": "The moon is full.", "code": "moon"}
        self.open()
        self.say("Hi")
        self.wait_idle()
        self.assertEqual(self.browser.js("document.querySelector('.problem').innerText"), "The moon is full.")
        Stand.script = ["Half of", {"message": "The cache is full.", "code": "full"}]
        self.browser.js("[...document.querySelectorAll('.turn.assistant .foot button')].at(-1).click()")
        self.wait_idle()
        self.assertIn("Half of", self.answer())
        self.assertEqual(self.browser.js("document.querySelector('.problem').innerText"), "The cache is full.")

    def test_pictures_wide_and_narrow_light_and_dark(self):
        Stand.script = [MARKDOWN]
        keep = os.environ.get("NEREID_PICTURES")
        folder = Path(keep) if keep else Path(self.folder.name)
        for width, height in ((1280, 800), (400, 800)):
            for dark in (False, True):
                self.browser.size(width, height, dark)
                self.open()
                name = f"{width}-{'dark' if dark else 'light'}"
                self.browser.picture(folder / f"empty-{name}.png")
                self.say("Show me everything you can do with **Markdown**.")
                self.wait_idle()
                self.browser.js("document.getElementById('scroll').scrollTop = 0")
                self.browser.picture(folder / f"chat-{name}.png")
                self.assertLessEqual(self.browser.js("document.documentElement.scrollWidth"), width, "the page is wider than its window")
                self.browser.click("#tune")
                self.browser.picture(folder / f"settings-{name}.png")
                self.assertGreater((folder / f"chat-{name}.png").stat().st_size, 8000)


if __name__ == "__main__":
    unittest.main()
