# SPDX-License-Identifier: Apache-2.0
"""`nereid serve` as a process: how it starts, what it says of itself, keys, TLS, signals."""
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import time
import unittest
import warnings

from server import MODEL, ServerTest

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:  # scripts/bootstrap test brings it
    text_string_to_metric_families = None


class ServeTest(ServerTest):
    def test_it_answers_and_says_where(self):
        server = self.serve()
        self.assertEqual(server.model, "tiny-llama")
        self.assertIn(f"curl {server.url}/v1/chat/completions", server.welcome)
        status, headers, text = self.ask(server, "GET", "/health")
        self.assertEqual((status, json.loads(text)), (200, {"status": "ready", "models": ["tiny-llama"]}))
        self.assertEqual(headers["Content-Type"], "application/json")
        self.assertEqual(self.complete(server)["usage"]["completion_tokens"], 4)
        self.stop(server)

    def test_answers_are_those_of_run(self):
        server = self.serve("--max-sequences", 4)
        told = self.nereid_json("run", MODEL, "-p", "hello", "-n", 12, "--temperature", 0, "--threads", 1)
        answer = self.complete(server, max_tokens=12)["choices"][0]
        self.assertEqual((answer["text"], answer["finish_reason"]), (told["text"], told["finish_reason"]))

    def test_names_and_several_models(self):
        server = self.serve(MODEL, "--served-model-name", "one", "--served-model-name", "two")
        _, _, text = self.ask(server, "GET", "/v1/models")
        self.assertEqual([one["id"] for one in json.loads(text)["data"]], ["one", "two"])
        _, err = self.nereid("serve", MODEL, MODEL, "--port", 0, code=1)
        self.assertIn("--served-model-name", err)
        _, err = self.nereid("serve", MODEL, "--served-model-name", "a", "--served-model-name", "b", code=2)
        self.assert_sentence(err, "--served-model-name")

    def test_what_is_wrong_is_a_sentence(self):
        _, err = self.nereid("serve", self.dir / "absent.gguf", code=2)
        self.assert_sentence(err, "absent.gguf")
        (self.dir / "broken.gguf").write_bytes(b"GGUF" + bytes(100))
        _, err = self.nereid("serve", self.dir / "broken.gguf", "--port", 0, code=1)
        self.assertIn("nereid: error: ", err)
        for wrong in (("--port", "65536"), ("--max-connections", "0"), ("--ssl-cert", "x"), ("--ssl-client-ca", "x"),
                      ("--api-key", ""), ("--api-key-file", self.dir / "none"), ("--host", "no.such.host.invalid")):
            _, err = self.nereid("serve", MODEL, "--port", 0, *wrong, code=2)
            self.assert_sentence(err)

    def test_a_taken_port_is_a_sentence_and_exit_code_1(self):
        server = self.serve()
        _, err = self.nereid("serve", MODEL, "--port", server.port, code=1)
        self.assert_sentence(err, f":{server.port}", "Address already in use")

    def test_keys(self):
        (self.dir / "keys").write_text("# a comment\nfrom-file\n")
        server = self.serve("--api-key", "from-line", "--api-key-file", self.dir / "keys")
        self.assertIn("Authorization: Bearer $KEY", server.welcome)
        for key, expected in ((None, 401), ("wrong", 401), ("from-line", 200), ("from-file", 200)):
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            status, answered, text = self.ask(server, "GET", "/v1/models", headers=headers)
            self.assertEqual(status, expected)
            if expected == 401:
                self.assertEqual(answered["WWW-Authenticate"], "Bearer")
                self.assertEqual(json.loads(text)["error"]["code"], "invalid_api_key")
        self.assertEqual(self.ask(server, "GET", "/health")[0], 200)

    def test_errors_before_any_endpoint_have_the_shape_of_the_api(self):
        server = self.serve("--max-body-bytes", 2048)
        for method, path, body, expected in (("GET", "/v1/nothing", None, 404), ("PUT", "/v1/models", None, 405),
                                             ("POST", "/v1/completions", "x" * 4096, 413)):
            status, _, text = self.ask(server, method, path, body)
            self.assertEqual(status, expected)
            self.assertEqual(set(json.loads(text)["error"]), {"message", "type", "param", "code"})
        self.assertIn(b" 400 ", self.raw(server, "nonsense\r\n\r\n"))
        self.assertIn(b" 431 ", self.raw(server, "GET / HTTP/1.1\r\nHost: x\r\nA: " + "a" * 100_000 + "\r\n\r\n"))
        self.complete(server)

    def test_other_origins_are_refused_unless_allowed(self):
        preflight = {"Origin": "https://a.b", "Access-Control-Request-Method": "POST"}
        for options, expected in (((), None), (("--cors-origin", "https://a.b"), "https://a.b")):
            server = self.serve(*options)
            status, headers, _ = self.ask(server, "OPTIONS", "/v1/chat/completions", headers=preflight)
            self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (204, expected))
            self.assertEqual(self.ask(server, "GET", "/v1/models")[1]["Access-Control-Allow-Origin"], expected)

    def test_a_unix_socket(self):
        path = self.dir / "socket"
        server = self.serve("--host", f"unix:{path}")
        self.assertIn(f"curl --unix-socket {path} http://localhost/v1", server.welcome)
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(path))
            one.sendall(b"GET /health HTTP/1.0\r\n\r\n")
            self.assertIn(b"200 OK", one.recv(65536))
        self.stop(server)
        self.assertFalse(path.exists())

    def make_certificates(self):
        """ca.pem, and server.pem and client.pem with their keys, signed by it."""
        def openssl(*arguments):
            subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, cwd=self.dir)

        (self.dir / "san").write_text("subjectAltName=IP:127.0.0.1\n")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 1, "-subj", "/CN=test root",
                "-keyout", "ca.key", "-out", "ca.pem")
        for name in ("server", "client"):
            openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                    "-keyout", f"{name}.key", "-out", f"{name}.csr")
            openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", 1,
                    "-extfile", "san", "-out", f"{name}.pem")

    def test_tls_and_client_certificates(self):
        self.make_certificates()
        tls = ("--ssl-cert", self.dir / "server.pem", "--ssl-key", self.dir / "server.key")
        _, err = self.nereid("serve", MODEL, "--port", 0, "--ssl-cert", self.dir / "server.pem", "--ssl-key", self.dir / "client.key", code=2)
        self.assert_sentence(err, "client.key")
        server = self.serve(*tls)
        self.assertTrue(server.url.startswith("https://"))
        context = ssl.create_default_context(cafile=self.dir / "ca.pem")
        one = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60, context=context)
        for _ in range(3):  # on one connection
            status, _, text = self.ask(server, "POST", "/v1/completions", {"prompt": "x" * 20_000, "max_tokens": 1}, connection=one)
            self.assertEqual(status, 400, text)  # longer than the tiny model's context, and more than one TLS record
        self.assertEqual(self.ask(server, "GET", "/health", connection=one)[0], 200)
        one.close()
        self.assertNotIn(b"200", self.raw(server, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            old = ssl.create_default_context(cafile=self.dir / "ca.pem")
            old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", server.port)) as plain, self.assertRaises((ssl.SSLError, ConnectionError)):
            old.wrap_socket(plain, server_hostname="127.0.0.1")
        self.stop(server)

        server = self.serve(*tls, "--ssl-client-ca", self.dir / "ca.pem")
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.ask(server, "GET", "/health", connection=http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60, context=context))
        context.load_cert_chain(self.dir / "client.pem", self.dir / "client.key")
        known = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60, context=context)
        self.assertEqual(self.ask(server, "GET", "/health", connection=known)[0], 200)
        known.close()

    def test_a_signal_lets_requests_end(self):
        server = self.serve()
        one = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        one.request("POST", "/v1/completions", json.dumps({"prompt": "hello", "max_tokens": 200, "stream": True, "ignore_eos": True}))
        answer = one.getresponse()
        answer.readline()
        server.send_signal(signal.SIGTERM)
        self.assertTrue(answer.read().rstrip().endswith(b"data: [DONE]"))
        self.assertEqual(server.wait(60), 0)
        one.close()

    def test_a_second_signal_ends_at_once(self):
        server = self.serve("--drain-timeout-ms", 600_000, "--write-timeout-ms", 600_000)
        lazy = socket.socket()
        self.addCleanup(lazy.close)
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect(("127.0.0.1", server.port))
        lazy.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 2000)  # more than the system keeps for one who does not read
        time.sleep(1)
        server.send_signal(signal.SIGINT)
        time.sleep(1)
        self.assertIsNone(server.poll(), "a response is not with its reader yet")
        server.send_signal(signal.SIGINT)
        self.assertEqual(server.wait(10), 130)

    def test_requests_are_logged_on_request(self):
        server = self.serve("--log-requests")
        self.ask(server, "GET", "/health")
        self.ask(server, "GET", "/nothing?x=%22")
        self.stop(server)
        log = "".join(server.said)
        self.assertRegex(log, r"127\.0\.0\.1:\d+ GET /health 200 \d+ bytes [\d.]+ ms")
        self.assertRegex(log, r"GET /nothing\?x=%22 404 ")

    def test_ten_thousand_idle_connections_disturb_nobody(self):
        import resource
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        count = min(10_000, hard - 500 if hard != resource.RLIM_INFINITY else 10_000)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 400) if hard != resource.RLIM_INFINITY else count + 400, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        server = self.serve()

        def resident_kib():
            with open(f"/proc/{server.pid}/status", encoding="ascii") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

        before = resident_kib()
        idle = []
        self.addCleanup(lambda: [one.close() for one in idle])
        for _ in range(count):
            idle.append(socket.create_connection(("127.0.0.1", server.port), timeout=60))
        self.complete(server)
        self.assertLess((resident_kib() - before) / count, 4, "KiB a connection")
        begin = self.cpu_seconds(server)
        time.sleep(1)
        self.assertLess(self.cpu_seconds(server) - begin, 0.2, "an idle server sleeps")

    @staticmethod
    def cpu_seconds(process):
        with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@unittest.skipUnless(text_string_to_metric_families, "prometheus_client is not installed (scripts/bootstrap build test installs it)")
