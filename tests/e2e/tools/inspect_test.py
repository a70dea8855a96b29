# SPDX-License-Identifier: Apache-2.0
"""`nereid inspect`: what it says of files, folders and engines, and how it refuses what is none of them."""
import json
import unittest

from program import TINY, ProgramTest


class InspectTest(ProgramTest):
    def test_a_gguf_file(self):
        said = self.nereid_json("inspect", TINY / "tiny-llama.gguf")
        self.assertEqual(said["format"], "GGUF version 3")
        self.assertEqual(said["model"]["architecture"], "llama")
        self.assertEqual(said["tensor_bytes"], sum(one["bytes"] for one in said["tensors"]))
        self.assertEqual(said["tensor_count"], len(said["tensors"]))
        self.assertGreater(said["tokenizer"]["vocab"], 0)
        self.assertAlmostEqual(said["bits_per_weight"], 8 * said["tensor_bytes"] / said["parameters"])

    def test_a_folder_holds_what_its_config_says(self):
        config = json.loads((TINY / "tiny-qwen2" / "config.json").read_text())
        said = self.nereid_json("inspect", TINY / "tiny-qwen2")
        self.assertEqual(said["format"], "Hugging Face directory")
        self.assertEqual(said["model"]["layers"], config["num_hidden_layers"])
        self.assertEqual(said["model"]["hidden"], config["hidden_size"])

    def test_parts_can_be_asked_for(self):
        tensors, _ = self.nereid("inspect", TINY / "tiny-llama.gguf", "--tensors")
        self.assertTrue(tensors.startswith("| tensor"))
        metadata, _ = self.nereid("inspect", TINY / "tiny-llama.gguf", "--metadata")
        self.assertTrue(metadata.startswith("| key"))
        self.assertIn("general.architecture", metadata)

    def test_graphs(self):
        imported, _ = self.nereid("inspect", "--graph", TINY / "tiny-llama.gguf")
        fused, _ = self.nereid("inspect", TINY / "tiny-llama.gguf", "--graph=fused")
        self.assertTrue(imported.startswith("graph "))
        self.assertGreater(imported.count("\n"), fused.count("\n"))
        self.nereid("inspect", "--graph=other", TINY / "tiny-llama.gguf", code=2)

    def test_an_engine_and_a_damaged_one(self):
        self.nereid("bench", TINY / "tiny-llama.gguf", "-p", "4", "-n", "1", "-r", "1", "--no-roof", "--threads", "1")
        engine = next((self.dir / "cache" / "engines").glob("*.engine"))
        said = self.nereid_json("inspect", engine)
        self.assertTrue(said["checks"]["verified"])
        self.assertTrue(any(one.get("layout", "").startswith("tile16") for one in said["tensors"]))
        self.assertIn("source", said["engine"])
        content = bytearray(engine.read_bytes())
        content[-1] ^= 0x55
        damaged = self.dir / "damaged.engine"
        damaged.write_bytes(content)
        _, err = self.nereid("inspect", damaged, code=2)
        self.assert_sentence(err, "damaged.engine")
        damaged.write_bytes(content[:5000])
        _, err = self.nereid("inspect", damaged, code=2)
        self.assert_sentence(err)

    def test_what_is_no_model(self):
        text = self.dir / "text.gguf"
        text.write_text("this is no model\n" * 100)
        whole = (TINY / "tiny-llama.gguf").read_bytes()
        cut = self.dir / "cut.gguf"
        cut.write_bytes(whole[:len(whole) // 2])
        (self.dir / "empty").mkdir()
        for path in (text, cut, self.dir / "empty", self.dir / "absent", "/dev/null"):
            out, err = self.nereid("inspect", path, code=2)
            self.assertEqual(out, "", path)
            self.assert_sentence(err)

    def test_every_cut_of_a_small_file_ends_with_a_sentence(self):
        whole = (TINY / "tiny-llama.gguf").read_bytes()
        cut = self.dir / "cut.gguf"
        for size in list(range(0, 64, 7)) + [200, 1000, 5000]:
            cut.write_bytes(whole[:size])
            _, err = self.nereid("inspect", cut, code=2)
            self.assert_sentence(err)


if __name__ == "__main__":
    unittest.main()
