#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nereid run: where prompts come from, what --json holds, how text streams."""
import json
import os
import subprocess
import unittest

from program import PROGRAM, TINY, ProgramTest, expected

MODEL = TINY / "tiny-qwen3.gguf"
PROMPT = expected("tiny-qwen3")["prompt"]
EMOJI = "\N{GRINNING FACE}"
# The tiny models' tokens below 256 are bytes: only those of one emoji are ever drawn, all as likely.
ONLY_EMOJI_BYTES = [arg for byte in EMOJI.encode() for arg in ("--logit-bias", f"{byte}=1e6")] + [
    "--temperature", "1", "--seed", "5"]


class Prompts(ProgramTest):
    def test_every_tiny_model_answers_what_transformers_answers_from_both_formats(self):
        for name in ("tiny-llama", "tiny-qwen2", "tiny-qwen3", "tiny-gemma3"):
            for path in (TINY / f"{name}.gguf", TINY / name):
                with self.subTest(path=path.name):
                    want = expected(name)
                    (answer,) = self.answers(path, "-p", want["prompt"], "-n", 24)
                    self.assertEqual(answer["tokens"], want["greedy_tokens"])
                    self.assertEqual(answer["prompt_tokens"], len(want["prompt_tokens"]))

    def test_a_prompt_comes_from_the_line_a_file_or_stdin(self):
        want = expected("tiny-qwen3")
        file = self.scratch / "prompt.txt"
        file.write_text(want["prompt"])
        for source in (["-p", want["prompt"]], ["-f", file], ["-f", "-"], ["-"]):
            with self.subTest(source=source[0]):
                (answer,) = self.answers(MODEL, *source, "-n", 24, stdin=want["prompt"].encode())
                self.assertEqual(answer["tokens"], want["greedy_tokens"])

    def test_several_prompts_give_several_answers_in_order_each_on_its_own(self):
        texts = ["of the", "[a,b]", "{}", "of the"]
        together = self.answers(MODEL, *[arg for text in texts for arg in ("-p", text)], "-n", 8)
        alone = [self.answers(MODEL, "-p", text, "-n", 8)[0] for text in texts]
        self.assertEqual([a["tokens"] for a in together], [a["tokens"] for a in alone])
        self.assertEqual([a["prompt_tokens"] for a in together], [a["prompt_tokens"] for a in alone])

    def test_the_answer_is_the_same_with_any_number_of_threads_and_any_instruction_set(self):
        want = expected("tiny-qwen3")
        for more in (["--threads", 1], ["--threads", 2], ["--threads", 3], ["--isa", "baseline"], ["--isa", "avx2"]):
            with self.subTest(more=more):
                self.assertEqual(self.answers(MODEL, "-p", want["prompt"], "-n", 24, *more)[0]["tokens"],
                                 want["greedy_tokens"])


class Json(ProgramTest):
    def test_the_object_has_exactly_the_members_of_the_contract(self):
        (answer,) = self.answers(MODEL, "-p", PROMPT, "-n", 5)
        self.assertEqual(list(answer), ["prompt_tokens", "tokens", "text", "finish_reason", "time_to_first_token_ms",
                                        "tokens_per_second"])
        self.assertIsInstance(answer["prompt_tokens"], int)
        self.assertEqual([type(t) for t in answer["tokens"]], [int] * 5)
        self.assertIsInstance(answer["text"], str)
        self.assertEqual(answer["finish_reason"], "length")
        self.assertGreater(answer["time_to_first_token_ms"], 0)
        self.assertGreater(answer["tokens_per_second"], 0)

    def test_log_probabilities_are_added_when_they_are_asked_for(self):
        (answer,) = self.answers(MODEL, "-p", PROMPT, "-n", 4, "--logprobs", 2)
        self.assertEqual([entry["token"] for entry in answer["logprobs"]], answer["tokens"])
        for entry in answer["logprobs"]:
            self.assertEqual(len(entry["top"]), 2)
            self.assertEqual(entry["top"][0]["logprob"], entry["logprob"])
            self.assertLessEqual(entry["top"][1]["logprob"], entry["logprob"])

    def test_stop_texts_and_end_tokens_finish_with_stop(self):
        whole = self.answers(MODEL, "-p", PROMPT, "-n", 24)[0]
        stop = next(c for c in whole["text"] if c.isascii() and c.isprintable())
        stopped = self.answers(MODEL, "-p", PROMPT, "-n", 24, "--stop", stop)[0]
        self.assertEqual(stopped["finish_reason"], "stop")
        self.assertEqual(stopped["text"], whole["text"].split(stop)[0])
        ended = self.answers(MODEL, "-p", PROMPT, "--logit-bias", "261=1000")[0]
        self.assertEqual((ended["finish_reason"], ended["tokens"], ended["text"]), ("stop", [], ""))
        ignored = self.answers(MODEL, "-p", PROMPT, "-n", 6, "--logit-bias", "261=1000", "--ignore-eos")[0]
        self.assertEqual((ignored["finish_reason"], len(ignored["tokens"])), ("length", 6))

    def test_the_seed_alone_decides_what_is_drawn(self):
        def draw(*more):
            return self.answers(MODEL, "-p", PROMPT, "-n", 12, "--temperature", 2, *more)[0]["tokens"]
        self.assertEqual(draw("--seed", 7), draw("--seed", 7, "--threads", 3))
        self.assertNotEqual(draw("--seed", 7), draw("--seed", 18446744073709551615))


