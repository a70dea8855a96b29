# SPDX-License-Identifier: Apache-2.0
"""/v1/chat/completions over every parameter, by openai-python; the other endpoints with it."""
import json
import unittest

from served import MODEL, ServedTest, needs_openai, openai


@needs_openai
class ChatTest(ServedTest):
    def test_a_chat(self):
        done = self.chat("What is the capital of France?", max_tokens=30)
        choice = done.choices[0]
        self.assertEqual((done.object, done.model, choice.index, choice.message.role), ("chat.completion", MODEL, 0, "assistant"))
        self.assertIn("Paris", choice.message.content)
        self.assertRegex(done.id, r"^chatcmpl-\w{24}$")
        self.assertTrue(done.system_fingerprint.startswith("nereid-"))
        self.assertIsNone(choice.message.tool_calls)
        self.assertEqual(done.usage.total_tokens, done.usage.prompt_tokens + done.usage.completion_tokens)

    def test_an_answer_ends_by_itself(self):
        done = self.chat("Say yes.", max_tokens=200)
        self.assertEqual(done.choices[0].finish_reason, "stop")

    def test_without_max_tokens_an_answer_ends_by_itself(self):
        done = self.client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "Say yes."}], temperature=0)
        self.assertEqual(done.choices[0].finish_reason, "stop")

    def test_max_completion_tokens(self):
        done = self.chat("Count to a hundred.", max_tokens=openai.omit, max_completion_tokens=5)
        self.assertEqual((done.choices[0].finish_reason, done.usage.completion_tokens), ("length", 5))

    def test_a_system_message_a_developer_and_a_history(self):
        history = [{"role": "system", "content": "You are terse."}, {"role": "user", "content": "My name is Ada."},
                   {"role": "assistant", "content": "Hello, Ada."}, {"role": "user", "content": "What is my name?"}]
        said = self.chat(messages=history).choices[0].message.content
        history[0]["role"] = "developer"  # the newer word for it
        self.assertEqual(self.chat(messages=history).choices[0].message.content, said)
        self.assertNotEqual(self.chat(messages=history[1:]).choices[0].message.content, said)

    def test_parts_of_text(self):
        parts = [{"type": "text", "text": "Say"}, {"type": "text", "text": "hello."}]
        self.assertEqual(self.chat(messages=[{"role": "user", "content": parts}]).choices[0].message.content,
                         self.chat("Say\nhello.").choices[0].message.content)

    def test_a_name_of_the_speaker(self):
        self.assertTrue(self.chat(messages=[{"role": "user", "name": "ada", "content": "Hi"}]).choices[0].message.content)

    def test_n_and_seed(self):
        one = self.chat("Tell me a story.", n=2, temperature=1.3, seed=3)
        same = self.chat("Tell me a story.", n=2, temperature=1.3, seed=3)
        texts = [choice.message.content for choice in one.choices]
        self.assertEqual(len(set(texts)), 2)
        self.assertEqual(texts, [choice.message.content for choice in same.choices])

    def test_log_probabilities(self):
        done = self.chat(logprobs=True, top_logprobs=4)
        content = done.choices[0].logprobs.content
        self.assertEqual(b"".join(bytes(one.bytes) for one in content).decode(), done.choices[0].message.content)
        for one in content:
            self.assertEqual(len(one.top_logprobs), 4)
            self.assertEqual(one.top_logprobs[0].token, one.token)
            self.assertGreaterEqual(one.top_logprobs[0].logprob, one.top_logprobs[1].logprob)

    def test_log_probabilities_without_alternatives(self):
        self.assertEqual(self.chat(logprobs=True).choices[0].logprobs.content[0].top_logprobs, [])

    def test_stop(self):
        done = self.chat("Count: one, two, three, four.", max_tokens=40, stop=[",", "\n"])
        self.assertNotIn(",", done.choices[0].message.content)

    def test_penalties_bias_and_the_rest(self):
        done = self.chat(temperature=0.8, top_p=0.9, presence_penalty=0.5, frequency_penalty=-0.5, logit_bias={"100": -5}, user="ada",
                         seed=-4, store=False, metadata={"a": "b"}, service_tier="auto", extra_body={"top_k": 20, "min_p": 0.05})
        self.assertTrue(done.choices[0].message.content)

    def test_response_format_text(self):
        self.assertEqual(self.chat(response_format={"type": "text"}).choices[0].message.content, self.chat().choices[0].message.content)

    def test_response_format_json_object(self):
        done = self.chat("Describe a cat as JSON.", max_tokens=200, response_format={"type": "json_object"}, extra_body={"repetition_penalty": 1.1})
        if done.choices[0].finish_reason == "stop":
            self.assertIsInstance(json.loads(done.choices[0].message.content), dict)
        self.assertTrue(done.choices[0].message.content.lstrip().startswith("{"))

    SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
                                               "kind": {"enum": ["cat", "dog"]}}, "required": ["name", "age", "kind"], "additionalProperties": False}

    def test_response_format_json_schema(self):
        done = self.chat("Describe a pet.", max_tokens=120, response_format={"type": "json_schema", "json_schema": {"name": "pet", "strict": True, "schema": self.SCHEMA}})
        pet = json.loads(done.choices[0].message.content)
        self.assertEqual(list(pet), ["name", "age", "kind"])
        self.assertIn(pet["kind"], ("cat", "dog"))
        self.assertIsInstance(pet["age"], int)

    def test_parse_with_pydantic(self):
        import pydantic

        class Answer(pydantic.BaseModel):
            capital: str = pydantic.Field(max_length=20)
            is_large: bool

        done = self.client.chat.completions.parse(model=MODEL, messages=[{"role": "user", "content": "The capital of France?"}],
                                                  max_tokens=100, temperature=0, response_format=Answer)
        self.assertIsInstance(done.choices[0].message.parsed, Answer)

    def test_guided_json_and_structured_outputs(self):
        for more in ({"guided_json": self.SCHEMA}, {"structured_outputs": {"json": self.SCHEMA}}, {"guided_json": json.dumps(self.SCHEMA)}):
            done = self.chat("Describe a pet.", max_tokens=120, extra_body=more)
            self.assertEqual(sorted(json.loads(done.choices[0].message.content)), ["age", "kind", "name"])

    def test_chat_template_kwargs_are_taken(self):
        self.assertTrue(self.chat(extra_body={"chat_template_kwargs": {"enable_thinking": False}}).choices)

    def test_the_raw_response(self):
        raw = self.client.chat.completions.with_raw_response.create(model=MODEL, messages=[{"role": "user", "content": "Hi"}], max_tokens=3)
        self.assertEqual(raw.headers["content-type"], "application/json")
        self.assertEqual(raw.headers["x-request-id"], raw.parse().id)

    def test_an_async_client_asks_many_at_once(self):
        import asyncio

        async def ask():
            async with openai.AsyncOpenAI(base_url=self.served.url + "/v1", api_key="none", max_retries=0) as client:
                return await asyncio.gather(*(client.chat.completions.create(
                    model=MODEL, messages=[{"role": "user", "content": f"Say the number {i}."}], max_tokens=10, temperature=0) for i in range(8)))

        together = [done.choices[0].message.content for done in asyncio.run(ask())]
        alone = [self.chat(f"Say the number {i}.", max_tokens=10).choices[0].message.content for i in range(8)]
        self.assertEqual(together, alone)


