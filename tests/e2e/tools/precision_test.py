# SPDX-License-Identifier: Apache-2.0
"""`nereid build --precision int8` and `--accuracy`: calibration, its cache, and what is said of the accuracy."""
import math
import os
import random
import struct
import subprocess
import unittest

import onnx_bytes as onnx
from program import ProgramTest

WIDTH, CLASSES = 32, 8
ROW = onnx.tensor_type(onnx.FLOAT, ["n", WIDTH])


class PrecisionTest(ProgramTest):
    def setUp(self):
        super().setUp()
        numbers = random.Random(1)
        self.w1 = w1 = [numbers.gauss(0, 1 / math.sqrt(WIDTH)) for _ in range(WIDTH * WIDTH)]
        self.w2 = w2 = [numbers.gauss(0, 1 / math.sqrt(WIDTH)) for _ in range(WIDTH * CLASSES)]
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

    def test_codes_are_those_of_the_formulas(self):
        """The same in plain Python: docs/guide/precision.md has the formulas."""
        self.build("--precision", "int8", "--calib", self.samples)

        def single(value):
            return struct.unpack("<f", struct.pack("<f", value))[0]

        def product(rows, weights, width, columns, least, most):
            scale = single((most - least) / 255)
            zero = round(-least / scale)
            scales = [single(max(abs(weights[k * columns + c]) for k in range(width)) / 127) for c in range(columns)]
            codes = [[round(weights[k * columns + c] / scales[c]) for k in range(width)] for c in range(columns)]
            out = []
            for row in rows:
                x = [min(max(round(v / scale) + zero, 0), 255) - zero for v in row]
                out.append([scale * scales[c] * sum(a * b for a, b in zip(x, codes[c])) for c in range(columns)])
            return out

        def ranges(values):
            return min(0, *values), max(0, *values)

        def rows_of(sample):
            _, sizes, raw = onnx.read_npy((self.samples / f"{sample}.npy").read_bytes())
            flat = struct.unpack(f"<{sizes[0] * sizes[1]}f", raw)
            return [flat[i:i + WIDTH] for i in range(0, len(flat), WIDTH)]

        inputs = [row for sample in range(4) for row in rows_of(sample)]
        hidden = [[max(0.0, sum(x * self.w1[k * WIDTH + c] for k, x in enumerate(row))) for c in range(WIDTH)] for row in inputs]
        x_range, h_range = (ranges([v for row in rows for v in row]) for rows in (inputs, hidden))
        first = product(rows_of(0), self.w1, WIDTH, WIDTH, *x_range)
        expected = product([[max(0.0, v) for v in row] for row in first], self.w2, WIDTH, CLASSES, *h_range)
        flat = [v for row in expected for v in row]
        # A code on the edge between two may fall on either side: a step of one of 32 terms.
        error = max(abs(a - b) for a, b in zip(flat, self.answers(self.engine))) / (max(flat) - min(flat))
        self.assertLess(error, 1e-3)

    def test_the_engine_shows_its_certificate(self):
        self.build("--precision", "int8", "--calib", self.samples, "--calib-method", "entropy")
        out, _ = self.nereid("inspect", self.engine)
        self.assertIn("largest error", out)
        self.assertIn("2 int8", out)
        accuracy = self.nereid_json("inspect", self.engine)["engine"]["accuracy"]
        self.assertEqual(accuracy["calibration"], "4 samples, entropy")

    def test_the_cache_gives_the_same_engine_without_the_samples(self):
        self.build("--precision", "int8", "--calib", self.samples, "--calib-cache", self.cache)
        first = self.cache.read_text()
        self.assertTrue(first.startswith("nereid calibration 1 min-max\n"))
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
        self.refuse("percentile", arguments=[*int8, self.samples, "--calib-method", "largest"])
        self.sample(self.samples / "1.npy", [math.nan] * WIDTH)
        self.refuse("1.npy", "NaN", arguments=[*int8, self.samples])
        (self.samples / "1.npy").write_bytes(onnx.npy_floats([2, 3], [0.0] * 6))
        self.refuse("1.npy", "f32[2, 3]", arguments=[*int8, self.samples])
        (self.samples / "1.npy").write_bytes(b"no array")
        self.refuse("1.npy", arguments=[*int8, self.samples])
        self.cache.write_text("nereid calibration 1 entropy\n0 1 elsewhere\n")
        self.refuse("says nothing of", arguments=["--precision", "int8", "--calib-cache", self.cache])

    def test_products_need_no_samples_and_convolutions_do(self):
        certificate = self.build("--precision", "int8")["precision"]["certificate"]
        self.assertEqual(certificate["layers"]["int8"], 2)
        exact, lower = self.answers(self.model), self.answers(self.engine)
        self.assertLess(max(abs(a - b) for a, b in zip(exact, lower)) / (max(exact) - min(exact)), 3e-2)
        self.engine.unlink()
        image = onnx.tensor_type(onnx.FLOAT, [1, 3, 8, 8])
        self.model.write_bytes(onnx.model(
            [onnx.node("Conv", ["x", "w"], ["y"])], [("x", image)], [("y", onnx.tensor_type(onnx.FLOAT, [1, 4, 6, 6]))],
            [onnx.tensor("w", onnx.FLOAT, [4, 3, 3, 3], onnx.floats(*[math.sin(i) for i in range(108)]))]))
        self.refuse("1 convolutions", "--calib DIR", arguments=["--precision", "int8"])

    def test_trtexec_builds_int8_with_a_cache_or_random_inputs(self):
        self.cache.write_text("TRT-8601-EntropyCalibration2\nx: 3cc00000\nb: 3cc00000\n")
        trtexec = self.dir / "trtexec"
        trtexec.symlink_to(os.environ["NEREID"])
        for flags, words in (([f"--calib={self.cache}"], "2 int8"), ([], "random inputs")):
            done = subprocess.run([trtexec, f"--onnx={self.model}", f"--saveEngine={self.engine}", "--int8", "--shapes=x:4x32",
                                   "--skipInference", "--builderOptimizationLevel=0", *flags],
                                  capture_output=True, text=True, env=self.environment)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("FP32+INT8", done.stdout)
            self.assertIn(words, done.stdout)
            self.assertIn("int8", self.nereid("inspect", self.engine)[0])
        absent = subprocess.run([trtexec, f"--onnx={self.model}", "--int8", "--calib=absent.cache"], capture_output=True,
                                text=True, env=self.environment)
        self.assertNotEqual(absent.returncode, 0)
        self.assertIn("absent.cache", absent.stderr + absent.stdout)

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

    def test_nothing_is_certified_of_outputs_that_are_no_numbers(self):
        self.model.write_bytes(onnx.model(
            [onnx.node("MatMul", ["x", "w1"], ["a"]), onnx.node("Mul", ["a", "s"], ["y"])], [("x", ROW)],
            [("y", onnx.tensor_type(onnx.FLOAT, ["n", WIDTH]))],
            [onnx.tensor("w1", onnx.FLOAT, [WIDTH, WIDTH], onnx.floats(*self.w1)),
             onnx.tensor("s", onnx.FLOAT, [1], onnx.floats(math.nan))]))
        self.refuse("'y'", "nothing can be known", arguments=["--accuracy", "1e-2"])
        said = self.build("--precision", "int8")["precision"]
        self.assertTrue(any("not measured" in remark for remark in said["remarks"]), said)
        self.assertEqual(said["certificate"]["samples"], 0)

    def test_accuracy_without_samples_is_measured_on_random_inputs_and_says_so(self):
        certificate = self.build("--accuracy", "1e-2")["precision"]["certificate"]
        self.assertIn("random inputs", certificate["data"])


if __name__ == "__main__":
    unittest.main()
