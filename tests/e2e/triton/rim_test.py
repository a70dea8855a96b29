# SPDX-License-Identifier: Apache-2.0
"""What nobody should send, at the endpoints of the KServe protocol; numbers of 16 bits as JSON; TLS of gRPC."""
import gzip
import http.client
import json
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import zlib
from pathlib import Path

import twins
from served import Served

J = {"Content-Type": "application/json"}
INFER = "/v2/models/identity_fp32/infer"
BODY = json.dumps({"inputs": [{"name": "INPUT0", "shape": [1, 16], "datatype": "FP32", "data": list(range(16))}]})


def resident_mib(process):
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * 4096 / 2**20


class RimTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        repository = Path(folder.name) / "models"
        twins.write_repository(repository)
        for kind in ("FP16", "BF16"):
            twins.write(repository / kind.lower(), 'backend: "identity"\n' + twins.tensors(f"TYPE_{kind}", -1))
        # Waits for seven more while two of them fill its queue.
        twins.write(repository / "narrow", 'backend: "identity" max_batch_size: 8\ninstance_group [ { kind: KIND_CPU count: 1 } ]\n' +
                    twins.tensors("TYPE_INT32", 1) + "dynamic_batching { preferred_batch_size: [ 8 ] max_queue_delay_microseconds: 400000 "
                    "default_queue_policy { max_queue_size: 2 } }\n")
        cls.served = Served(repository)
        cls.addClassCleanup(cls.served.stop)

    def tearDown(self):
        self.assertIsNone(self.served.process.poll(), "the server has ended")
        self.assertEqual(self.served.ask("POST", INFER, BODY, J)[0], 200)

    def send(self, text, wait=3):
        """What comes back for these bytes until the connection is closed or still for so long."""
        got = b""
        with socket.create_connection(("127.0.0.1", self.served.port), timeout=wait) as connection:
            connection.sendall(text)
            try:
                while part := connection.recv(65536):
                    got += part
                    if b"\r\n\r\n" in got and got.startswith((b"HTTP/1.1 4", b"HTTP/1.1 501")):
                        break
            except (TimeoutError, ConnectionError):
                pass
        return got

    def test_smuggling_shapes_are_refused_and_end_the_connection(self):
        head = f"POST {INFER} HTTP/1.1\r\nHost: a\r\n".encode()
        second = f"POST {INFER} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(BODY)}\r\n\r\n{BODY}".encode()
        for name, lines in (
                ("both lengths", b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                ("two lengths", b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}{}{"),
                ("a list of lengths", b"Content-Length: 2, 3\r\n\r\n{}"),
                ("a signed length", b"Content-Length: +2\r\n\r\n{}"),
                ("a negative length", b"Content-Length: -1\r\n\r\n{}"),
                ("a hexadecimal length", b"Content-Length: 0x2\r\n\r\n{}"),
                ("a length beyond 64 bits", b"Content-Length: 99999999999999999999\r\n\r\n{}"),
                ("another coding", b"Transfer-Encoding: identity\r\n\r\n"),
                ("chunked twice", b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
                ("a space before the colon", b"Content-Length : 2\r\n\r\n{}"),
                ("a bare line feed in a chunk", b"Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n"),
                ("a chunk size with a sign", b"Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n"),
                ("two hosts", b"Host: b\r\nContent-Length: 2\r\n\r\n{}")):
            got = self.send(head + lines + second)
            self.assertRegex(got[:12], rb"HTTP/1.1 (4\d\d|501)", f"{name}: {got[:200]!r}")
            self.assertNotIn(b"HTTP/1.1 200", got, name)

    def test_json_that_nests_is_read_64_deep_and_refused_where_it_would_hurt(self):
        data = "[" * 62 + ",".join("0" for _ in range(16)) + "]" * 62
        body = '{"inputs":[{"name":"INPUT0","shape":[1,16],"datatype":"FP32","data":%s}]}' % data
        self.assertEqual(self.served.ask("POST", INFER, body, J)[0], 200)
        for depth in (200, 100_000, 3_000_000):
            for left, right in (("[", "]"), ('{"a":', "}")):
                status, _, text = self.served.ask("POST", INFER, left * depth + "0" + right * depth, J)
                self.assertIn(status, (400, 500), depth)
                self.assertIn("error", json.loads(text))
        nested = '{"parameters":' * 64 + "{}" + "}" * 64
        self.assertIn(self.served.ask("POST", INFER, nested, J)[0], (400, 500))

    def test_a_packed_bomb_costs_no_memory(self):
        before = peak = resident_mib(self.served.process)
        for coding, pack in (("gzip", gzip.compress), ("deflate", zlib.compress)):
            inner = pack(bytes(1 << 28), 6)
            for path in (INFER, "/v2/models/decoupled/generate", "/v2/repository/models/x/load", "/v2/trace/setting", "/v2/logging"):
                status, _, text = self.served.ask("POST", path, inner, {**J, "Content-Encoding": coding})
                self.assertIn(status, (413, 415), (path, text[:200]))
                peak = max(peak, resident_mib(self.served.process))
        self.assertLess(peak - before, 200)

    def test_hostile_numbers_and_shapes_are_told_not_believed(self):
        def infer(**tensor):
            one = {"name": "INPUT0", "shape": [1, 16], "datatype": "FP32", "data": list(range(16)), **tensor}
            return self.served.ask("POST", INFER, json.dumps({"inputs": [one]}), J)
        for tensor in ({"shape": [2**62, 2**62]}, {"shape": [2**63, 1]}, {"shape": [1] * 10_000}, {"shape": []}, {"shape": [0, 16]},
                       {"data": []}, {"data": [[]]}, {"data": {}}, {"data": None}, {"datatype": "FP32" * 1000}, {"name": "\u0000"},
                       {"data": ["x"] * 16}, {"data": [True] * 16}, {"data": list(range(17))}):
            status, _, text = infer(**tensor)
            self.assertIn(status, (400, 500), tensor)
            self.assertTrue(json.loads(text)["error"], tensor)
        for header in ("-1", "99999999999999999999", str(len(BODY) + 1), "1e3", "abc", "", "0x10", " 5 5"):
            status, _, text = self.served.ask("POST", INFER, BODY, {**J, "Inference-Header-Content-Length": header})
            self.assertEqual(status, 400, (header, text))

    def test_overload_is_503_with_a_time_to_come_again(self):
        body = json.dumps({"inputs": [{"name": "INPUT0", "shape": [1, 1], "datatype": "INT32", "data": [1]}]})
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.served.ask("POST", "/v2/models/narrow/infer", body, J))) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(status for status, *_ in answers), [200] * 2 + [503] * 10)
        for status, headers, text in answers:
            if status == 503:
                self.assertEqual(headers["retry-after"], "1")
                self.assertIn("Exceeds maximum queue size", json.loads(text)["error"])

    def test_numbers_of_16_bits_go_both_ways_as_json(self):
        values = [0.0, 1.0, -2.5, 0.333251953125, 65504.0]
        for model, expected in (("fp16", [struct.unpack("<e", struct.pack("<e", v))[0] for v in values]),
                                ("bf16", [struct.unpack("<f", b"\0\0" + struct.pack("<f", v)[2:])[0] for v in (0.0, 1.0, -2.5)])):
            sent = values[:len(expected)]
            body = {"inputs": [{"name": "INPUT0", "shape": [len(sent)], "datatype": model.upper(), "data": sent}]}
            status, _, text = self.served.ask("POST", f"/v2/models/{model}/infer", json.dumps(body), J)
            self.assertEqual(status, 200, text)
            self.assertEqual(json.loads(text)["outputs"][0]["data"], expected)
            # And raw, the same bits.
            status, headers, raw = self.served.ask("POST", f"/v2/models/{model}/infer", json.dumps(
                {**body, "outputs": [{"name": "OUTPUT0", "parameters": {"binary_data": True}}]}), J)
            bits = raw[int(headers["inference-header-content-length"]):]
            if model == "fp16":
                self.assertEqual(bits, struct.pack("<5e", *values))

    def test_a_number_that_its_type_has_not_is_refused_and_infinity_is_asked_for_by_name(self):
        for model, kind, number in (("identity_fp32", "FP32", "1e39"), ("identity_fp32", "FP32", "-1e400"), ("fp16", "FP16", "65520"),
                                    ("bf16", "BF16", "3.4e38")):
            shape, more = ("[1,16]", ",0" * 15) if kind == "FP32" else ("[1]", "")
            body = '{"inputs":[{"name":"INPUT0","shape":%s,"datatype":"%s","data":[%%s%s]}]}' % (shape, kind, more)
            status, _, text = self.served.ask("POST", f"/v2/models/{model}/infer", body % number, J)
            self.assertIn(status, (400, 500), number)
            status, _, text = self.served.ask("POST", f"/v2/models/{model}/infer", body % "-Infinity", J)
            self.assertEqual((status, json.loads(text)["outputs"][0]["data"][0]), (200, float("-inf")))

    def test_half_requests_and_clients_that_leave_do_no_harm(self):
        text = f"POST {INFER} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(BODY)}\r\n\r\n{BODY}".encode()
        for end in range(0, len(text), 7):
            with socket.create_connection(("127.0.0.1", self.served.port)) as connection:
                connection.sendall(text[:end])
        time.sleep(0.2)


