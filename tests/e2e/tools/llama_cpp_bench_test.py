# SPDX-License-Identifier: Apache-2.0
"""bench/peers/llama_cpp with stand-ins for both programs: what it asks them, and what it makes of their answers."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PEERS = ROOT / "bench" / "peers"
SCRIPT = PEERS / "llama_cpp"
sys.dont_write_bytecode = True
sys.path.insert(0, str(PEERS))

STAND_IN = """#!/usr/bin/env python3
import json, sys, os
a = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(os.path.basename(sys.argv[0]) + " " + " ".join(a) + "\\n")
def value(name): return a[a.index(name) + 1]
{body}
"""
NEREID = """
if a[0] == "bench":
    batches = value("--batch").split(",") if "--batch" in a else ["1"]
    tests = [t for t in ("pp" + value("--prompt"), "tg" + value("--gen")) if not t.endswith("pp0")]
    print(json.dumps({"model": "m", "isa": "avx2", "threads": int(value("--threads")), "load_ms": 1, "rss_mib": 1, "results": [
        {"test": t, "batch": int(b), "tokens_per_second": {"best": 300.0 * int(b), "median": 300.0 * int(b)},
         "gb_per_second": 10.0, "roof_share": 0 if "--no-roof" in a else 0.5} for b in batches for t in tests]}))
"""
LLAMA_BENCH = """
print(json.dumps([{"build_commit": "abc", "n_prompt": p, "n_gen": n, "flash_attn": f, "avg_ts": 100.0 + 50 * f}
                  for f in (0, 1) for p, n in ((512, 0), (0, 128))]))
"""
BATCHED = """
for b in value("-npl").split(","):
    print(json.dumps({"pl": int(b), "speed_tg": 100.0 * int(b)}))
"""


def load_script():
    loader = importlib.machinery.SourceFileLoader("llama_cpp_script", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("llama_cpp_script", loader))
    loader.exec_module(module)
    return module


class LlamaCppBenchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="nereid-e2e-")
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        self.log = self.dir / "log"
        for name, body in {"nereid": NEREID, "llama-bench": LLAMA_BENCH, "llama-batched-bench": BATCHED,
                           "llama-completion": ""}.items():
            self.stand_in(name, body)

    def stand_in(self, name, body):
        path = self.dir / name
        path.write_text(STAND_IN.format(log=str(self.log), body=body))
        path.chmod(0o755)

    def run_script(self, *more):
        out = self.dir / "report.md"
        done = subprocess.run([sys.executable, "-B", str(SCRIPT), "--peer", str(self.dir), "--nereid",
                               str(self.dir / "nereid"), "--model", "m.gguf", "--threads", "1", "--repeat", "2", "--out",
                               str(out), *more], capture_output=True, text=True, timeout=120)
        return done, out.read_text() if out.exists() else ""

    def test_the_report_has_every_row_with_its_ratios_and_verdict(self):
        done, report = self.run_script()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| 1 | pp512 | t/s | 300.0 | 300.0 | 150.0 | 150.0 | 2.00 | 2.00 | at least 1.5 | met |", report)
        self.assertIn("| 1 | tg128 | t/s | 300.0 | 300.0 | 150.0 | 150.0 | 2.00 | 2.00 | at least 1.2 | met |", report)
        self.assertIn("| 1 | tg32 x8 | t/s | 2400.0 | 2400.0 | 800.0 | 800.0 | 3.00 | 3.00 |  |  |", report)
        for row in ("tg32 x32", "first token", "peak memory"):
            self.assertIn(f"| 1 | {row} |", report)
        self.assertIn("better with -fa 1", report)
        self.assertIn("memory roof 20.0 GB/s", report)
        self.assertIn("reaches 50 % of it, llama.cpp 25 %", report)

    def test_both_programs_are_asked_for_the_same(self):
        self.run_script()
        log = self.log.read_text()
        self.assertEqual(log.count("llama-bench -m m.gguf -t 1 -p 512 -n 128 -r 1 -fa 0,1"), 2)
        self.assertEqual(log.count("nereid bench m.gguf --threads 1 --repeat 1 --json --quiet --prompt 512 --gen 128"), 2)
        self.assertEqual(log.count("-npl 8,32"), 4)
        self.assertEqual(log.count("--batch 8,32"), 2)

    def test_a_program_that_fails_is_named_and_nothing_is_written(self):
        self.stand_in("llama-bench", "sys.exit('no such model')")
        done, report = self.run_script()
        self.assertEqual(done.returncode, 1)
        self.assertIn("llama-bench ended with 1: no such model", done.stderr)
        self.assertEqual(report, "")

    def test_a_missing_program_is_named(self):
        (self.dir / "llama-batched-bench").unlink()
        done, _ = self.run_script()
        self.assertEqual(done.returncode, 1)
        self.assertIn("llama-batched-bench is not there", done.stderr)

    def test_a_verdict_needs_both_ratios(self):
        goal = load_script().Goal("t/s", 1.2)
        self.assertEqual(goal.verdict((1.3, 1.25)), "met")
        self.assertEqual(goal.verdict((1.3, 1.1)), "unclear")
        self.assertEqual(goal.verdict((1.1, 1.1)), "missed")
        less = load_script().Goal("ms", 0.5, larger_is_better=False)
        self.assertEqual(less.verdict((0.4, 0.5)), "met")

    def test_the_file_is_named_after_the_processor(self):
        slug = load_script().slug
        self.assertEqual(slug("Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz"), "intel-xeon-platinum-8481c-cpu")
        self.assertEqual(slug("AMD EPYC 9B14"), "amd-epyc-9b14")

    def test_the_barrier_is_put_in_once(self):
        import llama_cpp_build
        source = self.dir / "src"
        file = source / llama_cpp_build.AMX_SOURCE
        file.parent.mkdir(parents=True)
        file.write_text("    _tile_loadconfig(&tc);\n")
        llama_cpp_build.add_amx_barrier(source)
        llama_cpp_build.add_amx_barrier(source)
        self.assertEqual(file.read_text(), '    asm volatile("" :: "r"(&tc) : "memory"); _tile_loadconfig(&tc);\n')


if __name__ == "__main__":
    unittest.main()
