#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SmolLM2 answers what llama.cpp answers, and foretells a text as well (goldens/smollm2.json, by make_goldens.py)."""
import json
import unittest
from pathlib import Path

from program import SHAKESPEARE, SMOLLM2, ProgramTest

GOLDEN = json.loads((Path(__file__).parent / "goldens" / "smollm2.json").read_text())
CLOSE_CALL = 1e-2  # logits
# Three standard deviations of the difference of two logits between two correct programs that round activations to int8;
# llama.cpp with and without flash attention differ as much (docs/decisions/0005-what-equal-answers-mean.md).
INT8_NOISE = 0.5
PERPLEXITY_TOLERANCE = 0.005


def first_difference(ours, theirs):
    """Where they part; None if they do not."""
    for at, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            return at
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs))


@unittest.skipUnless(SMOLLM2.exists(), "build/models holds no SmolLM2; scripts/fetch_models --only demo gets it")
class Goldens(ProgramTest):
    def compare(self, answers, goldens, tolerance):
        """Each answer is the golden's, or parts where llama.cpp's two best logits lie within the tolerance."""
        self.assertEqual(len(answers), len(goldens))
        same = 0
        for answer, golden in zip(answers, goldens):
            with self.subTest(prompt=golden["prompt"]):
                self.assertEqual(answer["prompt_tokens"], len(golden["prompt_ids"]))
                at = first_difference(answer["tokens"], golden["tokens"])
                if at is None:
                    same += 1
                    self.assertEqual(answer["finish_reason"], golden["finish_reason"])
                    self.assertEqual(answer["text"], golden["text"])
                else:
                    print(f"parts at token {at}, where llama.cpp's two best logits are {golden['gaps'][at]} apart:"
                          f" {golden['prompt']!r}")
                    self.assertLess(golden["gaps"][at], tolerance)
        print(f"{same} of {len(answers)} answers are the same, token by token")

    def prompts(self):
        return [arg for row in GOLDEN["exact"] for arg in ("-p", row["prompt"])]

    def test_exact_greedy_answers_are_llama_cpps_or_part_at_a_close_call(self):
        self.compare(self.answers(SMOLLM2, "--exact", "-n", 64, *self.prompts()), GOLDEN["exact"], CLOSE_CALL)

    def test_fast_greedy_answers_part_from_llama_cpps_only_within_the_noise_of_int8_activations(self):
        self.compare(self.answers(SMOLLM2, "-n", 64, *self.prompts()), GOLDEN["fast"], INT8_NOISE)

    def test_prompts_become_the_tokens_that_llama_cpp_makes_of_them(self):
        lines = "".join(json.dumps(row["prompt"]) + "\n" for row in GOLDEN["exact"])
        done = self.nereid("tokenize", SMOLLM2, "--jsonl", "--add-special", "--parse-special", stdin=lines.encode())
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        ids = [json.loads(line)["ids"] for line in done.stdout.splitlines()]
        self.assertEqual(ids, [row["prompt_ids"] for row in GOLDEN["exact"]])

    @unittest.skipUnless(SHAKESPEARE.exists(), "build/models holds no shakespeare.txt; scripts/fetch_models gets it")
    def test_perplexity_is_llama_cpps_within_half_a_percent(self):
        golden = GOLDEN["perplexity"]
        text = self.scratch / "text.txt"
        text.write_bytes(SHAKESPEARE.read_bytes()[:golden["bytes"]])
        done = self.nereid("eval", SMOLLM2, "--perplexity", text, "--json", "--quiet", "--threads", 1)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        result = json.loads(done.stdout)
        print(f"perplexity {result['perplexity']:.4f}, llama.cpp's {golden['value']:.4f}")
        self.assertAlmostEqual(result["perplexity"] / golden["value"], 1, delta=PERPLEXITY_TOLERANCE)
        self.assertEqual(result["tokens"] % 255, 0)


if __name__ == "__main__":
    unittest.main()
