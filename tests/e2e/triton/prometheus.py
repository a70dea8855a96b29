# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus, where there is one, on a port of its own."""
import json
import shutil
import socket
import subprocess
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
IS_HERE = shutil.which("prometheus") is not None


class Prometheus:
    def __init__(self, port, metrics_port):
        """Scrapes a server of models every second, as deploy/ says."""
        self.folder = tempfile.TemporaryDirectory(prefix="nereid-prometheus-")
        shutil.copy(DEPLOY / "prometheus/rules.yml", self.folder.name)
        config = (DEPLOY / "prometheus/prometheus.yml").read_text().replace("15s", "1s")
        config = config.replace("localhost:8002", f"127.0.0.1:{metrics_port}").replace("localhost:8000", f"127.0.0.1:{port}")
        (Path(self.folder.name) / "prometheus.yml").write_text(config)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(["prometheus", "--config.file=prometheus.yml", f"--web.listen-address=127.0.0.1:{self.port}",
                                         "--storage.tsdb.path=data"], cwd=self.folder.name, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def query(self, expression):
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=10) as answer:
            return json.loads(answer.read())["data"]["result"]

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.folder.cleanup()
