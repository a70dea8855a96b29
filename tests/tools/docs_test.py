# SPDX-License-Identifier: Apache-2.0
"""Every file that a page names is there: relative links, and paths between backquotes."""
import re
import unittest

from load_script import ROOT

TOPS = ("src", "cli", "cmake", "scripts", "tools", "tests", "docs", "bench", "include", ".ci")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`([\w.][\w./-]*)`")


def pages():
    folders = [ROOT / top for top in ("docs", "src", "cli", "bench", "tests")]
    return [*ROOT.glob("*.md"), *(page for folder in folders for page in folder.rglob("*.md"))]


class Pages(unittest.TestCase):
    def test_relative_links_lead_somewhere(self):
        for page in pages():
            for target in LINK.findall(page.read_text()):
                if "://" not in target and not target.startswith("mailto:"):
                    self.assertTrue((page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}")

    def test_paths_between_backquotes_exist(self):
        for page in pages():
            text = page.read_text()
            for path in PATH.findall(text):
                placeholder = "NNNN" in path or re.search(r"(^|[/_])x[_.]", path)
                if path.split("/")[0] in TOPS and "/" in path and not placeholder:
                    self.assertTrue((ROOT / path).exists(), f"{page.relative_to(ROOT)} names {path}")


if __name__ == "__main__":
    unittest.main()
