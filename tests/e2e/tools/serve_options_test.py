# SPDX-License-Identifier: Apache-2.0
"""`nereid serve` as users of vLLM and TensorRT-LLM spell its options: policy, batch, trace."""
import json
import unittest

from server import MODEL, ServerTest


class ServeOptionsTest(ServerTest):
    def test_names_that_other_servers_use(self):
        server = self.serve("--max-model-len", 200, "--max-num-seqs", 2, "--max-num-batched-tokens", 64, "--no-enable-prefix-caching",
                            "--capacity-scheduler-policy", "GUARANTEED_NO_EVICT", "--tool-call-parser", "hermes", "--reasoning-parser", "none")
        self.assertEqual(json.loads(self.ask(server, "GET", "/v1/models")[2])["data"][0]["max_model_len"], 200)
        first, second = (self.complete(server, prompt="hello " * 20) for _ in range(2))
        self.assertEqual(first["choices"][0]["text"], second["choices"][0]["text"])
        self.assertEqual(second["usage"]["prompt_tokens_details"]["cached_tokens"], 0)
        self.stop(server)

    def test_a_trace_of_the_scheduler(self):
        trace = self.dir / "trace.json"
        server = self.serve("--scheduler-trace", trace)
        for _ in range(3):
            self.complete(server)
        self.assertFalse(trace.exists())
        self.stop(server)
        events = json.loads(trace.read_text())["traceEvents"]
        answers = [e for e in events if e.get("cat") == "request" and e["name"] == "answer"]
        self.assertEqual(len({e["tid"] for e in answers}), 3)

    def test_a_trace_that_cannot_be_written_is_told_at_once(self):
        _, err = self.nereid("serve", MODEL, "--port", 0, "--quiet", "--scheduler-trace", self.dir / "none" / "trace.json", code=1)
        self.assert_sentence(err, "trace")

    def test_options_that_make_no_sense(self):
        for wrong in (("--scheduler-policy", "lazy"), ("--tool-format", "smoke"), ("--reasoning-format", "loud"),
                      ("--max-num-seqs", "0"), ("--prompt-tokens-beside", "0"), ("--gzip-bytes", "-1")):
            _, err = self.nereid("serve", "model.gguf", "--port", 0, *wrong, code=2)
            self.assertRegex(err, r"nereid: error: .+\n")


if __name__ == "__main__":
    unittest.main()
