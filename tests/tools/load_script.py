# SPDX-License-Identifier: Apache-2.0
"""Imports a script that has no .py ending, such as tools/check_layers, as a module."""
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load_script(path):
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(Path(path).name, str(ROOT / path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def write_tree(root, files):
    """Lays {path: text} under root."""
    for name, text in files.items():
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
