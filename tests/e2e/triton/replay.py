#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks what was asked of a real Triton server (tests/golden/kserve) and compares what is answered: status, body, and
the headers that clients read.

  replay.py [GROUP...] [-v]      serves twins of the recorded repositories and replays the groups (default: all)

Where an answer is meant to be another, differences.py says why; a difference that is there no more is an error, too.
"""
import contextlib
import gzip
import json
import struct
import sys
import tempfile
import time
import zlib
from multiprocessing import shared_memory
from pathlib import Path

from differences import DIFFERENCES, NOT_REPLAYED
from served import ROOT, Served, body_of
from tally import Tally, main
from twins import twin_of, twin_request, write_bad_repository, write_parameters_model, write_repository

GOLDEN = ROOT / "tests" / "golden" / "kserve"
# Group: the options of its server, and whether the broken models are there.
GROUPS = {
    "meta": ((), False),
    "config": ((), False),
    "infer": ((), False),
    "generate": ((), False),
    "stats": ((), False),
    "repo_none": ((), False),
    "repo_explicit": (("--model-control-mode=explicit",), True),
    "settings": ((), False),
    "shm": (("--allow-client-shm=true",), False),
    "headers": (("--http-header-forward-pattern=my_.*|^priority$|sequence_id|triton_",), False),
    "restricted": (("--http-restricted-api=health,metadata:key-a=value-a", "--http-restricted-api=inference,logging:key-b=value-b"), False),
}
NUMBERS = ("ns", "count", "last_inference", "inference_count", "execution_count", "batch_stats")


def without_numbers(value):
    if isinstance(value, dict):
        return {k: None if k in NUMBERS else without_numbers(v) for k, v in value.items()}
    return [without_numbers(v) for v in value] if isinstance(value, list) else value


def plain(headers, body):
    coding = headers.get("content-encoding")
    return gzip.decompress(body) if coding == "gzip" else zlib.decompress(body) if coding == "deflate" else body


def same(want, have):
    """As JSON, where NaN is NaN."""
    return json.dumps(want, sort_keys=True, default=repr) == json.dumps(have, sort_keys=True) or want == have


def disagreement(group, record, status, headers, body):
    """A sentence, or None."""
    want = record["answer"]
    if status != want["status"]:
        return f"status {status}, recorded {want['status']}: {body[:300]!r}"
    for name, value in want.get("headers", {}).items():
        if headers.get(name) != value:
            return f"{name}: {headers.get(name)}, recorded {value}"
    body = plain(headers, body)
    if "body_b64" in want:
        recorded = plain(want.get("headers", {}), body_of(want))
        return None if body == recorded else f"body {body[:300]!r}, recorded {recorded[:300]!r}"
    if "json" in want:
        try:
            have = json.loads(body)
        except ValueError:
            return f"body {body[:300]!r} is no JSON"
        have = without_numbers(have) if group == "stats" else have
        wanted = twin_of(want["json"])
        return None if same(wanted, have) else f"body\n    {json.dumps(have)}\n  recorded\n    {json.dumps(wanted, default=repr)}"
    recorded = want.get("text", "").encode()
    if record["request"]["method"] == "HEAD":
        return None
    return None if body == recorded else f"body {body[:300]!r}, recorded {recorded[:300]!r}"


@contextlib.contextmanager
def region_of_recordings():
    """The shared memory that the group shm was recorded with."""
    region = shared_memory.SharedMemory(name="nereid_golden", create=True, size=256)
    region.buf[:64] = struct.pack("<16f", *range(16))
    try:
        yield
    finally:
        region.close()
        region.unlink()


def settle(served):
    """Waits until nothing is being unloaded any more."""
    for _ in range(100):
        if b"UNLOADING" not in served.ask("POST", "/v2/repository/index")[2]:
            return
        time.sleep(0.05)


def replay(group, verbose=False):
    """(agreed, different for a reason, [what is wrong])"""
    options, with_bad = GROUPS[group]
    tally = Tally(group, DIFFERENCES, verbose)
    with tempfile.TemporaryDirectory() as folder, region_of_recordings() if group == "shm" else contextlib.nullcontext():
        good = Path(folder) / "good"
        bad = Path(folder) / "bad"
        write_parameters_model(good) if group == "headers" else write_repository(good)
        if with_bad:
            write_bad_repository(bad)
        served = Served(good, *([bad] if with_bad else ()), options=options)
        try:
            for record in json.loads((GOLDEN / f"{group}.json").read_text()):
                name = record["name"]
                if (group, name) in NOT_REPLAYED:
                    continue
                if name.startswith("index"):
                    settle(served)
                request = twin_request(record)
                answer = served.ask(request["method"], request["path"], body_of(request), request.get("headers"))
                tally.add(name, disagreement(group, record, *answer))
        finally:
            counts = tally.end(served)
    return counts


if __name__ == "__main__":
    sys.exit(main(replay, GROUPS))
