#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong ends with a sentence and the contract's exit code, and leaves nothing behind."""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from program import PROGRAM, ROOT, SMOLLM2, TINY, ProgramTest

MODEL = TINY / "tiny-qwen3.gguf"


class CommandLine(ProgramTest):
    def test_what_the_command_line_gets_wrong_is_2(self):
        cases = {
            "an unknown command": (["frobnicate"], "there is no command 'frobnicate'"),
            "an unknown option": (["run", MODEL, "--frobnicate"], "--frobnicate"),
            "no model": (["run"], "MODEL"),
            "no prompt": (["run", MODEL], "there is no prompt"),
            "a number that is none": (["run", MODEL, "-p", "a", "-n", "many"], "max_tokens must be a number"),
            "a value out of bounds": (["run", MODEL, "-p", "a", "--top-p", "2"], "top_p must lie between 0 and 1"),
            "a bad bias": (["run", MODEL, "-p", "a", "--logit-bias", "x"], "--logit-bias"),
            "an empty stop text": (["run", MODEL, "-p", "a", "--stop", ""], "stop text"),
            "an unknown device": (["run", MODEL, "-p", "a", "--device", "tpu"], "--device"),
            "a device's number": (["run", MODEL, "-p", "a", "--device", "cuda:x"], "expected cpu, cuda or cuda:NUMBER"),
            "an unknown instruction set": (["run", MODEL, "-p", "a", "--isa", "mmx"], "mmx"),
            "no threads": (["run", MODEL, "-p", "a", "--threads", "-1"], "--threads"),
            "a context too long": (["run", MODEL, "-p", "a", "--context", "99999"], "99999"),
            "a system message without a chat": (["run", MODEL, "-p", "a", "--system", "b"], "--chat"),
            "a second positional": (["run", MODEL, "hello"], "'hello'"),
            "a prompt file that is not there": (["run", MODEL, "-f", "/no/such/file"], "/no/such/file"),
            "a model that is not there": (["run", "/no/such/model.gguf", "-p", "a"], "/no/such/model.gguf"),
            "a model that is not fetched": (["run", "botchan-unigram", "-p", "a"], "nereid models pull"),
        }
        for what, (args, words) in cases.items():
            with self.subTest(what):
                if "pull" in words and (ROOT / "build" / "models").exists():
                    continue  # a checkout's models are found without being fetched
                self.assert_refused(self.nereid(*args), 2, words)

    def test_help_is_0_and_on_stdout(self):
        for args in (["--help"], ["run", "--help"], ["tokenize", "--help"], ["eval", "--help"], ["template", "--help"]):
            done = self.nereid(*args)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"nereid", done.stdout)
        self.assertEqual(self.nereid().returncode, 2)

    def test_every_sampling_setting_is_an_option(self):
        text = self.nereid("run", "--help").stdout.decode()
        for name in ("temperature", "top-k", "top-p", "min-p", "typical-p", "repetition-penalty", "presence-penalty",
                     "frequency-penalty", "penalty-last-n", "seed", "stop", "logit-bias", "logprobs", "ignore-eos",
                     "min-tokens"):
            self.assertIn(f"--{name}", text)

    def test_a_prompt_longer_than_the_context_names_both_lengths(self):
        done = self.nereid("run", MODEL, "-p", "x" * 300)
        self.assert_refused(done, 2, "300 tokens", "context of 256")
        self.assert_refused(self.nereid("run", MODEL, "-p", "x" * 40, "--context", 32), 2, "40 tokens", "32")


