# SPDX-License-Identifier: Apache-2.0
"""What stands round the answers: packed bodies, keys before bodies, documents that would be too large, time limits, figures."""
import gzip
import json
import re
import socket
import time
import unittest
import zlib

from served import MODEL, ServedTest, needs_openai, openai

CHAT = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3, "temperature": 0}


class RimTest(ServedTest):
    def packed(self, path, body, coding):
        return self.post(path, body, {"Content-Encoding": coding})

    def test_packed_requests_are_read(self):
        plain = json.dumps(CHAT).encode()
        expected = json.loads(self.post("/v1/chat/completions", plain)[2])["choices"]
        for coding, body in (("gzip", gzip.compress(plain)), ("x-gzip", gzip.compress(plain)), ("deflate", zlib.compress(plain)),
                             ("deflate", zlib.compress(plain)[2:-4]), ("identity", plain)):
            said = self.packed("/v1/chat/completions", body, coding)
            self.assertEqual(said[0], 200, said[2])
            self.assertEqual(json.loads(said[2])["choices"], expected)

    def test_packed_requests_that_are_none_or_too_large(self):
        bomb = gzip.compress(b'{"prompt": "' + b"a" * (64 << 20) + b'"}')
        self.assertLess(len(bomb), 100_000)
        begin = time.monotonic()
        for coding, body, status in (("gzip", bomb, 413), ("gzip", b"{}", 400), ("gzip", gzip.compress(b"{}")[:-3], 400),
                                     ("deflate", b"{}", 400), ("br", b"{}", 415), ("gzip, gzip", b"{}", 415)):
            said = self.packed("/v1/completions", body, coding)
            self.assertEqual(said[0], status, (coding, said[2]))
            self.assertRegex(json.loads(said[2])["error"]["message"], r"\w+.*\.$")
        self.assertLess(time.monotonic() - begin, 5)

    def test_responses_are_packed_for_those_who_ask(self):
        with socket.create_connection(("127.0.0.1", self.served.port), timeout=60) as one:
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n")
            said = b"".join(iter(lambda: one.recv(65536), b""))
        head, body = said.split(b"\r\n\r\n", 1)
        self.assertIn(b"Content-Encoding: gzip", head)
        self.assertIn(b"Vary: Accept-Encoding", head)
        text = gzip.decompress(body).decode()
        self.assertIn("nereid_build_info", text)
        self.assertLess(len(body), len(text) / 3)

    def test_a_small_text_that_is_a_large_document(self):
        for body in (b'{"prompt": [' + b"[]," * (2 << 20) + b"[]]}", b'{"a": [' + b'{"a":0},' * (1 << 20) + b"0]}"):
            begin = time.monotonic()
            said = self.post("/v1/completions", body)
            self.assertEqual((said[0], json.loads(said[2])["error"]["code"]), (413, "request_too_large"))
            self.assertLess(time.monotonic() - begin, 5)

    def test_steps_are_measured(self):
        self.assertEqual(self.post("/v1/completions", {"prompt": "One", "max_tokens": 4, "temperature": 0, "ignore_eos": True})[0], 200)
        text = self.get("/metrics")[2]
        for name in ("nereid_step_duration_seconds", "nereid_step_model_seconds", "nereid_step_sequences"):
            self.assertGreaterEqual(int(re.search(rf'{name}_count{{model="{MODEL}"}} (\d+)', text)[1]), 4, name)
        for kind in ("prompt", "answer"):
            self.assertRegex(text, rf'nereid_step_tokens_count{{model="{MODEL}",kind="{kind}"}} \d')

    @needs_openai
    def test_openai_python_does_not_repeat_what_took_too_long(self):
        def asked():
            found = re.search(r'nereid_http_requests_total{endpoint="/v1/chat/completions",method="POST",status="422"} (\d+)', self.get("/metrics")[2])
            return int(found[1]) if found else 0
        before = asked()
        with self.assertRaises(openai.UnprocessableEntityError) as raised:
            self.client.with_options(max_retries=3).chat.completions.create(model=MODEL, messages=CHAT["messages"], max_tokens=4000,
                                           extra_body={"timeout": 0.05, "ignore_eos": True})
        self.assertEqual(raised.exception.code, "timeout")
        self.assertEqual(asked() - before, 1)

    @needs_openai
    def test_the_best_of_several_answers(self):
        done = self.complete(best_of=3, temperature=1.0, seed=5)
        self.assertEqual(len(done.choices), 1)
        alone = [self.complete(temperature=1.0, seed=5 + i, logprobs=0).choices[0] for i in range(3)]
        def mean(choice):
            return sum(choice.logprobs.token_logprobs) / len(choice.logprobs.token_logprobs)
        self.assertEqual(done.choices[0].text, max(alone, key=mean).text)

    @needs_openai
    def test_any_priority_is_taken(self):
        for priority in (-5, 0, 60, 2**31 - 1):
            self.assertTrue(self.chat(extra_body={"priority": priority}).choices)


