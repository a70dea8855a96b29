# SPDX-License-Identifier: Apache-2.0
"""The program under test ($NEREID), with folders of its own so that nothing of the user's is read or written."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TINY = ROOT / "tests" / "data" / "models"


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="nereid-e2e-")
        self.addCleanup(self.folder.cleanup)
        self.dir = Path(self.folder.name)
        self.environment = {**os.environ, "HOME": str(self.dir / "home"), "NEREID_CACHE_DIR": str(self.dir / "cache"),
                            "NEREID_MODELS_DIR": str(self.dir / "models"), "NO_COLOR": "1"}
        self.environment.pop("XDG_DATA_HOME", None)
        self.environment.pop("NEREID_ISA", None)

    def nereid(self, *arguments, code=0, timeout=120, **environment):
        """Runs it and checks the exit code; returns (stdout, stderr)."""
        done = subprocess.run([os.environ["NEREID"], *map(str, arguments)], capture_output=True, text=True,
                              timeout=timeout, stdin=subprocess.DEVNULL, env={**self.environment, **environment})
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def nereid_json(self, *arguments, **keywords):
        return json.loads(self.nereid(*arguments, "--json", **keywords)[0])

    def assert_sentence(self, stderr, *words):
        lines = stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, stderr)
        self.assertRegex(lines[0], r"^nereid: error: ")
        for word in words:
            self.assertIn(word, lines[0])
