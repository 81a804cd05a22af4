#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes a file for Perfetto (trace events in JSON) of what a board told on its console (examples/firmware/traced_echo.c).
usage: tools/board_trace.py CONSOLE.log >TRACE.json"""
import json
import pathlib
import sys

LAST = ("CLOSED", "TIME-WAIT")   # states that no socket has any more


def convert(text):
    """The object of the file. A line that was cut is passed over."""
    events, tracks, opened, lost, began, version = [], {}, set(), 0, None, {}
    for words in (line.split(" ", 6) for line in text.splitlines()):
        if words[0] == "trace-version" and len(words) == 2:
            version = {"weir": words[1]}
        if words[0] == "trace-lost" and len(words) == 2 and words[1].isdigit():
            lost += int(words[1])
        if words[0] != "trace" or len(words) != 7 or not (words[1].isdigit() and words[5].isdigit()):
            continue
        _, now, kind, local, peer, cwnd, what = words
        began = int(now) if began is None else began
        name = f"{local} > {peer}"
        if name not in tracks:
            tracks[name] = len(tracks) + 1
            events.append({"ph": "M", "pid": 1, "tid": tracks[name], "ts": 0, "name": "thread_name", "args": {"name": name}})
        at = {"pid": 1, "tid": tracks[name], "ts": int(now) - began}
        if kind == "state" and name in opened:
            events.append({"ph": "E", "name": "", **at})
            opened.discard(name)
        if kind == "state" and what not in LAST:
            events.append({"ph": "B", "name": what, "cat": kind, **at})
            opened.add(name)
        else:
            events.append({"ph": "i", "s": "t", "name": what, "cat": kind, **at})
        if int(cwnd):
            events.append({"ph": "C", "name": f"window {name}", "args": {"cwnd": int(cwnd)}, **at})
    return {"traceEvents": events, "otherData": {**version, "lost": str(lost)}}


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        text = pathlib.Path(sys.argv[1]).read_text(errors="replace")
    except OSError as error:
        print(f"board_trace.py: {sys.argv[1]} cannot be read: {error.strerror}", file=sys.stderr)
        return 2
    json.dump(convert(text), sys.stdout)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
