#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""thesis.latency, into build/bench/metal.json: how long a board takes to answer 1, 64, 512 and 1460 bytes with the same, by a process with the thesis's
own calls (flock_echo.elf) and by the program without a kernel (echo.elf), in microseconds of the machine's own time at 31 million instructions a second
(as api.py): from the frame that brings the bytes to the frame that takes the last of them back, so that no network is in it. The median of many.

    latency.py [how many]"""
import itertools
import json
import socket
import statistics
import sys
import time

import api
from api import Machine, boards, until

FORMS = {"without": ("echo", "echo on port"), "api": ("flock_echo", "running")}
SIZES = (1, 64, 512, 1460)
PORT, WARM = 7, 10


def round_trips(machine, size, count):
    with machine.connect(PORT, 60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(count):
            connection.sendall(bytes(size))
            left = size
            while left:
                got = connection.recv(left)
                assert got, "the board closed"
                left -= len(got)


def answers(record):
    """For each connection to the port, in order: (moment, bytes, whether the board sends them) of its segments with data."""
    found = {}
    for moment, frame in api.frames(record):
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            continue
        ip, tcp = frame[14:], frame[34:]
        out = ip[12:16] == api.GUEST
        here, there = (tcp[0:2], tcp[2:4]) if out else (tcp[2:4], tcp[0:2])
        length = int.from_bytes(ip[2:4], "big") - 20 - (tcp[12] >> 4) * 4
        if int.from_bytes(here, "big") == PORT and length > 0:
            found.setdefault(there, []).append((moment, length, out))
    return list(found.values())


def times_us(segments, size):
    """Of each request the time from its last byte in to its last byte out."""
    asked = answered = 0
    asked_at, times = [], []
    for moment, length, out in segments:
        if out:
            answered += length
            while len(times) < answered // size:
                times.append((moment - asked_at[len(times)]) * 1e6)
        else:
            asked += length
            asked_at += [moment] * (asked // size - len(asked_at))
    return times


def measure(board, form, count):
    program, ready = FORMS[form]
    record = api.ROOT / f"build/boards/{board}/{program}.bench.pcap"
    words = ["-icount", "shift=5", "-object", f"filter-dump,id=record,netdev=net0,file={record}"]
    own_card = not boards.BOARDS[board].device
    boards.command = lambda name, nic, image: api.plain_command(name, nic + ",id=net0" if own_card else nic, image) + words
    try:
        with Machine(board, ports=(PORT,), program=program, log=api.ROOT / f"build/boards/{board}/{program}.bench.log") as machine:
            assert until(lambda: ready in machine.console(), 60), machine.console()
            for size in SIZES:
                time.sleep(0.3)   # the process that has ended a connection listens anew
                round_trips(machine, size, WARM + count)
    finally:
        boards.command = api.plain_command
    connections = answers(record)
    assert len(connections) == len(SIZES), f"{len(connections)} connections"
    return {size: round(statistics.median(times_us(segments, size)[WARM:]), 1) for size, segments in zip(SIZES, connections)}


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    found = {}
    for board, form in itertools.product(api.BOARDS, FORMS):
        found.setdefault(board, {})[form] = figures = measure(board, form, count)
        print(f"  {board}, {FORMS[form][0]}: " + ", ".join(f"{size} bytes {us} us" for size, us in figures.items()), flush=True)
    whole = json.loads(api.OUT.read_text()) if api.OUT.exists() else {}
    whole["thesis"] = {**whole.get("thesis", {}), "latency": {"count": count, "us": found}}
    api.OUT.parent.mkdir(parents=True, exist_ok=True)
    api.OUT.write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
