#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/corpus/{hpack_fuzz,session_fuzz}: header blocks and connections as h2 and hpack of PyPI write them.

  pip install h2==4.4.1 hpack==4.2.0 && tests/corpus/make_http2.py
"""
from pathlib import Path

import h2.config
import h2.connection
import hpack

HERE = Path(__file__).resolve().parent
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
CALL = [(":method", "POST"), (":scheme", "http"), (":path", "/inference.GRPCInferenceService/ModelInfer"),
        (":authority", "localhost"), ("te", "trailers"), ("content-type", "application/grpc"), ("grpc-timeout", "5S")]


def blocks():
    for name, huffman in (("plain", False), ("huffman", True)):
        encoder = hpack.Encoder()
        made = [encoder.encode(CALL, huffman=huffman), encoder.encode(CALL + [("x", "y")], huffman=huffman)]
        encoder.header_table_size = 64
        made.append(encoder.encode(CALL, huffman=huffman))
        yield name, b"".join(bytes([len(one)]) + one for one in made)


def connections():
    def client():
        one = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        one.initiate_connection()
        return one
    calls = client()
    for stream in (1, 3):
        calls.send_headers(stream, CALL)
        calls.send_data(stream, b"\0\0\0\0\5hello", end_stream=True)
    yield "calls", calls.data_to_send()
    padded = client()
    padded.send_headers(1, CALL)
    padded.send_data(1, b"padded", pad_length=9)
    padded.ping(b"12345678")
    padded.increment_flow_control_window(100)
    padded.send_data(1, b"", end_stream=True)
    yield "padded", padded.data_to_send()
    reset = client()
    reset.send_headers(1, CALL)
    reset.reset_stream(1, 8)
    reset.update_settings({4: 100, 5: 20000})
    reset.close_connection()
    yield "reset", reset.data_to_send()
    trailers = client()
    trailers.send_headers(1, CALL)
    trailers.send_data(1, b"x")
    trailers.send_headers(1, [("a", "b")], end_stream=True)
    yield "trailers", trailers.data_to_send()


for folder, made in (("hpack_fuzz", blocks()), ("session_fuzz", connections())):
    (HERE / folder).mkdir(exist_ok=True)
    for name, data in made:
        (HERE / folder / name).write_bytes(data.removeprefix(PREFACE))
