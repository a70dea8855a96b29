# SPDX-License-Identifier: Apache-2.0
"""The command line of trtexec: flags, report lines and exported files, as scripts made for it expect them."""
import json
import os
import re
import subprocess
import unittest

import onnx_bytes as onnx
from program import ProgramTest

ROW = onnx.tensor_type(onnx.FLOAT, ["n", 2])
NUMBER = r"[0-9.e+-]+"
STATISTICS = rf"min = {NUMBER} ms, max = {NUMBER} ms, mean = {NUMBER} ms, median = {NUMBER} ms, percentile\(90%\) = {NUMBER} ms"


class TrtexecTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.program = self.dir / "trtexec"
        os.symlink(os.environ["NEREID"], self.program)
        self.add = self.write("add.onnx", onnx.model(
            [onnx.node("Add", ["x", "b"], ["y"])], [("x", ROW)], [("y", ROW)],
            [onnx.tensor("b", onnx.FLOAT, [2], onnx.floats(10, 20))]))
        self.brief = ["--duration=0", "--warmUp=0", "--iterations=12", "--cpuThreads=1"]

    def write(self, name, content):
        path = self.dir / name
        path.write_bytes(content)
        return path

    def trtexec(self, *arguments, code=0):
        done = subprocess.run([str(self.program), *map(str, arguments)], capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, env=self.environment)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def test_the_report_has_the_lines_that_scripts_read(self):
        out, _ = self.trtexec(f"--onnx={self.add}", "--shapes=x:4x2", *self.brief)
        self.assertRegex(out, r"^&&&& RUNNING TensorRT\.trtexec \[.*\] # trtexec --onnx=")
        self.assertRegex(out, r"(?m)^&&&& PASSED TensorRT\.trtexec \[.*\] # trtexec --onnx=")
        for line in (r"=== Performance summary ===", rf"Throughput: {NUMBER} qps", rf"Latency: {STATISTICS}",
                     rf"Enqueue Time: {STATISTICS}", rf"H2D Latency: {STATISTICS}", rf"GPU Compute Time: {STATISTICS}",
                     rf"D2H Latency: {STATISTICS}", rf"Total Host Walltime: {NUMBER} s",
                     rf"Total GPU Compute Time: {NUMBER} s", r"Timing trace has 12 queries over",
                     r"=== Trace details ===", r"Average on 10 runs - GPU latency: .* ms - Host latency: .* ms \(enqueue .* ms\)",
                     r"Average on 2 runs"):
            self.assertRegex(out, rf"(?m)^\[\d\d/\d\d/\d{{4}}-\d\d:\d\d:\d\d\] \[I\] {line}")

    def test_an_engine_is_saved_and_loaded(self):
        engine = self.dir / "add.plan"
        out, _ = self.trtexec(f"--onnx={self.add}", f"--saveEngine={engine}", "--optShapes=x:4x2", "--skipInference")
        self.assertIn("Engine built in", out)
        self.assertNotIn("Performance summary", out)
        out, _ = self.trtexec(f"--loadEngine={engine}", *self.brief)
        self.assertIn("Engine loaded in", out)
        self.assertIn("with dimensions 4x2", out)
        out, _ = self.trtexec(f"--onnx={self.add}", f"--saveEngine={engine}", "--minShapes=x:1x2", "--optShapes=x:4x2",
                              "--maxShapes=x:8x2", *self.brief)
        self.assertIn("Performance summary", out)
        out, _ = self.trtexec(f"--loadEngine={engine}", "--shapes=*:8x2", *self.brief)
        self.assertIn("with dimensions 8x2", out)

    def test_flags_of_all_releases_are_accepted_and_those_without_effect_said(self):
        # 8.6, 10 and 11 alike.
        flags = ["--fp16", "--int8", "--best", "--workspace=1024", "--memPoolSize=workspace:512", "--explicitBatch",
                 "--useCudaGraph", "--noDataTransfers", "--useSpinWait", "--builderOptimizationLevel=5", f"--timingCacheFile={self.dir / 'c'}",
                 "--stronglyTyped", "--useDLACore=0", "--allowGPUFallback", "--device=0", "--infStreams=2",
                 "--hardwareCompatibilityLevel=ampere+", "--versionCompatible", "--plugins=p.so", "--staticPlugins=p.so",
                 "--verbose", "--separateProfileRun", "--tilingOptimizationLevel=1", "--noCudaGraph"]
        out, _ = self.trtexec(f"--onnx={self.add}", *flags, *self.brief)
        for flag in ("--useDLACore", "--workspace", "--useCudaGraph", "--plugins", "--noCudaGraph"):
            self.assertEqual(len(re.findall(rf"\[W\] {flag} is accepted and changes nothing: ", out)), 1, flag)
        self.assertIn("&&&& PASSED", out)

    def test_the_exported_files(self):
        paths = {name: self.dir / f"{name}.json" for name in ("Times", "Output", "Profile", "LayerInfo")}
        x = self.write("x.npy", onnx.npy_floats([1, 2], [1, 2]))
        out, _ = self.trtexec(f"--onnx={self.add}", f"--loadInputs='x':{x}", "--dumpProfile", "--dumpOutput", "--dumpLayerInfo",
                              "--profilingVerbosity=detailed", *self.brief, *(f"--export{n}={p}" for n, p in paths.items()))
        said = {name: json.loads(path.read_text()) for name, path in paths.items()}
        self.assertEqual(len(said["Times"]), 12)
        self.assertLessEqual({"startEnqMs", "endEnqMs", "startH2dMs", "endH2dMs", "startComputeMs", "endComputeMs",
                              "startD2hMs", "endD2hMs", "h2dMs", "computeMs", "d2hMs", "latencyMs"}, set(said["Times"][0]))
        self.assertEqual(said["Output"], [{"name": "y", "dimensions": "1x2", "values": [11.0, 22.0]}])
        self.assertEqual(list(said["Profile"][0]), ["count"])
        self.assertEqual(list(said["Profile"][1]), ["name", "timeMs", "averageMs", "medianMs", "percentage"])
        self.assertEqual(said["LayerInfo"]["Bindings"], ["x", "y"])
        self.assertEqual(said["LayerInfo"]["Layers"][0]["Outputs"][0]["Name"], "y")
        self.assertRegex(out, r"\[I\] +Time\(ms\) +Avg\.\(ms\) +Median\(ms\) +Time\(%\) +Layer")
        self.assertIn("y: (1x2)", out)
        self.assertIn("Layer Information:", out)

    def test_percentiles(self):
        out, _ = self.trtexec(f"--onnx={self.add}", *self.brief, "--percentile=50,99.5")
        self.assertRegex(out, r"Latency: .*percentile\(50%\) = .* ms, percentile\(99\.5%\) = .* ms")

    def test_what_is_wrong_fails(self):
        for arguments, word in ((["--onnx=absent.onnx"], "absent.onnx"), (["--frobnicate"], "--frobnicate"), ([self.add], "add.onnx"),
                                (["--fp16"], "--onnx"), ([f"--onnx={self.add}", "--iterations=x"], "--iterations"),
                                ([f"--onnx={self.add}", "--shapes=x"], "--shapes"), (["--uff=a.uff"], "ONNX"),
                                ([f"--onnx={self.add}", "--shapes=z:1x2"], "'z'"), ([f"--loadEngine={self.add}"], "no engine"),
                                ([f"--onnx={self.add}", f"--exportTimes={self.dir}/no/t.json", *self.brief], "t.json")):
            done = subprocess.run([str(self.program), *map(str, arguments)], capture_output=True, text=True, timeout=120,
                                  stdin=subprocess.DEVNULL, env=self.environment)
            self.assertIn(done.returncode, (1, 2), arguments)
            self.assertRegex(done.stdout, r"(?m)^&&&& FAILED TensorRT\.trtexec", arguments)
            self.assertRegex(done.stderr, r"(?m)^\[[^]]*\] \[E\] ")
            self.assertIn(word, done.stderr)

    def test_help_lists_every_flag(self):
        out, _ = self.trtexec("--help")
        for flag in ("--saveEngine=", "--exportTimes=", "--useCudaGraph", "--tuneBuildRoutes="):
            self.assertIn(flag, out)
        self.assertEqual(self.trtexec()[0], out)


if __name__ == "__main__":
    unittest.main()
