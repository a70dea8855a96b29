# SPDX-License-Identifier: Apache-2.0
"""The services of deploy/ start with the options that they name."""
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import twins
from served import ROOT, Served

DEPLOY = ROOT / "deploy"


class DeployTest(unittest.TestCase):
    def start(self, words):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        twins.write(Path(folder.name) / "identity_fp32", 'backend: "identity" max_batch_size: 8\n' + twins.tensors("TYPE_FP32", 16))
        served = Served(folder.name, options=[w for w in words if not w.startswith(("--model-repository", "--http-address"))])
        self.addCleanup(served.stop)
        served.infer_once("identity_fp32", "INPUT0")
        self.assertEqual(served.ask("GET", "/v2/health/ready")[0], 200)

    def test_a_service_of_systemd(self):
        unit = (DEPLOY / "systemd/nereid.service").read_text()
        line = re.search(r"^ExecStart=((?:.*\\\n)*.*)$", unit, re.M)[1].replace("\\\n", " ")
        program, verb, *options = shlex.split(line)
        self.assertEqual((program, verb), ("/usr/local/bin/nereid", "serve"))
        self.start(options)
        if shutil.which("systemd-analyze"):
            done = subprocess.run(["systemd-analyze", "verify", DEPLOY / "systemd/nereid.service"], capture_output=True, text=True)
            said = [one for one in done.stderr.splitlines() if "nereid.service" in one and "not executable" not in one and "not found" not in one]
            self.assertEqual(said, [])

    def test_a_deployment_of_kubernetes(self):
        text = (DEPLOY / "kubernetes/nereid.yaml").read_text()
        words = re.search(r"args:\n((?: +- .*\n)+)", text)[1]
        words = [line.strip()[2:] for line in words.splitlines()]
        self.assertEqual(words[:2], ["nereid", "serve"])
        self.start(words[2:])
        self.assertLessEqual({"/v2/health/live", "/v2/health/ready"}, set(re.findall(r"path: (/v2/\S+),", text)))


if __name__ == "__main__":
    unittest.main()
