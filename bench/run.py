#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make bench: Weir and its peers in one run. Builds everything under build/bench, measures, prints tables, and writes there pair.json,
host.json, plots (PNG) and index.html. README.md beside this file says what is compared and how.

usage: bench/run.py [pair|host]     one part only; the other's figures stay what they were
Exit status: 0 when everything asked for was measured (whether or not a figure reached its goal); 1 with the reason otherwise."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import common  # noqa: E402
import host_bench  # noqa: E402
import pair_bench  # noqa: E402
import report  # noqa: E402

PARTS = {"pair": pair_bench.measure, "host": host_bench.measure}


def main(words):
    if words and words[0] not in PARTS or len(words) > 1:
        sys.exit(__doc__)
    parts = words or list(PARTS)
    common.OUT.mkdir(parents=True, exist_ok=True)
    if subprocess.run(["make", "--no-print-directory", "-f", "bench/bench.mk", *parts], cwd=ROOT, env=common.environment()).returncode:
        return 1
    for part in parts:
        result = PARTS[part]()
        (common.OUT / f"{part}.json").write_text(json.dumps(result, indent=2) + "\n")
    found = {part: json.loads(path.read_text()) for part in PARTS if (path := common.OUT / f"{part}.json").exists()}
    report.terminal({part: found[part] for part in parts})
    report.web(found)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except common.Failed as failure:
        sys.exit(f"bench: {failure}")
