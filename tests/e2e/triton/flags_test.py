# SPDX-License-Identifier: Apache-2.0
"""Every option of tritonserver 2.51 is taken, and those without effect say so once."""
import os
import re
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

import twins
from served import PROGRAM, ROOT, Served

FLAGS = [line.split(" ", 1) for line in (ROOT / "tests/golden/kserve/tritonserver_flags.txt").read_text().splitlines() if not line.startswith("#")]
# What is given where any value will not do, or would make another server than the test's.
VALUES = {
    "--id": "x", "--model-control-mode": "none", "--log-format": "ISO8601", "--trace-config": "rate=5", "--trace-level": "OFF",
    "--metrics-config": "summary_latencies=true", "--rate-limit": "off", "--rate-limit-resource": "R1:4", "--host-policy": "cpu,cpu-cores=0-0",
    "--cache-config": "local,size=1048576", "--http-restricted-api": "trace:k=v", "--grpc-restricted-protocol": "trace:k=v",
    "--grpc-infer-response-compression-level": "low", "--backend-config": "onnxruntime,x=1", "--cuda-memory-pool-byte-size": "0:1",
    "--cuda-virtual-address-size": "0:1", "--model-load-gpu-limit": "0:0.5", "--sagemaker-safe-port-range": "8000-8001",
    "--http-header-forward-pattern": "my_.*", "--grpc-header-forward-pattern": "my_.*", "--http-address": "127.0.0.1",
    "--grpc-address": "127.0.0.1", "--metrics-address": "127.0.0.1", "--trace-count": "-1",
}
LEFT_OUT = {
    "--help", "--model-repository", "--model-store", "--http-port", "--grpc-port", "--metrics-port",  # given, or given by the test
    "--load-model", "--response-cache-byte-size",  # only with another option, or instead of one
    "--log-file", "--trace-file",  # make files
    "--grpc-use-ssl", "--grpc-use-ssl-mutual", "--grpc-server-cert", "--grpc-server-key", "--grpc-root-cert",  # rim_test.py
    "--model-config-name",  # chooses among configurations
    "--repoagent-directory", "--backend-directory", "--cache-directory",
}


class FlagsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "tritonserver"
        os.symlink(PROGRAM, self.program)

    def test_the_help_names_them_all(self):
        help_text = subprocess.run([self.program, "--help"], capture_output=True, text=True, check=True).stdout
        missing = [name for name, *_ in FLAGS if name != "--help" and not re.search(rf"^\s*{re.escape(name)}\b(?!-)", help_text, re.M)]
        self.assertEqual(missing, [])

    def test_all_together_make_a_server(self):
        twins.write(self.folder / "models/identity_fp32", 'backend: "identity" max_batch_size: 8\n' + twins.tensors("TYPE_FP32", 16))
        options = []
        for name, *kind in FLAGS:
            if name in LEFT_OUT:
                continue
            kind = kind[0] if kind else ""
            value = VALUES.get(name) or {"boolean": "true", "integer": "1000", "float": "7.5", "string": "x"}.get(kind)
            if kind == "":
                options.append(name)
            else:
                self.assertIsNotNone(value, f"{name} takes {kind}: give it a value")
                options.append(f"{name}={value}")
        options = [o for o in options if not o.startswith(("--disable-auto", "--strict-model", "--allow-vertex", "--allow-sage"))]
        served = Served(self.folder / "models", program=self.program, options=options)
        self.addCleanup(served.stop)
        served.infer_once("identity_fp32", "INPUT0")
        said = [line for line in served.said if "changes nothing" in line]
        self.assertGreater(len(said), 5)
        self.assertEqual(len(said), len(set(said)))

    def test_one_that_is_not_there_is_told(self):
        done = subprocess.run([self.program, "--nosuch=1"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn('Bad option: "--nosuch=1"', done.stderr)

    def test_a_value_out_of_bounds_is_told_by_the_name_that_it_was_given_by(self):
        for option in ("--http-thread-count=0", "--http-max-input-size=0", "--exit-timeout-secs=soon"):
            done = subprocess.run([self.program, f"--model-repository={self.folder}", option], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(option.split("=")[0] + " takes a number from", done.stderr)

    def test_without_http_there_is_no_port_for_it(self):
        twins.write(self.folder / "models/identity_fp32", 'backend: "identity" max_batch_size: 8\n' + twins.tensors("TYPE_FP32", 16))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = [f"--model-repository={self.folder / 'models'}", "--allow-http=false", f"--http-port={port}", "--grpc-port=0", "--metrics-port=0"]
        with subprocess.Popen([self.program, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            said = "".join(iter(process.stdout.readline, "serving the model repository over gRPC alone\n"))
            self.assertRegex(said, r"gRPC at 127\.0\.0\.1:\d+")
            with socket.socket() as client:
                self.assertNotEqual(client.connect_ex(("127.0.0.1", port)), 0)
            process.terminate()
            self.assertEqual(process.wait(30), 0)
        done = subprocess.run([self.program, *options, "--allow-grpc=false"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
