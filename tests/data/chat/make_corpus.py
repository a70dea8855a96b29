# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the template fuzzer, tests/corpus/template_fuzz: the small cases of cases.json, 24 to a file.

usage: python make_corpus.py
"""
import json
import pathlib

here = pathlib.Path(__file__).parent
folder = here.parents[1] / "corpus" / "template_fuzz"
folder.mkdir(parents=True, exist_ok=True)
cases = [c["template"] for c in json.loads((here / "cases.json").read_text(encoding="utf-8"))["cases"]]
for i in range(0, len(cases), 24):
    (folder / f"cases_{i // 24:02}.jinja").write_text("\n".join(cases[i : i + 24]), encoding="utf-8")
for i, case in enumerate(c for c in cases if "macro" in c or "loop." in c or "namespace" in c):
    (folder / f"statement_{i:02}.jinja").write_text(case, encoding="utf-8")
