# SPDX-License-Identifier: Apache-2.0
"""bench/peers/onnx with stand-ins for the three programs: what it asks them, and what it makes of their answers."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "bench" / "peers" / "onnx"

STAND_IN = """#!/usr/bin/env python3
import json, sys, os
a = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(os.path.basename(sys.argv[0]) + " " + " ".join(a) + "\\n")
{body}
"""
NEREID = """
if a[0] == "bench":
    print(json.dumps({"isa": "avx2", "load_ms": 10.0, "iterations": 5, "rss_mib": 50.0, "cpu_ms": 2.0,
                      "latency_ms": {"min": 2.0, "median": 2.0}}))
else:
    os.makedirs(a[a.index("--outputs") + 1], exist_ok=True)
"""
PEERS = """
a = a[2:]
if a[0] == "versions":
    said = {"onnxruntime": "1.32.0", "openvino": "2026.4.1"}
elif a[0] == "run":
    if a[1] == "openvino" and "det" in a[2]:
        sys.exit("Conversion is failed for: Conv-15")
    ms = 4.0 if a[1] == "openvino" else 3.0
    said = {"load_ms": 20.0, "runs": 5, "min_ms": ms, "median_ms": ms, "cpu_ms": ms, "rss_mib": 100.0}
elif a[0] == "compare":
    said = {"outputs": {"y": 2e-6}, "missing": []}
else:
    said = None
print("a line of chatter")
print(json.dumps(said))
"""


class OnnxBenchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="nereid-e2e-")
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        self.log = self.dir / "log"
        self.stand_in("nereid", NEREID)
        self.stand_in("python", PEERS)
        for name in ("det", "rec"):
            path = self.dir / f"rapidocr_onnxruntime-1.4.4/rapidocr_onnxruntime/models/ch_PP-OCRv4_{name}_infer.onnx"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")

    def stand_in(self, name, body):
        path = self.dir / name
        path.write_text(STAND_IN.format(log=str(self.log), body=body))
        path.chmod(0o755)

    def run_script(self, *more):
        out = self.dir / "report.md"
        done = subprocess.run([sys.executable, "-B", str(SCRIPT), "--peer-python", str(self.dir / "python"), "--nereid",
                               str(self.dir / "nereid"), "--models", str(self.dir), "--threads", "1", "--repeat", "2", "--match",
                               "OCR", "--out", str(out), *more], capture_output=True, text=True, timeout=240)
        return done, out.read_text() if out.exists() else ""

    def test_the_report_has_ratios_to_the_better_peer(self):
        done, report = self.run_script()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| 1 | OCR rec 48x320 b1 | 2.00 | 2.00 | 3.00 | 3.00 | 4.00 | 4.00 | 1.50 | 1.50 | 1.50 | 2.0e-06 | met |", report)
        self.assertIn("| 1 | OCR det 640x640 | 2.00 | 2.00 | 3.00 | 3.00 | fails | fails | 1.50 | 1.50 | 1.50 | 2.0e-06 | met |", report)
        self.assertIn("OpenVINO fails on OCR det 640x640: ", report)
        self.assertIn("geometric mean over the 3 cases (extras left out) 1.50 by medians", report)
        self.assertIn("| 10.0 | 20.0 | 20.0 | 2.00 | 50.0 | 100.0 | 100.0 | 2.00 |", report)
        self.assertIn("precision f32 in all three; 2 repeats in turn", report)

    def test_all_are_asked_for_the_same(self):
        self.run_script("--runs", "7", "--seconds", "0.25")
        log = self.log.read_text()
        self.assertEqual(log.count("nereid bench"), 6)
        self.assertIn("--threads 1 --precision f32 --warmup 100 --duration 0.25 --iterations 7 --json --quiet", log)
        self.assertRegex(log, r"run onnxruntime \S+rec_infer.onnx \S+inputs.json 1 100 0.25 7")

    def test_other_versions_and_missing_models_are_refused(self):
        self.stand_in("python", PEERS.replace("1.32.0", "1.31.0"))
        done, report = self.run_script()
        self.assertEqual((done.returncode, report), (1, ""))
        self.assertIn("onnxruntime 1.31.0", done.stderr)
        self.stand_in("python", PEERS)
        done, _ = self.run_script("--match", "magika")
        self.assertEqual(done.returncode, 1)
        self.assertIn("scripts/fetch_models --only onnx", done.stderr)


if __name__ == "__main__":
    unittest.main()
