#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the JSON files beside it from recordings of a real Triton Inference Server 2.51 (http/GROUP.json, lists of
request and response): what was asked, and what of the answer clients read.

  convert.py RECORDINGS_FOLDER     writes GROUP.json and grpc_GROUP.json here, for the groups below

Kept of an answer: status, body (as JSON where it is JSON, else base64), Inference-Header-Content-Length and
Content-Encoding. Left out: other headers, times, and what counts how often something ran.
"""
import base64
import json
import sys
from pathlib import Path

GROUPS = ("meta", "config", "infer", "generate", "repo_none", "repo_explicit", "stats")
GRPC_GROUPS = ("basic", "infer", "explicit")
HEADERS = ("inference-header-content-length", "content-encoding")
NUMBERS = ("ns", "count", "last_inference", "inference_count", "execution_count", "batch_stats")


def without_numbers(value):
    if isinstance(value, dict):
        return {k: None if k in NUMBERS else without_numbers(v) for k, v in value.items()}
    return [without_numbers(v) for v in value] if isinstance(value, list) else value


def convert(record, group):
    asked, got = record["request"], record["response"]
    request = {"method": asked["method"], "path": asked["path"]}
    if asked["headers"]:
        request["headers"] = asked["headers"]
    for key in ("body", "body_b64"):
        if asked.get(key):
            request[key] = asked[key]
    answer = {"status": got["status"]}
    headers = {name.lower(): value for name, value in got.get("headers", [])}
    kept = {name: headers[name] for name in HEADERS if name in headers}
    if kept:
        answer["headers"] = kept
    text = got.get("body")
    if text is None and "chunks" in got:
        text = "".join(got["chunks"])
    if text:
        try:
            body = json.loads(text)
            answer["json"] = without_numbers(body) if group == "stats" else body
        except ValueError:
            answer["text"] = text
    elif got.get("body_b64"):
        answer["body_b64"] = got["body_b64"]
    return {"name": record["name"], "request": request, "answer": answer}


def convert_grpc(record):
    """A call: method, request and response (or error) as protobuf prints them as JSON."""
    kept = {key: record[key] for key in ("name", "method", "request", "response", "error") if key in record}
    if record["method"] == "ModelStatistics" and "response" in kept:
        kept["response"] = without_numbers(kept["response"])
    return kept


def write(name, records):
    lines = [json.dumps(one, ensure_ascii=True) for one in records]
    Path(__file__).with_name(f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


def main():
    source = Path(sys.argv[1])
    for group in GROUPS:
        records = json.loads((source / "http" / f"{group}.json").read_text())
        write(group, [convert(one, group) for one in records])
    for group in GRPC_GROUPS:
        records = json.loads((source / "grpc" / f"{group}.json").read_text())
        write(f"grpc_{group}", [convert_grpc(one) for one in records if "request" in one])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
