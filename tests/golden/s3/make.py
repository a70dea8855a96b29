#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes sigv4.json: requests signed by botocore 1.44, which src/server/repository/store/s3_sign.cc has to sign alike.

  python3 tests/golden/s3/make.py      needs botocore (scripts/requirements-stores.txt)
"""
import datetime
import json
from pathlib import Path
from urllib.parse import quote, urlencode

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

TIME = datetime.datetime(2026, 11, 30, 23, 59, 58, tzinfo=datetime.timezone.utc)
NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

CASES = [
    {"host": "s3.eu-west-1.amazonaws.com", "path": "/models/identity/config.pbtxt", "query": {}, "region": "eu-west-1"},
    {"host": "127.0.0.1:5000", "path": "/bucket", "query": {"list-type": "2", "prefix": "a/b/"}},
    {"host": "127.0.0.1:5000", "path": "/bucket",
     "query": {"prefix": "größe & more/", "list-type": "2", "delimiter": "/", "continuation-token": "a+b/c=="}},
    {"host": "store.example:9000", "path": "/b/with space/ä~-_.!*'()/x@y+z=1", "query": {}},
    {"host": "store.example:9000", "path": "/b/k", "query": {}, "token": "a/session+token=="},
    {"host": "store.example:9000", "path": "/b/k", "query": {}, "secret": "s" * 80},
]


def sign(case):
    credentials = Credentials(case["key"], case["secret"], case["token"] or None)
    url = f"http://{case['host']}{quote(case['path'], safe='/~')}"
    if case["query"]:
        url += "?" + urlencode(case["query"], quote_via=quote, safe="~")
    request = AWSRequest(method="GET", url=url, headers={"X-Amz-Content-SHA256": NOTHING})
    botocore.auth.S3SigV4Auth(credentials, "s3", case["region"]).add_auth(request)
    return request.headers["Authorization"]


def main():
    botocore.auth.get_current_datetime = lambda *a, **k: TIME.replace(tzinfo=None)
    out = []
    for case in CASES:
        case = {"key": "AKIDEXAMPLE", "secret": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "token": "", "region": "us-east-1",
                "time": TIME.strftime("%Y%m%dT%H%M%SZ"), **case}
        out.append({**case, "authorization": sign(case)})
    Path(__file__).with_name("sigv4.json").write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
