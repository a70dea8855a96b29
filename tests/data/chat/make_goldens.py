# SPDX-License-Identifier: Apache-2.0
"""Renders the chat templates of the llama-cpp-python 0.3.36 source package with the oracle and writes goldens.json.

usage: python make_goldens.py FOLDER-OF-TEMPLATES      (needs jinja2==3.1.6)

For the six templates that users meet most the whole text is kept, for the others its length and 64-bit FNV-1a hash.
The templates themselves are not copied: the test reads them from build/models/.
"""
import json
import pathlib
import sys

import jinja_oracle

WHOLE = [
    "HuggingFaceTB-SmolLM3-3B",
    "Qwen-Qwen2.5-7B-Instruct",
    "Qwen-Qwen3-0.6B",
    "google-gemma-2-2b-it",
    "meta-llama-Llama-3.1-8B-Instruct",
    "mistralai-Mistral-Nemo-Instruct-2407",
]


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def system(content):
    return {"role": "system", "content": content}


def call(name, arguments, id="call12345"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city, as a \"sentence\" & <b>numbers</b>.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city's name, e.g. São Paulo"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
                "days": {"type": "integer", "minimum": 1},
            },
            "required": ["city"],
        },
    },
}
SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Searches documents.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for"},
                "filters": {
                    "type": "array",
                    "description": "Conditions",
                    "items": {
                        "type": "object",
                        "properties": {"field": {"type": "string"}, "max": {"type": ["number", "null"]}},
                    },
                },
                "exact": {"type": "boolean"},
            },
            "required": ["query", "filters"],
        },
        "return": {"type": "object"},
    },
}
TOOLS = [WEATHER, SEARCH]

TOOL_TURN = [
    user("What's the weather in Paris & Oslo?"),
    assistant("", tool_calls=[call("get_weather", {"city": "Paris", "days": 3, "unit": None, "odd": 1.5})]),
    {"role": "tool", "name": "get_weather", "tool_call_id": "call12345", "content": '{"sky": "clear", "t": 21.5}'},
]

