# SPDX-License-Identifier: Apache-2.0
"""`nereid check`: a network compared layer by layer, and the first layer past the tolerance named."""
import math
import subprocess
import sys
import unittest

import onnx_bytes as onnx
from program import ROOT, ProgramTest

ROW = onnx.tensor_type(onnx.FLOAT, ["n", 4])


def has_onnxruntime(python):
    return subprocess.run([python, "-c", "import onnxruntime"], capture_output=True).returncode == 0


class CheckTest(ProgramTest):
    def network(self, name="net.onnx", second=0.5):
        """Two products with activations; `second` scales the second matrix."""
        w1 = [math.sin(i) for i in range(4 * 8)]
        w2 = [second * math.cos(i) for i in range(8 * 3)]
        path = self.dir / name
        path.write_bytes(onnx.model(
            [onnx.node("MatMul", ["x", "w1"], ["a"]), onnx.node("Add", ["a", "b1"], ["b"]), onnx.node("Relu", ["b"], ["c"]),
             onnx.node("MatMul", ["c", "w2"], ["d"]), onnx.node("Sigmoid", ["d"], ["y"])],
            [("x", ROW)], [("y", onnx.tensor_type(onnx.FLOAT, ["n", 3]))],
            [onnx.tensor("w1", onnx.FLOAT, [4, 8], onnx.floats(*w1)), onnx.tensor("b1", onnx.FLOAT, [8], onnx.floats(*[0.1] * 8)),
             onnx.tensor("w2", onnx.FLOAT, [8, 3], onnx.floats(*w2))]))
        return path

    def test_a_network_is_within_the_tolerance_of_its_evaluators(self):
        said = self.nereid_json("check", self.network(), "--shapes", "x:5x4")
        self.assertTrue(said["within"])
        self.assertIsNone(said["first"])
        by_name = {v["value"]: v for v in said["values"]}
        self.assertIn("c", by_name)
        self.assertTrue(by_name["y"]["output"])
        self.assertEqual(by_name["c"]["sources"], ["matmul %a", "add %b", "relu %c"])
        self.assertLess(by_name["y"]["relative_error"], 1e-5)

    def test_the_first_layer_that_differs_is_named_with_its_inputs(self):
        out, _ = self.nereid("check", self.network(), "--against", self.network("other.onnx", 0.6), code=1)
        self.assertIn("the first is %y", out)
        self.assertIn("FIRST PAST", out)
        said = self.nereid_json("check", self.network(), "--against", self.dir / "other.onnx", code=1)
        self.assertEqual(said["first"]["value"], "y")
        self.assertEqual(said["first"]["inputs"], ["c"])
        self.assertTrue(next(v for v in said["values"] if v["value"] == "c")["within"])

    def test_a_wider_tolerance_takes_it(self):
        self.nereid("check", self.network(), "--against", self.network("other.onnx", 0.6), "--rtol", 10)

    def test_an_engine_is_compared_with_its_file(self):
        engine = self.dir / "net.engine"
        self.nereid("build", self.network(), "-o", engine, "--quiet", "--level", 0)
        self.assertTrue(self.nereid_json("check", self.network(), "--against", engine)["within"])
        self.assertTrue(self.nereid_json("check", engine, "--against", self.network())["within"])
        self.assertTrue(self.nereid_json("check", engine)["within"])

    def test_nothing_is_said_of_what_is_right_when_quiet(self):
        out, _ = self.nereid("check", self.network(), "--quiet")
        self.assertEqual(out, "")

    def test_wrong_requests_are_refused_with_a_sentence(self):
        net = self.network()
        for words, arguments in ((("--rtol",), ["--rtol", "-1"]), (("neither",), ["--against", __file__]),
                                 (("no such", "there is"), ["--against", self.dir / "absent.onnx"]),
                                 (("python-that-is-not-there",), ["--against", "onnxruntime", "--python",
                                                                  "python-that-is-not-there"])):
            out, err = self.nereid("check", net, *arguments, "--shapes", "x:1x4", code=2)
            self.assertEqual(out, "")
            self.assertRegex(err, "nereid: error: ")
            self.assertTrue(any(w in err for w in words), err)

    def test_onnxruntime_agrees_where_it_is_installed(self):
        python = self.python()
        if python is None:
            self.skipTest("no Python with onnxruntime")
        said = self.nereid_json("check", self.network(), "--against", "onnxruntime", "--python", python, "--shapes", "x:5x4")
        self.assertTrue(said["within"], said)
        self.assertEqual({v["value"] for v in said["values"]}, {"c", "y"})

    def python(self):
        for path in (sys.executable, str(ROOT / "build" / "venv" / "bin" / "python")):
            try:
                if has_onnxruntime(path):
                    return path
            except OSError:
                pass
        return None


if __name__ == "__main__":
    unittest.main()
