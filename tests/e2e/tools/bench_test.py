# SPDX-License-Identifier: Apache-2.0
"""`nereid bench`: the documented JSON object, the table, and refusals."""
import json
import unittest

from program import TINY, ProgramTest

MODEL = TINY / "tiny-llama.gguf"
SMALL = ("--prompt", "16", "--gen", "4", "--repeat", "2")


class BenchTest(ProgramTest):
    def test_the_json_object_is_exactly_the_documented_one(self):
        said = self.nereid_json("bench", MODEL, *SMALL, "--batch", "1,3", "--threads", "1")
        self.assertEqual(set(said), {"model", "isa", "threads", "results", "load_ms", "rss_mib"})
        self.assertEqual(said["threads"], 1)
        self.assertIn(said["isa"], ("baseline", "avx2", "avx512", "amx"))
        self.assertEqual([(one["test"], one["batch"]) for one in said["results"]],
                         [("pp16", 1), ("tg4", 1), ("pp16", 3), ("tg4", 3)])
        for one in said["results"]:
            self.assertEqual(set(one), {"test", "batch", "tokens_per_second", "gb_per_second", "roof_share"})
            self.assertGreaterEqual(one["tokens_per_second"]["best"], one["tokens_per_second"]["median"])
            self.assertGreater(one["tokens_per_second"]["median"], 0)

    def test_several_numbers_of_threads_give_an_object_each(self):
        out, _ = self.nereid("bench", MODEL, *SMALL, "--threads", "1,2", "--json", "--no-roof")
        self.assertEqual([json.loads(line)["threads"] for line in out.splitlines()], [1, 2])

    def test_the_table_names_every_test(self):
        out, _ = self.nereid("bench", MODEL, *SMALL, "--depth", "8", "--threads", "1", "--profile", "--no-roof")
        self.assertIn("| pp16@d8 ", out)
        self.assertIn("| tg4@d8 ", out)
        self.assertIn("| linear %layer.#.q.qkv", out)

    def test_wrong_numbers_are_refused(self):
        for wrong in (("--batch", "0"), ("--repeat", "0"), ("--gen", "-1"), ("--prompt", "0", "--gen", "0"),
                      ("--threads", "-1"), ("--prompt", "x")):
            out, err = self.nereid("bench", MODEL, *wrong, code=2)
            self.assertEqual(out, "")
            self.assert_sentence(err)

    def test_a_test_longer_than_the_model_is_refused(self):
        _, err = self.nereid("bench", MODEL, "--prompt", "1000000", "--threads", "1", code=2)
        self.assertIn("is made for at most", err)

    def test_a_model_that_is_not_there(self):
        _, err = self.nereid("bench", self.dir / "absent.gguf", code=2)
        self.assert_sentence(err, "absent.gguf")


if __name__ == "__main__":
    unittest.main()
