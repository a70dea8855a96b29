# SPDX-License-Identifier: Apache-2.0
"""scripts/fetch_dagre on pretended machines: stubs play apt-get and dpkg-deb, nothing is fetched."""
import hashlib
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from load_script import ROOT, write_tree

TOOLS = "bash rm mkdir mktemp chmod tail cp mv touch dirname".split()
SCRIPT = "/* a layout */"
STUBS = {
    "apt-get": '[ -e "$M/offline" ] && { echo "E: no network"; exit 100; }; cp "$M/package" node-dagre-layout_1_all.deb',
    "dpkg-deb": 'mkdir -p "$3/usr/share/nodejs/dagre/dist" "$3/usr/share/doc/node-dagre-layout"; '
                'cp "$2" "$3/usr/share/nodejs/dagre/dist/dagre.min.js"; echo MIT >"$3/usr/share/doc/node-dagre-layout/copyright"',
}


class FetchDagre(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)
        self.into = self.dir / "repo" / "build" / "dagre-0.8.5"
        text = (ROOT / "scripts" / "fetch_dagre").read_text()
        known = next(line for line in text.splitlines() if line.startswith("known="))
        text = text.replace(known, f"known='{hashlib.sha256(SCRIPT.encode()).hexdigest()}'")
        write_tree(self.dir, {"repo/scripts/fetch_dagre": text, "package": SCRIPT})
        (self.dir / "bin").mkdir()
        for name, body in STUBS.items():
            (self.dir / "bin" / name).write_text(f"#!/bin/bash\n{body}\n")
            (self.dir / "bin" / name).chmod(0o755)
        for tool in (*TOOLS, "sha256sum"):
            (self.dir / "bin" / tool).symlink_to(shutil.which(tool))

    def fetch(self):
        done = subprocess.run(["bash", self.dir / "repo" / "scripts" / "fetch_dagre"], capture_output=True, text=True, timeout=30,
                              env={"PATH": str(self.dir / "bin"), "M": str(self.dir), "TMPDIR": str(self.dir)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_script_and_its_licence_are_kept_and_a_second_run_is_silent(self):
        self.assertIn("dagre 0.8.5 is in", self.fetch())
        self.assertEqual((self.into / "dagre.min.js").read_text(), SCRIPT)
        self.assertEqual((self.into / "copyright").read_text(), "MIT\n")
        self.assertEqual(self.fetch(), "")
        self.assertEqual(list(self.dir.glob("nereid-dagre.*")), [])

    def test_another_version_is_refused_once_and_for_all(self):
        (self.dir / "package").write_text("/* another layout */")
        self.assertIn("is not the dagre 0.8.5 that is known here", self.fetch())
        self.assertFalse((self.into / "dagre.min.js").exists())
        self.assertEqual(self.fetch(), "")

    def test_a_machine_without_network_goes_on_and_tries_again(self):
        (self.dir / "offline").touch()
        self.assertIn("E: no network", self.fetch())
        (self.dir / "offline").unlink()
        self.assertIn("dagre 0.8.5 is in", self.fetch())


if __name__ == "__main__":
    unittest.main()
