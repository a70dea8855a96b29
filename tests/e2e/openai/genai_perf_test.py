# SPDX-License-Identifier: Apache-2.0
"""genai-perf 0.0.16 against `nereid serve`: skipped where bench/peers/genai_perf --install has not put it."""
import importlib.machinery
import importlib.util
import tempfile
import unittest

from served import MODEL, ROOT, ServedTest

loader = importlib.machinery.SourceFileLoader("genai_perf", str(ROOT / "bench/peers/genai_perf"))
genai_perf = importlib.util.module_from_spec(importlib.util.spec_from_loader("genai_perf", loader))
loader.exec_module(genai_perf)


@unittest.skipUnless(genai_perf.is_installed() and genai_perf.VOCABULARY.exists(),
                     "genai-perf is not there (bench/peers/genai_perf --install gets it)")
class GenaiPerfTest(ServedTest):
    def test_every_shape_is_driven_and_every_answer_understood(self):
        for shape in genai_perf.SHAPES:
            with self.subTest(shape), tempfile.TemporaryDirectory() as folder:
                figures, raw = genai_perf.profile(f"127.0.0.1:{self.served.port}", MODEL, shape, 4, 8, 40, 8, folder)
                self.assertEqual(figures["request_count"]["avg"], 8)
                requests = raw["experiments"][0]["requests"]
                self.assertEqual(len(requests), 8)
                for request in requests:
                    answers = [one["response"] for one in request["response_outputs"]]
                    self.assertNotIn('"error"', "".join(answers))
                    if "streamed" in shape:
                        self.assertGreater(len(answers), 4)
                self.assertGreater(figures["output_sequence_length"]["avg"], 3)
                self.assertGreater(figures["request_latency"]["avg"], 0)


if __name__ == "__main__":
    unittest.main()
