# SPDX-License-Identifier: Apache-2.0
"""Bad requests: OpenAI's errors, by their class in openai-python where it lets them out, by plain HTTP where not."""
import json
import unittest

from served import ServedTest, needs_openai, openai


class ErrorsTest(ServedTest):
    def assert_error(self, said, status, code, param=None):
        self.assertEqual(said[0], status, said[2])
        self.assertEqual(said[1]["Content-Type"], "application/json")
        error = json.loads(said[2])["error"]
        self.assertEqual(sorted(error), ["code", "message", "param", "type"])
        self.assertEqual((error["code"], error["param"]), (code, param), error)
        self.assertRegex(error["message"], r"\w+.*\.$")
        return error

    def chat_with(self, **more):
        return self.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3, **more})

    def test_malformed_json_is_told_with_its_place(self):
        error = self.assert_error(self.post("/v1/chat/completions", b'{\n "messages": [}'), 400, "invalid_json")
        self.assertIn("line 2, column 15", error["message"])

    def test_invalid_utf8(self):
        for bad in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe4\xb8"):
            self.assert_error(self.post("/v1/completions", b'{"prompt": "a' + bad + b'"}'), 400, "invalid_json")

    def test_deep_json(self):
        self.assert_error(self.post("/v1/completions", b'{"prompt": ' + b"[" * 100000 + b"]" * 100000 + b"}"), 400, "invalid_json")

    def test_a_body_that_is_too_long(self):
        said = self.post("/v1/completions", b'{"prompt": "' + b"a" * (17 << 20) + b'"}')
        self.assertEqual(said[0], 413)

    def test_half_of_a_surrogate_pair(self):
        said = self.post("/v1/completions", b'{"prompt": "a\\ud800b", "max_tokens": 1}')
        self.assertEqual(said[0], 400)

    def test_wrong_types_and_values(self):
        for more, code, param in (({"temperature": "hot"}, "invalid_type", "temperature"), ({"n": 0}, "integer_below_min_value", "n"),
                                  ({"max_tokens": -1}, "integer_below_min_value", "max_tokens"), ({"top_p": 7}, "decimal_above_max_value", "top_p"),
                                  ({"stream": 1}, "invalid_type", "stream"), ({"n": 10**30}, "integer_above_max_value", "n"),
                                  ({"top_k": 1.5}, "invalid_value", "top_k"), ({"messages": [{"role": "user", "content": [7]}]}, "invalid_type", "messages[0].content[0]")):
            with self.subTest(more):
                self.assert_error(self.chat_with(**more), 400, code, param)

    def test_schemas_that_cannot_be(self):
        for schema in ({"type": "no such type"}, {"$ref": "#/nowhere"}, {"enum": []}):
            with self.subTest(schema):
                said = self.chat_with(response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}})
                self.assert_error(said, 400, json.loads(said[2])["error"]["code"], "response_format.json_schema.schema")

    def test_grammars_that_cannot_be(self):
        for more, param in (({"guided_regex": "(a"}, "guided_regex"), ({"guided_grammar": "root ::= nothing"}, "guided_grammar"),
                            ({"guided_json": "{"}, "guided_json")):
            with self.subTest(more):
                said = self.chat_with(**more)
                self.assert_error(said, 400, json.loads(said[2])["error"]["code"], param)

    def test_a_prompt_that_does_not_fit_names_both_numbers(self):
        error = self.assert_error(self.chat_with(messages=[{"role": "user", "content": "word " * 20000}]), 400, "context_length_exceeded", "messages")
        self.assertRegex(error["message"], r"maximum context length is \d+ tokens.*\d{5} tokens")

    def test_an_answer_that_would_not_fit(self):
        self.assert_error(self.chat_with(max_tokens=10**6), 400, "context_length_exceeded", "messages")

    def test_an_address_and_a_method_that_are_none(self):
        self.assert_error(self.get("/v1/nothing"), 404, "unknown_url")
        self.assert_error(self.get("/v1/chat/completions"), 405, "method_not_supported")

    def test_a_token_outside_the_vocabulary(self):
        said = self.post("/v1/completions", {"prompt": [10**8], "max_tokens": 1})
        self.assert_error(said, 400, "invalid_value", "prompt")

    @needs_openai
    def test_classes_of_openai_python(self):
        with self.assertRaises(openai.NotFoundError) as caught:
            self.chat(model="gpt-7")
        self.assertEqual((caught.exception.code, caught.exception.param, caught.exception.type), ("model_not_found", "model", "invalid_request_error"))
        with self.assertRaises(openai.BadRequestError) as caught:
            self.chat(temperature=3)
        self.assertEqual(caught.exception.param, "temperature")
        with self.assertRaises(openai.BadRequestError):
            self.chat(stream=True, n=500)

    def test_after_all_that_it_still_answers(self):
        self.assertEqual(self.chat_with()[0], 200)


@needs_openai
class ContextTest(ServedTest):
    options = ("--context", "128", "--context-shift", "--kv-cache-dtype", "int8", "--kv-host-memory", "8")

    def test_an_answer_longer_than_the_context_goes_on_unless_the_request_says_otherwise(self):
        long = {"max_tokens": 200, "extra_body": {"ignore_eos": True}}
        answer = self.complete(**long)
        self.assertEqual((answer.choices[0].finish_reason, answer.usage.completion_tokens), ("length", 200))
        self.assertEqual(self.complete(**long).choices[0].text, answer.choices[0].text)
        self.assertEqual(self.chat(**long).usage.completion_tokens, 200)
        kept = self.complete(max_tokens=200, extra_body={"ignore_eos": True, "context_shift": True, "n_keep": 40})
        self.assertEqual(kept.usage.completion_tokens, 200)
        with self.assertRaises(openai.BadRequestError) as refused:
            self.complete(max_tokens=200, extra_body={"context_shift": False})
        self.assertIn("maximum context length is 128", str(refused.exception))

    def test_a_prompt_longer_than_the_context_is_refused(self):
        with self.assertRaises(openai.BadRequestError):
            self.complete(prompt="word " * 200)


@needs_openai
class KeyTest(ServedTest):
    options = ("--api-key", "sesame")

    def test_a_key_opens_and_another_does_not(self):
        good = self.client.with_options(api_key="sesame")
        self.assertTrue(good.models.list().data)
        with self.assertRaises(openai.AuthenticationError):
            self.client.models.list()
        self.assertEqual(self.get("/")[0], 200)  # the page asks for the key itself


if __name__ == "__main__":
    unittest.main()