CONVERSATIONS = {
    "plain": dict(messages=[user("Hello, who are you?")]),
    "plain_prompt": dict(messages=[user("Hello, who are you?")], add_generation_prompt=True),
    "system": dict(messages=[system("You are terse."), user("Hi")], add_generation_prompt=True),
    "multi_turn": dict(
        messages=[
            system("You are a\nhelpful assistant.  "),
            user("  Hello  "),
            assistant(" Hi there\n"),
            user("Who are you"),
            assistant("   I am an assistant   "),
            user("Another question"),
        ],
        add_generation_prompt=True,
    ),
    "ends_with_assistant": dict(messages=[user("2+2?"), assistant("4")]),
    "unicode": dict(
        messages=[user("Grüße, 你好, 👩‍🚀, \u00a0\u2028x\u200b, مرحبا, \"quoted\" 'single' \\ tab\there <|im_end|> </s>")],
        add_generation_prompt=True,
    ),
    "empty": dict(messages=[user(""), assistant(""), user("\n \n")], add_generation_prompt=True),
    "no_messages": dict(messages=[], add_generation_prompt=True),
    "tools": dict(messages=[system("Use tools."), user("Weather?")], tools=TOOLS, add_generation_prompt=True),
    "tools_no_system": dict(messages=[user("Weather?")], tools=TOOLS, add_generation_prompt=True),
    "tool_call": dict(messages=TOOL_TURN[:2], tools=TOOLS),
    "tool_result": dict(messages=TOOL_TURN, tools=TOOLS, add_generation_prompt=True),
    "tool_round": dict(
        messages=TOOL_TURN + [assistant("Clear, 21.5 °C."), user("Thanks"), assistant("Welcome")], tools=[WEATHER]
    ),
    "tool_calls_parallel": dict(
        messages=[
            user("Both, please."),
            assistant(
                "I'll look.",
                tool_calls=[
                    call("get_weather", {"city": "Oslo"}, "abcdefghi"),
                    call("search", {"query": "naïve \"x\"", "filters": [{"field": "y", "max": 2}], "exact": True}, "123456789"),
                ],
            ),
            {"role": "tool", "name": "get_weather", "tool_call_id": "abcdefghi", "content": "rain"},
            {"role": "tool", "name": "search", "tool_call_id": "123456789", "content": "[1, 2]"},
        ],
        tools=TOOLS,
        add_generation_prompt=True,
    ),
    "tool_call_text_arguments": dict(
        messages=[
            user("Go"),
            assistant("", tool_calls=[call("search", '{"query": "a", "filters": []}')]),
            {"role": "tool", "tool_call_id": "call12345", "content": "none"},
        ],
        tools=TOOLS,
        add_generation_prompt=True,
    ),
    "tool_call_null_content": dict(
        messages=[user("Go"), assistant(None, tool_calls=[call("get_weather", {"city": "Rome"})])], tools=[WEATHER]
    ),
    "reasoning": dict(
        messages=[
            user("Why?"),
            assistant("Because.", reasoning_content="The user asks why.\nThink."),
            user("And then?"),
            assistant("Then this.", reasoning_content="\n\nHm.\n"),
        ],
        add_generation_prompt=False,
    ),
    "reasoning_in_text": dict(
        messages=[user("Why?"), assistant("<think>\nHm, why.\n</think>\n\nBecause."), user("More")],
        add_generation_prompt=True,
    ),
    "thinking_on": dict(
        messages=[system("Be brief. /think"), user("Why?")],
        add_generation_prompt=True,
        variables={"enable_thinking": True, "thinking": True, "reasoning_effort": "high"},
    ),
    "thinking_off": dict(
        messages=[user("Why?")],
        add_generation_prompt=True,
        variables={"enable_thinking": False, "thinking": False, "reasoning_effort": "low"},
    ),
    "parts": dict(
        messages=[
            system([{"type": "text", "text": "Look."}]),
            user([{"type": "text", "text": "What is this? "}, {"type": "image"}, {"type": "text", "text": "And that?"}]),
            assistant([{"type": "text", "text": "A cat."}]),
            user("Sure?"),
        ],
        add_generation_prompt=True,
    ),
    "wrong_order": dict(messages=[user("a"), user("b"), assistant("c"), assistant("d")], add_generation_prompt=True),
    "unknown_role": dict(messages=[{"role": "critic", "content": "No."}, user("x")], add_generation_prompt=True),
    "developer": dict(messages=[{"role": "developer", "content": "Be kind."}, user("x")], add_generation_prompt=True),
    "date": dict(messages=[user("Today?")], add_generation_prompt=True, variables={"date_string": "01 Jan 2030"}),
    "documents": dict(
        messages=[user("Summarise")],
        add_generation_prompt=True,
        variables={"documents": [{"title": "A", "text": "First.", "doc_id": 1}, {"title": "B", "text": "Second."}]},
    ),
}


def fnv1a(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{h:016x}"


def main():
    folder = pathlib.Path(sys.argv[1])
    goldens = {"conversations": CONVERSATIONS, "templates": {}}
    counts = {"text": 0, "raises": 0, "fails": 0}
    for path in sorted(folder.glob("*.jinja")):
        source = path.read_text(encoding="utf-8")
        results = {}
        for name, c in CONVERSATIONS.items():
            variables = dict(
                messages=c["messages"],
                tools=c.get("tools"),
                documents=None,
                add_generation_prompt=c.get("add_generation_prompt", False),
                bos_token="<s>",
                eos_token="</s>",
            )
            variables.update(c.get("variables", {}))
            result = jinja_oracle.render(source, variables)
            counts[next(iter(result))] += 1
            if "text" in result and path.stem not in WHOLE:
                data = result["text"].encode("utf-8")
                result = {"bytes": len(data), "hash": fnv1a(data)}
            results[name] = result
        goldens["templates"][path.name] = results
    out = pathlib.Path(__file__).with_name("goldens.json")
    lines = ['{\n"conversations": ' + json.dumps(CONVERSATIONS, ensure_ascii=False) + ',\n"templates": {']
    blocks = []
    for name, results in goldens["templates"].items():
        rows = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in results.items())
        blocks.append(f"{json.dumps(name)}: {{\n{rows}\n}}")
    out.write_text("\n".join(lines) + "\n" + ",\n".join(blocks) + "\n}\n}\n", encoding="utf-8")
    print(f"{len(goldens['templates'])} templates: {counts}, {out.stat().st_size} bytes")


main()
