# SPDX-License-Identifier: Apache-2.0
"""`nereid build --strip` and `nereid refit`, and trtexec's flags for them: engines without weights and with others."""
import math
import os
import struct
import subprocess
import unittest

import onnx_bytes as onnx
from program import ProgramTest

ROW = onnx.tensor_type(onnx.FLOAT, ["n", 4])
COLUMNS = 64


def net(seed, columns=COLUMNS, name="w"):
    weights = [math.sin(seed * (i + 1)) for i in range(4 * columns)]
    return onnx.model([onnx.node("MatMul", ["x", name], ["a"]), onnx.node("Relu", ["a"], ["y"])],
                      [("x", ROW)], [("y", onnx.tensor_type(onnx.FLOAT, ["n", columns]))],
                      [onnx.tensor(name, onnx.FLOAT, [4, columns], onnx.floats(*weights))])


class RefitTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.model = self.write("net.onnx", net(1))
        self.other = self.write("other.onnx", net(2))
        self.x = self.write("x.npy", onnx.npy_floats([1, 4], [0.5, -1, 2, 0.25]))
        self.engine, self.stripped, self.result = (self.dir / f"{n}.engine" for n in ("net", "stripped", "result"))
        self.build(self.engine)

    def write(self, name, content):
        path = self.dir / name
        path.write_bytes(content)
        return path

    def build(self, engine, *flags):
        # Builds that time kernels may choose differently each time.
        self.nereid("build", self.model, "-o", engine, "--level", "0", "--quiet", *flags)

    def answer(self, model):
        self.nereid("infer", model, "--inputs", f"x={self.x}", "--outputs", self.dir / "out")
        _, sizes, raw = onnx.read_npy((self.dir / "out" / "y.npy").read_bytes())
        self.assertEqual(sizes, [1, COLUMNS])
        return struct.unpack(f"<{COLUMNS}f", raw)

    def test_a_stripped_engine_gets_its_weights_back_byte_for_byte(self):
        self.build(self.stripped, "--strip")
        self.assertLess(len(self.stripped.read_bytes()), len(self.engine.read_bytes()))
        self.nereid("refit", self.engine, "--strip", "-o", self.result, "--quiet")
        self.assertEqual(self.result.read_bytes(), self.stripped.read_bytes())
        self.nereid("refit", self.stripped, "--weights", self.model, "-o", self.result)
        self.assertEqual(self.result.read_bytes(), self.engine.read_bytes())

    def test_kernels_that_were_timed_stay_chosen(self):
        self.nereid("build", self.model, "-o", self.engine, "--level", "2", "--quiet")
        self.nereid("refit", self.engine, "--strip", "-o", self.stripped, "--quiet")
        self.nereid("refit", self.stripped, "--weights", self.model, "-o", self.result, "--quiet")
        self.assertEqual(self.result.read_bytes(), self.engine.read_bytes())

    def test_a_stripped_engine_says_what_to_do(self):
        self.build(self.stripped, "--strip")
        out, err = self.nereid("infer", self.stripped, "--inputs", f"x={self.x}", "--outputs", self.dir / "o", code=2)
        self.assertEqual(out, "")
        self.assert_sentence(err, f"nereid refit {self.stripped} --weights net.onnx -o OUT")
        self.assertIn("stripped", self.nereid("inspect", self.stripped)[0])

    def test_other_weights_of_the_same_names_and_sizes(self):
        report = self.nereid_json("refit", self.engine, "--weights", self.other, "-o", self.result)
        self.assertEqual(report["file_bytes"], len(self.result.read_bytes()))
        self.assertEqual(self.answer(self.result), self.answer(self.other))
        self.assertNotEqual(self.answer(self.result), self.answer(self.engine))

    def test_what_does_not_fit_is_named_and_nothing_is_written(self):
        for content, words in ((net(1, 32), ("'w'", "f32[4, 32]", "f32[4, 64]")), (net(1, name="v"), ("no weight 'w'",)),
                               (b"hello", ("no ONNX model",))):
            wrong = self.write("wrong.onnx", content)
            out, err = self.nereid("refit", self.engine, "--weights", wrong, "-o", self.result, code=2)
            self.assertEqual(out, "")
            self.assert_sentence(err, str(wrong), *words)
            self.assertFalse(self.result.exists())
        _, err = self.nereid("refit", self.engine, "-o", self.result, code=2)
        self.assert_sentence(err, "--weights")
        _, err = self.nereid("refit", self.model, "--weights", self.model, "-o", self.result, code=2)
        self.assert_sentence(err, str(self.model))

    def trtexec(self, *arguments, code=0):
        program = self.dir / "trtexec"
        if not program.exists():
            os.symlink(os.environ["NEREID"], program)
        done = subprocess.run([str(program), *map(str, arguments), "--duration=0", "--warmUp=0", "--iterations=2"],
                              capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, env=self.environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_trtexec_strips_and_refits(self):
        said = self.trtexec(f"--onnx={self.model}", "--stripWeights", f"--saveEngine={self.stripped}", "--dumpRefit")
        self.assertIn("w: f32[4, 64]", said)
        self.assertIn("&&&& PASSED", said)
        self.assertIn("without weights", self.trtexec(f"--loadEngine={self.stripped}", code=2))
        said = self.trtexec(f"--loadEngine={self.stripped}", f"--refitFromOnnx={self.model}", "--timeRefit", "--shapes=x:1x4")
        self.assertRegex(said, r"Engine refitted in [0-9.e-]+ sec\.")
        self.assertIn("Performance summary", said)
        self.trtexec(f"--loadEngine={self.stripped}", f"--refitFromOnnx={self.other}", f"--saveEngine={self.result}")
        self.assertEqual(self.answer(self.result), self.answer(self.other))
        self.assertIn("--loadEngine", self.trtexec(f"--onnx={self.model}", f"--refitFromOnnx={self.model}", code=2))


if __name__ == "__main__":
    unittest.main()
