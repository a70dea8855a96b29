# SPDX-License-Identifier: Apache-2.0
"""`nereid bench URL --endpoint infer`: the same inferences over HTTP and gRPC, counted and checked."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import served
import twins
from served import Served


def bench(url, *options):
    command = [served.PROGRAM, "bench", url, "--endpoint", "infer", "--quiet", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


class BenchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.repository = Path(cls.folder.name) / "models"
        twins.write_repository(cls.repository)
        cls.served = Served(cls.repository, options=["--model-control-mode=explicit", "--load-model=identity_fp32",
                                                     "--load-model=identity_1mib", "--load-model=failing"])
        cls.addClassCleanup(cls.served.stop)
        cls.http, cls.grpc = f"http://127.0.0.1:{cls.served.port}", f"grpc://127.0.0.1:{cls.served.grpc_port}"

    def count(self, model):
        metrics = self.served.ask("GET", "/metrics", port=self.served.metrics_port)[2].decode()
        for line in metrics.splitlines():
            if line.startswith(f'nv_inference_request_success{{model="{model}"'):
                return int(line.rsplit(" ", 1)[1])
        return 0

    def test_every_request_is_answered_once_over_both(self):
        for url, model, given in ((self.http, "identity_fp32", ["--input=INPUT0=FP32[2,16]"]), (self.http, "identity_fp32", []),
                                  (self.grpc, "identity_fp32", ["--input=INPUT0=FP32[2,16]"]),
                                  (self.http, "identity_1mib", ["--input=INPUT0=FP32[262144]"]),
                                  (self.grpc, "identity_1mib", ["--input=INPUT0=FP32[262144]"])):
            with self.subTest(url=url, model=model, given=given):
                before = self.count(model)
                done = bench(url, "--model", model, *given, "--concurrency", "1,5", "--requests", "60", "--warmup", "0", "--json")
                self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
                results = json.loads(done.stdout)["results"]
                self.assertEqual([(r["requests"], r["failed"]) for r in results], [(60, 0), (60, 0)])
                self.assertGreater(results[0]["e2e_ms"]["p50"], 0)
                self.assertEqual(self.count(model) - before, 120)

    def test_failures_are_told_and_end_with_one(self):
        for url in (self.http, self.grpc):
            for model, given, said in (("absent", "INPUT0=FP32[1,16]", "absent"), ("identity_fp32", "INPUT0=FP32[1,8]", "[1,8]"),
                                       ("identity_fp32", "X=FP32[1,16]", "X")):
                with self.subTest(url=url, model=model, given=given):
                    done = bench(url, "--model", model, "--input", given, "--requests", "5")
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(said, done.stderr)

    def test_a_wrong_command_line_is_two(self):
        for options in ([], ["--model", "m", "--input", "x"], ["--model", "m", "--rate", "3"]):
            self.assertEqual(bench(self.http, *options).returncode, 2, options)
        self.assertEqual(bench(self.grpc, "--model", "m").returncode, 2)


if __name__ == "__main__":
    unittest.main()
