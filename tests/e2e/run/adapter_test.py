#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nereid run --lora: what PEFT computes (tests/golden/arch/make_adapters.py), and what is refused."""
import json
import shutil
import unittest

from program import TINY, ProgramTest, expected


def adapters(name):
    return json.loads((TINY / f"{name}.adapters" / "expected.json").read_text())["adapters"]


class Adapters(ProgramTest):
    def test_answers_are_those_of_peft_from_both_formats(self):
        seen = 0
        for name in ("tiny-llama", "tiny-qwen2", "tiny-qwen3", "tiny-gemma3"):
            prompt = expected(name)["prompt"]
            for adapter, want in adapters(name).items():
                if not adapter or want["smallest_gap_of_top_two"] < 0.01:
                    continue  # rounding would decide; src/llm/run/adapter_test.cc compares the logits
                seen += 1
                for path in (TINY / f"{name}.gguf", TINY / name):
                    with self.subTest(path=path.name, adapter=adapter):
                        (answer,) = self.answers(path, "-p", prompt, "-n", 24, "--ignore-eos",
                                                 "--lora", TINY / f"{name}.adapters" / adapter)
                        self.assertEqual(answer["tokens"], want["greedy_tokens"])
        self.assertGreaterEqual(seen, 5)

    def test_a_scale_of_nothing_is_no_adapter_and_two_are_summed(self):
        model, folder = TINY / "tiny-qwen3.gguf", TINY / "tiny-qwen3.adapters"
        prompt = expected("tiny-qwen3")["prompt"]

        def tokens(*loras):
            return self.answers(model, "-p", prompt, "-n", 16, *[a for lora in loras for a in ("--lora", lora)])[0]["tokens"]

        plain = tokens()
        self.assertEqual(tokens(f"{folder}/all:0"), plain)
        self.assertNotEqual(tokens(f"{folder}/all"), plain)
        self.assertEqual(tokens(f"{folder}/mlp:0.5", f"{folder}/mlp:0.5"), tokens(f"{folder}/mlp"))

    def test_what_is_no_adapter_of_the_model_is_2_with_a_sentence(self):
        model, folder = TINY / "tiny-qwen3.gguf", TINY / "tiny-qwen3.adapters"
        dora = self.scratch / "dora"
        shutil.copytree(folder / "plain", dora)
        config = json.loads((dora / "adapter_config.json").read_text())
        (dora / "adapter_config.json").write_text(json.dumps({**config, "use_dora": True}))
        cut = self.scratch / "cut"
        shutil.copytree(folder / "plain", cut)
        (cut / "adapter_model.safetensors").write_bytes((folder / "plain/adapter_model.safetensors").read_bytes()[:-1])
        for lora, words in ((TINY / "tiny-llama.adapters/plain", "for another model"), (dora, "use_dora"), (cut, "adapter_model"),
                            (self.scratch / "none", "none"), (f"{folder}/plain:inf", "finite"), ("", "names no folder"),
                            (model, "folder")):
            with self.subTest(lora=str(lora)):
                self.assert_refused(self.nereid("run", model, "-p", "a", "--lora", lora), 2, words)


if __name__ == "__main__":
    unittest.main()
