#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many clients that join, leave, hang up and ask for schemas, against what each request gives when it runs alone.

  tests/e2e/openai/soak.py [--minutes 10] [--clients 64] [--nereid PROGRAM] [--threads N]

Starts `nereid serve` with the default model on a port of its own, runs every request of a list alone, then lets the
clients ask for them at random for the given time: some wait for the whole answer, some stream it, some hang up in the
middle or before the first token. Half of the requests go to LoRA adapters (make_adapters.py), and one more adapter is loaded,
asked and unloaded all the time. At the end: every whole answer was the one that the request gave alone, no page of the
cache is held, nothing runs or waits, and memory is no larger than after the first third. Prints one JSON object; exit
code 1 where something of that does not hold.
"""
import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import make_adapters
import served

WORDS = "sea wind salt stone river light paper engine garden winter letter number bridge market silver window".split()
PERSON = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}},
          "required": ["name", "age"], "additionalProperties": False}


def cases(seed):
    """Requests that differ in length, sampling, schemas, choices and in what they begin with."""
    rng = random.Random(seed)
    shared = " ".join(rng.choice(WORDS) for _ in range(120))
    for i in range(24):
        text = " ".join(rng.choice(WORDS) for _ in range(rng.choice([3, 20, 90, 200])))
        body = {"model": rng.choice([served.MODEL] * 3 + sorted(make_adapters.ADAPTERS)), "max_tokens": rng.choice([1, 8, 24, 48]),
                "messages": [{"role": "user", "content": (shared + " " if i % 3 == 0 else "") + text}]}
        body.update([{"temperature": 0}, {"temperature": 0.9, "seed": i}, {"temperature": 0.7, "top_p": 0.8, "seed": i},
                     {"temperature": 0, "frequency_penalty": 0.7}][i % 4])
        if i % 5 == 4:
            body.update(max_tokens=64, response_format={"type": "json_schema",
                                                        "json_schema": {"name": "person", "schema": PERSON}})
        if i % 8 == 7:
            body["n"] = 2
        if i % 6 == 5:
            body["stop"] = ["the", "\n\n"]
        yield body


async def ask(port, body, hang_up_after=None):
    """The answers by choice, or None where the client hung up. Raises ConnectionError for whatever is no good answer."""
    data = json.dumps(body).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                     b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
        await writer.drain()
        if hang_up_after is not None:
            try:
                await asyncio.wait_for(reader.read(-1), hang_up_after)
            except asyncio.TimeoutError:
                pass
            return None
        raw = await reader.read(-1)
    finally:
        writer.close()
    head, _, rest = raw.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise ConnectionError((head.split(b"\r\n")[0] + b" " + rest[:300]).decode(errors="replace"))
    if b"chunked" in head.lower():
        rest = unchunked(rest)
    answers = {}
    if body.get("stream"):
        events = re.findall(rb"^data: (.*)$", rest, re.M)
        if not events or events[-1] != b"[DONE]":
            raise ConnectionError("the stream does not end in [DONE]")
        for event in events[:-1]:
            for choice in json.loads(event)["choices"]:
                old = answers.get(choice["index"], ("", None))
                answers[choice["index"]] = (old[0] + (choice["delta"].get("content") or ""),
                                            choice["finish_reason"] or old[1])
    else:
        for choice in json.loads(rest)["choices"]:
            answers[choice["index"]] = (choice["message"]["content"] or "", choice["finish_reason"])
    return answers


async def call(port, path, body):
    """A request whose answer is worth nothing but its success."""
    data = json.dumps(body).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n"
                     f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
        await writer.drain()
        raw = await reader.read(-1)
    finally:
        writer.close()
    if not raw.startswith(b"HTTP/1.1 200"):
        raise ConnectionError(raw[-300:].decode(errors="replace"))


def unchunked(data):
    out = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        count = int(size, 16)
        if count == 0:
            return out
        out, data = out + data[:count], data[count + 2:]
    raise ConnectionError("the last chunk is missing")


def metrics(url):
    text = urllib.request.urlopen(url + "/metrics", timeout=60).read().decode()
    return {m[1]: float(m[2]) for m in re.finditer(r"^(nereid_[a-z_]+)(?:\{[^}]*\})? ([-+0-9.e]+)$", text, re.M)}


async def soak(server, args):
    requests = list(cases(args.seed))
    expected = [await ask(server.port, body) for body in requests]
    tally = {"answers": 0, "streams": 0, "hung_up": 0, "guests": 0, "wrong": [], "failed": []}
    begin = time.monotonic()
    end = begin + args.minutes * 60
    first_third = {}

    async def client(number):
        rng = random.Random(args.seed * 1000 + number)
        while time.monotonic() < end:
            i = rng.randrange(len(requests))
            body = dict(requests[i], stream=rng.random() < 0.5)
            leave = rng.choice([0.0, 0.05, 0.5, 2.0]) * rng.random() if rng.random() < 0.25 else None
            try:
                answers = await ask(server.port, body, leave)
            except (OSError, ValueError, KeyError) as error:
                tally["failed"].append(f"request {i}: {error}")
                continue
            if answers is None:
                tally["hung_up"] += 1
                continue
            tally["streams" if body["stream"] else "answers"] += 1
            if answers != expected[i]:
                tally["wrong"].append({"request": i, "expected": expected[i], "found": answers})
            if rng.random() < 0.1:
                await asyncio.sleep(rng.random())

    async def guests():
        """The same adapter under names that come and go: what it answers is known, and the others must not notice."""
        body = dict(requests[0], model="small")
        wanted = await ask(server.port, body)
        for number in range(10**9):
            if time.monotonic() >= end:
                return
            name = f"guest-{number % 3}"
            try:
                await call(server.port, "/v1/load_lora_adapter", {"lora_name": name, "lora_path": "small"})
                if await ask(server.port, dict(body, model=name)) != wanted:
                    tally["wrong"].append({"request": name, "expected": wanted})
                await call(server.port, "/v1/unload_lora_adapter", {"lora_name": name})
                tally["guests"] += 1
            except (OSError, ValueError, KeyError) as error:
                tally["failed"].append(f"{name}: {error}")
            await asyncio.sleep(0.2)

    async def watch():
        await asyncio.sleep(args.minutes * 20)
        first_third["rss_mib"] = resident_mib(server.process.pid)

    await asyncio.gather(watch(), guests(), *(client(n) for n in range(args.clients)))
    tally["seconds"] = round(time.monotonic() - begin, 1)
    tally["rss_mib_after_a_third"] = first_third["rss_mib"]
    return tally


def resident_mib(pid):
    return round(int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024, 1)


def held(url):
    """What is still running, waiting or holding pages, once the server had a moment to see who left."""
    for _ in range(100):
        found = {k: v for k, v in metrics(url).items()
                 if k in ("nereid_requests_running", "nereid_requests_waiting", "nereid_cache_pages_used")}
        if not any(found.values()):
            break
        time.sleep(0.1)
    return found


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--nereid", help="the program (default: NEREID or build/bin/nereid)")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--cache-tokens", default="16384")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    if args.nereid:
        served.PROGRAM = args.nereid
    folder = tempfile.TemporaryDirectory(prefix="nereid-soak-")
    adapters = [f"--lora={name}={make_adapters.write(folder.name, name)}" for name in make_adapters.ADAPTERS]
    server = served.Served(*adapters, "--lora-folder", folder.name, "--threads", args.threads, "--cache-tokens", args.cache_tokens, "--max-queue", "4096")
    try:
        tally = asyncio.run(soak(server, args))
        tally["held"] = held(server.url)
        tally["rss_mib"] = resident_mib(server.process.pid)
    finally:
        code = server.stop()
        folder.cleanup()
    tally["exit_code"] = code
    flat = tally["rss_mib"] <= tally["rss_mib_after_a_third"] * 1.05 + 8
    good = not tally["wrong"] and not tally["failed"] and flat and code == 0 and len(tally["held"]) == 3 and not any(
        tally["held"].values())
    tally["wrong"], tally["failed"] = [{"count": len(v), "first": v[:3]} for v in (tally["wrong"], tally["failed"])]
    print(json.dumps({"good": good, **tally}, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
