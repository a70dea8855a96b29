# SPDX-License-Identifier: Apache-2.0
"""`nereid serve` with a tiny model on a free port, for the tests of this folder."""
import http.client
import json
import re
import signal
import socket
import subprocess
import os
import threading

from program import TINY, ProgramTest

MODEL = TINY / "tiny-llama.gguf"


class ServerTest(ProgramTest):
    def serve(self, *options, model=MODEL):
        """Starts a server that ends with the test; its process, with .url and .port and what it .said."""
        command = [os.environ["NEREID"], "serve", str(model), "--threads", "1", "--port", "0", *map(str, options)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                   env=self.environment)
        self.addCleanup(self.end, process)
        process.said = []
        errors = threading.Thread(target=process.said.extend, args=(process.stderr,), daemon=True)
        errors.start()
        first = process.stdout.readline()
        found = re.match(r"serving (.+) at (\S+)\n", first)
        if not found:
            process.wait(30)
            errors.join(30)
            self.fail(f"{first}{''.join(process.said)}")
        process.model, process.url = found.groups()
        process.port = int(process.url.rsplit(":", 1)[1]) if process.url.startswith("http") else None
        process.welcome = process.stdout.readline()  # the line to try; one for browsers may follow
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.wait(30)
        for pipe in (process.stdout, process.stderr):
            pipe.close()

    def stop(self, process, code=0, by=signal.SIGTERM):
        process.send_signal(by)
        self.assertEqual(process.wait(60), code, "".join(process.said))

    def ask(self, process, method, path, body=None, headers=None, connection=None):
        """(status, headers, text) over a connection of its own, unless one is given."""
        one = connection or http.client.HTTPConnection("127.0.0.1", process.port, timeout=60)
        data = json.dumps(body) if isinstance(body, (dict, list)) else body
        one.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
        answer = one.getresponse()
        result = answer.status, answer.headers, answer.read().decode()
        if not connection:
            one.close()
        return result

    def complete(self, process, **more):
        status, _, text = self.ask(process, "POST", "/v1/completions",
                                   {"model": process.model, "prompt": "hello", "max_tokens": 4, "temperature": 0, **more})
        self.assertEqual(status, 200, text)
        return json.loads(text)

    @staticmethod
    def raw(process, text):
        """All that comes back for some bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", process.port), timeout=60) as one:
            one.sendall(text if isinstance(text, bytes) else text.encode())
            pieces = []
            try:
                while piece := one.recv(65536):
                    pieces.append(piece)
            except ConnectionResetError:
                pass
            return b"".join(pieces)
