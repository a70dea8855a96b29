#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Goes through the scenarios that a real server was recorded in (tests/golden/kserve/scenario_*.json) and compares.

  scenario_replay.py [GROUP...] [-v]
"""
import json
import sys
import tempfile
from pathlib import Path

from differences import SCENARIO_DIFFERENCES
from served import ROOT, Served
from tally import Tally, main

sys.path.insert(0, str(ROOT / "tests" / "golden" / "kserve"))
import scenario_models  # noqa: E402
import scenarios  # noqa: E402
from record import Asker  # noqa: E402

# Times; and of configurations, by what the native models are told apart from the Python ones.
LEFT_OUT = ("ns", "last_inference", "backend", "default_model_filename", "parameters")


def comparable(value, is_config=False):
    if isinstance(value, dict):
        is_config |= "backend" in value
        return {k: comparable(v) for k, v in value.items() if k not in LEFT_OUT or (k == "parameters" and not is_config)}
    return [comparable(v) for v in value] if isinstance(value, list) else value


def disagreements(want, have):
    """(name, sentence or None) of each request of a step."""
    for wanted, had in zip(want.get("together", [want]), have.get("together", [have])):
        a, b = comparable(wanted["answer"]), comparable(had["answer"])
        name = want["name"] + (f".{wanted['name']}" if "together" in want else "")
        yield name, None if a == b else f"{json.dumps(b)[:600]}\n    recorded {json.dumps(a)[:600]}"
    if "order" in want:
        want_order, have_order = want["order"], have["order"]
        yield want["name"] + ".order", None if want_order == have_order else f"{have_order}\n    recorded {want_order}"


def replay(group, verbose=False):
    """(agreed, different for a reason, [what is wrong])"""
    tally = Tally(group, SCENARIO_DIFFERENCES, verbose)
    records = json.loads((ROOT / "tests/golden/kserve" / f"scenario_{group}.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "models"
        scenario_models.write(scenario_models.GROUPS[group], repository, False)
        served = Served(repository, options=scenarios.OPTIONS[group])
        asker = Asker("127.0.0.1", served.port, repository)
        try:
            for record in records:
                have = asker.step(record)
                if "wait_ms" in record:
                    continue
                for name, found in disagreements(record, have):
                    tally.add(name, found)
        finally:
            counts = tally.end(served)
    return counts


if __name__ == "__main__":
    sys.exit(main(replay, scenarios.GROUPS))
