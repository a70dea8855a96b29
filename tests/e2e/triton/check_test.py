# SPDX-License-Identifier: Apache-2.0
"""`nereid check REPOSITORY`, the starts that fail, and the program under the name tritonserver."""
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import twins
from served import PROGRAM, ROOT, Served


class CheckTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    def nereid(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def test_a_good_repository_has_no_mistakes(self):
        twins.write_repository(self.dir / "models")
        self.assertIn("no mistakes", self.nereid("check", self.dir / "models")[0])

    def test_each_mistake_is_listed_with_its_place(self):
        twins.write_bad_repository(self.dir / "models")
        (self.dir / "models" / "multi" / "v3").mkdir()
        text, _ = self.nereid("check", self.dir / "models", "--json", code=1)
        found = {}
        for one in json.loads(text)["mistakes"]:
            self.assertTrue(one["fix"])
            found.setdefault(one["model"], []).append(one["message"])
        for model, part in {"bad_backend": "nosuchbackend", "bad_dims": "'INPUT0' dimension", "bad_ens": "'nosuch'",
                            "bad_init": "model.onnx", "bad_name": "'other_name'", "bad_no_version": "has no version",
                            "bad_syntax": "line 1", "bad_unknown_field": "line 1, column 4", "multi": "v3"}.items():
            self.assertTrue(any(part in message for message in found.get(model, [])), (model, found.get(model)))

    def test_what_loading_refuses_is_found_before(self):
        """Each model fails to load for what the check says of it; and those without a mistake load."""
        models = self.dir / "models"
        fp32 = twins.tensors("TYPE_FP32", 16)
        identity = 'backend: "identity" max_batch_size: 8\n'
        sample = 'model_warmup [ {{ name: "w" batch_size: {batch} inputs {{ key: "{key}" value {{ data_type: {kind} dims: [ {dims} ] {data} }} }} }} ]'

        def warm(name, batch=1, key="INPUT0", kind="TYPE_FP32", dims=16, data="zero_data: true"):
            twins.write(models / name, identity + fp32 + sample.format(batch=batch, key=key, kind=kind, dims=dims, data=data))

        def ensemble(name, *steps, made="OUT"):
            text = f'platform: "ensemble" max_batch_size: 8\n{twins.tensors("TYPE_FP32", 16, ["IN"], ["OUT"])}ensemble_scheduling {{ step [ '
            text += ", ".join(f'{{ model_name: "{model}" model_version: -1 input_map {{ key: "{given}" value: "{source}" }} '
                              f'output_map {{ key: "{gives}" value: "{target}" }} }}' for model, given, source, gives, target in steps)
            twins.write(models / name, text + " ] }")

        twins.write(models / "fine", identity + fp32)
        twins.write(models / "twice", identity + twins.tensors("TYPE_FP32", 16, ["INPUT0", "INPUT0"]))
        warm("warm_batch", batch=9)
        warm("warm_dims", dims=15)
        warm("warm_name", key="OTHER")
        warm("warm_type", kind="TYPE_INT32")
        warm("warm_file", data='input_data_file: "few"')
        (models / "warm_file" / "warmup").mkdir()
        (models / "warm_file" / "warmup" / "few").write_bytes(b"1234")
        warm("warm_fine", batch=8)
        ensemble("around", ("back", "IN", "IN", "OUT", "OUT"))
        ensemble("back", ("around", "IN", "IN", "OUT", "OUT"))
        ensemble("itself", ("itself", "IN", "IN", "OUT", "OUT"))
        ensemble("waits", ("fine", "INPUT0", "late", "OUTPUT0", "OUT"), ("fine", "INPUT0", "OUT", "OUTPUT0", "late"))
        ensemble("lost", ("fine", "INPUT0", "IN", "OUTPUT0", "mid"))
        ensemble("ens_fine", ("fine", "INPUT0", "IN", "OUTPUT0", "mid"), ("warm_fine", "INPUT0", "mid", "OUTPUT0", "OUT"))
        gguf = sorted((ROOT / "tests/data/models").rglob("*.gguf"))[0].read_bytes()
        for name, content in (("llm_empty", b""), ("llm_cut", gguf[:len(gguf) // 2]), ("llm_fine", gguf)):
            twins.write(models / name, files=[("1/model.gguf", content)])
        twins.write(models / "program", 'backend: "python" max_batch_size: 8\n' + fp32)
        twins.write(models / "graph", 'platform: "tensorflow_graphdef" max_batch_size: 8\n' + fp32)

        text, _ = self.nereid("check", models, "--json", code=1)
        found = {}
        for one in json.loads(text)["mistakes"]:
            self.assertTrue(one["fix"])
            found.setdefault(one["model"], []).append(one["message"])
        for model, part in {"twice": "INPUT0", "warm_batch": "at most 8", "warm_dims": "INPUT0", "warm_name": "OTHER", "warm_type": "INPUT0",
                            "warm_file": "INPUT0", "around": "'around' -> 'back' -> 'around'", "back": "step of itself",
                            "itself": "'itself' -> 'itself'", "waits": "wait for each other", "lost": "'OUT'", "llm_empty": "model.gguf",
                            "llm_cut": "model.gguf", "program": "Python", "graph": "tf2onnx"}.items():
            self.assertTrue(any(part in message for message in found.get(model, [])), (model, found.get(model)))
        good = {path.name for path in models.iterdir()} - set(found)
        self.assertEqual(good, {"fine", "warm_fine", "ens_fine", "llm_fine"})
        served = Served(models, options=["--model-control-mode=explicit"])
        self.addCleanup(served.stop)
        for path in sorted(models.iterdir()):
            status, _, text = served.ask("POST", f"/v2/repository/models/{path.name}/load", "{}")
            self.assertEqual(status == 200, path.name in good, (path.name, text))

    def test_a_folder_that_is_empty_and_a_store_are_told(self):
        (self.dir / "empty").mkdir()
        self.assertIn("no models yet", self.nereid("check", self.dir / "empty")[0])
        self.assertIn("folders of this machine", self.nereid("check", "s3://127.0.0.1:9/bucket", code=2)[1])

    def test_a_start_that_fails_says_what_and_ends_with_1(self):
        twins.write_bad_repository(self.dir / "models")
        _, err = self.nereid("serve", "--model-repository", self.dir / "models", "--http-port=0", "--grpc-port=0",
                             "--metrics-port=0", code=1)
        self.assertIn("failed to load all models", err)
        self.assertIn("config.pbtxt: line 1", err)
        self.nereid("serve", "--model-repository", self.dir / "none", code=2)
        self.nereid("serve", "--model-repository", self.dir / "models", "--load-model=x", code=2)
        served = Served(self.dir / "models", options=["--exit-on-error=false"])
        self.addCleanup(served.stop)
        self.assertEqual(served.ask("GET", "/v2/health/live")[0], 200)
        self.assertEqual(served.ask("GET", "/v2/health/ready")[0], 400)
        self.assertEqual(served.ask("GET", "/v2/models/multi/ready")[0], 200)

    def test_a_changed_file_is_seen_in_poll_mode(self):
        twins.write_repository(self.dir / "models")
        served = Served(self.dir / "models", options=["--model-control-mode=poll", "--repository-poll-secs=1"])
        self.addCleanup(served.stop)
        config = self.dir / "models" / "identity_fp32" / "config.pbtxt"
        config.write_text(config.read_text().replace("max_batch_size: 8", "max_batch_size: 32"))
        for _ in range(100):
            text = served.ask("GET", "/v2/models/identity_fp32/config")[2]
            if json.loads(text)["max_batch_size"] == 32:
                return
            subprocess.run(["sleep", "0.1"], check=True)
        self.fail("the change was not seen")

    def test_tritonserver_takes_its_own_options(self):
        twins.write_repository(self.dir / "models")
        link = self.dir / "tritonserver"
        link.symlink_to(PROGRAM)
        command = [link, f"--model-repository={self.dir / 'models'}", "--http-port", "0", "--grpc-port=0", "--metrics-port=0",
                   "--log-verbose=1", "--backend-config=python,shm-default-byte-size=1", "--exit-timeout-secs", "5",
                   "--grpc-use-ssl=false"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        self.assertTrue(any(re.search(r"serving .* at http://127\.0\.0\.1:\d+", line) for line in process.stdout))
        done = subprocess.run([link, "--nonsense"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn('Bad option: "--nonsense"', done.stderr)
        done = subprocess.run([link, "--help"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn("--model-control-mode", done.stdout)


if __name__ == "__main__":
    unittest.main()
