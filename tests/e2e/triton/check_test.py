# SPDX-License-Identifier: Apache-2.0
"""`nereid check REPOSITORY`, the starts that fail, and the program under the name tritonserver."""
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import twins
from served import PROGRAM, Served


class CheckTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    def nereid(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def test_a_good_repository_has_no_mistakes(self):
        twins.write_repository(self.dir / "models")
        self.assertIn("no mistakes", self.nereid("check", self.dir / "models")[0])

    def test_each_mistake_is_listed_with_its_place(self):
        twins.write_bad_repository(self.dir / "models")
        (self.dir / "models" / "multi" / "v3").mkdir()
        text, _ = self.nereid("check", self.dir / "models", "--json", code=1)
        found = {}
        for one in json.loads(text)["mistakes"]:
            self.assertTrue(one["fix"])
            found.setdefault(one["model"], []).append(one["message"])
        for model, part in {"bad_backend": "nosuchbackend", "bad_dims": "'INPUT0' dimension", "bad_ens": "'nosuch'",
                            "bad_init": "model.onnx", "bad_name": "'other_name'", "bad_no_version": "has no version",
                            "bad_syntax": "line 1", "bad_unknown_field": "line 1, column 4", "multi": "v3"}.items():
            self.assertTrue(any(part in message for message in found.get(model, [])), (model, found.get(model)))

    def test_a_start_that_fails_says_what_and_ends_with_1(self):
        twins.write_bad_repository(self.dir / "models")
        _, err = self.nereid("serve", "--model-repository", self.dir / "models", "--http-port=0", "--grpc-port=0",
                             "--metrics-port=0", code=1)
        self.assertIn("failed to load all models", err)
        self.assertIn("config.pbtxt: line 1", err)
        self.nereid("serve", "--model-repository", self.dir / "none", code=2)
        self.nereid("serve", "--model-repository", self.dir / "models", "--load-model=x", code=2)
        served = Served(self.dir / "models", options=["--exit-on-error=false"])
        self.addCleanup(served.stop)
        self.assertEqual(served.ask("GET", "/v2/health/live")[0], 200)
        self.assertEqual(served.ask("GET", "/v2/health/ready")[0], 400)
        self.assertEqual(served.ask("GET", "/v2/models/multi/ready")[0], 200)

    def test_a_changed_file_is_seen_in_poll_mode(self):
        twins.write_repository(self.dir / "models")
        served = Served(self.dir / "models", options=["--model-control-mode=poll", "--repository-poll-secs=1"])
        self.addCleanup(served.stop)
        config = self.dir / "models" / "identity_fp32" / "config.pbtxt"
        config.write_text(config.read_text().replace("max_batch_size: 8", "max_batch_size: 32"))
        for _ in range(100):
            text = served.ask("GET", "/v2/models/identity_fp32/config")[2]
            if json.loads(text)["max_batch_size"] == 32:
                return
            subprocess.run(["sleep", "0.1"], check=True)
        self.fail("the change was not seen")

    def test_tritonserver_takes_its_own_options(self):
        twins.write_repository(self.dir / "models")
        link = self.dir / "tritonserver"
        link.symlink_to(PROGRAM)
        command = [link, f"--model-repository={self.dir / 'models'}", "--http-port", "0", "--grpc-port=0", "--metrics-port=0",
                   "--log-verbose=1", "--backend-config=python,shm-default-byte-size=1", "--exit-timeout-secs", "5",
                   "--grpc-use-ssl=false"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        self.assertTrue(any(re.search(r"serving .* at http://127\.0\.0\.1:\d+", line) for line in process.stdout))
        done = subprocess.run([link, "--nonsense"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn('Bad option: "--nonsense"', done.stderr)
        done = subprocess.run([link, "--help"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn("--model-control-mode", done.stdout)


if __name__ == "__main__":
    unittest.main()
