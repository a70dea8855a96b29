# SPDX-License-Identifier: Apache-2.0
"""A server that is told to stop while it is busy with something that has no end of its own, and what it says meanwhile."""
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

import twins
from served import PROGRAM, Served

ENDLESS = ('model_warmup [ { name: "for_long" count: 4000000000 inputs { key: "INPUT0" value { data_type: TYPE_FP32 dims: [ 16 ] '
           "zero_data: true } } } ]\n")

class StopTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.models = Path(folder.name) / "models"
        identity = 'backend: "identity" max_batch_size: 8\n' + twins.tensors("TYPE_FP32", 16)
        twins.write(self.models / "plain", identity)
        twins.write(self.models / "slow", identity + ENDLESS)

    def start(self, repository, *options):
        process = subprocess.Popen([PROGRAM, "serve", f"--model-repository={repository}", "--http-port=0", "--grpc-port=0",
                                    "--metrics-port=0", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait, 30)
        self.addCleanup(process.kill)
        return process

    def ends_soon(self, process, code):
        begin = time.monotonic()
        process.terminate()
        self.assertEqual(process.wait(30), code)
        self.assertLess(time.monotonic() - begin, 5)
        return process.stderr.read()

    def test_a_warm_up_at_the_start(self):
        process = self.start(self.models)
        self.assertIn("'plain' version 1 is ready", process.stderr.readline())
        time.sleep(0.3)
        self.assertIn("interrupted", self.ends_soon(process, 130))

    def test_a_warm_up_that_a_request_asked_for(self):
        served = Served(self.models, options=["--model-control-mode=explicit", "--load-model=plain"])
        answers = []
        asks = threading.Thread(target=lambda: answers.append(served.ask("POST", "/v2/repository/models/slow/load", "{}")))
        asks.start()
        time.sleep(0.5)
        begin = time.monotonic()
        self.assertEqual(served.stop(), 0)
        self.assertLess(time.monotonic() - begin, 5)
        asks.join()
        self.assertEqual(answers[0][0], 503)
        self.assertIn(b"stopping", answers[0][2])

    def test_a_store_that_does_not_answer(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            process = self.start(f"s3://127.0.0.1:{silent.getsockname()[1]}/bucket")
            self.assertRegex(process.stderr.readline(), r"asking s3://127.0.0.1:\d+/bucket")
            with silent.accept()[0]:  # and not a word
                time.sleep(0.3)
                self.assertIn("interrupted", self.ends_soon(process, 130))

    def test_who_asks_meanwhile_learns_that_it_stops(self):
        twins.write(self.models / "waits", 'backend: "identity" max_batch_size: 8\ninstance_group [ { kind: KIND_CPU count: 1 } ]\n' +
                    twins.tensors("TYPE_INT32", 1) + "dynamic_batching { preferred_batch_size: [ 8 ] max_queue_delay_microseconds: 1500000 }\n")
        served = Served(self.models, options=["--model-control-mode=explicit", "--load-model=waits"])
        self.assertEqual(served.ask("GET", "/v2/health/ready")[0], 200)
        answers = []
        body = '{"inputs":[{"name":"INPUT0","shape":[1,1],"datatype":"INT32","data":[1]}]}'
        asks = threading.Thread(target=lambda: answers.append(served.ask("POST", "/v2/models/waits/infer", body)))
        asks.start()
        time.sleep(0.3)
        served.process.terminate()
        time.sleep(0.5)
        for path in ("/health", "/v2/health/ready", "/v2/health/live", "/v2/models/waits"):
            status = served.ask("GET", path)[0]
            self.assertIn(status, (200,) if path == "/v2/models/waits" else (503,), path)
        self.assertEqual(served.ask("POST", "/v2/models/waits/infer", body)[0], 503)
        asks.join()
        self.assertEqual(answers[0][0], 200)
        self.assertEqual(served.process.wait(30), 0)

if __name__ == "__main__":
    unittest.main()
