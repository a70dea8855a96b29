# SPDX-License-Identifier: Apache-2.0
"""What the side-by-side scripts share: programs run on the same CPUs, what machine this is, what commit."""
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ISA_FLAGS = ("avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512_vnni", "avx512_bf16", "avx512_fp16",
             "amx_tile", "amx_int8", "amx_bf16")


class BenchError(Exception):
    """A failure that the message alone explains."""


class Runner:
    """Runs programs on the first `threads` CPUs that this process may use."""

    def __init__(self, threads):
        self.cpus = sorted(os.sched_getaffinity(0))[:threads]
        if len(self.cpus) < threads:
            raise BenchError(f"{threads} threads were asked for, but this process may use {len(self.cpus)} CPUs.")

    def run(self, command, environment=None):
        """Returns (stdout, wall seconds, peak resident MiB)."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.monotonic()
            child = subprocess.Popen([str(c) for c in command], stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                     env={**os.environ, **(environment or {})},
                                     preexec_fn=lambda: os.sched_setaffinity(0, self.cpus))
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.monotonic() - start
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            said = err.read().decode(errors="replace").strip().splitlines()
            if child.returncode != 0:
                raise BenchError(f"{Path(command[0]).name} ended with {child.returncode}: {' '.join(said[-3:])}")
            return out.read().decode(errors="replace"), wall, usage.ru_maxrss / 1024


def cpu_facts():
    text = Path("/proc/cpuinfo").read_text()
    names = re.findall(r"^model name\s*:\s*(.*)$", text, re.M)
    found = re.search(r"^flags\s*:\s*(.*)$", text, re.M)
    flags = set(found.group(1).split()) if found else set()
    return names[0] if names else "unknown CPU", len(names) or os.cpu_count(), [f for f in ISA_FLAGS if f in flags]


def commit():
    def git(*arguments):
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True).stdout.strip()
    return (git("rev-parse", "--short", "HEAD") or "unknown") + (
        ", with local changes" if git("status", "--porcelain", "--untracked-files=no") else "")


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm)\)|@.*", "", name.lower())).strip("-")
