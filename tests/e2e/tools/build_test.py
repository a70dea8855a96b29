# SPDX-License-Identifier: Apache-2.0
"""`nereid build`: an ONNX file becomes an engine that gives the same answers, here and on lesser processors."""
import json
import math
import struct
import unittest

import onnx_bytes as onnx
from program import ProgramTest

ROW = onnx.tensor_type(onnx.FLOAT, ["n", 4])


class BuildTest(ProgramTest):
    def setUp(self):
        super().setUp()
        weights = [math.sin(i) for i in range(4 * 32)]
        self.model = self.write("net.onnx", onnx.model(
            [onnx.node("MatMul", ["x", "w"], ["a"]), onnx.node("Relu", ["a"], ["b"]), onnx.node("Softmax", ["b"], ["y"])],
            [("x", ROW)], [("y", onnx.tensor_type(onnx.FLOAT, ["n", 32]))],
            [onnx.tensor("w", onnx.FLOAT, [4, 32], onnx.floats(*weights))]))
        self.x = self.write("x.npy", onnx.npy_floats([3, 4], [0.1 * i - 0.5 for i in range(12)]))
        self.engine = self.dir / "net.engine"

    def write(self, name, content):
        path = self.dir / name
        path.write_bytes(content)
        return path

    def answers(self, model, **environment):
        out = self.dir / "out"
        _, err = self.nereid("infer", model, "--inputs", f"x={self.x}", "--outputs", out, **environment)
        _, sizes, raw = onnx.read_npy((out / "y.npy").read_bytes())
        self.assertEqual(sizes, [3, 32])
        return struct.unpack("<96f", raw), err

    def test_an_engine_gives_what_the_file_gives(self):
        said = self.nereid_json("build", self.model, "-o", self.engine)
        self.assertGreater(said["file_bytes"], 0)
        for a, b in zip(self.answers(self.engine)[0], self.answers(self.model)[0]):
            self.assertAlmostEqual(a, b, places=5)  # kernels were chosen by timing them

    def test_the_same_file_gives_the_same_bytes(self):
        self.nereid("build", self.model, "-o", self.engine, "--quiet", "--level", 0)
        again = self.dir / "again.engine"
        self.nereid("build", self.model, "-o", again, "--quiet", "--level", 0)
        self.assertEqual(self.engine.read_bytes(), again.read_bytes())

    def test_an_engine_runs_on_a_processor_without_what_it_was_built_for_and_says_so(self):
        self.nereid("build", self.model, "-o", self.engine, "--quiet")
        expected, err = self.answers(self.engine)
        self.assertEqual(err, "")
        found, err = self.answers(self.engine, NEREID_ISA="baseline")
        self.assertIn("it runs with those for baseline", err)
        for a, b in zip(expected, found):
            self.assertAlmostEqual(a, b, places=5)

    def test_a_damaged_or_cut_engine_is_refused(self):
        self.nereid("build", self.model, "-o", self.engine, "--quiet")
        whole = self.engine.read_bytes()
        for name, content in (("cut", whole[:len(whole) // 2]), ("flipped", whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])):
            broken = self.write(f"{name}.engine", content)
            out, err = self.nereid("infer", broken, "--inputs", f"x={self.x}", "--outputs", self.dir / "o", code=2)
            self.assertEqual(out, "")
            self.assert_sentence(err, str(broken))

    def test_a_file_that_is_no_model_leaves_no_engine(self):
        out, err = self.nereid("build", self.write("no.onnx", b"hello"), "-o", self.engine, code=2)
        self.assert_sentence(err, "no ONNX model")
        self.assertFalse(self.engine.exists())

    def test_explain_says_what_the_passes_did(self):
        out, _ = self.nereid("build", self.model, "-o", self.engine, "--explain")
        self.assertIn("fired", out)


if __name__ == "__main__":
    unittest.main()
