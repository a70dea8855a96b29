# SPDX-License-Identifier: Apache-2.0
"""scripts/fetch_xgrammar on pretended machines: a stub plays pip, nothing is fetched."""
import hashlib
import io
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from load_script import ROOT, write_tree

TOOLS = "bash rm mkdir mktemp cat cp tail dirname tar gzip sha256sum".split()
PIP = '''#!/bin/bash
case "$*" in *--version*) exit 0 ;; esac
[ -e "$M/offline" ] && { echo "no network"; exit 1; }
while [ "$1" != --dest ]; do shift; done
cp "$M/archive" "$2/xgrammar-0.2.9.tar.gz"
'''
FILES = ["cpp/matcher.cc", "cpp/tvm_ffi/binding.cc", "include/xgrammar/xgrammar.h", "3rdparty/picojson/picojson.h",
         "3rdparty/dlpack/include/dlpack/dlpack.h", "3rdparty/dlpack/LICENSE", "3rdparty/googletest/gtest.h", "LICENSE", "NOTICE"]


def archive(text):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as pack:
        for name in FILES:
            info = tarfile.TarInfo(f"xgrammar-0.2.9/{name}")
            info.size = len(text)
            pack.addfile(info, io.BytesIO(text))
    return packed.getvalue()


class FetchXgrammar(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)
        self.into = self.dir / "repo" / "build" / "xgrammar-0.2.9"
        good = archive(b"// ours")
        text = (ROOT / "scripts" / "fetch_xgrammar").read_text()
        known = next(line for line in text.splitlines() if line.startswith("known="))
        text = text.replace(known, f"known='{hashlib.sha256(good).hexdigest()}'")
        write_tree(self.dir, {"repo/scripts/fetch_xgrammar": text})
        (self.dir / "archive").write_bytes(good)
        (self.dir / "bin").mkdir()
        (self.dir / "bin" / "python3").write_text(PIP)
        (self.dir / "bin" / "python3").chmod(0o755)
        for tool in TOOLS:
            (self.dir / "bin" / tool).symlink_to(shutil.which(tool))

    def fetch(self):
        done = subprocess.run(["bash", self.dir / "repo" / "scripts" / "fetch_xgrammar"], capture_output=True, text=True,
                              timeout=30, env={"PATH": str(self.dir / "bin"), "M": str(self.dir)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list((self.dir / "repo" / "build").glob(".xgrammar.*")), [])
        return done.stdout

    def test_the_core_is_kept_without_its_python_side_and_a_second_run_is_silent(self):
        self.assertIn("xgrammar 0.2.9 is in", self.fetch())
        kept = sorted(str(p.relative_to(self.into)) for p in self.into.rglob("*") if p.is_file() and p.name != ".complete")
        self.assertEqual(kept, sorted(f for f in FILES if "tvm_ffi" not in f and "googletest" not in f))
        self.assertEqual(self.fetch(), "")

    def test_another_archive_is_refused(self):
        (self.dir / "archive").write_bytes(archive(b"// another"))
        self.assertIn("is not the one that is known here", self.fetch())
        self.assertFalse(self.into.exists())

    def test_a_machine_without_network_goes_on_and_tries_again(self):
        (self.dir / "offline").touch()
        self.assertIn("no network", self.fetch())
        (self.dir / "offline").unlink()
        self.assertIn("xgrammar 0.2.9 is in", self.fetch())


if __name__ == "__main__":
    unittest.main()
