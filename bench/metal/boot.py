#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""From reset to the first ping answered, in virtual time: a board in QEMU, where an instruction takes 32 ns (-icount shift=5; a 50 MHz Cortex-M3 is somewhat
faster) and the clock stands still between them. From before the reset on a peer asks once a millisecond; QEMU stamps the frames with the virtual clock
(filter-dump), and the first echo reply's stamp is the figure. Writes boot_ms of lm3s6965evb, the median of five boots, into build/bench/metal.json.

    bench/metal/boot.py [BOARD]"""
import pathlib
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import metal_json  # noqa: E402
from boards import ADDRESS, BOARDS, HOST, elf  # noqa: E402

BOOTS = 5
LIMIT_MS = 100
PEER = bytes.fromhex("020000000001")
EVERYBODY = b"\xff" * 6


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ping(mac, number):
    echo = struct.pack("!BBHHH", 8, 0, 0, 0x5757, number) + bytes(32)
    echo = echo[:2] + struct.pack("!H", checksum(echo)) + echo[4:]
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(echo), number, 0, 64, 1, 0, socket.inet_aton(HOST), socket.inet_aton(ADDRESS))
    return mac + PEER + b"\x08\x00" + head[:10] + struct.pack("!H", checksum(head)) + head[12:] + echo


def arp(operation, mac):
    return (mac + PEER + b"\x08\x06" + struct.pack("!HHBBH", 1, 0x800, 6, 4, operation) + PEER + socket.inet_aton(HOST) + (mac if operation == 2 else bytes(6)) +
            socket.inet_aton(ADDRESS)).ljust(60, b"\0")


def is_reply(frame):
    return frame[12:14] == b"\x08\x00" and frame[23] == 1 and frame[34] == 0


class Peer(threading.Thread):
    """The far end of QEMU's socket link: asks for the board's link address until it is told, then pings; answers the board's ARP requests."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.mac, self.answered = None, threading.Event()

    def send(self, frame):
        self.link.sendall(struct.pack("!I", len(frame)) + frame)

    def ask(self):
        try:
            for number in range(60_000):
                self.send(ping(self.mac, number) if self.mac else arp(1, EVERYBODY))
                if self.answered.wait(0.001):
                    return
        except OSError:
            pass   # QEMU has gone

    def run(self):
        self.link, _ = self.listener.accept()
        self.link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self.ask, daemon=True).start()
        stream = self.link.makefile("rb")
        while len(head := stream.read(4)) == 4:
            frame = stream.read(struct.unpack("!I", head)[0])
            if frame[12:14] == b"\x08\x06" and frame[6:12] != PEER:
                self.mac = frame[6:12]
                if frame[20:22] == b"\0\1" and frame[38:42] == socket.inet_aton(HOST):
                    self.send(arp(2, self.mac))
            if is_reply(frame):
                self.answered.set()


def stamps(dump):
    """(microseconds of the virtual clock, frame) of each packet; what counts from the start of QEMU lies on a whole second."""
    data, at = dump.read_bytes(), 24
    while at + 16 <= len(data):
        seconds, microseconds, length = struct.unpack_from("<III", data, at)
        yield seconds, microseconds, data[at + 16:at + 16 + length]
        at += 16 + length


def boot(board, program):
    """Milliseconds until the first reply."""
    peer = Peer()
    peer.start()
    found = BOARDS[board]
    with tempfile.TemporaryDirectory() as folder:
        dump = pathlib.Path(folder) / "frames.pcap"
        backend = f"socket,id=net0,connect=127.0.0.1:{peer.listener.getsockname()[1]}"
        card = ["-netdev", backend, "-device", f"{found.device},netdev=net0"] if found.device else ["-nic", backend + (f",model={found.nic}" if found.nic else "")]
        words = ["timeout", "60", *found.machine, "-nographic", "-monitor", "none", "-serial", "none", "-icount", "shift=5,align=off", "-kernel", str(elf(board, program)),
                 *card, "-object", f"filter-dump,id=dump,netdev=net0,file={dump}"]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            answered = peer.answered.wait(30)
            time.sleep(0.1)
            process.terminate()
        if not answered:
            raise SystemExit(f"{board}: no ping was answered")
        seconds, microseconds, _ = next(entry for entry in stamps(dump) if is_reply(entry[2]))
        first = min(entry[0] for entry in stamps(dump))
        return (seconds - first) * 1000 + microseconds / 1000


def main():
    board = sys.argv[1] if len(sys.argv) > 1 else "lm3s6965evb"
    times = [boot(board, "echo") for _ in range(BOOTS)]
    median = round(statistics.median(times), 2)
    print(f"{board}: {median} ms of virtual time from reset to the first ping answered ({', '.join(f'{value:.2f}' for value in times)}; limit {LIMIT_MS})")
    if board == "lm3s6965evb":
        metal_json.keep({"boot_ms": median})
    return median > LIMIT_MS


if __name__ == "__main__":
    sys.exit(main())
