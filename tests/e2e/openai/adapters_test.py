#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LoRA adapters behind the API of OpenAI: named as models, listed, loaded and unloaded while requests run."""
import tempfile
import threading
import unittest

import make_adapters
from served import MODEL, SMOLLM2, ServedTest, needs_openai, openai


@needs_openai
class AdaptersTest(ServedTest):
    @classmethod
    def setUpClass(cls):
        if not SMOLLM2.exists():
            raise unittest.SkipTest("the default model is not there (scripts/fetch_models fetches it)")
        folder = tempfile.TemporaryDirectory(prefix="nereid-e2e-adapters-")
        cls.addClassCleanup(folder.cleanup)
        for name in ("small", "mlp"):
            make_adapters.write(folder.name, name)
        cls.options = (f"--lora=small={folder.name}/small", f"--lora={MODEL}:half={folder.name}/small:0.5",
                       "--lora-folder", folder.name)
        super().setUpClass()

    def text(self, model):
        return self.complete(model=model, max_tokens=16).choices[0].text

    def test_each_adapter_is_a_model_with_a_parent(self):
        models = {m.id: m for m in self.client.models.list().data}
        self.assertEqual(set(models), {MODEL, "small", "half"})
        self.assertIsNone(models[MODEL].parent)
        self.assertEqual({models["small"].parent, models["half"].parent}, {MODEL})
        self.assertEqual(self.client.models.retrieve("small").parent, MODEL)

    def test_an_adapter_changes_the_answer_and_its_scale_how_much(self):
        answers = [self.text(model) for model in (MODEL, "small", "half")]
        self.assertEqual(len(set(answers)), 3, answers)
        self.assertEqual(self.text(f"{MODEL}:small"), answers[1])
        self.assertEqual(self.text(MODEL), answers[0])
        self.assertEqual(self.chat(model="small").model, "small")

    def test_requests_with_different_adapters_in_one_batch_get_what_they_get_alone(self):
        names = [MODEL, "small", "half"]
        alone = {name: self.text(name) for name in names}
        found = []
        threads = [threading.Thread(target=lambda n=n: found.append((n, self.text(n)))) for n in names * 5]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 15)
        for name, text in found:
            self.assertEqual(text, alone[name], name)

    def test_adapters_come_and_go(self):
        status, _, text = self.post("/v1/load_lora_adapter", {"lora_name": "guest", "lora_path": "mlp"})
        self.assertEqual((status, text), (200, "Success: LoRA adapter 'guest' added successfully."))
        self.assertNotEqual(self.text("guest"), self.text(MODEL))
        status, _, text = self.post("/v1/load_lora_adapter", {"lora_name": "guest", "lora_path": "mlp"})
        self.assertEqual(status, 400, text)
        # One that runs ends with the adapter that is unloaded meanwhile.
        stream = self.client.completions.create(model="guest", prompt="Once upon a time", max_tokens=60, temperature=0, stream=True,
                                                extra_body={"ignore_eos": True})
        chunks = [next(stream)]
        self.assertEqual(self.post("/v1/unload_lora_adapter", {"lora_name": "guest"})[0], 200)
        chunks += list(stream)
        self.assertEqual(chunks[-1].choices[0].finish_reason, "length")
        with self.assertRaises(openai.NotFoundError):
            self.text("guest")
        self.assertEqual(self.post("/v1/unload_lora_adapter", {"lora_name": "guest"})[0], 404)

    def test_what_does_not_lie_in_the_folder_is_not_there(self):
        for path in ("../..", "/etc", "none", "small/../../small"):
            status, _, text = self.post("/v1/load_lora_adapter", {"lora_name": "x", "lora_path": path})
            self.assertEqual(status, 404, text)


class ClosedTest(ServedTest):
    def test_clients_load_nothing_unless_the_server_was_told_a_folder(self):
        for path in ("load", "unload"):
            status, _, text = self.post(f"/v1/{path}_lora_adapter", {"lora_name": "x", "lora_path": "/etc"})
            self.assertEqual(status, 403, text)
            self.assertIn("--lora-folder", text)


if __name__ == "__main__":
    unittest.main()
