# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/check_isa on objects compiled here."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_isa"


def compiler():
    for name in (os.environ.get("CXX"), "g++", "clang++", "c++"):
        if name and subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True).returncode == 0:
            return name
    return None


@unittest.skipIf(compiler() is None, "there is no C++ compiler to make objects with")
class CheckIsa(unittest.TestCase):
    def check(self, source):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.cc"
            path.write_text(source)
            subprocess.run([compiler(), "-O0", "-c", str(path), "-o", f"{folder}/a.o"], check=True)
            return subprocess.run([sys.executable, "-B", str(TOOL), "avx2", f"{folder}/a.o"], capture_output=True, text=True)

    def test_an_inline_function_that_others_may_have_is_found(self):
        result = self.check("inline int twice(int x) { return 2 * x; }\nint use(int x) { return twice(x); }\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("twice(int) is compiled for avx2", result.stdout)

    def test_a_template_is_found(self):
        result = self.check("template <class T> T twice(T x) { return x + x; }\nint use(int x) { return twice(x); }\n")
        self.assertEqual(result.returncode, 1)

    def test_what_is_in_the_namespace_or_internal_passes(self):
        result = self.check("namespace avx2 { inline int twice(int x) { return 2 * x; } int use(int x) { return twice(x); } }\n"
                            "namespace { int more(int x) { return x; } }\n"
                            "static inline int less(int x) { return more(x); }\n"
                            "int strong(int x) { return less(x); }\n")
        self.assertEqual(result.returncode, 0, result.stdout)


if __name__ == "__main__":
    unittest.main()
