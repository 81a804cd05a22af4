# SPDX-License-Identifier: BSD-2-Clause
"""thesis.api_ratio, into build/bench/metal.json: how much longer a transfer takes by processes with the thesis's own calls (flock_transfer.elf) than
by the program without a kernel and without processes (transfer.elf), on mps2-an385 and arm-virt, both ways; the largest of the four medians' ratios.

The processor executes an instruction in 32 ns of the machine's own time (-icount shift=5: 31 million a second, as a Cortex-M3 of 25 MHz may), and that
time, as it stands in QEMU's record of the frames, is what a transfer takes: the processor is the limit, and what else runs here hardly matters.

    api.py [rounds]"""
import json
import pathlib
import socket
import statistics
import struct
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]
import boards  # noqa: E402
from boards import Machine  # noqa: E402
from netns import until  # noqa: E402

OUT = ROOT / "build/bench/metal.json"
FORMS = {"without": ("transfer", "serving"), "api": ("flock_transfer", "running")}
WAYS = {"send": 5001, "receive": 5002}   # what the board does
BOARDS = ("mps2-an385", "arm-virt")
SIZE, WARM = 1_000_000, 20_000
GUEST = bytes([10, 0, 0, 2])
plain_command = boards.command


def frames(path):
    """(seconds, frame) of each in QEMU's record."""
    data, at = path.read_bytes(), 24
    while at + 16 <= len(data):
        seconds, micros, length, _ = struct.unpack_from("<IIII", data, at)
        yield seconds + micros / 1e6, data[at + 16:at + 16 + length]
        at += 16 + length


def machine_seconds(path, server):
    """From the machine's answer to the SYN to the last data, of the connection to the port that carried most. (The SYN finds it asleep, and bears the
    time at which it fell asleep: QEMU's clock stands still until something wakes the processor, and then makes up for it, here by 100 ms and more.)"""
    began, ended, carried = {}, {}, {}
    for moment, frame in frames(path):
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            continue
        ip, tcp = frame[14:], frame[34:]
        out = ip[12:16] == GUEST
        here, there = (tcp[0:2], tcp[2:4]) if out else (tcp[2:4], tcp[0:2])
        if int.from_bytes(here, "big") != server:
            continue
        length = int.from_bytes(ip[2:4], "big") - 20 - (tcp[12] >> 4) * 4
        if out:
            began.setdefault(there, moment)
        if length:
            ended[there] = moment
            carried[there] = carried.get(there, 0) + length
    most = max(carried, key=carried.get)
    return ended[most] - began[most]


def move(machine, way, size):
    """So many bytes, to their end."""
    with machine.connect(WAYS[way], 120) as connection:
        if way == "send":
            connection.sendall(size.to_bytes(4, "big"))
            assert len(connection.makefile("rb").read()) == size
        else:
            connection.sendall(bytes(size))
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == b""


def transfer(board, form, way):
    program, ready = FORMS[form]
    record = ROOT / f"build/boards/{board}/{program}.bench.pcap"
    words = ["-icount", "shift=5", "-object", f"filter-dump,id=record,netdev=net0,file={record}"]
    own_card = not boards.BOARDS[board].device   # -nic, whose name we choose
    boards.command = lambda name, nic, image: plain_command(name, nic + ",id=net0" if own_card else nic, image) + words
    try:
        with Machine(board, ports=WAYS.values(), program=program, log=ROOT / f"build/boards/{board}/{program}.bench.log") as machine:
            assert until(lambda: ready in machine.console(), 60), machine.console()
            for size in (WARM, SIZE):   # addresses are resolved, both ends warm
                time.sleep(0.3)   # a process that has ended a connection listens anew
                move(machine, way, size)
    finally:
        boards.command = plain_command
    return machine_seconds(record, WAYS[way])


def main():
    rounds, found = int(sys.argv[1]) if len(sys.argv) > 1 else 7, {}
    for board in BOARDS:
        for way in WAYS:
            seconds = {form: [] for form in FORMS}
            for _ in range(rounds):
                for form in FORMS:
                    seconds[form].append(transfer(board, form, way))
            ratio = statistics.median(seconds["api"]) / statistics.median(seconds["without"])
            found[f"{board}_{way}"] = {"ratio": round(ratio, 3), **{f"{form}_s": [round(value, 4) for value in sorted(values)] for form, values in seconds.items()}}
            print(f"  {board}, the board {way}s: {ratio:.3f}", flush=True)
    whole = json.loads(OUT.read_text()) if OUT.exists() else {}
    largest = max(figures["ratio"] for figures in found.values())
    whole["thesis"] = {**whole.get("thesis", {}), "api_ratio": largest, "api": {"bytes": SIZE, "rounds": rounds, **found}}
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n")
    print(f"  thesis.api_ratio {largest} (to reach: 1.15)")


if __name__ == "__main__":
    main()
