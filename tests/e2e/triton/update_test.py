# SPDX-License-Identifier: Apache-2.0
"""Another number of instances while a network is asked: no request fails, and its file is not read again."""
import json
import tempfile
import threading
import time
import unittest
from pathlib import Path

import twins
from served import Served

CONFIG = 'backend: "onnxruntime"\nmax_batch_size: 4\ninstance_group [ {{ count: {count} kind: KIND_CPU }} ]\n'


class UpdateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name) / "models" / "adds"
        twins.write(self.dir, CONFIG.format(count=1), files=[("1/model.onnx", twins.add_model(1))])
        self.served = Served(self.dir.parent, options=["--model-control-mode=explicit", "--load-model=*"])
        self.addCleanup(self.served.stop)

    def ask(self):
        body = {"inputs": [{"name": "INPUT0", "shape": [1, 16], "datatype": "FP32", "data": list(range(16))}]}
        status, _, text = self.served.ask("POST", "/v2/models/adds/infer", json.dumps(body))
        return json.loads(text)["outputs"][0]["data"] if status == 200 else (status, text)

    def load(self):
        status, _, text = self.served.ask("POST", "/v2/repository/models/adds/load", "{}")
        self.assertEqual(status, 200, text)

    def said(self, line, times):
        for _ in range(100):
            if "".join(self.served.said).count(line) >= times:
                break
            time.sleep(0.05)
        return "".join(self.served.said).count(line)

    def test_instances_come_and_go_while_requests_run(self):
        wrong, over = [], threading.Event()

        def work():
            while not over.is_set():
                answer = self.ask()
                if answer != [i + 1 for i in range(16)]:
                    wrong.append(answer)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for count in (4, 2, 3, 1):
            (self.dir / "config.pbtxt").write_text(CONFIG.format(count=count))
            self.load()
            got = json.loads(self.served.ask("GET", "/v2/models/adds/config")[2])
            self.assertEqual(got["instance_group"][0]["count"], count)
            time.sleep(0.05)
        over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(self.said("only its instances change", 4), 4)

    def test_other_weights_are_read(self):
        (self.dir / "1" / "model.onnx").write_bytes(twins.add_model(5))
        self.load()
        self.assertEqual(self.ask(), [i + 5 for i in range(16)])
        (self.dir / "config.pbtxt").write_text(CONFIG.format(count=1).replace("max_batch_size: 4", "max_batch_size: 2"))
        self.load()
        self.assertEqual(self.ask(), [i + 5 for i in range(16)])
        self.assertEqual("".join(self.served.said).count("only its instances change"), 0)


if __name__ == "__main__":
    unittest.main()
