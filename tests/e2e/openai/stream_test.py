# SPDX-License-Identifier: Apache-2.0
"""Streams, by openai-python: pieces that add up to the whole, in order, and what ends them early."""
import json
import socket
import time
import unittest

from served import MODEL, ServedTest, needs_openai


@needs_openai
class StreamTest(ServedTest):
    def test_a_chat_streams_what_it_says_whole(self):
        chunks = list(self.chat(stream=True))
        self.assertTrue(all(chunk.object == "chat.completion.chunk" and chunk.id == chunks[0].id for chunk in chunks))
        self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
        self.assertEqual("".join(chunk.choices[0].delta.content or "" for chunk in chunks), self.chat().choices[0].message.content)
        self.assertEqual([chunk.choices[0].finish_reason for chunk in chunks if chunk.choices[0].finish_reason], ["length"])
        self.assertTrue(chunks[-1].choices[0].finish_reason)
        self.assertIsNone(chunks[-1].usage)

    def test_usage_comes_last(self):
        chunks = list(self.chat(stream=True, stream_options={"include_usage": True}))
        self.assertEqual(chunks[-1].choices, [])
        self.assertEqual(chunks[-1].usage.completion_tokens, 16)
        self.assertTrue(all(chunk.usage is None for chunk in chunks[:-1]))

    def test_usage_all_along(self):
        chunks = list(self.chat(stream=True, stream_options={"include_usage": True, "continuous_usage_stats": True}))
        counts = [chunk.usage.completion_tokens for chunk in chunks]
        self.assertEqual(counts, sorted(counts))
        self.assertEqual(counts[-1], 16)

    def test_completions_stream(self):
        chunks = list(self.complete(stream=True, stream_options={"include_usage": True}))
        self.assertEqual("".join(chunk.choices[0].text for chunk in chunks if chunk.choices), self.complete().choices[0].text)
        self.assertEqual(chunks[-1].usage.completion_tokens, 12)

    def test_completions_stream_many_prompts(self):
        texts = {}
        for chunk in self.complete(["The sky is", "Two and two are"], n=2, stream=True):
            for choice in chunk.choices:
                texts[choice.index] = texts.get(choice.index, "") + choice.text
        whole = self.complete(["The sky is", "Two and two are"], n=2)
        self.assertEqual([texts[i] for i in range(4)], [choice.text for choice in whole.choices])

    def test_log_probabilities_stream(self):
        streamed = [one for chunk in self.chat(stream=True, logprobs=True, top_logprobs=2) for one in (chunk.choices[0].logprobs.content if chunk.choices[0].logprobs else [])]
        whole = self.chat(logprobs=True, top_logprobs=2).choices[0].logprobs.content
        self.assertEqual([one.token for one in streamed], [one.token for one in whole])

    def test_two_answers_stream(self):
        texts = ["", ""]
        for chunk in self.chat("Tell me a story.", n=2, temperature=1.2, seed=4, stream=True):
            texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
        whole = self.chat("Tell me a story.", n=2, temperature=1.2, seed=4)
        self.assertEqual(texts, [choice.message.content for choice in whole.choices])

    def test_a_schema_streams(self):
        schema = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 9, "minimum": 0}}, "required": ["a"], "additionalProperties": False}
        text = "".join(chunk.choices[0].delta.content or "" for chunk in self.chat(
            "Give me JSON.", stream=True, response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}))
        self.assertEqual(list(json.loads(text)), ["a"])

    def test_the_helper_that_gathers_a_stream(self):
        with self.client.chat.completions.stream(model=MODEL, messages=[{"role": "user", "content": "Say yes."}], temperature=0) as stream:
            kinds = {event.type for event in stream}
            self.assertEqual(stream.get_final_completion().choices[0].message.content, self.chat("Say yes.", max_tokens=500).choices[0].message.content)
        self.assertIn("content.delta", kinds)

    def wait_until_idle(self, seconds=5):
        end = time.monotonic() + seconds
        while self.running() > 0:
            self.assertLess(time.monotonic(), end, "a request runs on although nobody reads it")
            time.sleep(0.02)

    def long_stream(self):
        return self.chat("Tell me a very long story.", stream=True, max_tokens=2000, extra_body={"ignore_eos": True})

    def test_a_stream_that_is_closed_ends_its_request(self):
        stream = self.long_stream()
        for _ in zip(range(5), stream):
            pass
        self.assertGreater(self.running(), 0)
        stream.close()
        self.wait_until_idle()

    def test_clients_that_vanish_disturb_no_others(self):
        expected = self.chat().choices[0].message.content
        body = json.dumps({"messages": [{"role": "user", "content": "Tell me a long story."}], "stream": True, "max_tokens": 2000, "ignore_eos": True}).encode()
        request = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        sockets = []
        for i in range(12):
            one = socket.create_connection(("127.0.0.1", self.served.port))
            one.sendall(request[:-1 - i] if i % 3 == 0 else request)  # some never finish asking
            sockets.append(one)
        for one in sockets[1::3]:
            one.recv(1000)
        for i, one in enumerate(sockets):
            if i % 2:  # a reset, not a farewell
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            one.close()
        self.assertEqual(self.chat().choices[0].message.content, expected)
        self.wait_until_idle()

    def test_a_request_that_nobody_waits_for_ends(self):
        body = json.dumps({"prompt": "x", "max_tokens": 2000, "ignore_eos": True}).encode()
        with socket.create_connection(("127.0.0.1", self.served.port)) as one:
            one.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            time.sleep(0.3)
            self.assertGreater(self.running(), 0)
        self.wait_until_idle()

    def test_a_reader_who_dawdles_gets_it_all(self):
        text = ""
        for chunk in self.chat(stream=True):
            time.sleep(0.05)
            text += chunk.choices[0].delta.content or ""
        self.assertEqual(text, self.chat().choices[0].message.content)


if __name__ == "__main__":
    unittest.main()
