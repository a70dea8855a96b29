# SPDX-License-Identifier: Apache-2.0
"""Choosing kernels: levels, the timing cache, and what an engine says on another machine."""
import math
import struct
import unittest

import onnx_bytes as onnx
from program import ProgramTest

CHANNELS, SIZE = 24, 20


class TuneTest(ProgramTest):
    def setUp(self):
        super().setUp()
        count = CHANNELS * CHANNELS * 9
        weights = [math.sin(0.7 * i) / 15 for i in range(count)]
        kind = onnx.tensor_type(onnx.FLOAT, [1, CHANNELS, SIZE, SIZE])
        # Without "pads" the windows stay inside: 20 -> 18 -> 16.
        out = onnx.tensor_type(onnx.FLOAT, [1, CHANNELS, SIZE - 4, SIZE - 4])
        self.model = self.write("net.onnx", onnx.model(
            [onnx.node("Conv", ["x", "w"], ["a"]), onnx.node("Relu", ["a"], ["b"]), onnx.node("Conv", ["b", "w"], ["y"])],
            [("x", kind)], [("y", out)],
            [onnx.tensor("w", onnx.FLOAT, [CHANNELS, CHANNELS, 3, 3], onnx.floats(*weights))]))
        values = [math.cos(0.3 * i) for i in range(CHANNELS * SIZE * SIZE)]
        self.x = self.write("x.npy", onnx.npy_floats([1, CHANNELS, SIZE, SIZE], values))
        self.cache = self.dir / "timing.cache"

    def write(self, name, content):
        path = self.dir / name
        path.write_bytes(content)
        return path

    def build(self, name, *arguments, **keywords):
        engine = self.dir / name
        return engine, self.nereid_json("build", self.model, "-o", engine, *arguments, **keywords)

    def answers(self, engine, **environment):
        out = self.dir / "out"
        _, err = self.nereid("infer", engine, "--inputs", f"x={self.x}", "--outputs", out, **environment)
        raw = onnx.read_npy((out / "y.npy").read_bytes())[2]
        return struct.unpack(f"<{len(raw) // 4}f", raw), err

    def lines(self):
        return [line for line in self.cache.read_text().splitlines() if not line.startswith("#")]

    def test_level_0_times_nothing_and_level_3_times_what_can_be_done_in_several_ways(self):
        for level in (0, 3):
            _, said = self.build(f"{level}.engine", "--level", level)
            layers = said["choices"]["layers"]
            self.assertEqual(len(layers), 2)
            for layer in layers:
                self.assertTrue(layer["layer"].startswith("conv_last %"), layer)
                self.assertTrue(layer["problem"].startswith(f"conv f32 n=1 h="), layer)
                self.assertTrue(layer["reason"])
                self.assertEqual(len(layer["timed"]) > 2, level == 3, layer)
                if level == 0:
                    self.assertEqual(layer["chosen"], layer["rule"])

    def test_levels_give_the_same_answers_but_for_rounding(self):
        expected, _ = self.answers(self.build("0.engine", "--level", 0)[0])
        most = max(map(abs, expected))
        for level in (1, 3, 5):
            found, _ = self.answers(self.build(f"{level}.engine", "--level", level)[0])
            self.assertLess(max(abs(a - b) for a, b in zip(expected, found)), 1e-5 * most, f"level {level}")

    def test_two_builds_with_one_cache_give_the_same_bytes(self):
        first, said = self.build("a.engine", "--timing-cache", self.cache)
        self.assertEqual(said["choices"]["from_cache"], 0)
        text = self.cache.read_text()
        self.assertEqual(len(self.lines()), 2)
        self.assertEqual(self.lines(), sorted(self.lines()))
        again, said = self.build("b.engine", "--timing-cache", self.cache)
        self.assertEqual(said["choices"]["from_cache"], 2)
        self.assertEqual(first.read_bytes(), again.read_bytes())
        self.assertEqual(self.cache.read_text(), text)

    def told_to(self, tactic):
        """A cache of this machine in which every problem has this answer."""
        self.build("told.engine", "--timing-cache", self.cache)
        lines = []
        for line in self.lines():
            device, problem, _, level, _, reason = line.split("\t")
            lines.append("\t".join((device, problem, tactic, level, "", reason)) + "\n")
        self.cache.write_text("".join(lines))

    def test_what_the_cache_says_is_done(self):
        for tactic in ("gemm rows=gathered", "winograd2", "winograd4"):
            self.told_to(tactic)
            engine, said = self.build("told.engine", "--timing-cache", self.cache)
            self.assertEqual({layer["chosen"] for layer in said["choices"]["layers"]}, {tactic})
            kernel = "conv." + tactic.split()[0]
            report = self.nereid_json("bench", engine, "--duration", 0.01, "--profile")
            self.assertEqual([l["kernel"] for l in report["layers"] if l["name"].startswith("conv_last")], [kernel] * 2)
            report = self.nereid_json("bench", self.model, "--duration", 0.01, "--profile", "--timing-cache", self.cache)
            self.assertEqual([l["kernel"] for l in report["layers"] if l["name"].startswith("conv_last")], [kernel] * 2)

    def test_layers_with_the_same_weights_may_be_done_in_different_ways(self):
        expected, _ = self.answers(self.build("0.engine", "--level", 0)[0])
        self.told_to("winograd2")
        one, other = self.lines()
        self.cache.write_text(one + "\n" + other.replace("\twinograd2\t", "\twinograd4\t") + "\n")
        engine, said = self.build("told.engine", "--timing-cache", self.cache)
        self.assertEqual(sorted(layer["chosen"] for layer in said["choices"]["layers"]), ["winograd2", "winograd4"])
        for a, b in zip(expected, self.answers(engine)[0]):
            self.assertAlmostEqual(a, b, places=4)

    def test_an_engine_on_another_machine_falls_back_on_the_rules_and_says_so(self):
        rules, _ = self.answers(self.build("0.engine", "--level", 0)[0], NEREID_ISA="baseline")
        self.told_to("winograd2")
        engine, _ = self.build("told.engine", "--timing-cache", self.cache)
        _, err = self.answers(engine)
        self.assertEqual(err, "")
        found, err = self.answers(engine, NEREID_ISA="baseline")
        self.assertIn("timed on another machine", err)
        self.assertEqual(found, rules)

    def test_lines_of_others_are_skipped_with_one_sentence_and_lines_of_other_machines_kept(self):
        self.build("a.engine", "--timing-cache", self.cache)
        mine = self.lines()
        other = "Another CPU; threads 64" + mine[0][mine[0].index("\t"):]
        self.cache.write_text("\n".join([*mine, other, "what is this?", "\t\t\t\t\t", "x" * 100000]) + "\n")
        _, err = self.nereid("build", self.model, "-o", self.dir / "b.engine", "--timing-cache", self.cache, "--quiet")
        self.assertEqual(err.count("were skipped"), 1, err)
        self.assertIn("3 lines of the timing cache", err)
        self.assertEqual(self.lines(), sorted([*mine, other]))

    def test_a_cache_that_cannot_be_written_is_refused_before_anything_is_timed(self):
        for path in (self.dir, self.dir / "absent" / "timing.cache"):
            _, err = self.nereid("build", self.model, "-o", self.dir / "a.engine", "--timing-cache", path, code=2)
            self.assert_sentence(err, str(path))
            self.assertFalse((self.dir / "a.engine").exists())

    def test_a_level_that_is_none_is_refused(self):
        _, err = self.nereid("build", self.model, "-o", self.dir / "a.engine", "--level", 6, code=2)
        self.assertIn("--level", err)

    def test_explain_tells_each_choice_with_its_times(self):
        out, _ = self.nereid("build", self.model, "-o", self.dir / "a.engine", "--explain")
        self.assertRegex(out, r"conv_last %\S+.*: conv f32 n=1 h=20 w=20 c=24 o=24")
        self.assertRegex(out, r"\n +[0-9.]+ us[+ ] winograd2\n")

    def test_trtexec_uses_the_cache_too(self):
        import os
        import subprocess
        trtexec = os.path.join(os.path.dirname(os.environ["NEREID"]), "..", "compat", "trtexec")
        for level in (2, 2):
            done = subprocess.run([trtexec, f"--onnx={self.model}", f"--saveEngine={self.dir / 't.engine'}", "--skipInference",
                                   f"--builderOptimizationLevel={level}", f"--timingCacheFile={self.cache}"],
                                  capture_output=True, text=True, env=self.environment)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(len(self.lines()), 2)


if __name__ == "__main__":
    unittest.main()
