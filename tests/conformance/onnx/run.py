#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the onnx package's backend tests through `nereid infer` and prints one line a group: `node 1870/1884`.

Each failure is listed with its reason. tests/conformance/onnx/expected_failures.txt names the cases that are known to
fail and why; a failure that it does not name, or a name in it that passes, makes the exit code 1.
"""
import argparse
import contextlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
EXPECTED = HERE / "expected_failures.txt"
GIB = 1 << 30

try:
    from cases import GROUPS, VERSION, from_file, kind_of, load_cases
    from compare import difference
    import onnx
except ModuleNotFoundError as missing:
    venv = ROOT / "build" / "venv" / "bin" / "python"
    if venv.exists() and Path(sys.prefix) != venv.parents[1]:
        os.execv(venv, [str(venv), *sys.argv])
    sys.exit(f"There is no Python package '{missing.name}'. Run `scripts/bootstrap conformance`, or make conformance-onnx.")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--match", default="", metavar="REGEX", help="only cases whose GROUP/NAME it is found in")
    parser.add_argument("--group", action="append", choices=[*GROUPS, "light"], help="only this group; repeatable")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), metavar="N")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="of each run (1)")
    parser.add_argument("--nereid", type=Path, default=ROOT / "build" / "bin" / "nereid", metavar="PATH")
    parser.add_argument("--timeout", type=float, default=0, metavar="S",
                        help="seconds a run may take (60; of the group real 900)")
    parser.add_argument("--memory", type=float, default=8, metavar="GIB", help="address space a run may have (8)")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "conformance", metavar="DIR",
                        help="where the cases are kept")
    parser.add_argument("--remake", action="store_true", help="make the cases anew")
    parser.add_argument("--verbose", action="store_true", help="the cases that pass and the expected failures too")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the outputs in DIR/GROUP/CASE/set_N")
    parser.add_argument("--failed", action="store_true", help="print only the names of what fails, one a line")
    return parser.parse_args()


def read_expected():
    """{GROUP/NAME: reason}"""
    reasons = {}
    for number, line in enumerate(EXPECTED.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        label, _, reason = line.partition(":")
        if not reason.strip() or label in reasons:
            sys.exit(f"{EXPECTED.name}:{number}: expected GROUP/NAME: REASON, each name once; found '{line}'.")
        reasons[label] = reason.strip()
    return reasons


class Runner:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def start(self, case, inputs, outputs):
        """Runs one data set; the reason why it did not end well, or None."""
        seconds = self.options.timeout or (900 if case.group == "real" else 60)
        command = [str(self.options.nereid), "infer", str(case.model), "--inputs", f"@{inputs}", "--outputs",
                   str(outputs), "--threads", str(self.options.threads), "--quiet"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              cwd=inputs.parent) as process:
            limit = int(self.options.memory * GIB)
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(process.pid, resource.RLIMIT_AS, (limit, limit))
            try:
                _, errors = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return f"it took more than {seconds:g} s"
        lines = errors.decode(errors="replace").strip().splitlines()
        if process.returncode < 0:
            return f"it was ended by signal {-process.returncode} {' '.join(lines[-2:])}"
        if process.returncode:
            return lines[-1].removeprefix("nereid: error: ") if lines else f"it ended with {process.returncode}, silently"
        return None

    def run_set(self, case, inputs_folder, outputs):
        why = self.start(case, inputs_folder / "inputs.json", outputs)
        if why:
            return why
        model = onnx.load(case.model, load_external_data=False)
        written = json.loads((outputs / "outputs.json").read_text())
        expected = sorted(inputs_folder.glob("expected_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
        if len(written) != len(expected):
            return f"it wrote {len(written)} outputs, expected {len(expected)}"
        for i, path in enumerate(expected):
            info = model.graph.output[i]
            kind = kind_of(info.type)
            if written[i]["type"] != kind or written[i]["name"] != info.name:
                return (f"output {i} is the {written[i]['type']} '{written[i]['name']}' in outputs.json, expected the "
                        f"{kind} '{info.name}'")
            found = from_file(outputs / written[i]["file"], kind)
            why = difference(found, from_file(path, kind), case.rtol, case.atol)
            if why:
                return f"output '{info.name}': {why}"
        return None

    def run(self, case):
        """Why it fails, or None."""
        outputs = self.folder / case.group / case.name
        try:
            for inputs in case.sets:
                why = self.run_set(case, inputs, outputs / inputs.name)
                if why:
                    return why if len(case.sets) == 1 else f"{inputs.name}: {why}"
            return None if case.sets else "it has no data"
        except Exception as error:  # a file that cannot be read back is a failure of this case alone
            return f"the outputs could not be compared: {type(error).__name__}: {error}"
        finally:
            if not self.options.keep:
                shutil.rmtree(outputs, ignore_errors=True)


def tell(label, why, expected, options):
    """A line for a case that is worth one, when it is done."""
    if options.failed:
        line = label if why else ""
    elif why and label in expected:
        line = f"expected {label}: {expected[label]}" + (f" [{why}]" if options.verbose else "")
    elif why:
        line = f"FAILED   {label}: {why}"
    elif label in expected:
        line = f"STALE    {label}: {EXPECTED.name} says '{expected[label]}', but it passes; drop the line"
    else:
        line = f"passed   {label}" if options.verbose else ""
    if line:
        print(line, flush=True)


def sum_up(results, expected, options):
    """A line a group; the exit code."""
    for group in GROUPS:
        mine = [why for label, why in results.items() if label.startswith(group + "/")]
        if mine and not options.failed:
            print(f"{group} {sum(1 for why in mine if not why)}/{len(mine)}", flush=True)
    return 1 if any(bool(why) != (label in expected) for label, why in results.items()) else 0


def main():
    options = arguments()
    if onnx.__version__ != VERSION:
        sys.exit(f"The cases are those of onnx {VERSION}, but {onnx.__version__} is installed.")
    options.nereid = options.nereid.resolve()
    if not options.nereid.exists():
        sys.exit(f"There is no program {options.nereid}; build it, or name it with --nereid PATH.")
    cases = load_cases(options.build.resolve(), lambda text: print(text, file=sys.stderr, flush=True), options.remake)
    expected = read_expected()
    unknown = sorted(set(expected) - {case.label for case in cases})
    if unknown:
        sys.exit(f"{EXPECTED.name} names cases that do not exist: {', '.join(unknown)}.")
    groups = {"real" if group == "light" else group for group in options.group or GROUPS}
    cases = [case for case in cases if case.group in groups and re.search(options.match, case.label)]
    if not cases:
        sys.exit("No case matches.")

    start = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nereid-onnx-")))
        runner = Runner(options, folder.resolve())
        pool = stack.enter_context(ThreadPoolExecutor(options.jobs))
        results = {}
        stack.callback(pool.shutdown, cancel_futures=True)  # what is left when Ctrl-C comes
        for done, (case, why) in enumerate(zip(cases, pool.map(runner.run, cases)), 1):
            results[case.label] = why
            tell(case.label, why, expected, options)
            if sys.stderr.isatty():
                print(f"\r{done}/{len(cases)}", end="\r", file=sys.stderr, flush=True)
    code = sum_up(results, expected, options)
    print(f"{len(cases)} cases in {time.monotonic() - start:.0f} s", file=sys.stderr)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os._exit(1)
