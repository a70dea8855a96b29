#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nereid run --chat: one message, lines from a pipe, and a person at a terminal."""
import json
import os
import pty
import signal
import subprocess
import unittest

from program import PROGRAM, TINY, ProgramTest

MODEL = TINY / "tiny-qwen3.gguf"
CHAT = ["run", MODEL, "--chat", "--chat-template", "chatml", "--context", 256]


class Terminal:
    """The program on a terminal of its own; what it shows is read up to an expected text."""

    def __init__(self, args, env):
        self.master, child = pty.openpty()
        self.process = subprocess.Popen(args, stdin=child, stdout=child, stderr=child, env=env, start_new_session=True,
                                        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
        os.close(child)
        self.shown = b""

    def read_until(self, text):
        while text not in self.shown:
            try:
                part = os.read(self.master, 4096)
            except OSError:  # the program has ended
                part = b""
            if not part:
                raise AssertionError(f"{text!r} was not shown, but {self.shown!r}")
            self.shown += part
        before, _, self.shown = self.shown.partition(text)
        return before

    def type(self, keys):
        os.write(self.master, keys)

    def end(self):
        code = self.process.wait(timeout=60)
        os.close(self.master)
        return code


class Chat(ProgramTest):
    def test_a_message_is_answered_through_the_template(self):
        text = "<|im_start|>user\nof the<|im_end|>\n<|im_start|>assistant\n"
        raw = self.answers(MODEL, "-p", text, "-n", 8)
        chat = self.answers(*CHAT[1:], "-p", "of the", "-n", 8)
        self.assertEqual(chat[0]["tokens"], raw[0]["tokens"])
        system = self.answers(*CHAT[1:], "-p", "of the", "-n", 8, "--system", "Sing.")
        self.assertGreater(system[0]["prompt_tokens"], chat[0]["prompt_tokens"])

    def test_lines_of_a_pipe_are_one_conversation(self):
        first, second = self.answers(*CHAT[1:], "-n", 8, stdin=b"of\n\nthe\n")
        again = ("<|im_start|>user\nof<|im_end|>\n<|im_start|>assistant\n" + first["text"] +
                 "<|im_end|>\n<|im_start|>user\nthe<|im_end|>\n<|im_start|>assistant\n")
        (whole,) = self.answers(MODEL, "-p", again, "-n", 8)
        self.assertEqual(second["tokens"], whole["tokens"])
        self.assertEqual(second["prompt_tokens"], whole["prompt_tokens"])

    def test_raw_goes_on_where_the_answer_ended(self):
        first, second = self.answers(MODEL, "--chat", "--raw", "-n", 4, "--logit-bias", "97=1000", stdin=b"of\nthe\n")
        self.assertEqual(first["text"], "aaaa")
        (whole,) = self.answers(MODEL, "-p", "ofaaaathe", "-n", 4, "--logit-bias", "97=1000")
        self.assertEqual(second["prompt_tokens"], whole["prompt_tokens"])

    def test_a_conversation_longer_than_the_context_forgets_its_oldest_exchanges(self):
        done = self.nereid(*CHAT, "-n", 16, "--json", stdin=b"a question\n" * 9)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(len(done.stdout.splitlines()), 9)
        self.assertIn(b"oldest exchanges are forgotten", done.stderr)
        for line in done.stdout.splitlines():
            self.assertLessEqual(json.loads(line)["prompt_tokens"], 256)

    def test_orders_are_obeyed_and_not_sent(self):
        saved = self.scratch / "saved.json"
        done = self.nereid(*CHAT, "-n", 4, "--json",
                           stdin=f"/help\nof\n/system Sing.\nthe\n/save {saved}\n/quit\nnever\n".encode())
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(done.stdout.splitlines()), 2)
        messages = json.loads(saved.read_text())
        self.assertEqual([(m["role"], m["content"]) for m in messages[:2]], [("system", "Sing."), ("user", "the")])
        self.assertIn(b"/reset", done.stderr)


class AtATerminal(ProgramTest):
    def terminal(self, *more):
        return Terminal([PROGRAM, *map(str, CHAT), *more], {**self.environment(), "TERM": "xterm", "NO_COLOR": "1"})

    def test_a_person_asks_and_ends_with_ctrl_d(self):
        terminal = self.terminal("-n", "4", "--logit-bias", "97=1000")
        terminal.read_until(b"> ")
        terminal.type(b"of the\n")
        terminal.read_until(b"aaaa")
        terminal.read_until(b"> ")
        terminal.type(b"\x04")
        self.assertEqual(terminal.end(), 0)

    def test_a_question_too_long_is_refused_and_the_talk_goes_on(self):
        terminal = self.terminal("-n", "4", "--logit-bias", "97=1000")
        terminal.read_until(b"> ")
        terminal.type(b"x" * 300 + b"\n")
        terminal.read_until(b"more than the context of 256")
        terminal.read_until(b"> ")
        terminal.type(b"of\n")
        terminal.read_until(b"aaaa")
        terminal.type(b"\x04")
        self.assertEqual(terminal.end(), 0)

    def test_ctrl_c_stops_the_answer_and_at_the_prompt_the_program(self):
        terminal = self.terminal("-n", "200", "--logit-bias", "97=1000", "--ignore-eos")
        terminal.read_until(b"> ")
        terminal.type(b"of the\n")
        terminal.read_until(b"aa")
        terminal.type(b"\x03")
        terminal.read_until(b"> ")
        terminal.type(b"\x03")
        self.assertEqual(terminal.end(), 130)


if __name__ == "__main__":
    unittest.main()
