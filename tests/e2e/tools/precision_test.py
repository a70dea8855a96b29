# SPDX-License-Identifier: Apache-2.0
"""`nereid build --precision int8` and `--accuracy`: calibration, its cache, and what is said of the accuracy."""
import math
import random
import struct
import unittest

import onnx_bytes as onnx
from program import ProgramTest

WIDTH, CLASSES = 32, 8
ROW = onnx.tensor_type(onnx.FLOAT, ["n", WIDTH])


class PrecisionTest(ProgramTest):
    def setUp(self):
        super().setUp()
        numbers = random.Random(1)
        w1 = [numbers.gauss(0, 1 / math.sqrt(WIDTH)) for _ in range(WIDTH * WIDTH)]
        w2 = [numbers.gauss(0, 1 / math.sqrt(WIDTH)) for _ in range(WIDTH * CLASSES)]
        self.model = self.dir / "net.onnx"
        self.model.write_bytes(onnx.model(
            [onnx.node("MatMul", ["x", "w1"], ["a"]), onnx.node("Relu", ["a"], ["b"]), onnx.node("MatMul", ["b", "w2"], ["y"])],
            [("x", ROW)], [("y", onnx.tensor_type(onnx.FLOAT, ["n", CLASSES]))],
            [onnx.tensor("w1", onnx.FLOAT, [WIDTH, WIDTH], onnx.floats(*w1)),
             onnx.tensor("w2", onnx.FLOAT, [WIDTH, CLASSES], onnx.floats(*w2))]))
        self.samples = self.dir / "samples"
        self.samples.mkdir()
        for i in range(4):
            self.sample(self.samples / f"{i}.npy", [numbers.gauss(0, 1) for _ in range(16 * WIDTH)])
        self.engine, self.cache = self.dir / "net.engine", self.dir / "net.calib"

    def sample(self, path, values):
        path.write_bytes(onnx.npy_floats([len(values) // WIDTH, WIDTH], values))

    def build(self, *arguments, **keywords):
        return self.nereid_json("build", self.model, "-o", self.engine, "--level", 0, *arguments, **keywords)

    def answers(self, model):
        out = self.dir / "out"
        self.nereid("infer", model, "--inputs", f"x={self.samples / '0.npy'}", "--outputs", out)
        _, sizes, raw = onnx.read_npy((out / "y.npy").read_bytes())
        return struct.unpack(f"<{sizes[0] * sizes[1]}f", raw)

    def test_a_network_in_int8_answers_as_in_f32_but_for_rounding(self):
        said = self.build("--precision", "int8", "--calib", self.samples)
        self.assertEqual(said["precision"]["certificate"]["layers"], {"f32": 0, "bf16": 0, "int8": 2})
        exact, lower = self.answers(self.model), self.answers(self.engine)
        error = max(abs(a - b) for a, b in zip(exact, lower)) / (max(exact) - min(exact))
        self.assertGreater(error, 1e-5)
        self.assertLess(error, 3e-2)
        # What the certificate says covers this sample.
        self.assertGreaterEqual(said["precision"]["certificate"]["outputs"][0]["max_error"] * 1.5, error)

    def test_the_engine_shows_its_certificate(self):
        self.build("--precision", "int8", "--calib", self.samples, "--calib-method", "min-max")
        out, _ = self.nereid("inspect", self.engine)
        self.assertIn("largest error", out)
        self.assertIn("2 int8", out)
        accuracy = self.nereid_json("inspect", self.engine)["engine"]["accuracy"]
        self.assertEqual(accuracy["calibration"], "4 samples, min-max")

    def test_the_cache_gives_the_same_engine_without_the_samples(self):
        self.build("--precision", "int8", "--calib", self.samples, "--calib-cache", self.cache)
        first = self.cache.read_text()
        self.assertTrue(first.startswith("nereid calibration 1 entropy\n"))
        self.assertEqual([line.split(" ")[2] for line in first.splitlines()[1:]], ["b", "x"])
        with_samples = self.answers(self.engine)
        self.build("--precision", "int8", "--calib-cache", self.cache)
        self.assertEqual(self.answers(self.engine), with_samples)
        again = self.dir / "again.calib"
        self.build("--precision", "int8", "--calib", self.samples, "--calib-cache", again)
        self.assertEqual(again.read_text(), first)

    def test_a_cache_of_tensorrt_is_read(self):
        self.cache.write_text("TRT-8601-EntropyCalibration2\nx: 3cc00000\nb: 3cc00000\n")
        said = self.build("--precision", "int8", "--calib-cache", self.cache)
        self.assertEqual(said["precision"]["certificate"]["layers"]["int8"], 2)

    def test_the_same_samples_give_the_same_bytes(self):
        self.build("--precision", "int8", "--calib", self.samples)
        first = self.engine.read_bytes()
        self.build("--precision", "int8", "--calib", self.samples)
        self.assertEqual(self.engine.read_bytes(), first)

    def refuse(self, *words, arguments):
        out, err = self.nereid("build", self.model, "-o", self.engine, "--level", 0, *arguments, code=2)
        self.assertEqual(out, "")
        self.assert_sentence(err, *words)
        self.assertFalse(self.engine.exists())

    def test_samples_that_are_none_are_refused(self):
        empty = self.dir / "empty"
        empty.mkdir()
        int8 = ["--precision", "int8", "--calib"]
        self.refuse("no calibration data", arguments=[*int8, empty])
        self.refuse("no folder", arguments=[*int8, self.dir / "absent"])
        self.refuse("--calib DIR", arguments=["--precision", "int8"])
        self.refuse("percentile", arguments=[*int8, self.samples, "--calib-method", "largest"])
        self.sample(self.samples / "1.npy", [math.nan] * WIDTH)
        self.refuse("1.npy", "NaN", arguments=[*int8, self.samples])
        (self.samples / "1.npy").write_bytes(onnx.npy_floats([2, 3], [0.0] * 6))
        self.refuse("1.npy", "f32[2, 3]", arguments=[*int8, self.samples])
        (self.samples / "1.npy").write_bytes(b"no array")
        self.refuse("1.npy", arguments=[*int8, self.samples])
        self.cache.write_text("nereid calibration 1 entropy\n0 1 elsewhere\n")
        self.refuse("says nothing of", arguments=["--precision", "int8", "--calib-cache", self.cache])

    def test_the_error_stays_under_the_bound(self):
        for bound in (1e-1, 1e-2, 1e-4, 1e-7):
            said = self.build("--accuracy", bound, "--calib", self.samples)
            certificate = said["precision"]["certificate"]
            self.assertEqual(certificate["bound"], bound)
            self.assertLessEqual(certificate["outputs"][0]["max_error"], bound)
            exact, lower = self.answers(self.model), self.answers(self.engine)
            error = max(abs(a - b) for a, b in zip(exact, lower)) / (max(exact) - min(exact))
            self.assertLessEqual(error, 1.5 * bound + 1e-6)
        self.assertEqual(certificate["layers"]["int8"], 0)

    def test_accuracy_without_samples_is_measured_on_random_inputs_and_says_so(self):
        certificate = self.build("--accuracy", "1e-2")["precision"]["certificate"]
        self.assertIn("random inputs", certificate["data"])


if __name__ == "__main__":
    unittest.main()
