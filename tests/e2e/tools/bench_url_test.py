# SPDX-License-Identifier: Apache-2.0
"""`nereid bench URL`: figures of a server under load, in every form, and refusals."""
import csv
import json
import socket
import threading
import unittest

from server import ServerTest

SMALL = ("--prompt", "8", "--gen", "6", "--warmup", "0", "--quiet")
SPREAD = {"mean", "p50", "p90", "p95", "p99", "max"}


class BenchUrlTest(ServerTest):
    def test_closed_loops(self):
        server = self.serve()
        said = self.nereid_json("bench", server.url, *SMALL, "--concurrency", "1,4", "--requests", "6", "--slo", "ttft=60s")
        self.assertEqual((said["url"], said["model"], said["endpoint"]), (server.url, "tiny-llama", "/v1/chat/completions"))
        self.assertEqual([one["load"] for one in said["results"]], ["concurrency 1", "concurrency 4"])
        for one in said["results"]:
            self.assertEqual((one["requests"], one["failed"], one["answer_tokens"]), (6, 0, 36))
            self.assertGreater(one["prompt_tokens"], 6 * 8)
            self.assertAlmostEqual(one["answer_tokens_per_second"], 36 / one["seconds"], delta=0.02 * 36 / one["seconds"])
            self.assertEqual(one["goodput_share"], 1)
            for name in ("ttft_ms", "itl_ms", "tpot_ms", "e2e_ms"):
                self.assertEqual(set(one[name]), SPREAD)
                self.assertLessEqual(one[name]["p50"], one[name]["p99"])
            self.assertLess(one["ttft_ms"]["p50"], one["e2e_ms"]["p50"])

    def test_arrivals_by_chance_and_completions(self):
        server = self.serve()
        said = self.nereid_json("bench", server.url + "/v1", *SMALL, "--rate", "50", "--requests", "10", "--endpoint", "completions")
        self.assertEqual(said["endpoint"], "/v1/completions")
        self.assertEqual((said["results"][0]["load"], said["results"][0]["requests"], said["results"][0]["failed"]), ("rate 50/s", 10, 0))

    def test_a_trace_is_replayed_at_its_times(self):
        server = self.serve()
        trace = self.dir / "trace.jsonl"
        trace.write_text("".join(json.dumps({"timestamp": 1000 + at, "input_length": 5, "output_length": 2 + at // 100}) + "\n"
                                 for at in (0, 100, 400)))
        table = self.dir / "requests.csv"
        out, _ = self.nereid("bench", server.url, "--trace", trace, "--speed", 2, "--warmup", 0, "--csv", table, "--quiet")
        self.assertIn("| trace |", out)
        with open(table, newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        self.assertEqual([float(row["at_ms"]) for row in rows], [0, 50, 200])
        self.assertEqual([int(row["answer_tokens"]) for row in rows], [2, 3, 6])
        self.assertEqual({row["error"] for row in rows}, {""})

    def test_the_page_stands_alone(self):
        server = self.serve()
        page = self.dir / "page.html"
        self.nereid("bench", server.url, *SMALL, "--concurrency", "1,2", "--requests", "4", "--html", page)
        text = page.read_text(encoding="utf-8")
        self.assertEqual(text.count("<svg"), 6)
        for elsewhere in ("http://www", "https://", "<script", "src="):
            self.assertNotIn(elsewhere, text)

    def test_keys_are_shown(self):
        server = self.serve("--api-key", "secret")
        self.nereid("bench", server.url, *SMALL, "--requests", "2", "--api-key", "secret")
        _, err = self.nereid("bench", server.url, *SMALL, "--requests", "2", code=1)
        self.assert_sentence(err, "401")

    def test_a_unix_socket(self):
        path = self.dir / "socket"
        self.serve("--host", f"unix:{path}")
        self.assertEqual(self.nereid_json("bench", f"unix:{path}", *SMALL, "--requests", "2")["results"][0]["failed"], 0)

    def test_requests_that_fail_are_counted_and_told(self):
        server = self.serve()
        out, err = self.nereid("bench", server.url, "--prompt", 100_000, "--gen", 2, "--warmup", 0, "--requests", 3, "--json", "--quiet", code=1)
        result = json.loads(out)["results"][0]
        self.assertEqual((result["requests"], result["failed"]), (3, 3))
        self.assertIn("HTTP 400", result["first_error"])
        self.assertIn("3 of 3 requests failed", err)

    def test_a_server_that_breaks_off_is_told(self):
        models = b'{"data":[{"id":"made"}]}'
        answers = [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(models), models),
                   b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndata:"]
        door = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(door.close)

        def answer():
            for text in answers:
                one, _ = door.accept()
                one.recv(65536)
                one.sendall(text)
                one.close()

        threading.Thread(target=answer, daemon=True).start()
        out, _ = self.nereid("bench", f"http://127.0.0.1:{door.getsockname()[1]}", *SMALL, "--requests", 1, "--json", code=1)
        self.assertIn("closed the connection", json.loads(out)["results"][0]["first_error"])

    def test_what_is_wrong_is_a_sentence(self):
        free = socket.create_server(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        _, err = self.nereid("bench", f"http://127.0.0.1:{port}", code=1)
        self.assert_sentence(err, "nobody answers", str(port))
        url = "http://127.0.0.1:1"
        for wrong in (("--concurrency", "0"), ("--concurrency", "1", "--rate", "2"), ("--slo", "ttft=fast"), ("--endpoint", "x"),
                      ("--trace", self.dir / "none"), ("--rate", "0")):
            _, err = self.nereid("bench", url, *wrong, code=2)
            self.assert_sentence(err)
        for wrong in ("https://localhost", "http://", "http://a:b"):
            _, err = self.nereid("bench", wrong, code=2)
            self.assert_sentence(err)


if __name__ == "__main__":
    unittest.main()
