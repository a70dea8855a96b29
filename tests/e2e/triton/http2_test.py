# SPDX-License-Identifier: Apache-2.0
"""The HTTP/2 below gRPC, spoken by h2 of PyPI and by curl: streams beside each other, narrow windows, what is no call,
deadlines, what breaks a connection, and the end of the server."""
import gzip
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import unittest
import zlib
from pathlib import Path

import twins
from served import Served

try:
    import h2.config
    import h2.connection
    import h2.events
    import h2.exceptions
    import h2.settings
except ImportError:  # scripts/bootstrap test brings them
    h2 = None

SERVICE = "/inference.GRPCInferenceService/"
LIVE = b"\x08\x01"  # ServerLiveResponse{live: true}


def framed(message):
    return b"\0" + struct.pack(">I", len(message)) + message


def field(number, data):
    """A field of bytes, as protobuf has it."""
    out, length = bytearray([number << 3 | 2]), len(data)
    while length >= 0x80:
        out.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes(out) + bytes([length]) + data


def infer(model, shape, raw, datatype=b"FP32"):
    tensor = field(1, b"INPUT0") + field(2, datatype) + b"".join(b"\x18" + varint(n) for n in shape)
    return field(1, model.encode()) + field(5, tensor) + field(7, raw)


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


class Client:
    """One connection of h2, and what came of each stream."""
    def __init__(self, port, settings=None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        if settings:
            self.connection.local_settings = h2.settings.Settings(client=True, initial_values=settings)
        self.connection.initiate_connection()
        self.answers, self.gone, self.pings = {}, None, 0
        self.flush()

    def flush(self):
        self.socket.sendall(self.connection.data_to_send())

    def call(self, path, *, method="POST", headers=(), end=False):
        stream = self.connection.get_next_available_stream_id()
        self.answers[stream] = {"headers": {}, "data": b"", "done": False, "reset": None}
        base = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "localhost")]
        kind = [] if any(name == "content-type" for name, _ in headers) else [("content-type", "application/grpc"), ("te", "trailers")]
        self.connection.send_headers(stream, base + kind + list(headers), end_stream=end)
        self.flush()
        return stream

    def send(self, stream, data, end=True, pad=None):
        """As far as the windows reach, reading meanwhile."""
        view = memoryview(data)
        while True:
            room = min(self.connection.local_flow_control_window(stream), self.connection.max_outbound_frame_size) - (0 if pad is None else pad + 1)
            piece, view = view[:max(room, 0)], view[max(room, 0):]
            if piece or not view:
                self.connection.send_data(stream, bytes(piece), end_stream=end and not view, pad_length=pad)
                self.flush()
            if not view:
                return
            if room <= 0:
                self.read()

    def read(self):
        data = self.socket.recv(1 << 16)
        if not data:
            self.gone = self.gone or "closed"
            return
        for event in self.connection.receive_data(data):
            stream = self.answers.get(getattr(event, "stream_id", None), {})
            if isinstance(event, (h2.events.ResponseReceived, h2.events.TrailersReceived)):
                stream["headers"].update(event.headers)
            elif isinstance(event, h2.events.DataReceived):
                stream["data"] += event.data
                self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                stream["done"] = True
            elif isinstance(event, h2.events.StreamReset):
                stream["reset"] = event.error_code
            elif isinstance(event, h2.events.PingAckReceived):
                self.pings += 1
            elif isinstance(event, h2.events.ConnectionTerminated):
                self.gone = event.error_code
        self.flush()

    def answer(self, stream):
        while not self.answers[stream]["done"] and self.answers[stream]["reset"] is None and self.gone is None:
            self.read()
        return self.answers[stream]

    def ask(self, path, message=b"", **more):
        stream = self.call(path, **more)
        self.send(stream, framed(message))
        return self.answer(stream)

    def close(self):
        self.socket.close()


