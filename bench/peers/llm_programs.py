# SPDX-License-Identifier: Apache-2.0
"""Nereid and llama.cpp as programs that are run and measured, and the figures that come of it."""
import json
import statistics
import subprocess

from side_by_side import BenchError

PROMPT = "The history of the sea is long, and those who write it down begin with the wind. In the beginning"
PROGRAMS = ("llama-bench", "llama-batched-bench", "llama-completion")
CONTEXT = 2048
STARTS = 3  # of a process, a repeat
TOGETHER = 32  # tokens of each sequence where several run together


class Goal:
    """What a row has to reach: the ratio of Nereid's figure to the peer's."""

    def __init__(self, unit, ratio=None, larger_is_better=True):
        self.unit, self.ratio, self.larger_is_better = unit, ratio, larger_is_better

    def best(self, values):
        return max(values) if self.larger_is_better else min(values)

    def text(self):
        if self.ratio is None:
            return ""
        return f"{'at least' if self.larger_is_better else 'at most'} {self.ratio:g}"

    def verdict(self, ratios):
        """Both ratios (of the best repeats and of the medians) have to say the same."""
        if self.ratio is None:
            return ""
        met = [ratio >= self.ratio if self.larger_is_better else ratio <= self.ratio for ratio in ratios]
        return "met" if all(met) else "missed" if not any(met) else "unclear"


class Samples:
    """Values by row and variant; of a row's variants the best one counts."""

    def __init__(self, goals):
        self.goals, self.values = goals, {}

    def add(self, row, value, variant=""):
        self.values.setdefault(row, {}).setdefault(variant, []).append(value)

    def best(self, row):
        return self.goals[row].best([self.goals[row].best(v) for v in self.values[row].values()])

    def median(self, row):
        return self.goals[row].best([statistics.median(v) for v in self.values[row].values()])

    def variant(self, row):
        return max(self.values[row], key=lambda v: statistics.median(self.values[row][v]))


class Nereid:
    def __init__(self, program, model):
        self.program, self.model = program, model
        self.roofs, self.isa = {}, ""

    def bench(self, runner, threads, *more):
        out, _, _ = runner.run([self.program, "bench", self.model, "--threads", threads, "--repeat", 1, "--json", "--quiet",
                                *more])
        return json.loads(out)

    def generate(self, runner, threads, tokens):
        return runner.run([self.program, "run", self.model, "-p", PROMPT, "-n", tokens, "--temperature", 0, "--ignore-eos",
                           "--threads", threads, "--context", CONTEXT, "--quiet"])

    def measure(self, runner, threads, samples):
        said = self.bench(runner, threads, "--prompt", 512, "--gen", 128)
        self.isa = said["isa"]
        for one in said["results"]:
            samples.add(one["test"], one["tokens_per_second"]["best"])
            if one["test"] == "tg128" and one["roof_share"]:
                roof = one["gb_per_second"] / one["roof_share"]
                self.roofs[threads] = max(roof, self.roofs.get(threads, (0, 0))[0]), one["gb_per_second"] / \
                    one["tokens_per_second"]["best"]
        said = self.bench(runner, threads, "--prompt", 0, "--gen", TOGETHER, "--depth", 1, "--batch", "8,32",
                          "--no-roof")
        for one in said["results"]:
            samples.add(f"tg{TOGETHER} x{one['batch']}", one["tokens_per_second"]["best"])
        for _ in range(STARTS):
            samples.add("first token", self.generate(runner, threads, 1)[1] * 1e3)
        samples.add("peak memory", self.generate(runner, threads, 128)[2])


class LlamaCpp:
    def __init__(self, folder, model):
        self.folder, self.model, self.build = folder, model, ""

    def generate(self, runner, threads, tokens):
        return runner.run([self.folder / "llama-completion", "-m", self.model, "-p", PROMPT, "-n", tokens, "-t", threads,
                           "-c", CONTEXT, "--temp", 0, "--ignore-eos", "--no-warmup", "-no-cnv"])

    def measure(self, runner, threads, samples):
        out, _, _ = runner.run([self.folder / "llama-bench", "-m", self.model, "-t", threads, "-p", 512, "-n", 128, "-r", 1,
                                "-fa", "0,1", "-o", "json"])
        for one in json.loads(out):
            test = f"pp{one['n_prompt']}" if one["n_prompt"] else f"tg{one['n_gen']}"
            samples.add(test, one["avg_ts"], f"-fa {int(one['flash_attn'] in (1, True, 'on', '1'))}")
            self.build = f"{one['build_commit']}"
        for flash in ("off", "on"):
            out, _, _ = runner.run([self.folder / "llama-batched-bench", "-m", self.model, "-t", threads, "-npp", 1, "-ntg",
                                    TOGETHER, "-npl", "8,32", "-c", CONTEXT, "-fa", flash, "--output-format", "jsonl"])
            for line in out.splitlines():
                if line.startswith("{"):
                    one = json.loads(line)
                    samples.add(f"tg{TOGETHER} x{one['pl']}", one["speed_tg"], f"-fa {int(flash == 'on')}")
        for _ in range(STARTS):
            samples.add("first token", self.generate(runner, threads, 1)[1] * 1e3)
        samples.add("peak memory", self.generate(runner, threads, 128)[2])


def default_model(program):
    found = subprocess.run([program, "models", "path", "smollm2-135m"], capture_output=True, text=True)
    if found.returncode != 0:
        raise BenchError("No --model was given and the default one is not here: run `nereid models pull smollm2-135m`.")
    return found.stdout.strip()
