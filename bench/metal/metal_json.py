# SPDX-License-Identifier: BSD-2-Clause
"""build/bench/metal.json, to which each part of make bench-metal adds what it measured."""
import json
import pathlib

RESULT = pathlib.Path(__file__).resolve().parents[2] / "build/bench/metal.json"


def keep(found, merged=()):
    """Figures by key, in place of those that were there; of the keys `merged` they are added to what was."""
    known = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    for key, figures in found.items():
        known[key] = {**known.get(key, {}), **figures} if key in merged else figures
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