@needs_openai
class ResponsesTest(ServedTest):
    def ask(self, text="Say yes.", **more):
        return self.client.responses.create(**{"model": MODEL, "input": text, "temperature": 0, "max_output_tokens": 100, **more})

    def test_a_response_says_what_a_chat_says(self):
        done = self.ask()
        self.assertEqual((done.object, done.status, done.error), ("response", "completed", None))
        self.assertEqual(done.output_text, self.chat("Say yes.", max_tokens=100).choices[0].message.content)
        self.assertEqual(done.usage.total_tokens, done.usage.input_tokens + done.usage.output_tokens)

    def test_instructions_and_items(self):
        done = self.ask([{"role": "user", "content": [{"type": "input_text", "text": "Say yes."}]}], instructions="You are terse.")
        said = self.chat(messages=[{"role": "system", "content": "You are terse."}, {"role": "user", "content": "Say yes."}], max_tokens=100)
        self.assertEqual(done.output_text, said.choices[0].message.content)

    def test_an_answer_that_is_cut(self):
        done = self.ask("Tell me a story.", max_output_tokens=5)
        self.assertEqual((done.status, done.incomplete_details.reason), ("incomplete", "max_output_tokens"))

    def test_a_stream(self):
        events = list(self.ask(stream=True))
        self.assertEqual([event.sequence_number for event in events], list(range(len(events))))
        self.assertEqual(events[0].type, "response.created")
        self.assertEqual(events[-1].type, "response.completed")
        self.assertEqual("".join(event.delta for event in events if event.type == "response.output_text.delta"), events[-1].response.output_text)
        self.assertEqual(events[-1].response.output_text, self.ask().output_text)

    def test_a_tool(self):
        tool = {"type": "function", "name": "weather", "strict": True, "parameters": {
            "type": "object", "properties": {"city": {"enum": ["Oslo", "Rome"]}}, "required": ["city"], "additionalProperties": False}}
        done = self.ask("The weather in Oslo?", tools=[tool], tool_choice={"type": "function", "name": "weather"})
        self.assertEqual(done.output[0].type, "function_call")
        self.assertIn(json.loads(done.output[0].arguments)["city"], ("Oslo", "Rome"))
        again = self.ask([{"role": "user", "content": "The weather in Oslo?"}, done.output[0].model_dump(),
                          {"type": "function_call_output", "call_id": done.output[0].call_id, "output": "Sunny."}])
        self.assertTrue(again.output_text)

    def test_a_schema(self):
        schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"], "additionalProperties": False}
        done = self.client.responses.create(
            model=MODEL, input="Give me JSON.", temperature=0, max_output_tokens=60, text={"format": {"type": "json_schema", "name": "x", "schema": schema}})
        self.assertIsInstance(json.loads(done.output_text)["a"], bool)

    def test_nothing_is_stored(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.ask(previous_response_id="resp_1")
        self.assertEqual(caught.exception.param, "previous_response_id")


@needs_openai
class OtherEndpointsTest(ServedTest):
    def test_models(self):
        listed = self.client.models.list().data
        self.assertEqual([model.id for model in listed], [MODEL])
        self.assertEqual(self.client.models.retrieve(MODEL).object, "model")
        with self.assertRaises(openai.NotFoundError) as caught:
            self.client.models.retrieve("gpt-7")
        self.assertEqual(caught.exception.code, "model_not_found")

    def test_embeddings_of_a_model_that_has_none(self):
        with self.assertRaises(openai.NotFoundError):
            self.client.embeddings.create(model=MODEL, input="Hi")

    def test_tokenize_and_back(self):
        text = "Hello, wörld! 中文"
        said = json.loads(self.post("/tokenize", {"model": MODEL, "prompt": text, "return_token_strs": True})[2])
        self.assertEqual(said["count"], len(said["tokens"]))
        self.assertEqual(len(said["token_strs"]), said["count"])
        self.assertEqual(json.loads(self.post("/detokenize", {"model": MODEL, "tokens": said["tokens"]})[2])["prompt"], text)

    def test_tokens_of_a_chat_are_what_a_chat_counts(self):
        messages = [{"role": "user", "content": "Say hello."}]
        said = json.loads(self.post("/tokenize", {"messages": messages})[2])
        self.assertEqual(said["count"], self.chat().usage.prompt_tokens)

    def test_health_and_metrics(self):
        self.assertEqual(self.get("/health")[0], 200)
        self.assertEqual(self.get("/metrics")[0], 200)


if __name__ == "__main__":
    unittest.main()
