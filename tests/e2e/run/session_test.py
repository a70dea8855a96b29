#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nereid run: conversations that go on in another process, types of the key/value cache, contexts that shift."""
import unittest

from program import TINY, ProgramTest, expected

MODEL = TINY / "tiny-qwen3.gguf"
CHAT = [MODEL, "--chat", "--chat-template", "chatml", "--context", 256, "-n", 8]


class Sessions(ProgramTest):
    def test_a_conversation_goes_on_in_another_process_as_it_would_have_in_one(self):
        for more in ([], ["--kv-cache-dtype", "int8"]):
            with self.subTest(more=more):
                file = self.scratch / "chat.session"
                first, second = self.answers(*CHAT, *more, stdin=b"of\nthe\n")
                (alone,) = self.answers(*CHAT, *more, "--save-session", file, stdin=b"of\n")
                self.assertEqual(alone["tokens"], first["tokens"])
                for _ in range(2):  # the file stays as it is
                    (again,) = self.answers(*CHAT, *more, "--load-session", file, stdin=b"the\n")
                    self.assertEqual(again["tokens"], second["tokens"])
                    self.assertEqual(again["prompt_tokens"], second["prompt_tokens"])
                (again,) = self.answers(*CHAT, *more, "--load-session", file, "-p", "the")
                self.assertEqual(again["tokens"], second["tokens"])

    def test_a_conversation_without_a_template_and_a_plain_prompt_go_on_too(self):
        file = self.scratch / "raw.session"
        raw = [MODEL, "--chat", "--raw", "-n", 8]
        first, second = self.answers(*raw, stdin=b"of\nthe\n")
        self.answers(*raw, "--save-session", file, stdin=b"of\n")
        (again,) = self.answers(*raw, "--load-session", file, stdin=b"the\n")
        self.assertEqual(again["tokens"], second["tokens"])
        want = expected("tiny-qwen3")
        self.answers(MODEL, "-p", want["prompt"], "-n", 2, "--save-session", file)
        (answer,) = self.answers(MODEL, "-p", want["prompt"], "-n", 24, "--load-session", file)
        self.assertEqual(answer["tokens"], want["greedy_tokens"])

    def test_what_is_no_session_of_this_model_is_refused_with_a_sentence(self):
        file = self.scratch / "good.session"
        self.answers(*CHAT, "--save-session", file, stdin=b"of\n")
        whole = file.read_bytes()
        bad = self.scratch / "bad.session"
        load = lambda model, *more: self.nereid("run", model, "-p", "a", "--load-session", bad, *more)
        for name, content, words in (("text", b"x" * 500, ["no session"]), ("empty", b"", ["no session"]),
                                     ("cut", whole[:-9], ["cut off or corrupt"]),
                                     ("changed", whole[:900] + b"\xff\xfe" + whole[902:], ["checksum"])):
            with self.subTest(name=name):
                bad.write_bytes(content)
                self.assert_refused(load(MODEL), 2, str(bad), *words)
        bad.write_bytes(whole)
        self.assert_refused(load(TINY / "tiny-llama.gguf"), 2, "another model")
        self.assert_refused(load(MODEL, "--kv-cache-dtype", "int8"), 2, "as f16", "as int8", "--kv-cache-dtype")
        self.assert_refused(self.nereid("run", MODEL, "-p", "a", "--load-session", self.scratch / "none"), 2, "none")
        self.assert_refused(self.nereid("run", MODEL, "--chat", "--raw", "--load-session", bad), 2, "chat template")
        done = self.nereid("run", MODEL, "-p", "a", "-n", 2, "--quiet", "--save-session", self.scratch / "no" / "x")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"no/x", done.stderr)


class Caches(ProgramTest):
    def test_wider_types_of_cache_answer_as_the_original_framework_does(self):
        want = expected("tiny-qwen3")
        for dtype in ("f16", "f32", "bf16", "f32,1=f16"):
            with self.subTest(dtype=dtype):
                (answer,) = self.answers(MODEL, "-p", want["prompt"], "-n", 24, "--kv-cache-dtype", dtype, "--strict")
                self.assertEqual(answer["tokens"], want["greedy_tokens"])

    def test_narrow_types_answer_the_same_however_many_threads_there_are(self):
        for dtype in ("int8", "fp8", "int8,0=f16"):
            with self.subTest(dtype=dtype):
                one, two = (self.answers(MODEL, "-p", "of the", "-n", 24, "--kv-cache-dtype", dtype, "--strict",
                                         "--threads", threads)[0]["tokens"] for threads in (1, 2))
                self.assertEqual(one, two)

    def test_a_type_or_layer_that_there_is_not_is_named(self):
        self.assert_refused(self.nereid("run", MODEL, "-p", "a", "--kv-cache-dtype", "int3"), 2, "int3", "--kv-cache-dtype")
        self.assert_refused(self.nereid("run", MODEL, "-p", "a", "--kv-cache-dtype", "f16,7=int8"), 2, "layer 7")


class ContextShift(ProgramTest):
    def test_an_answer_goes_on_past_the_context_only_when_it_is_asked_to(self):
        prompt = [MODEL, "-p", "of the", "-n", 150, "--context", 64, "--ignore-eos"]
        (ends,) = self.answers(*prompt)
        (goes_on,) = self.answers(*prompt, "--context-shift", "--keep", 2)
        self.assertLess(len(ends["tokens"]), 64)
        self.assertEqual(len(goes_on["tokens"]), 150)
        self.assertEqual(goes_on["tokens"][:len(ends["tokens"])], ends["tokens"])


if __name__ == "__main__":
    unittest.main()
