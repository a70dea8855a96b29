# SPDX-License-Identifier: Apache-2.0
"""`nereid bench` and `nereid inspect` on ONNX files."""
import unittest

import onnx_bytes as onnx
from program import ProgramTest

ROW = onnx.tensor_type(onnx.FLOAT, ["n", 2])


class BenchNetworkTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.add = self.write("add.onnx", onnx.model(
            [onnx.node("Add", ["x", "b"], ["y"])], [("x", ROW)], [("y", ROW)],
            [onnx.tensor("b", onnx.FLOAT, [2], onnx.floats(10, 20))]))
        self.brief = ["--duration", 0, "--warmup", 0, "--iterations", 3, "--threads", 1]

    def write(self, name, content):
        path = self.dir / name
        path.write_bytes(content)
        return path

    def test_the_json_has_the_figures_of_the_contract(self):
        said = self.nereid_json("bench", self.add, *self.brief, "--shapes", "x:4x2")
        latency = said["latency_ms"]
        self.assertEqual(list(latency), ["min", "median", "mean", "p90", "p95", "p99", "max"])
        self.assertLessEqual(latency["min"], latency["median"])
        self.assertLessEqual(latency["p99"], latency["max"])
        for name in ("throughput_per_second", "load_ms", "build_ms", "rss_mib"):
            self.assertGreater(said[name], 0, name)
        self.assertEqual((said["threads"], said["precision"], said["iterations"]), (1, "f32", 3))
        self.assertEqual(said["inputs"], ["x f32[4, 2]"])

    def test_open_sizes_are_one_and_that_is_said(self):
        out, err = self.nereid("bench", self.add, *self.brief)
        self.assertIn("input x f32[1, 2]", out)
        self.assertIn("runs/s", out)
        self.assertIn("--shapes", err)

    def test_a_profile_names_layers_and_kernels(self):
        said = self.nereid_json("bench", self.add, *self.brief, "--profile")
        self.assertGreaterEqual(len(said["layers"]), 2)
        self.assertTrue(all(layer["mean_ms"] >= 0 for layer in said["layers"]))
        out, _ = self.nereid("bench", self.add, *self.brief, "--profile")
        self.assertIn("| kernel", out)

    def test_the_content_tells_networks_from_language_models(self):
        other = self.write("model.bin", self.add.read_bytes())
        self.assertEqual(self.nereid_json("bench", other, *self.brief)["inputs"], ["x f32[1, 2]"])
        self.assertIn("--iterations", self.nereid("bench", self.add, "--help")[0])
        self.assertIn("--prompt", self.nereid("bench", "--help")[0])

    def test_a_network_without_layers_stays_f32_and_says_so(self):
        self.assertIn("stays f32", self.nereid("bench", self.add, "--precision", "int8", *self.brief)[1])

    def test_what_is_wrong_is_said(self):
        for arguments, words in (((self.add, "--precision", "f33"), ["'f33'"]),
                                 ((self.add, "--shapes", "z:1"), ["'z'"]),
                                 ((self.add, "--shapes", "x:1x3"), ["'x'"]),
                                 ((self.add, "--iterations", 0), ["--iterations"]),
                                 ((self.dir / "absent.onnx",), ["absent.onnx"]),
                                 ((self.write("cut.onnx", self.add.read_bytes()[:30]),), ["cut.onnx"])):
            out, err = self.nereid("bench", *arguments, code=2)
            self.assertEqual(out, "")
            self.assert_sentence(err, *words)

    def test_an_engine_is_measured_like_its_file(self):
        engine = self.dir / "add.engine"
        self.nereid("build", self.add, "-o", engine, "--shapes", "x:4x2", "--quiet")
        said = self.nereid_json("bench", engine, *self.brief)
        self.assertEqual(said["inputs"], ["x f32[4, 2]"])
        self.assertEqual(said["build_ms"], 0)
        self.assertIn("x  f32[4, 2]", self.nereid("inspect", engine)[0])
        self.assertIn("graph", self.nereid("inspect", engine, "--graph=fused")[0])

    def test_inspect_tells_what_is_covered(self):
        said = self.nereid_json("inspect", self.add)
        self.assertEqual(said["network"]["refused_nodes"], 0)
        self.assertEqual([(o["name"], o["nodes"], o["covered"]) for o in said["network"]["operators"]], [("Add", 1, True)])
        self.assertEqual(said["parameters"], 2)
        self.assertIn("%y", self.nereid("inspect", self.add, "--graph")[0])
        odd = self.write("odd.onnx", onnx.model(
            [onnx.node("Add", ["x", "x"], ["z"]), onnx.node("Frobnicate", ["z"], ["y"])], [("x", ROW)], [("y", ROW)]))
        out, _ = self.nereid("inspect", odd)
        self.assertIn("1 of 2 nodes cannot be read", out)
        self.assertIn("Frobnicate", out)
        self.nereid("inspect", odd, "--graph", code=2)
        self.nereid("inspect", self.write("bad.onnx", b"no model"), code=2)


if __name__ == "__main__":
    unittest.main()