class KeyTest(ServedTest):
    options = ("--api-key", "secret")

    def test_who_shows_no_key_is_not_listened_to(self):
        with socket.create_connection(("127.0.0.1", self.served.port), timeout=60) as one:
            one.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 16000000\r\n\r\n")
            self.assertIn(b" 401 ", one.recv(65536).split(b"\r\n")[0])

    @needs_openai
    def test_openai_python_with_the_wrong_key(self):
        with self.assertRaises(openai.AuthenticationError):
            self.client.with_options(api_key="wrong").models.list()
        self.assertEqual([one.id for one in self.client.with_options(api_key="secret").models.list()], [MODEL])


def says(text):
    """A form in which a model can say nothing else."""
    return {"type": "structural_tag", "format": {"type": "const_string", "value": text}}


@needs_openai
class ThoughtTest(ServedTest):
    options = ("--reasoning-format", "think", "--tool-format", "qwen3_coder")
    said = "<think>\nIt may rain.\n</think>\n\nYes."

    def test_thoughts_are_told_apart(self):
        done = self.chat(response_format=says(self.said), max_tokens=60)
        message = done.choices[0].message
        self.assertEqual((message.content, message.reasoning_content), ("Yes.", "It may rain."))
        self.assertGreater(done.usage.completion_tokens_details.reasoning_tokens, 3)
        self.assertLess(done.usage.completion_tokens_details.reasoning_tokens, done.usage.completion_tokens)

    def test_thoughts_in_a_stream(self):
        thought = content = ""
        for chunk in self.chat(response_format=says(self.said), max_tokens=60, stream=True):
            delta = chunk.choices[0].delta
            new = getattr(delta, "reasoning_content", None) or ""
            self.assertFalse(new and content, "a thought after the answer had begun")
            thought += new
            content += delta.content or ""
        self.assertEqual((content, thought), ("Yes.", "It may rain."))

    def test_thoughts_stay_in_the_answer_where_that_is_asked_for(self):
        for more in ({"separate_reasoning": False}, {"reasoning_format": "none"}):
            message = self.chat(response_format=says(self.said), max_tokens=60, extra_body=more).choices[0].message
            self.assertEqual(message.content, self.said)
        message = self.chat(response_format=says(self.said), max_tokens=60, extra_body={"include_reasoning": False}).choices[0].message
        self.assertEqual(message.content, "Yes.")
        self.assertIsNone(getattr(message, "reasoning_content", None))

    def test_an_answer_that_ends_while_thinking(self):
        message = self.chat(response_format=says(self.said), max_tokens=8).choices[0].message
        self.assertEqual(message.content, "")
        self.assertTrue(message.reasoning_content)
        self.assertTrue("It may rain.".startswith(message.reasoning_content))

    def test_thoughts_come_back_in_a_history(self):
        done = self.client.chat.completions.create(model=MODEL, max_tokens=3, messages=[
            {"role": "user", "content": "Rain?"}, {"role": "assistant", "content": "Yes.", "reasoning_content": "It may rain."},
            {"role": "user", "content": "Sure?"}])
        self.assertTrue(done.choices)

    def test_a_call_as_qwen3_coder_writes_it_after_thoughts(self):
        text = "<think>\nLook.\n</think>\n<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
        tools = [{"type": "function", "function": {"name": "weather", "parameters": {
            "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}]
        for stream in (False, True):
            calls, thought = {}, ""
            if stream:
                for chunk in self.chat(response_format=says(text), tools=tools, max_tokens=120, stream=True):
                    delta = chunk.choices[0].delta
                    thought += getattr(delta, "reasoning_content", None) or ""
                    for call in delta.tool_calls or ():
                        name, arguments = calls.get(call.index, ("", ""))
                        calls[call.index] = (name + (call.function.name or ""), arguments + (call.function.arguments or ""))
                calls = list(calls.values())
            else:
                message = self.chat(response_format=says(text), tools=tools, max_tokens=120).choices[0].message
                thought = message.reasoning_content
                calls = [(call.function.name, call.function.arguments) for call in message.tool_calls]
            self.assertEqual([(name, json.loads(arguments)) for name, arguments in calls], [("weather", {"city": "Oslo", "days": 3})])
            self.assertEqual(thought, "Look.")

    def test_a_response_has_an_item_for_thoughts(self):
        response = self.client.responses.create(model=MODEL, input="Rain?", max_output_tokens=5, temperature=0)
        self.assertEqual(response.output[-1].type, "message")


if __name__ == "__main__":
    unittest.main()
