# SPDX-License-Identifier: Apache-2.0
"""`nereid embed` on the tiny models that encode."""
import json
import shutil
import unittest

from program import ROOT, ProgramTest

ENCODERS = ROOT / "tests/data/encoders"


def expected(name):
    return json.loads((ENCODERS / f"{name}.expected.json").read_text())["texts"]


class EmbedTest(ProgramTest):
    def lines(self, *arguments, **more):
        return [json.loads(line) for line in self.nereid("embed", *arguments, **more)[0].splitlines()]

    def refused(self, *arguments, code=2):
        _, said = self.nereid(*arguments, code=code)
        self.assert_sentence(said)
        return said

    def assert_near(self, got, want):
        self.assertEqual(len(got), len(want))
        for a, b in zip(got, want):
            self.assertAlmostEqual(a, b, delta=3e-5)

    def test_texts_become_vectors(self):
        texts = expected("mpnet-mean")
        said = self.lines(ENCODERS / "mpnet-mean", "-p", texts[0]["text"], "-p", texts[1]["text"])
        for got, want in zip(said, texts):
            self.assertEqual(got["tokens"], len(want["tokens"]))
            self.assert_near(got["embedding"], want["vector"])

    def test_lines_of_a_file(self):
        texts = [one for one in expected("bert-cls") if one["text"]][:4]
        file = self.dir / "texts"
        file.write_text("".join(one["text"] + "\n" for one in texts))
        for got, want in zip(self.lines(ENCODERS / "bert-cls", "--lines", file), texts, strict=True):
            self.assert_near(got["embedding"], want["vector"])

    def test_texts_are_judged_by_a_query(self):
        texts = expected("distilbert-cross")
        arguments = [part for one in texts[:4] for part in ("-p", one["text"])]
        said = self.lines(ENCODERS / "distilbert-cross", "--query", texts[0]["query"], *arguments)
        self.assert_near([one["score"] for one in said], [one["score"] for one in texts[:4]])

    def test_a_text_that_is_too_long(self):
        long = expected("bert-mean")[5]
        self.assertIn("but the model reads at most 32", self.refused("embed", ENCODERS / "bert-mean", "-p", long["text"]))
        said = self.lines(ENCODERS / "bert-mean", "--truncate", "-p", long["text"])
        self.assert_near(said[0]["embedding"], long["vector"])

    def test_what_has_no_meaning_is_refused(self):
        self.assertIn("there is no text", self.refused("embed", ENCODERS / "bert-mean"))
        self.assertIn("--query has no meaning", self.refused("embed", ENCODERS / "bert-mean", "-p", "a", "--query", "b"))
        self.assertIn("say with --query", self.refused("embed", ENCODERS / "bert-cross", "-p", "a"))
        self.assertIn("generates text and encodes none",
                      self.refused("embed", ROOT / "tests/data/models/tiny-llama.gguf", "-p", "a"))

    def test_damaged_files_are_told(self):
        for name, content, sentence in (("modules.json", "[", "is no JSON text"),
                                        ("modules.json", '[{"type": "a.Dense", "path": "2_Dense"}]', "kind 'Dense'"),
                                        ("modules.json", '[{"type": "a.Pooling", "path": "../x"}]', "which is not in the model's own"),
                                        ("1_Pooling/config.json", '{"pooling_mode": "median"}', 'no pooling "median"'),
                                        ("config.json", '{"architectures": ["BertForTokenClassification"], "model_type": "bert"}', "")):
            with self.subTest(name=name, content=content):
                folder = self.dir / f"m{abs(hash(content))}"
                shutil.copytree(ENCODERS / "bert-mean", folder)
                (folder / name).write_text(content)
                said = self.refused("embed", folder, "-p", "a", code=1)
                self.assertIn(sentence, said)


if __name__ == "__main__":
    unittest.main()
