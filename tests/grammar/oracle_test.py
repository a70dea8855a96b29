# SPDX-License-Identifier: Apache-2.0
"""Answers drawn at random through the masks of grammars are what the grammars say: jsonschema and re judge them.

GRAMMAR_WALK names the program that draws them (grammar_walk.cc). JSON schemas are judged only where jsonschema is
installed (scripts/requirements-test.txt).
"""
import datetime
import json
import os
import re
import subprocess
import unittest
from pathlib import Path

try:
    import jsonschema
except ImportError:
    jsonschema = None

HERE = Path(__file__).resolve().parent
CASES = json.loads((HERE / "cases.json").read_text())
GOOD = [case for case in CASES if not case.get("refused")]
WALKS = 60


def first_wins(pairs):
    """No grammar without memory can keep a name from coming twice among members that are open."""
    return dict(reversed(pairs))


def parse(text):
    def constant(name):
        raise ValueError(name)
    return json.loads(text, object_pairs_hook=first_wins, parse_constant=constant)


def format_checker():
    """Python's, but for the year 0 and second 60, which RFC 3339 has, and zeros before the numbers of an address, which xgrammar gives."""
    checker = jsonschema.FormatChecker()

    @checker.checks("date", raises=ValueError)
    def is_date(text):
        return bool(datetime.date.fromisoformat(re.sub("^0000", "2000", text)))

    @checker.checks("time")
    def is_time(text):
        return re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)", text) is not None

    @checker.checks("date-time", raises=ValueError)
    def is_date_and_time(text):
        return text[10:11] in ("T", "t", " ") and is_date(text[:10]) and is_time(text[11:])

    @checker.checks("ipv4")
    def is_address(text):
        return re.fullmatch(r"\d{1,3}(\.\d{1,3}){3}", text) is not None and all(int(n) < 256 for n in text.split("."))

    return checker


def is_sum(text):
    """expr: term ('+' term)*, term: digit or '(' expr ')'."""
    previous = None
    while previous != text:
        previous, text = text, re.sub(r"\([0-9](\+[0-9])*\)", "0", text)
    return re.fullmatch(r"[0-9](\+[0-9])*", text) is not None


def is_balanced(text):
    while "()" in text:
        text = text.replace("()", "")
    return text == ""


def calls(text):
    """Free text with calls <tool>{"a": 1}</tool>."""
    for part in re.findall(r"<tool>(.*?)</tool>", text, re.S):
        if set(parse(part)) != {"a"} or not isinstance(parse(part)["a"], int):
            return False
    return True


JUDGES = {"sum": is_sum, "balanced": is_balanced, "calls": calls}


class Oracle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = [os.environ["GRAMMAR_WALK"], str(HERE / "cases.json"), str(WALKS)]
        lines = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
        cls.found = {row["name"]: row for row in map(json.loads, lines)}

    def answers(self, case):
        row = self.found[case["name"]]
        self.assertNotIn("failed", row, row)
        self.assertNotIn("refused", row, row)
        self.assertGreater(len(row["answers"]), WALKS // 2, f"{case['name']}: {row['unended']} answers did not end")
        if case.get("many", True):
            self.assertGreater(len(set(row["answers"])), 1, case["name"])
        return row["answers"]

    def test_every_case_has_a_name_of_its_own(self):
        self.assertEqual(len({case["name"] for case in CASES}), len(CASES))
        self.assertGreater(sum(case["kind"] == "json_schema" for case in CASES), 50)

    def test_schemas_give_documents_that_jsonschema_validates(self):
        for case in GOOD:
            if case["kind"] != "json_schema":
                continue
            with self.subTest(case["name"]):
                documents = [parse(text) for text in self.answers(case)]
                if jsonschema is None:
                    continue
                checker = jsonschema.Draft202012Validator(case["text"], format_checker=format_checker())
                for document in documents:
                    checker.validate(document)
        if jsonschema is None:
            self.skipTest("jsonschema is not installed; documents were only parsed")

    def test_json_gives_objects(self):
        for case in GOOD:
            if case["kind"] == "json":
                for text in self.answers(case):
                    self.assertIsInstance(parse(text), dict)

    def test_regular_expressions_give_texts_that_match(self):
        for case in GOOD:
            if case["kind"] == "regex":
                with self.subTest(case["name"]):
                    for text in self.answers(case):
                        self.assertRegex(text, r"\A(?:" + case["text"] + r")\Z")

    def test_choices_give_one_of_their_texts_and_all_of_them_in_time(self):
        for case in GOOD:
            if case["kind"] == "choice":
                with self.subTest(case["name"]):
                    self.assertEqual(set(self.answers(case)), set(case["text"]))

    def test_grammars_and_tags_give_what_their_judges_accept(self):
        for case in GOOD:
            if case["kind"] in ("ebnf", "structural_tag"):
                with self.subTest(case["name"]):
                    for text in self.answers(case):
                        self.assertTrue(JUDGES[case["judge"]](text), text)

    def test_what_cannot_be_held_to_is_refused_with_a_sentence(self):
        for case in CASES:
            if case.get("refused"):
                with self.subTest(case["name"]):
                    row = self.found[case["name"]]
                    self.assertIn(case["refused"], row.get("refused", f"compiled: {row}"))


if __name__ == "__main__":
    unittest.main()
