# SPDX-License-Identifier: Apache-2.0
"""`nereid serve --model-repository` on a port of its own, and plain requests to it."""
import base64
import http.client
import json
import os
import re
import subprocess
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("NEREID", str(ROOT / "build" / "bin" / "nereid"))


class Served:
    def __init__(self, *folders, options=(), ready=True, program=None, scheme="http"):
        """`program`: in place of `nereid serve`."""
        self.cache = tempfile.TemporaryDirectory(prefix="nereid-e2e-")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NEREID_") and not k.lower().endswith("_proxy")}
        environment.update(NEREID_CACHE_DIR=self.cache.name, NO_COLOR="1")
        command = [*([program] if program else [PROGRAM, "serve"]), *(f"--model-repository={f}" for f in folders), "--http-port=0", "--metrics-port=0", "--grpc-port=0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.said = []
        self.port = self.metrics_port = self.grpc_port = None
        for line in self.process.stdout:
            self.said.append(line)
            if found := re.search(r"metrics at http://127\.0\.0\.1:(\d+)", line):
                self.metrics_port = int(found[1])
            if found := re.search(r"gRPC at 127\.0\.0\.1:(\d+)", line):
                self.grpc_port = int(found[1])
            if found := re.search(rf"serving .* at {scheme}://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                break
        if self.port is None and ready:
            raise AssertionError("".join(self.said) + self.process.stderr.read())
        for pipe in (self.process.stdout, self.process.stderr):
            threading.Thread(target=self.said.extend, args=(pipe,), daemon=True).start()

    def ask(self, method, path, body=None, headers=None, port=None):
        """(status, headers with small letters, bytes)"""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_accept_encoding=True)
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            data = body.encode() if isinstance(body, str) else body
            if data is not None or method in ("POST", "PUT"):
                connection.putheader("Content-Length", str(len(data or b"")))
            connection.endheaders(data)
            response = connection.getresponse()
            return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
        finally:
            connection.close()

    def infer_once(self, model, name):
        """One row of 16 numbers, over HTTP."""
        body = json.dumps({"inputs": [{"name": name, "shape": [1, 16], "datatype": "FP32", "data": list(range(16))}]})
        status, _, text = self.ask("POST", f"/v2/models/{model}/infer", body)
        assert status == 200, text

    def stop(self):
        begin = time.monotonic()
        self.process.terminate()
        code = self.process.wait(60)
        if time.monotonic() - begin > 20:
            raise AssertionError("the server took long to stop:\n" + "".join(self.said)[-2000:])
        self.cache.cleanup()
        return code


def body_of(request):
    if "body_b64" in request:
        return base64.b64decode(request["body_b64"])
    return request.get("body")