class Streaming(ProgramTest):
    def test_text_goes_to_stdout_and_figures_to_stderr(self):
        (answer,) = self.answers(MODEL, "-p", PROMPT, "-n", 12)
        done = self.nereid("run", MODEL, "-p", PROMPT, "-n", 12)
        self.assertEqual(done.stdout.decode(), answer["text"] + "\n")
        self.assertRegex(done.stderr.decode(), r"first token after [0-9.]+ ms; 12 tokens at [0-9.]+/s")
        quiet = self.nereid("run", MODEL, "-p", PROMPT, "-n", 12, "--quiet")
        self.assertEqual((quiet.stdout, quiet.stderr), (done.stdout, b""))

    def test_a_character_of_several_tokens_is_written_whole(self):
        with self.start("run", MODEL, "-p", PROMPT, "-n", 200, "--quiet", *ONLY_EMOJI_BYTES,
                        stdout=subprocess.PIPE) as process:
            text = ""
            while part := os.read(process.stdout.fileno(), 65536):
                text += part.decode()  # raises if a read ends inside a character
        self.assertEqual(process.returncode, 0)
        self.assertIn(EMOJI, text)
        (answer,) = self.answers(MODEL, "-p", PROMPT, "-n", 200, *ONLY_EMOJI_BYTES)
        self.assertEqual(text, answer["text"] + "\n")
        self.assertEqual(bytes(answer["tokens"]).decode("utf-8", "replace"), answer["text"])

    def test_nobody_reading_any_more_ends_the_work(self):
        with open("/dev/full", "wb") as full:
            process = subprocess.run([PROGRAM, "run", MODEL, "-p", PROMPT], stdout=full,
                                     stderr=subprocess.PIPE, env=self.environment(), timeout=60, check=False)
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"could not write to the standard output", process.stderr)


class OtherCommands(ProgramTest):
    def test_tokens_and_back_line_by_line(self):
        texts = ["of the", "", f"a{EMOJI}", "line\nbreak"]
        lines = "".join(json.dumps(text) + "\n" for text in texts).encode()
        for model in (MODEL, TINY / "tiny-qwen3", TINY / "tiny-qwen3" / "tokenizer.json"):
            done = self.nereid("tokenize", model, "--jsonl", stdin=lines)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            ids = [json.loads(line)["ids"] for line in done.stdout.splitlines()]
            self.assertEqual(len(ids), len(texts))
            back = self.nereid("detokenize", model, "--jsonl", stdin="".join(f"{row}\n" for row in ids).encode())
            self.assertEqual([json.loads(line)["text"] for line in back.stdout.splitlines()], texts)

    def test_bytes_that_are_no_character_become_the_replacement_character(self):
        done = self.nereid("detokenize", MODEL, "--jsonl", stdin=b"[97, 240, 159, 98]\n")
        self.assertEqual(json.loads(done.stdout)["text"], "a\N{REPLACEMENT CHARACTER}b")

    def test_a_template_is_rendered_byte_for_byte_and_nothing_is_added(self):
        template = self.scratch / "t.jinja"
        template.write_text("{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
                            "{% if add_generation_prompt %}>{% endif %}")
        messages = json.dumps([{"role": "user", "content": "a\nb"}]).encode()
        done = self.nereid("template", "--template", template, "--messages", "-", "--bos-token", "<s>",
                           "--add-generation-prompt", stdin=messages)
        self.assertEqual((done.returncode, done.stdout), (0, b"<s>[user]a\nb>"))

    def test_a_template_that_raises_ends_with_its_message_and_no_output(self):
        template = self.scratch / "raise.jinja"
        template.write_text("some text {{ raise_exception('roles must alternate') }}")
        done = self.nereid("template", "--template", template, "--messages", "-", stdin=b"[]")
        self.assert_refused(done, 1, "roles must alternate")

    def test_the_output_of_one_is_the_input_of_the_other(self):
        ids = self.nereid("tokenize", MODEL, "--jsonl", stdin=b'"of the"\n"tune"\n').stdout
        texts = self.nereid("detokenize", MODEL, "--jsonl", stdin=ids).stdout
        self.assertEqual(texts, b'{"text":"of the"}\n{"text":"tune"}\n')
        self.assertEqual(self.nereid("tokenize", MODEL, "--jsonl", stdin=texts).stdout, ids)

    def test_lines_that_are_no_text_and_ids_that_are_none_are_named(self):
        for command, line, words in (("tokenize", b'"a"\n17\n', "line 2"), ("tokenize", b'"a\n', "line 1"),
                                     ("detokenize", b"[1.5]\n", "1.5"), ("detokenize", b"[999999]\n", "999999"),
                                     ("detokenize", b"[-1]\n", "-1"), ("detokenize", b"{}\n", "array")):
            with self.subTest(command=command, line=line):
                self.assert_refused(self.nereid(command, MODEL, "--jsonl", stdin=line), 2, words)

    def test_perplexity_needs_a_window_of_text(self):
        self.assert_refused(self.nereid("eval", MODEL, "--perplexity", "-", stdin=b"short"), 2, "window of 512")
        self.assert_refused(self.nereid("eval", MODEL, "--perplexity", "-", stdin=b"long" * 999), 2, "context of 256")


if __name__ == "__main__":
    unittest.main()