def have_openssl():
    return subprocess.run(["openssl", "version"], capture_output=True).returncode == 0


class TlsTest(unittest.TestCase):
    """gRPC through TLS, with and without certificates of clients."""
    @classmethod
    def setUpClass(cls):
        try:
            import grpc  # noqa: F401
            from tritonclient.grpc import service_pb2  # noqa: F401
        except ImportError:
            raise unittest.SkipTest("tritonclient with gRPC is not installed")
        if not have_openssl():
            raise unittest.SkipTest("the program openssl is not installed")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        run = lambda *words: subprocess.run(["openssl", *words], cwd=cls.folder, check=True, capture_output=True)
        run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test")
        for name in ("server", "client"):
            run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=localhost")
            (cls.folder / "ext").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
            run("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "ext", "-out", f"{name}.pem")
        twins.write(cls.folder / "models/identity_fp32", 'backend: "identity" max_batch_size: 8\n' + twins.tensors("TYPE_FP32", 16))

    def test_http_through_tls_with_a_certificate_of_the_client(self):
        served = Served(self.folder / "models", options=[f"--ssl-cert={self.folder}/server.pem", f"--ssl-key={self.folder}/server.key",
                                                         f"--ssl-client-ca={self.folder}/ca.pem"], scheme="https")
        self.addCleanup(served.stop)

        def status(with_certificate):
            context = ssl.create_default_context(cafile=self.folder / "ca.pem")
            if with_certificate:
                context.load_cert_chain(self.folder / "client.pem", self.folder / "client.key")
            connection = http.client.HTTPSConnection("127.0.0.1", served.port, context=context, timeout=10)
            try:
                connection.request("GET", "/v2/models/identity_fp32/ready")
                return connection.getresponse().status
            finally:
                connection.close()
        self.assertEqual(status(True), 200)
        with self.assertRaises(OSError):
            status(False)

    def serve(self, *more):
        served = Served(self.folder / "models", options=[f"--grpc-server-cert={self.folder}/server.pem", f"--grpc-server-key={self.folder}/server.key", *more])
        self.addCleanup(served.stop)
        if served.grpc_port is None:
            self.skipTest("the program was built without gRPC")
        return served

    def live(self, port, **credentials):
        import grpc
        from tritonclient.grpc import service_pb2, service_pb2_grpc
        read = lambda name: (self.folder / name).read_bytes()
        where = f"localhost:{port}"
        channel = grpc.secure_channel(where, grpc.ssl_channel_credentials(**{k: read(v) for k, v in credentials.items()})) if credentials else \
            grpc.insecure_channel(where)
        try:
            return service_pb2_grpc.GRPCInferenceServiceStub(channel).ServerLive(service_pb2.ServerLiveRequest(), timeout=5).live
        except grpc.RpcError as error:
            return error.code().name
        finally:
            channel.close()

    def test_a_certificate_of_the_server(self):
        served = self.serve("--grpc-use-ssl=true")
        self.assertIs(self.live(served.grpc_port, root_certificates="ca.pem"), True)
        self.assertEqual(self.live(served.grpc_port), "UNAVAILABLE")

    def test_a_certificate_of_the_client(self):
        served = self.serve("--grpc-use-ssl-mutual=true", f"--grpc-root-cert={self.folder}/ca.pem")
        self.assertIs(self.live(served.grpc_port, root_certificates="ca.pem", private_key="client.key", certificate_chain="client.pem"), True)
        self.assertEqual(self.live(served.grpc_port, root_certificates="ca.pem"), "UNAVAILABLE")


if __name__ == "__main__":
    unittest.main()
