# SPDX-License-Identifier: Apache-2.0
"""Tools, by openai-python: choices, schemas, streams, histories."""
import json
import unittest

from served import MODEL, ServedTest, needs_openai


def tool(name, properties, **more):
    return {"type": "function", "function": {"name": name, "description": f"Tells the {name}.", "parameters": {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}, **more}}


WEATHER = tool("weather", {"city": {"type": "string", "maxLength": 16}, "unit": {"enum": ["C", "F"]}})
TIME = tool("time", {"zone": {"type": "string", "maxLength": 12}})


@needs_openai
class ToolsTest(ServedTest):
    def ask(self, **more):
        return self.chat(**{"text": "What is the weather in Oslo?", "tools": [WEATHER, TIME], "max_tokens": 120, **more})

    def assert_weather(self, arguments):
        found = json.loads(arguments)
        self.assertEqual(list(found), ["city", "unit"])
        self.assertIn(found["unit"], ("C", "F"))

    def test_a_named_tool(self):
        choice = self.ask(tool_choice={"type": "function", "function": {"name": "weather"}}).choices[0]
        self.assertEqual([call.function.name for call in choice.message.tool_calls], ["weather"])
        self.assert_weather(choice.message.tool_calls[0].function.arguments)
        self.assertRegex(choice.message.tool_calls[0].id, r"^call_\w{24}$")
        self.assertIsNone(choice.message.content)
        self.assertEqual(choice.finish_reason, "stop")

    def test_some_tool_must_be_called(self):
        choice = self.ask(tool_choice="required", parallel_tool_calls=False).choices[0]
        self.assertEqual(choice.finish_reason, "tool_calls")
        self.assertEqual(len(choice.message.tool_calls), 1)
        call = choice.message.tool_calls[0].function
        self.assertIn(call.name, ("weather", "time"))
        self.assertIsInstance(json.loads(call.arguments), dict)

    def test_a_choice_is_left_to_the_model(self):
        choice = self.ask(tool_choice="auto").choices[0]
        self.assertTrue(choice.message.content or choice.message.tool_calls)
        for call in choice.message.tool_calls or []:
            self.assertIn(call.function.name, ("weather", "time"))

    def test_no_tool_may_be_called(self):
        choice = self.ask(tool_choice="none").choices[0]
        self.assertIsNone(choice.message.tool_calls)
        self.assertTrue(choice.message.content)

    def test_only_allowed_tools(self):
        choice = self.ask(tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [
            {"type": "function", "function": {"name": "time"}}]}}, parallel_tool_calls=False).choices[0]
        self.assertEqual({call.function.name for call in choice.message.tool_calls}, {"time"})

    def stream(self, **more):
        calls = {}
        finish = None
        for chunk in self.ask(stream=True, **more):
            for delta in chunk.choices[0].delta.tool_calls or []:
                call = calls.setdefault(delta.index, {"id": "", "name": "", "arguments": ""})
                call["id"] += delta.id or ""
                call["name"] += delta.function.name or ""
                call["arguments"] += delta.function.arguments or ""
            finish = chunk.choices[0].finish_reason or finish
        return list(calls.values()), finish

    def test_a_named_tool_streams(self):
        choice = {"type": "function", "function": {"name": "weather"}}
        calls, finish = self.stream(tool_choice=choice)
        whole = self.ask(tool_choice=choice).choices[0].message.tool_calls[0].function
        self.assertEqual((calls[0]["name"], calls[0]["arguments"], finish), (whole.name, whole.arguments, "stop"))

    def test_required_tools_stream(self):
        calls, finish = self.stream(tool_choice="required", parallel_tool_calls=False)
        whole = self.ask(tool_choice="required", parallel_tool_calls=False).choices[0].message.tool_calls
        self.assertEqual([(call["name"], call["arguments"]) for call in calls], [(call.function.name, call.function.arguments) for call in whole])
        self.assertEqual(finish, "tool_calls")

    def test_a_history_with_calls_and_results(self):
        first = self.ask(tool_choice={"type": "function", "function": {"name": "weather"}}).choices[0].message
        history = [{"role": "user", "content": "What is the weather in Oslo?"}, first.model_dump(exclude_none=True),
                   {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "It is 12 degrees and sunny in Oslo."}]
        done = self.chat(messages=history, tools=[WEATHER], tool_choice="none", max_tokens=40)
        self.assertTrue(done.choices[0].message.content)

    def test_functions_as_they_were_before_tools(self):
        function = WEATHER["function"]
        choice = self.chat("The weather in Oslo?", max_tokens=120, functions=[function], function_call={"name": "weather"}).choices[0]
        self.assertEqual(choice.message.function_call.name, "weather")
        self.assert_weather(choice.message.function_call.arguments)

    def test_parse_with_strict_tools(self):
        strict = tool("weather", WEATHER["function"]["parameters"]["properties"], strict=True)
        done = self.client.chat.completions.parse(model=MODEL, messages=[{"role": "user", "content": "The weather in Oslo?"}], tools=[strict],
                                                  tool_choice={"type": "function", "function": {"name": "weather"}}, max_tokens=120, temperature=0)
        self.assertEqual(list(done.choices[0].message.tool_calls[0].function.parsed_arguments), ["city", "unit"])

    def test_structural_tags_old_and_new(self):
        schema = {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"], "additionalProperties": False}
        old = {"type": "structural_tag", "structures": [{"begin": "<a>", "schema": schema, "end": "</a>"}], "triggers": ["<a>"]}
        new = {"type": "structural_tag", "format": {"type": "tag", "begin": "<a>", "content": {"type": "json_schema", "json_schema": schema}, "end": "</a>"}}
        self.assertRegex(self.chat(response_format=new, max_tokens=40).choices[0].message.content, r'^<a>\{\s*"a":\s*[12]\s*\}</a>$')
        self.assertTrue(self.chat(response_format=old).choices[0].message.content)

    def test_tools_whose_schemas_have_definitions(self):
        one = tool("weather", {"place": {"$ref": "#/$defs/Place"}})
        one["function"]["parameters"]["$defs"] = {"Place": {"enum": ["Oslo", "Rome"]}}
        call = self.ask(tools=[one], tool_choice="required", parallel_tool_calls=False).choices[0].message.tool_calls[0]
        self.assertIn(json.loads(call.function.arguments)["place"], ("Oslo", "Rome"))


if __name__ == "__main__":
    unittest.main()
