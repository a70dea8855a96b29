# SPDX-License-Identifier: Apache-2.0
"""A model repository in a store that speaks S3's protocol: moto's server, which is started here."""
import json
import logging
import os
import tempfile
import time
import unittest
from pathlib import Path

import twins
from served import PROGRAM, Served

try:
    import boto3
    from moto.server import ThreadedMotoServer
except ImportError:  # pip install -r scripts/requirements-stores.txt
    boto3 = None

BUCKET = "models-of-tests"


@unittest.skipUnless(boto3, "moto is not installed (scripts/requirements-stores.txt)")
class StoreTest(unittest.TestCase):
    def setUp(self):
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        for name in list(os.environ):
            if name.startswith("AWS_"):
                del os.environ[name]
        os.environ.update(AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_DEFAULT_REGION="us-east-1")
        self.moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.moto.start()
        self.addCleanup(self.moto.stop)
        host, self.port = self.moto.get_host_and_port()
        self.s3 = boto3.client("s3", endpoint_url=f"http://{host}:{self.port}")
        self.s3.create_bucket(Bucket=BUCKET)
        self.address = f"s3://127.0.0.1:{self.port}/{BUCKET}/all/models"
        twins.write_repository(self.dir / "models")

    def upload(self, *names):
        for name in names:
            for path in sorted((self.dir / "models" / name).rglob("*")):
                key = f"all/models/{path.relative_to(self.dir / 'models')}"
                self.s3.put_object(Bucket=BUCKET, Key=key + "/" if path.is_dir() else key,
                                   Body=b"" if path.is_dir() else path.read_bytes())

    def serve(self, *options):
        served = Served(self.address, options=options)
        self.addCleanup(served.stop)
        return served

    def test_models_are_listed_loaded_and_answer(self):
        self.upload("identity_fp32", "autocomplete")
        served = self.serve("--model-control-mode=explicit", "--load-model=identity_fp32")
        names = {row["name"] for row in json.loads(served.ask("POST", "/v2/repository/index")[2])}
        self.assertEqual(names, {"identity_fp32", "autocomplete"})
        served.infer_once("identity_fp32", "INPUT0")
        self.assertEqual(served.ask("POST", "/v2/repository/models/autocomplete/load", "{}")[0], 200)
        body = {"inputs": [{"name": "INPUT0", "shape": [1, 4], "datatype": "INT32", "data": [1, 2, 3, 4]}]}
        status, _, text = served.ask("POST", "/v2/models/autocomplete/infer", json.dumps(body))
        self.assertEqual(json.loads(text)["outputs"][0]["data"], [2, 4, 6, 8], (status, text))
        copies = list(Path(tempfile.gettempdir()).glob("nereid-model-*"))
        self.assertTrue(copies)
        self.assertTrue(all(os.stat(one).st_mode & 0o077 == 0 for one in copies), "copies are private")

    def test_a_changed_object_is_seen_and_the_old_model_answers_meanwhile(self):
        self.upload("identity_fp32")
        served = self.serve("--model-control-mode=poll", "--repository-poll-secs=1")
        served.infer_once("identity_fp32", "INPUT0")
        config = self.dir / "models" / "identity_fp32" / "config.pbtxt"
        text = config.read_text()
        config.write_text(text.replace("max_batch_size: 8", "max_batch_size: 32"))
        self.upload("identity_fp32")
        for _ in range(200):
            got = json.loads(served.ask("GET", "/v2/models/identity_fp32/config")[2])["max_batch_size"]
            served.infer_once("identity_fp32", "INPUT0")
            if got == 32:
                break
            time.sleep(0.05)
        self.assertEqual(got, 32)
        # A store that goes away takes no models with it.
        self.moto.stop()
        time.sleep(2.5)
        served.infer_once("identity_fp32", "INPUT0")

    def test_copies_go_with_their_models(self):
        before = set(Path(tempfile.gettempdir()).glob("nereid-model-*"))
        self.upload("identity_fp32")
        served = self.serve("--model-control-mode=explicit", "--load-model=identity_fp32")
        self.assertEqual(served.ask("POST", "/v2/repository/models/identity_fp32/unload", "{}")[0], 200)
        served.process.terminate()
        self.assertEqual(served.process.wait(30), 0)
        self.assertEqual(set(Path(tempfile.gettempdir()).glob("nereid-model-*")) - before, set())

    def test_credentials_of_tritons_file(self):
        self.upload("identity_fp32")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            del os.environ[name]
        path = self.dir / "cloud.json"
        path.write_text(json.dumps({"s3": {f"s3://127.0.0.1:{self.port}": {"key_id": "k", "secret_key": "s", "region": "us-east-1"}}}))
        os.environ["TRITON_CLOUD_CREDENTIAL_PATH"] = str(path)
        self.addCleanup(os.environ.pop, "TRITON_CLOUD_CREDENTIAL_PATH")
        self.serve().infer_once("identity_fp32", "INPUT0")

    def test_what_is_wrong_is_told(self):
        import subprocess
        for address, code, what in ((f"s3://127.0.0.1:{self.port}/no-such-bucket/x", 2, "NoSuchBucket"),
                                    ("s3://127.0.0.1:1/bucket", 1, "could not be read"),
                                    ("s3://127.0.0.1:1", 2, "names no bucket"), ("gs://bucket/x", 2, "kind of store")):
            done = subprocess.run([PROGRAM, "serve", f"--model-repository={address}", "--http-port=0", "--grpc-port=0",
                                   "--metrics-port=0"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(what, done.stderr)


if __name__ == "__main__":
    unittest.main()
