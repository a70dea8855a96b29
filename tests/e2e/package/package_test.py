# SPDX-License-Identifier: Apache-2.0
"""Installs what was built into a folder of its own, builds the examples against it and compares what they print with
what onnxruntime computed (tests/data/onnx/make_classifier.py)."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MODEL = ROOT / "tests" / "data" / "onnx" / "classifier.onnx"
SCORES = {int(k): v for k, v in json.loads((MODEL.with_suffix(".json")).read_text()).items()}

STATIC_PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(one_static LANGUAGES C)
find_package(nereid REQUIRED)
add_executable(classify_static "{source}")
target_link_libraries(classify_static PRIVATE nereid::static)
"""


def run(*command, **keywords):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=240, **keywords)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="nereid-package-")
        cls.dir = Path(cls.folder.name)
        cls.prefix = cls.dir / "prefix"
        cls.cmake = os.environ["CMAKE"]
        run(cls.cmake, "--install", os.environ["NEREID_BUILD"], "--prefix", cls.prefix)
        cls.build_project(ROOT / "examples", cls.dir / "examples")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def build_project(cls, source, build):
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        run(cls.cmake, "-S", source, "-B", build, *generator, f"-DCMAKE_PREFIX_PATH={cls.prefix}")
        run(cls.cmake, "--build", build, "-j", "2")

    def example(self, name, *arguments):
        return run(self.dir / "examples" / name, *arguments)

    def library(self):
        found = sorted(self.prefix.glob("lib*/**/libnereid.so"))
        self.assertEqual(len(found), 1, list(self.prefix.rglob("*")))
        return found[0]

    def assert_scores(self, text, pattern, shifts):
        """One line an image, the score of class 0 in each."""
        found = {int(n): float(v) for n, v in re.findall(pattern, text)}
        self.assertEqual(sorted(found), sorted(shifts), text)
        for shift in shifts:
            self.assertAlmostEqual(found[shift], SCORES[shift][0], delta=2e-5)

    def assert_classes(self, text):
        best = sorted(range(10), key=lambda c: -SCORES[0][c])[:3]
        found = re.findall(r"class (\d+): ([0-9.]+)", text)
        self.assertEqual([int(c) for c, _ in found], best)
        for c, score in found:
            self.assertAlmostEqual(float(score), SCORES[0][int(c)], delta=2e-5)

    def test_a_c_program_classifies_an_image(self):
        self.assert_classes(self.example("classify", MODEL, 3))

    def test_an_engine_is_built_and_run_from_many_threads(self):
        engine = self.dir / "classifier.engine"
        self.assert_scores(self.example("threads", MODEL, engine, 6), r"thread (\d+): ([0-9.]+)", range(6))
        self.assert_classes(self.example("classify", engine, 3))

    def test_runs_in_a_queue(self):
        out = self.example("async", MODEL, 5)
        self.assert_scores(out, r"run (\d+): ([0-9.]+)", range(5))
        self.assertRegex(out, r"(?m)^[01] cancelled$")

    def test_the_time_of_every_layer(self):
        out = self.example("profile", MODEL)
        self.assertRegex(out, r"us  conv\.\w+ +conv_last %")
        self.assertRegex(out, r"us  gemm +dense %")
        self.assertNotIn("note:", out)

    def test_a_model_that_is_not_there_is_a_sentence(self):
        done = subprocess.run([self.dir / "examples" / "classify", "absent.onnx"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^classify: absent\.onnx: .*absent\.onnx")

    def test_the_shared_library_shows_the_c_interface_and_nothing_else(self):
        shown = re.findall(r" [TWVBDuR] (\S+)", run("nm", "-D", "--defined-only", self.library()))
        shown = {name.split("@")[0] for name in shown}
        header = "".join(file.read_text() for file in sorted((ROOT / "include/nereid").glob("*.h")))
        declared = set(re.findall(r"NEREID_API [^;(]*?\b(nereid_\w+)\(", header))
        self.assertEqual(shown, declared)

    def test_the_static_library_is_enough(self):
        source = self.dir / "static"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(STATIC_PROJECT.format(source=ROOT / "examples" / "classify.c"))
        self.build_project(source, source / "build")
        self.assert_classes(run(source / "build" / "classify_static", MODEL, 3))

    @unittest.skipUnless(shutil.which("pkg-config"), "there is no pkg-config here")
    def test_pkg_config_knows_the_flags(self):
        folder = self.library().parent
        environment = {**os.environ, "PKG_CONFIG_PATH": str(folder / "pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", "nereid", env=environment).split()
        program = self.dir / "by_pkg_config"
        run(os.environ["CC"], ROOT / "examples" / "classify.c", "-o", program, *flags, f"-Wl,-rpath,{folder}")
        self.assert_classes(run(program, MODEL, 3))

    def test_the_program_is_installed(self):
        self.assertIn("nereid", run(self.prefix / "bin" / "nereid", "--version"))

    def test_the_installed_program_serves_over_grpc(self):
        (self.dir / "none").mkdir()
        serving = subprocess.Popen([self.prefix / "bin" / "nereid", "serve", f"--model-repository={self.dir / 'none'}",
                                    "--http-port=0", "--grpc-port=0", "--metrics-port=0"], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        try:
            lines = []
            for line in serving.stdout:
                lines.append(line)
                if line.startswith("serving"):
                    break
            self.assertIn("gRPC at 127.0.0.1:", "".join(lines))
        finally:
            serving.terminate()
            serving.wait(60)
            serving.stdout.close()


if __name__ == "__main__":
    unittest.main()
