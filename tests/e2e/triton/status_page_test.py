# SPDX-License-Identifier: Apache-2.0
"""The page at `/` of the metrics port, in a headless Chromium, with a server at work."""
import json
import os
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import twins
from served import ROOT, Served

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "openai"))
from browser import BROWSER, Browser  # noqa: E402


@unittest.skipUnless(BROWSER, "there is no Chromium here (scripts/bootstrap build test installs it)")
class StatusPageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="nereid-page-", ignore_cleanup_errors=True)
        cls.addClassCleanup(cls.folder.cleanup)
        cls.browser = Browser(Path(cls.folder.name) / "browser")
        cls.addClassCleanup(cls.browser.close)
        good, bad = Path(cls.folder.name) / "good", Path(cls.folder.name) / "bad"
        twins.write_repository(good)
        twins.write(bad / "broken", 'backend: "nosuchbackend" max_batch_size: 8\n' + twins.tensors("TYPE_FP32", 16))
        twins.write(bad / "<img src=x onerror=document.title=1>", None)
        cls.served = Served(good, bad, options=["--model-control-mode=explicit", "--load-model=*", "--exit-on-error=false",
                                                "--metrics-interval-ms=100"])
        cls.addClassCleanup(cls.served.stop)
        cls.url = f"http://127.0.0.1:{cls.served.metrics_port}/"

    def setUp(self):
        self.browser.console.clear()
        self.browser.size(1280, 800)
        self.browser.open(self.url)

    def tearDown(self):
        said = [one for one in self.browser.console if one.get("entry", {}).get("level") not in ("verbose", "info")]
        self.assertEqual(said, [], "the page writes to the console")

    def rows(self):
        """name -> cells' texts"""
        rows = self.browser.js("[...document.querySelectorAll('#rows tr')].filter(r => !r.hidden)"
                               ".map(r => [...r.children].map(c => c.textContent))")
        return {row[0]: row for row in rows}

    def test_models_are_shown_with_their_states_and_reasons(self):
        rows = self.rows()
        self.assertIn("ready", rows["identity_fp32v1"][1])
        self.assertEqual(rows["ensv1"][2], "ensemble")
        self.assertIn("unavailable", rows["brokenv1"][1])
        self.assertIn("unable to find backend library for backend 'nosuchbackend'", rows["brokenv1"][1])
        self.assertEqual(self.browser.js("document.getElementById('health').textContent"), "not ready")

    def test_the_numbers_follow_the_requests(self):
        is_over = threading.Event()

        def work():
            while not is_over.is_set():
                self.served.infer_once("identity_fp32", "INPUT0")
        thread = threading.Thread(target=work)
        thread.start()
        try:
            self.browser.until("[...document.querySelectorAll('#rows tr')].some(r => r.children[0].textContent === 'identity_fp32v1'"
                               " && Number(r.children[3].textContent.replace(' k', 'e3')) > 5)")
            self.browser.until("document.querySelector('svg.spark polyline')?.points.length >= 0 && "
                               "Number(document.body.dataset.answers) > 3")
        finally:
            is_over.set()
            thread.join()
        row = self.rows()["identity_fp32v1"]
        self.assertRegex(row[6], r"^[\d.]+ (µs|ms)$")
        self.assertRegex(row[7], r"^[\d.]+ (µs|ms)$")
        status = json.loads(self.served.ask("GET", "/status", port=self.served.metrics_port)[2])
        model, = [m for m in status["models"] if m["name"] == "identity_fp32"]
        self.assertGreater(model["figures"]["last_minute"]["requests"], 5)
        self.assertLessEqual(model["figures"]["last_minute"]["p50_ms"], model["figures"]["last_minute"]["p99_ms"])

    def test_models_come_and_go_on_the_page(self):
        self.served.ask("POST", "/v2/repository/models/identity_1mib/unload", "{}")
        self.browser.until("[...document.querySelectorAll('#rows tr')].some(r => r.children[0].textContent === 'identity_1mibv1'"
                           " && r.children[1].textContent.startsWith('unavailable'))")
        self.served.ask("POST", "/v2/repository/models/identity_1mib/load", "{}")
        self.browser.until("[...document.querySelectorAll('#rows tr')].some(r => r.children[0].textContent === 'identity_1mibv1'"
                           " && r.children[1].textContent.startsWith('ready'))")

    def test_the_filter_leaves_what_it_names(self):
        self.browser.key("/")
        self.browser.write("ensemble")
        self.browser.until("document.body.dataset.shown === '1'")
        self.assertEqual(list(self.rows()), ["ensv1"])
        self.browser.key("Escape")
        self.browser.until("Number(document.body.dataset.shown) > 5")
        self.browser.click("#problems")
        self.browser.until("Number(document.body.dataset.shown) < 5")
        self.assertNotIn("ensv1", self.rows())
        self.browser.click("#problems")

    def test_names_are_text_and_nothing_comes_from_elsewhere(self):
        self.assertEqual(self.browser.js("document.title"), "Models · Nereid")
        self.assertEqual(self.browser.js("document.querySelectorAll('#rows img').length"), 0)
        _, headers, page = self.served.ask("GET", "/", port=self.served.metrics_port)
        self.assertIn("default-src 'none'", headers["content-security-policy"])
        self.assertNotRegex(page.decode(), r"""<(script|img|iframe)[^>]*(src|href)=""")

    def test_a_server_that_is_gone_is_told(self):
        other = Served(Path(self.folder.name) / "good", options=["--model-control-mode=explicit"])
        self.browser.open(f"http://127.0.0.1:{other.metrics_port}/")
        other.stop()
        self.browser.until("document.getElementById('health').textContent === 'no answer'")
        self.browser.console.clear()  # the failed request is the browser's to tell

    def test_pictures_wide_and_narrow_light_and_dark(self):
        keep = os.environ.get("NEREID_PICTURES")
        folder = Path(keep) if keep else Path(self.folder.name)
        for _ in range(20):
            self.served.infer_once("identity_fp32", "INPUT0")
        for width, height in ((1280, 800), (400, 800)):
            for dark in (False, True):
                self.browser.size(width, height, dark)
                self.browser.open(self.url)
                time.sleep(1.2)
                name = folder / f"status-{width}-{'dark' if dark else 'light'}.png"
                self.browser.picture(name)
                self.assertLessEqual(self.browser.js("document.documentElement.scrollWidth"), width, "the page is wider than its window")
                self.assertGreater(name.stat().st_size, 8000)


if __name__ == "__main__":
    unittest.main()
