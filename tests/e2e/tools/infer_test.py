# SPDX-License-Identifier: Apache-2.0
"""`nereid infer`: files in, files out, and what is left behind when it fails (nothing)."""
import json
import math
import os
import struct
import unittest

import onnx_bytes as onnx
from program import ProgramTest

ROW = onnx.tensor_type(onnx.FLOAT, ["n", 2])


class InferTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.out = self.dir / "out"
        # y = x + b; b has a value of its own, but may be given.
        self.add = self.write("add.onnx", onnx.model(
            [onnx.node("Add", ["x", "b"], ["y"])], [("x", ROW), ("b", onnx.tensor_type(onnx.FLOAT, [2]))],
            [("y", ROW)], [onnx.tensor("b", onnx.FLOAT, [2], onnx.floats(10, 20))]))
        self.x = self.write("x.npy", onnx.npy_floats([1, 2], [1, 2]))

    def write(self, name, content):
        path = self.dir / name
        path.write_bytes(content)
        return path

    def refused(self, *arguments, words=(), code=2):
        """It ends with a sentence and leaves no file behind."""
        out, err = self.nereid("infer", *arguments, code=code)
        self.assertEqual(out, "")
        self.assert_sentence(err, *words)
        self.assertEqual(sorted(self.out.iterdir()) if self.out.exists() else [], [])

    def floats_of(self, name):
        descr, sizes, raw = onnx.read_npy((self.out / name).read_bytes())
        self.assertEqual(descr, "<f4")
        return sizes, list(struct.unpack(f"<{len(raw) // 4}f", raw))

    def test_an_input_from_a_file_and_one_from_the_model(self):
        self.nereid("infer", self.add, "--inputs", f"x={self.x}", "--outputs", self.out)
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), ["outputs.json", "y.npy"])
        self.assertEqual(self.floats_of("y.npy"), ([1, 2], [11, 22]))
        self.assertEqual(json.loads((self.out / "outputs.json").read_text()),
                         [{"name": "y", "file": "y.npy", "type": "tensor", "dtype": "f32", "shape": [1, 2]}])

    def test_a_value_of_the_models_own_may_be_given(self):
        b = self.write("b.npy", onnx.npy_floats([2], [1, 1]))
        self.nereid("infer", self.add, "--inputs", f"x={self.x},b={b}", "--outputs", self.out)
        self.assertEqual(self.floats_of("y.npy")[1], [2, 3])

    def test_inputs_by_a_list_and_in_several_options(self):
        b = self.write("b.npy", onnx.npy_floats([2], [1, 1]))
        listed = self.write("in.json", json.dumps({"b": str(b)}).encode())
        said = self.nereid_json("infer", self.add, "--inputs", f"@{listed}", "--inputs", f"x={self.x}", "--outputs", self.out)
        self.assertEqual(self.floats_of("y.npy")[1], [2, 3])
        self.assertEqual(said["outputs"][0]["file"], "y.npy")
        self.assertGreater(said["run_ms"], 0)

    def test_random_inputs_are_the_same_for_a_seed(self):
        first = None
        for _ in range(2):
            self.nereid("infer", self.add, "--random", 7, "--shapes", "x:3x2", "--outputs", self.out)
            sizes, values = self.floats_of("y.npy")
            self.assertEqual(sizes, [3, 2])
            self.assertEqual(first or values, values)
            first = values
        self.refused(self.add, "--random", 7, "--outputs", self.out, words=["--shapes"])

    def test_names_that_no_file_should_have(self):
        names = ["a/b:0", "../up", ".hidden", "long" * 60]
        path = self.write("names.onnx", onnx.model(
            [onnx.node("Identity", ["x"], [name]) for name in names], [("x", ROW)], [(name, ROW) for name in names]))
        self.nereid("infer", path, "--inputs", f"x={self.x}", "--outputs", self.out)
        listed = json.loads((self.out / "outputs.json").read_text())
        self.assertEqual([one["name"] for one in listed], names)
        self.assertEqual([one["file"] for one in listed],
                         ["a%2Fb%3A0.npy", "%2E.%2Fup.npy", "%2Ehidden.npy", "output_3.npy"])
        self.assertEqual(sorted(p.name for p in self.out.iterdir()),
                         sorted([one["file"] for one in listed] + ["outputs.json"]))
        self.assertEqual(sorted(p.name for p in self.dir.iterdir() if p.suffix == ".npy"), ["x.npy"])

    def test_what_npy_cannot_hold_goes_through_pb(self):
        half = onnx.tensor_type(onnx.BFLOAT16, [2])
        text = onnx.tensor_type(onnx.STRING, [2])
        path = self.write("pb.onnx", onnx.model(
            [onnx.node("Identity", ["h"], ["hh"]), onnx.node("Identity", ["t"], ["tt"]),
             onnx.node("SequenceConstruct", ["x", "x"], ["s"])],
            [("h", half), ("t", text), ("x", ROW)], [("hh", half), ("tt", text), ("s", onnx.sequence_type(ROW))]))
        h = self.write("h.pb", onnx.tensor("other", onnx.BFLOAT16, [2], b"\x80\x3f\x00\x40"))
        t = self.write("t.pb", onnx.text_tensor([2], ["a", "\u00e4"]))
        self.nereid("infer", path, "--inputs", f"h={h},t={t},x={self.x}", "--outputs", self.out)
        listed = json.loads((self.out / "outputs.json").read_text())
        self.assertEqual([(one["file"], one["type"], one["dtype"]) for one in listed],
                         [("hh.pb", "tensor", "bf16"), ("tt.pb", "tensor", "string"), ("s.pb", "sequence", "f32")])
        self.assertIn(b"\x80\x3f\x00\x40", (self.out / "hh.pb").read_bytes())
        self.assertIn("\u00e4".encode(), (self.out / "tt.pb").read_bytes())

    def test_wrong_inputs_leave_nothing_behind(self):
        out = ["--outputs", self.out]
        self.refused(self.add, *out, words=["'x'"])
        self.refused(self.add, "--inputs", f"z={self.x}", *out, words=["'z'"])
        self.refused(self.add, "--inputs", "x", *out, words=["NAME=FILE"])
        self.refused(self.add, "--inputs", f"x={self.x},x={self.x}", *out, words=["twice"])
        self.refused(self.add, "--inputs", f"x={self.dir / 'absent.npy'}", *out, words=["absent.npy"])
        self.refused(self.add, "--inputs", f"@{self.dir / 'absent.json'}", *out, words=["absent.json"])
        whole = self.x.read_bytes()
        for size in (0, 5, 9, 40, len(whole) - 1):
            self.refused(self.add, "--inputs", f"x={self.write('cut.npy', whole[:size])}", *out, words=["'x'"])
        for sizes, descr in (([2], "<f4"), ([1, 3], "<f4"), ([1, 2], "<f8"), ([1, 2], "<V2"), ([1, 2], "|O")):
            width = int(descr[2:] or 8)
            bad = self.write("bad.npy", onnx.npy(descr, sizes, bytes(width * math.prod(sizes))))
            self.refused(self.add, "--inputs", f"x={bad}", *out, words=["'x'"])

    def test_a_failing_run_leaves_nothing_behind_not_even_the_folder(self):
        y = self.write("y.npy", onnx.npy_floats([3, 2], [1] * 6))
        path = self.write("two.onnx", onnx.model(
            [onnx.node("Add", ["x", "y"], ["z"])], [("x", onnx.tensor_type(onnx.FLOAT, ["n", 2])),
                                                    ("y", onnx.tensor_type(onnx.FLOAT, ["m", 2]))], [("z", ROW)]))
        x = self.write("x2.npy", onnx.npy_floats([2, 2], [1] * 4))
        self.refused(path, "--inputs", f"x={x},y={y}", "--outputs", self.out)
        self.assertFalse(self.out.exists())

    def test_models_that_are_none(self):
        whole = self.add.read_bytes()
        for content in (b"", b"no model", whole[:len(whole) // 2], whole[:-1]):
            self.refused(self.write("bad.onnx", content), "--inputs", f"x={self.x}", "--outputs", self.out)
        self.refused(self.dir / "absent.onnx", "--outputs", self.out, words=["absent.onnx"])
        unknown = self.write("unknown.onnx", onnx.model([onnx.node("Frobnicate", ["x"], ["y"])], [("x", ROW)], [("y", ROW)]))
        self.refused(unknown, "--inputs", f"x={self.x}", "--outputs", self.out, words=["Frobnicate"])

    def test_models_that_ask_for_too_much(self):
        huge = onnx.tensor("s", onnx.INT64, [1], struct.pack("<q", 1 << 40))
        asks = self.write("huge.onnx", onnx.model([onnx.node("ConstantOfShape", ["s"], ["y"])], [], [("y", ROW)], [huge]))
        self.refused(asks, "--outputs", self.out, words=["1099511627776"])
        claims = self.write("claims.onnx", onnx.model([onnx.node("Identity", ["c"], ["y"])], [], [("y", ROW)],
                                                      [onnx.tensor("c", onnx.FLOAT, [1 << 40], b"")]))
        self.refused(claims, "--outputs", self.out, words=["'c'"])
        newer = self.write("newer.onnx", onnx.model([onnx.node("Neg", ["x"], ["y"])], [("x", ROW)], [("y", ROW)], opset=99))
        self.refused(newer, "--inputs", f"x={self.x}", "--outputs", self.out, words=["opset 99"])

    def test_earlier_results_go_and_other_files_stay(self):
        self.nereid("infer", self.add, "--inputs", f"x={self.x}", "--outputs", self.out)
        (self.out / "mine.txt").write_text("mine")
        self.nereid("infer", self.add, "--outputs", self.out, code=2)
        self.assertEqual([p.name for p in self.out.iterdir()], ["mine.txt"])

    def test_a_result_may_be_the_next_input(self):
        for _ in range(3):
            self.nereid("infer", self.add, "--inputs", f"x={self.x}", "--outputs", self.out)
            self.x = self.out / "y.npy"
        self.assertEqual(self.floats_of("y.npy")[1], [31, 62])

    def test_nothing_is_written_through_a_link_or_into_a_file(self):
        elsewhere = self.write("elsewhere", b"elsewhere")
        self.out.mkdir()
        os.symlink(elsewhere, self.out / "y.npy")
        self.nereid("infer", self.add, "--inputs", f"x={self.x}", "--outputs", self.out)
        self.assertEqual(elsewhere.read_bytes(), b"elsewhere")
        self.nereid("infer", self.add, "--inputs", f"x={self.x}", "--outputs", elsewhere, code=2)
        self.assertEqual(elsewhere.read_bytes(), b"elsewhere")


if __name__ == "__main__":
    unittest.main()
