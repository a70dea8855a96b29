#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many clients of a model repository, while models are loaded, unloaded and loaded anew, clients hang up and cancel, and
something scrapes the metrics.

  tests/e2e/triton/soak.py [--minutes 10] [--clients 256] [--nereid PROGRAM]

Starts `nereid serve` with a repository of its own in explicit mode. Each client has a connection that it keeps: most speak
HTTP, every fourth gRPC where grpcio and tritonclient are there. Each request has an id and numbers that no other has, so
an answer that is lost, comes twice or belongs to another is seen. Some hang up in the middle of a request, before its
answer, or cancel the call. Meanwhile models are loaded anew (all that asks them goes on), others unloaded and loaded
(their clients are told that there is no such model, and nothing else), a bad model fails to load, and health is asked:
live always, ready as what the index says. A real Prometheus, where there is one, scrapes the server as well and must find
it up every time. At the end nothing waits, memory is what it was after the first third, and
the server stops in time. Prints one JSON object; exit code 1 where something of that does not hold.
"""
import argparse
import asyncio
import itertools
import json
import random
import re
import struct
import sys
import tempfile
import time
from pathlib import Path

import prometheus
import served
import twins

try:
    import grpc
    import tritonclient.grpc.service_pb2 as messages
    import tritonclient.grpc.service_pb2_grpc as services
except ImportError:
    grpc = None

STEADY = ["identity_fp32", "identity_dyn", "identity_1mib"]  # always there
RELOADED = ["autocomplete", "reloaded"]                      # loaded anew all the time; always there
FLICKERING = ["flickering"]                                  # there at times
GONE = re.compile(r"unknown model|not found|not ready|being unloaded|unloaded|no version", re.I)


def write_repository(folder):
    twins.write_repository(folder)
    for name in ("reloaded", "flickering"):
        twins.write(folder / name, f'name: "{name}" backend: "identity" max_batch_size: 8\n' + twins.tensors("TYPE_FP32", 16))
    twins.write(folder / "bad", 'name: "bad" max_batch_size: 8\n' + twins.tensors("TYPE_FP32", 16),
                files=[("1/model.onnx", b"this is no model")])


class Tally:
    def __init__(self):
        self.counts = {}
        self.wrong = []
        self.failed = []

    def note(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1


class Question:
    """A request with numbers of its own, and what its answer must be."""
    numbers = itertools.count(1)

    def __init__(self, rng):
        self.id = f"q{next(self.numbers)}"
        self.model = rng.choice(STEADY * 2 + RELOADED * 2 + FLICKERING)
        if self.model == "identity_1mib" and rng.random() < 0.8:
            self.model = "identity_dyn"
        rows = 1 if self.model == "identity_1mib" else rng.randint(1, 4)
        if self.model == "autocomplete":
            self.type, self.shape, code, factor = "INT32", [rows, 4], "i", 2
            values = [rng.randrange(1_000_000) for _ in range(4 * rows)]
        else:
            self.type, code, factor = "FP32", "f", 1
            self.shape = [262144] if self.model == "identity_1mib" else [rows, 16]
            values = [rng.random() for _ in range(16 * rows)]
            if self.model == "identity_1mib":
                values *= 16384
        self.raw = struct.pack(f"<{len(values)}{code}", *values)
        self.want = self.raw if factor == 1 else struct.pack(f"<{len(values)}{code}", *(factor * v for v in values))

    def http(self):
        head = json.dumps({"id": self.id, "parameters": {"binary_data_output": True}, "inputs": [
            {"name": "INPUT0", "datatype": self.type, "shape": self.shape, "parameters": {"binary_data_size": len(self.raw)}}]}).encode()
        return (f"POST /v2/models/{self.model}/infer HTTP/1.1\r\nHost: a\r\nInference-Header-Content-Length: {len(head)}\r\n"
                f"Content-Length: {len(head) + len(self.raw)}\r\n\r\n").encode() + head + self.raw

    def message(self):
        request = messages.ModelInferRequest(model_name=self.model, id=self.id, raw_input_contents=[self.raw])
        request.inputs.add(name="INPUT0", datatype=self.type, shape=self.shape)
        return request


async def read_response(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"\r\ncontent-length: (\d+)", head, re.I)[1])
    body = await reader.readexactly(length)
    mark = re.search(rb"inference-header-content-length: (\d+)", head, re.I)
    return int(head.split()[1]), body, int(mark[1]) if mark else len(body)


class HttpClient:
    def __init__(self, server, rng, tally):
        self.server, self.rng, self.tally = server, rng, tally
        self.reader = self.writer = None

    async def connect(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.server.port, limit=1 << 22)

    async def ask(self, question):
        if self.writer is None:
            await self.connect()
        data = question.http()
        if self.rng.random() < 0.08:
            await self.hang_up(data)
            return
        self.writer.write(data)
        await self.writer.drain()
        status, body, split = await read_response(self.reader)
        if status != 200:
            return judge_error(self.tally, question, f"{status} {body[:200].decode(errors='replace')}")
        answer = json.loads(body[:split])
        judge(self.tally, question, answer.get("id"), body[split:])
        # Nothing may follow an answer that nothing was asked for.
        if self.rng.random() < 0.02:
            try:
                extra = await asyncio.wait_for(self.reader.read(1), 0.05)
                if extra:
                    self.tally.wrong.append(f"{question.id}: more came behind the answer")
                else:
                    self.tally.failed.append(f"{question.id}: the server closed a connection that was to be kept")
                    await self.close()
            except asyncio.TimeoutError:
                pass

    async def hang_up(self, data):
        """In the middle of the request, or before its answer."""
        self.writer.write(data[:self.rng.randint(1, len(data))])
        try:
            await asyncio.wait_for(self.writer.drain(), 1)
        except asyncio.TimeoutError:
            pass
        await self.close()
        self.tally.note("hung up")

    async def close(self):
        if self.writer is not None:
            self.writer.transport.abort()
        self.reader = self.writer = None


class GrpcClient:
    def __init__(self, server, rng, tally):
        self.rng, self.tally = rng, tally
        size = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1),
                ("grpc.use_local_subchannel_pool", 1)]
        self.channel = grpc.aio.insecure_channel(f"127.0.0.1:{server.grpc_port}", options=size)
        self.stub = services.GRPCInferenceServiceStub(self.channel)

    async def ask(self, question):
        kind = self.rng.random()
        if kind < 0.08:
            return await self.cancel(question)
        if kind < 0.3:
            return await self.stream(question)
        try:
            answer = await self.stub.ModelInfer(question.message())
        except grpc.aio.AioRpcError as error:
            return judge_error(self.tally, question, f"{error.code()} {error.details()}")
        judge(self.tally, question, answer.id, answer.raw_output_contents[0])

    async def cancel(self, question):
        call = self.stub.ModelInfer(question.message())
        await asyncio.sleep(self.rng.choice([0, 0.0005, 0.002]))
        call.cancel()
        try:
            await call
        except (asyncio.CancelledError, grpc.aio.AioRpcError):
            pass
        self.tally.note("cancelled")

    async def stream(self, first):
        """Several requests on one stream; sometimes it is broken off before all answers are there."""
        questions = [first] + [Question(self.rng) for _ in range(self.rng.randint(0, 3))]
        breaks = self.rng.random() < 0.1
        call = self.stub.ModelStreamInfer()
        for one in questions:
            await call.write(one.message())
        if breaks:
            call.cancel()
            self.tally.note("streams broken off")
            return
        await call.done_writing()
        waiting = {one.id: one for one in questions}
        order = list(waiting)
        async for answer in call:
            name = answer.infer_response.id
            question = waiting.pop(name, None)
            if question is None:
                self.tally.wrong.append(f"a stream has an answer to {name!r}, which is answered or was not asked")
            elif order.pop(0) != name:
                self.tally.wrong.append(f"a stream answers {name} out of turn")
            elif answer.error_message:
                judge_error(self.tally, question, answer.error_message)
            else:
                judge(self.tally, question, name, answer.infer_response.raw_output_contents[0])
        if waiting:
            self.tally.wrong.append(f"a stream ended without answers to {sorted(waiting)}")
        self.tally.note("streams")

    async def close(self):
        await self.channel.close()


def judge(tally, question, name, raw):
    if name != question.id or raw != question.want:
        tally.wrong.append(f"{question.id} ({question.model}) was answered as {name} with {len(raw)} bytes")
    tally.note("answers")


def judge_error(tally, question, text):
    if question.model in FLICKERING and GONE.search(text):
        tally.note("told that the model is not there")
    else:
        tally.failed.append(f"{question.id} ({question.model}): {text}")


async def call(port, method, path, body=b""):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    try:
        writer.write(f"{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        status, body, _ = await read_response(reader)
        return status, body.decode(errors="replace")
    finally:
        writer.close()


def number_of(text, name):
    return sum(float(m[1]) for m in re.finditer(rf"^{name}(?:{{[^}}]*}})? ([-+0-9.e]+)$", text, re.M))


async def soak(server, repository, args):
    tally = Tally()
    begin = time.monotonic()
    end = begin + args.minutes * 60
    memory = []

    async def client(number):
        rng = random.Random(args.seed * 100_003 + number)
        kind = GrpcClient if grpc is not None and number % 4 == 3 else HttpClient
        one = kind(server, rng, tally)
        while time.monotonic() < end:
            question = Question(rng)
            try:
                await asyncio.wait_for(one.ask(question), 60)
            except asyncio.TimeoutError:
                tally.failed.append(f"{question.id} ({question.model}): no answer within 60 s")
                await one.close()
                one = kind(server, rng, tally)
            except (OSError, ValueError, TypeError, asyncio.IncompleteReadError) as error:
                tally.failed.append(f"{question.id} ({question.model}): {type(error).__name__} {error}")
                await one.close()
                one = kind(server, rng, tally)
            if rng.random() < 0.3:
                await asyncio.sleep(rng.random() * 0.1)
        await one.close()

    async def loads():
        rng = random.Random(args.seed)
        while time.monotonic() < end:
            for name in RELOADED:
                (repository / name / "1" / f"touched-{rng.randrange(4)}").write_text(str(rng.random()))
                await expect(200, "POST", f"/v2/repository/models/{name}/load")
                tally.note("loaded anew")
            for name in FLICKERING:
                await expect(200, "POST", f"/v2/repository/models/{name}/unload")
                await asyncio.sleep(rng.random() * 0.2)
                await expect(200, "POST", f"/v2/repository/models/{name}/load")
                tally.note("unloaded and loaded")
            await asyncio.sleep(rng.random() * 0.2)

    async def expect(status, method, path):
        found, text = await call(server.port, method, path)
        if found != status:
            tally.failed.append(f"{method} {path}: {found} {text[:200]}")
        return text

    async def health():
        """Live always; ready unless a model is bad, and that as long as it is."""
        for number in itertools.count():
            if time.monotonic() >= end:
                return
            await expect(200, "GET", "/v2/health/live")
            for name in STEADY + RELOADED:
                await expect(200, "GET", f"/v2/models/{name}/ready")
            if number % 20 == 19:
                found, _ = await call(server.port, "POST", "/v2/repository/models/bad/load")
                status, _ = await call(server.port, "GET", "/v2/health/ready")
                if found == 200 or status == 200:
                    tally.wrong.append(f"a bad model loads with {found}, and the server is ready with {status}")
                await expect(200, "POST", "/v2/repository/models/bad/unload")
                tally.note("bad loads")
            await asyncio.sleep(0.1)

    async def scrape():
        counts = {}
        while time.monotonic() < end:
            status, text = await call(server.metrics_port, "GET", "/metrics")
            if status != 200 or "nv_inference_request_success" not in text:
                tally.wrong.append(f"the metrics are {status} {text[:100]}")
            # Counters of models that stay do not fall.
            for name in STEADY:
                found = re.search(rf'^nv_inference_request_success{{model="{name}",version="1"}} (\d+)', text, re.M)
                if found and int(found[1]) < counts.get(name, 0):
                    tally.wrong.append(f"the counter of {name} fell from {counts[name]} to {found[1]}")
                counts[name] = int(found[1]) if found else 0
            memory.append((time.monotonic() - begin, resident_mib(server.process.pid)))
            tally.note("scrapes")
            await asyncio.sleep(0.5)

    await asyncio.gather(loads(), health(), scrape(), *(client(n) for n in range(args.clients)))
    seconds = time.monotonic() - begin
    third = [m for at, m in memory if seconds / 3 <= at <= seconds * 2 / 3]
    last = [m for at, m in memory if at >= seconds * 2 / 3]
    series = [max([m for at, m in memory if seconds * i / 12 <= at < seconds * (i + 1) / 12], default=0) for i in range(12)]
    return tally, seconds, (max(third, default=0), max(last, default=0), series)


def resident_mib(pid):
    return round(int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024, 1)


def what_waits(server):
    """Requests that run or wait, once the server had a moment to see who left."""
    for _ in range(100):
        text = server.ask("GET", "/metrics", port=server.metrics_port)[2].decode()
        left = {"pending": number_of(text, "nv_inference_pending_request_count"),
                "connections": number_of(server.ask("GET", "/metrics")[2].decode(), "nereid_http_connections") - 1}
        if not any(left.values()):
            break
        time.sleep(0.1)
    return left


def what_prometheus_saw(real, seconds):
    """How often it scraped each port, and how often in vain."""
    span = f"[{int(seconds) + 30}s]"
    counts = [int(row["value"][1]) for row in real.query(f"count_over_time(up{span})")]
    up = [int(row["value"][1]) for row in real.query(f"sum_over_time(up{span})")]
    return {"scrapes": counts, "in_vain": sum(counts) - sum(up)}


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=256)
    parser.add_argument("--nereid", help="the program (default: NEREID or build/bin/nereid)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    if args.nereid:
        served.PROGRAM = args.nereid
    folder = tempfile.TemporaryDirectory(prefix="nereid-soak-")
    repository = Path(folder.name) / "models"
    write_repository(repository)
    names = STEADY + RELOADED + FLICKERING
    server = served.Served(repository, options=["--model-control-mode=explicit", *(f"--load-model={n}" for n in names)])
    real = prometheus.Prometheus(server.port, server.metrics_port) if prometheus.IS_HERE else None
    try:
        tally, seconds, memory = asyncio.run(soak(server, repository, args))
        scraped = what_prometheus_saw(real, seconds) if real else None
        if real:
            real.stop()  # its connections are none of those that are left
            real = None
        left = what_waits(server)
        alive = server.process.poll() is None
    finally:
        if real:
            real.stop()
        code = server.stop()
        folder.cleanup()
    flat = memory[1] <= memory[0] * 1.05 + 8
    good = not tally.wrong and not tally.failed and flat and not any(left.values()) and alive and code == 0
    if scraped and (len(scraped["scrapes"]) != 2 or min(scraped["scrapes"]) < seconds / 4 or scraped["in_vain"]):
        good = False
    print(json.dumps({"good": good, "seconds": round(seconds, 1), "clients": args.clients, "grpc": grpc is not None, **tally.counts,
                      "rss_mib": memory[2], "rss_mib_second_third": memory[0], "rss_mib_last_third": memory[1], "left": left, "exit_code": code,
                      "prometheus": scraped,
                      "wrong": {"count": len(tally.wrong), "first": tally.wrong[:5]},
                      "failed": {"count": len(tally.failed), "first": tally.failed[:5]}}, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