class Models(ProgramTest):
    def refused_model(self, name, data):
        path = self.scratch / name
        path.write_bytes(data)
        before = set(self.cache.rglob("*.engine"))
        done = self.nereid("run", path, "-p", "a", "-n", 1)
        self.assert_refused(done, 1)
        self.assertEqual(set(self.cache.rglob("*.engine")), before, "a broken model left an engine")

    def test_a_damaged_model_is_1_with_a_sentence(self):
        whole = MODEL.read_bytes()
        noise = random.Random(1).randbytes(4096)
        self.refused_model("empty.gguf", b"")
        self.refused_model("noise.gguf", noise)
        self.refused_model("magic.gguf", b"GGUF" + noise)
        for part in (5, 24, 300, len(whole) // 2, len(whole) - 1):
            with self.subTest(kept=part):
                self.refused_model("cut.gguf", whole[:part])

    def test_a_model_with_a_flipped_bit_never_crashes(self):
        whole = MODEL.read_bytes()
        dice = random.Random(2)
        for _ in range(25):
            at = dice.randrange(2000)
            with self.subTest(byte=at):
                path = self.scratch / "flipped.gguf"
                path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << dice.randrange(8)]) + whole[at + 1:])
                done = self.nereid("run", path, "-p", "a", "-n", 1)
                self.assertIn(done.returncode, (0, 1, 2), done.stderr.decode())

    def test_a_folder_that_is_no_model_says_what_is_missing(self):
        folder = self.scratch / "folder"
        folder.mkdir()
        self.assert_refused(self.nereid("run", folder, "-p", "a"), 1, "empty")
        (folder / "model.safetensors").write_bytes((TINY / "tiny-qwen3" / "model.safetensors").read_bytes())
        self.assert_refused(self.nereid("run", folder, "-p", "a"), 1, "config.json")
        shutil.copy(TINY / "tiny-qwen3" / "tokenizer.json", folder)
        (folder / "config.json").write_text('{"model_type": "perceptron"}')
        self.assert_refused(self.nereid("run", folder, "-p", "a"), 1, "perceptron")

    def test_a_chat_with_a_model_that_has_no_template_names_the_ones_there_are(self):
        folder = self.scratch / "untemplated"
        shutil.copytree(TINY / "tiny-qwen3", folder)
        config = json.loads((folder / "tokenizer_config.json").read_text())
        del config["chat_template"]
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
        self.assert_refused(self.nereid("run", folder, "--chat", "-p", "a"), 2, "no chat template", "chatml")
        self.assertEqual(self.nereid("run", folder, "--chat", "-p", "a", "--chat-template", "chatml").returncode, 0)

    def test_strict_refuses_what_has_no_fast_kernel(self):
        done = self.nereid("run", TINY / "tiny-llama.gguf", "-p", "a", "-n", 1)
        if b"reference evaluator" not in done.stderr:
            self.skipTest("every part of tiny-llama has a fast kernel now")
        self.assert_refused(self.nereid("run", TINY / "tiny-llama.gguf", "-p", "a", "--strict"), 1, "--strict")


class Disk(ProgramTest):
    def test_a_cache_that_cannot_be_written_is_named(self):
        blocked = self.scratch / "blocked"
        blocked.write_text("a file where a folder is wanted")
        done = self.nereid("run", MODEL, "-p", "a", env={"NEREID_CACHE_DIR": str(blocked / "cache")})
        self.assertIn(done.returncode, (1, 2))
        self.assertIn(b"blocked", done.stderr)

    def assert_full(self, cache, **more):
        done = self.nereid("run", MODEL, "-p", "a", env={"NEREID_CACHE_DIR": str(cache)}, **more)
        self.assert_refused(done, 1)
        self.assertFalse([p for p in cache.rglob("*") if p.is_file()], "a part of an engine was left")

    def test_a_limit_on_file_sizes_leaves_nothing_behind(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))  # noqa: E731
        self.assert_full(self.scratch / "limited", preexec_fn=limit)

    def test_a_full_disk_leaves_nothing_behind(self):
        disk = self.scratch / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", disk], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("only a user who may mount can make a small disk")
        try:
            self.assert_full(disk)
        finally:
            subprocess.run(["umount", disk], check=True)


class Interruption(ProgramTest):
    def test_ctrl_c_ends_an_answer_with_130_and_what_there_is(self):
        for more in ([], ["--json"]):
            with self.start("run", MODEL, "-p", "of the", "-n", 230, "--ignore-eos", "-p", "of the", *["-p", "of"] * 400,
                            "--quiet", *more, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                first = os.read(process.stdout.fileno(), 1)
                process.send_signal(signal.SIGINT)
                rest, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, errors)
            self.assertEqual(errors, b"")
            self.assertTrue((first + rest).endswith(b"\n"))
        self.assertIn(b'"finish_reason":"cancelled"', (first + rest).splitlines()[-1])

    def test_ctrl_c_while_a_prompt_is_awaited_ends_with_130(self):
        for args in (["run", MODEL, "-"], ["tokenize", MODEL, "--jsonl"]):
            with self.start(*args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdin.write(b'"a')
                process.stdin.flush()
                while not self.is_waiting(process.pid):
                    pass
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(timeout=60), 130)

    def is_waiting(self, pid):
        """It sleeps, and has installed its handler: SIGINT is caught."""
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        return status["State"].strip().startswith("S") and int(status["SigCgt"], 16) >> (signal.SIGINT - 1) & 1

    @unittest.skipUnless(SMOLLM2.exists(), "build/models holds no SmolLM2; scripts/fetch_models --only demo gets it")
    def test_ctrl_c_while_packing_leaves_nothing_in_the_cache(self):
        with tempfile.TemporaryDirectory(dir=self.scratch) as cache:
            environment = {**self.environment(), "NEREID_CACHE_DIR": cache}
            # --exact packs half a gigabyte: a second or more in which the signal arrives.
            with subprocess.Popen([PROGRAM, "run", SMOLLM2, "--exact", "-p", "a", "-n", "1"], env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                while not self.files_below(cache):  # the engine's temporary file: packing has begun
                    self.assertIsNone(process.poll())
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(self.files_below(cache), [])

    def files_below(self, folder):
        return [os.path.join(below, name) for below, _, names in os.walk(folder) for name in names]


if __name__ == "__main__":
    unittest.main()