class MetricsTest(ServerTest):
    def samples(self, server):
        _, headers, text = self.ask(server, "GET", "/metrics")
        self.assertTrue(headers["Content-Type"].startswith("text/plain; version=0.0.4"))
        families = list(text_string_to_metric_families(text))
        for family in families:
            self.assertTrue(family.name.startswith("nereid_"), family.name)
            self.assertIn(family.type, ("counter", "gauge", "histogram"))
            self.assertTrue(family.documentation)
        return {(s.name, frozenset(s.labels.items())): s.value for f in families for s in f.samples}

    def value(self, samples, name, **labels):
        return samples[name, frozenset(labels.items())]

    def test_requests_are_counted_and_timed(self):
        server = self.serve()
        for _ in range(3):
            self.complete(server)
        self.ask(server, "GET", "/nothing")
        seen = self.samples(server)
        model = {"model": "tiny-llama"}
        self.assertEqual(self.value(seen, "nereid_http_requests_total", endpoint="/v1/completions", method="POST", status="200"), 3)
        self.assertEqual(self.value(seen, "nereid_http_requests_total", endpoint="none", method="GET", status="404"), 1)
        self.assertEqual(self.value(seen, "nereid_answer_tokens_total", **model), 12)
        self.assertEqual(self.value(seen, "nereid_requests_total", outcome="length", **model), 3)
        for histogram, count in (("time_to_first_token", 3), ("inter_token", 9), ("request_duration", 3)):
            self.assertEqual(self.value(seen, f"nereid_{histogram}_seconds_count", **model), count)
            self.assertEqual(self.value(seen, f"nereid_{histogram}_seconds_bucket", le="+Inf", **model), count)
            buckets = sorted((float(dict(labels)["le"]), value) for (name, labels), value in seen.items()
                             if name == f"nereid_{histogram}_seconds_bucket")
            self.assertEqual([value for _, value in buckets], sorted(value for _, value in buckets))
        self.assertEqual(self.value(seen, "nereid_model_ready", **model), 1)
        self.assertEqual(self.value(seen, "nereid_requests_running", **model), 0)
        self.assertGreater(self.value(seen, "nereid_cache_pages", **model), 0)
        self.assertGreater(self.value(seen, "nereid_process_resident_memory_bytes"), 1 << 20)
        again = self.samples(server)
        for key, value in seen.items():
            if key[0].endswith("_total"):
                self.assertGreaterEqual(again[key], value, key)

    def test_names_with_quotes_are_escaped(self):
        odd = 'a_"quoted"\\name'
        server = self.serve("--served-model-name", odd)
        self.assertEqual(self.value(self.samples(server), "nereid_model_ready", model=odd), 1)


if __name__ == "__main__":
    unittest.main()