@unittest.skipUnless(h2, "h2 is not installed")
class Http2Test(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.repository = Path(folder.name) / "models"
        twins.write_repository(cls.repository)
        cls.served = Served(cls.repository)
        cls.addClassCleanup(cls.served.stop)

    def client(self, settings=None, served=None):
        one = Client((served or self.served).grpc_port, settings)
        self.addCleanup(one.close)
        return one

    def assert_live(self, client=None):
        answer = (client or self.client()).ask(SERVICE + "ServerLive")
        self.assertEqual(answer["headers"].get("grpc-status"), "0", answer)
        self.assertEqual(answer["data"], framed(LIVE))

    def test_a_call_has_a_head_a_message_and_trailers(self):
        client = self.client()
        self.assert_live(client)
        self.assert_live(client)  # headers from the table
        self.assertEqual(client.answers[1]["headers"][":status"], "200")
        self.assertEqual(client.answers[3]["headers"]["content-type"], "application/grpc")

    def test_a_hundred_streams_at_one_time(self):
        client = self.client()
        streams = [client.call(SERVICE + "ModelInfer") for _ in range(100)]
        raws = {stream: struct.pack("<16f", *[stream + i for i in range(16)]) for stream in streams}
        for stream in streams:  # a byte of each in turn, then the rest
            client.send(stream, framed(infer("identity_fp32", [1, 16], raws[stream]))[:1], end=False)
        for stream in reversed(streams):
            client.send(stream, framed(infer("identity_fp32", [1, 16], raws[stream]))[1:])
        for stream in streams:
            answer = client.answer(stream)
            self.assertEqual(answer["headers"]["grpc-status"], "0", answer)
            self.assertTrue(answer["data"].endswith(raws[stream]))

    def test_a_mebibyte_through_narrow_windows_and_padded(self):
        client = self.client({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 3000})
        raw = bytes(range(256)) * 4096
        stream = client.call(SERVICE + "ModelInfer")
        client.send(stream, framed(infer("identity_1mib", [262144], raw)), pad=200)
        answer = client.answer(stream)
        self.assertEqual(answer["headers"]["grpc-status"], "0", answer["headers"])
        self.assertEqual(answer["data"][-len(raw):], raw)

    def test_headers_may_come_in_continuations_and_are_bounded(self):
        client = self.client()
        answer = client.ask(SERVICE + "ServerLive", headers=[("x-long", "y" * 20_000)])
        self.assertEqual(answer["headers"]["grpc-status"], "0")
        answer = client.ask(SERVICE + "ServerLive", headers=[("x-long", "z" * 40_000)])
        self.assertEqual(answer["headers"][":status"], "431")
        self.assert_live(client)

    def test_what_is_no_call(self):
        client = self.client()
        self.assertEqual(client.ask("/none", b"")["headers"]["grpc-status"], "12")
        self.assertEqual(client.answer(client.call("/", method="GET", end=True))["headers"][":status"], "405")
        self.assertEqual(client.ask(SERVICE + "ServerLive", headers=[("content-type", "application/json")])["headers"][":status"], "415")
        answer = client.ask(SERVICE + "ModelInfer", b"\xff\xff\xff")
        self.assertEqual(answer["headers"]["grpc-status"], "13")
        answer = client.answer(client.call(SERVICE + "ServerLive", end=True))
        self.assertEqual(answer["headers"]["grpc-status"], "13")
        answer = client.ask(SERVICE + "ServerLive", headers=[("grpc-encoding", "br")])
        self.assertEqual(answer["headers"]["grpc-status"], "12")
        self.assert_live(client)

    def test_a_message_that_never_comes_is_late(self):
        client = self.client()
        stream = client.call(SERVICE + "ModelInfer", headers=[("grpc-timeout", "200m")])
        begin = time.monotonic()
        answer = client.answer(stream)
        self.assertEqual(answer["headers"]["grpc-status"], "4", answer)
        self.assertLess(time.monotonic() - begin, 2)
        self.assert_live(client)

    def test_a_length_that_is_not_true_holds_no_memory(self):
        resident = lambda: int(Path(f"/proc/{self.served.process.pid}/statm").read_text().split()[1]) * 4096
        before, client = resident(), self.client()
        for _ in range(200):
            client.send(client.call(SERVICE + "ModelInfer"), b"\0\x7f\xff\xff\xff" + b"x" * 100, end=False)
        client.connection.ping(b"12345678")
        client.flush()
        while client.pings == 0:
            client.read()
        self.assertLess(resident() - before, 100 << 20)

    def test_requests_that_are_taken_back_leave_the_others(self):
        client = self.client()
        for _ in range(300):
            client.connection.reset_stream(client.call(SERVICE + "ModelInfer"), 8)
        client.flush()
        self.assert_live(client)

    def test_what_breaks_the_protocol_ends_its_connection_alone(self):
        healthy = self.client()
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\4\0" + bytes(4)
        broken = (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", preface + b"\0\0\4\3\0\0\0\0\0" + bytes(4), preface + b"\xff" * 200,
                  preface + b"\0\0\1\1\5\0\0\0\1\xff", preface + b"\0\0\10\6\0\0\0\0\1" + bytes(8), b"\x16\x03\x01\0\x05hello")
        for data in broken:
            with self.subTest(data=data[-30:]), socket.create_connection(("127.0.0.1", self.served.grpc_port), timeout=10) as one:
                one.sendall(data)
                got = b""
                while piece := one.recv(4096):
                    got += piece
                kinds, at = [], 0
                while at + 9 <= len(got):
                    kinds.append(got[at + 3])
                    at += 9 + int.from_bytes(got[at:at + 3], "big")
                self.assertEqual(kinds[-1], 7, kinds)  # GOAWAY
        self.assert_live(healthy)

    @unittest.skipUnless(shutil.which("curl"), "there is no curl here")
    def test_curl_is_answered(self):
        said = subprocess.run(["curl", "-s", "--http2-prior-knowledge", "-o", "/dev/null", "-w", "%{http_version} %{http_code}",
                               f"http://127.0.0.1:{self.served.grpc_port}/v2"], capture_output=True, text=True, timeout=30).stdout
        self.assertEqual(said, "2 405")

    def test_messages_are_packed_both_ways(self):
        served = Served(self.repository, options=["--grpc-infer-response-compression-level=low"])
        self.addCleanup(served.stop)
        raw = bytes(64)
        for coding, pack, unpack in (("gzip", gzip.compress, gzip.decompress), ("deflate", zlib.compress, zlib.decompress)):
            client = self.client(served=served)
            stream = client.call(SERVICE + "ModelInfer", headers=[("grpc-encoding", coding), ("grpc-accept-encoding", f"identity,{coding}")])
            message = pack(infer("identity_fp32", [1, 16], raw))
            client.send(stream, b"\1" + struct.pack(">I", len(message)) + message)
            answer = client.answer(stream)
            self.assertEqual((answer["headers"]["grpc-status"], answer["headers"]["grpc-encoding"]), ("0", coding))
            self.assertEqual(answer["data"][0], 1)
            self.assertTrue(unpack(answer["data"][5:]).endswith(raw))
            answer = client.ask(SERVICE + "ModelInfer", infer("identity_fp32", [1, 16], raw))  # who takes nothing packed
            self.assertNotIn("grpc-encoding", answer["headers"])
            self.assertTrue(answer["data"].endswith(raw))
            stream = client.call(SERVICE + "ModelInfer", headers=[("grpc-encoding", coding)])
            client.send(stream, b"\1" + struct.pack(">I", 9) + b"no packed")
            self.assertEqual(client.answer(stream)["headers"]["grpc-status"], "13")

    def test_connections_grow_no_older_than_they_may_and_silent_ones_are_pinged(self):
        served = Served(self.repository, options=["--grpc-max-connection-age=1500"])
        self.addCleanup(served.stop)
        old = self.client(served=served)
        self.assert_live(old)
        while old.gone is None:
            old.read()
        self.assertEqual(old.gone, 0)
        served = Served(self.repository, options=["--grpc-keepalive-time=200", "--grpc-keepalive-timeout=300",
                                                  "--grpc-keepalive-permit-without-calls=true"])
        self.addCleanup(served.stop)
        alive = self.client(served=served)
        with socket.create_connection(("127.0.0.1", served.grpc_port), timeout=10) as silent:
            silent.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\4\0" + bytes(4))
            alive.socket.settimeout(0.1)
            end = time.monotonic() + 10
            while time.monotonic() < end:  # h2 answers pings, the other says nothing
                try:
                    alive.read()
                except TimeoutError:
                    pass
                silent.setblocking(False)
                try:
                    if not silent.recv(4096):
                        break
                except BlockingIOError:
                    pass
            self.assertLess(time.monotonic(), end)
        alive.socket.settimeout(20)
        self.assert_live(alive)

    def test_the_end_of_the_server_is_told(self):
        served = Served(self.repository)
        self.addCleanup(served.stop)
        idle = self.client(served=served)
        self.assert_live(idle)
        served.process.terminate()
        while idle.gone is None:
            idle.read()
        self.assertEqual(idle.gone, 0)
        self.assertEqual(served.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
