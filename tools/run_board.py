#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The demonstration of `make run BOARD=name PROGRAM=name`: the board's firmware in QEMU, or in a model of tools/machines, on a TAP in a private network
namespace, Linux's own clients at work against it. Where TAP is not permitted QEMU's user-mode network carries TCP instead. --once: stop after the
demonstration. Exit status 0 only when every step worked. Logs: build/run-board/BOARD/."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
from boards import ADDRESS, BOARDS, HOST, Machine, command, read  # noqa: E402
from logs import claim  # noqa: E402
from netns import Lab, until  # noqa: E402
from thermostat import Thermostat  # noqa: E402

LOGS = ROOT / "build/run-board"
INSIDE = "WEIR_RUN_INSIDE"   # environment: we are in the private namespace
BYTES = 1 << 20


class Failed(Exception):
    pass


def enter_private_network():
    """Starts this program again in a network namespace of its own. false: that, or TAP, is not permitted."""
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    probe = subprocess.run([*unshare, "ip", "tuntap", "add", "dev", "probe0", "mode", "tap"], capture_output=True)
    if INSIDE not in os.environ and probe.returncode == 0:
        os.environ[INSIDE] = "1"
        os.execvp(unshare[0], [*unshare, sys.executable, __file__, *sys.argv[1:]])
    return INSIDE in os.environ


def echo(connect):
    """Single bytes, then a megabyte there and back."""
    with connect() as connection:
        began, rounds = time.monotonic(), 0
        while time.monotonic() - began < 1:
            connection.sendall(b"w")
            if connection.recv(1) != b"w":
                raise Failed("another byte came back")
            rounds += 1
        pattern, got, sent, moved = bytes(range(251)) * (BYTES // 251 + 1), b"", 0, time.monotonic()
        while len(got) < BYTES:   # never more under way than the smallest board's queues hold
            if sent - len(got) < 1024:
                sent += connection.send(pattern[sent:min(sent + 1024 - (sent - len(got)), BYTES)])
            chunk = connection.recv(65536)
            if not chunk:
                raise Failed(f"the connection ended after {len(got)} bytes")
            got += chunk
        if got != pattern[:BYTES]:
            raise Failed("other bytes came back")
        seconds = time.monotonic() - moved
    return f"{rounds} echoes of one byte in a second; {BYTES} bytes there and back in {seconds:.1f} s"


def connections(connect):
    began, count = time.monotonic(), 0
    while time.monotonic() - began < 1:
        with connect() as connection:
            connection.sendall(b"x")
            connection.shutdown(socket.SHUT_WR)
            if read(connection, 2) != b"x":
                raise Failed("no echo")
        count += 1
    return f"{count} opened, used and closed in a second"


class Demonstration:
    def __init__(self, board, program):
        self.board, self.program, self.logs, self.failures = board, program or BOARDS[board].program, claim(LOGS / board), 0

    def step(self, title, function, *words):
        try:
            print(f"  ok    {title:<24}{function(*words)}", flush=True)
        except (Failed, RuntimeError, OSError, subprocess.SubprocessError) as error:
            self.failures += 1
            print(f"  FAIL  {title:<24}{str(error).strip() or type(error).__name__}", flush=True)

    def place(self):
        return "a model of ours" if BOARDS[self.board].model else "QEMU"

    def on_tap(self, once):
        with Lab(self.logs) as lab:
            linux = lab.here()
            linux.up("lo")
            lab.tap(linux, "weir0")
            linux.address("weir0", f"{HOST}/24")
            machine = linux.start(*command(self.board, "tap,ifname=weir0,script=no,downscript=no", self.program), log=self.logs / "machine.log")
            began = time.monotonic()
            if not until(lambda: "port 7" in machine.output() or machine.poll() is not None, 60) or machine.poll() is not None:
                raise Failed(f"the firmware did not start: {machine.output()[-500:]}")
            print(f"{self.board} in {self.place()} at {ADDRESS}, Linux at {HOST}; on its console after {time.monotonic() - began:.2f} s: {said(machine)}\n",
                  flush=True)
            self.step("ping", ping, linux)
            self.step("echo", echo, lambda: socket.create_connection((ADDRESS, 7), 60))
            self.step("connections", connections, lambda: socket.create_connection((ADDRESS, 7), 60))
            self.curl(f"http://{ADDRESS}")
            self.step("the cable pulled", cable, linux)
            self.end(once, lambda: machine.wait(), f"nsenter --net -t {os.getpid()} nc {ADDRESS} 7")

    def without(self, once):
        with Machine(self.board, ports=(7, 80), program=self.program, log=self.logs / "machine.log") as machine:
            machine.until("port 7")
            print(f"{self.board} in {self.place()}; no TAP is permitted here, so QEMU's own network carries TCP.\n", flush=True)
            self.step("echo", echo, lambda: machine.connect(7))
            self.step("connections", connections, lambda: machine.connect(7))
            self.curl(f"http://127.0.0.1:{machine.ports[80]}")
            self.end(once, lambda: machine.process.wait(), f"nc 127.0.0.1 {machine.ports[7]}")

    def thermostat(self, once):
        with Lab(self.logs) as lab:
            linux = lab.here()
            linux.up("lo")
            lab.tap(linux, "weir0")
            world = Thermostat(lab, linux, self.logs)
            print(f"The thermostat on {self.board} in {self.place()} at {ADDRESS}, a broker at {HOST}.\n", flush=True)
            for title, step in world.steps():
                if not self.failures:   # each needs the one before it
                    self.step(title, step)
            self.end(once, lambda: world.machine.wait(), f"nsenter --net -t {os.getpid()} {world.command('')}")

    def curl(self, url):
        if self.program == "services":
            self.step("curl", curl, url)

    def end(self, once, stay, reach):
        print(f"\n{'every step worked' if not self.failures else f'{self.failures} failed; see {self.logs.relative_to(ROOT)}/'}", flush=True)
        if once or self.failures:
            return
        print(f"\nThe board stays up until Ctrl-C: {reach}", flush=True)
        try:
            stay()
            self.failures += 1
            print(f"The machine ended by itself; see {self.logs.relative_to(ROOT)}/machine.log")
        except KeyboardInterrupt:
            print()


def said(machine):
    """The firmware's last line; a PC's BIOS does not end its own."""
    line = machine.output().strip().splitlines()[-1]
    return line[line.find("weir:"):]


def ping(linux):
    try:
        said = linux.ping(ADDRESS, 20, "-i", "0.05")
    except RuntimeError as error:
        raise Failed(str(error)) from error
    return f"20 of 20 answered, {re.search(r'= [0-9.]+/([0-9.]+)/', said).group(1)} ms on average"


def curl(url):
    """The status page, and a megabyte of the pattern."""
    def get(path):
        return subprocess.run(["curl", "--silent", "--fail", "--max-time", "60", url + path], capture_output=True, check=True).stdout
    if b"eth0" not in get("/status.json"):
        raise Failed("no interface in the status")
    began, got = time.monotonic(), get(f"/bytes/{BYTES}")
    if got != (bytes(range(251)) * (BYTES // 251 + 1))[:BYTES]:
        raise Failed("other bytes came")
    return f"the status page; {BYTES} bytes in {time.monotonic() - began:.1f} s"


def cable(linux):
    """Down for two seconds in the middle of a conversation, which goes on afterwards with what was said meanwhile."""
    with socket.create_connection((ADDRESS, 7), 60) as connection:
        connection.sendall(b"before")
        if read(connection, 6) != b"before":
            raise Failed("no echo")
        linux.run("ip", "link", "set", "weir0", "down")
        connection.sendall(b"meanwhile")
        time.sleep(2)
        linux.up("weir0")
        began = time.monotonic()
        if read(connection, 9) != b"meanwhile":
            raise Failed("the conversation did not go on")
    return f"for 2 s; what was sent meanwhile was answered {time.monotonic() - began:.2f} s after it was back"


def main():
    board = next((word for word in sys.argv[1:] if not word.startswith("--")), "")
    if board not in BOARDS:
        sys.exit(f"there is no board {board!r}; there are " + "; ".join(f"{found.name} ({found.about})" for found in BOARDS.values()))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    program = next((word for word in sys.argv[2:] if not word.startswith("--")), "")
    tap = enter_private_network()
    demonstration = Demonstration(board, program)
    try:
        if program == "thermostat" and not tap:
            raise Failed("the thermostat's name, and its broker, need a TAP, which is not permitted here")
        (demonstration.thermostat if program == "thermostat" else demonstration.on_tap if tap else demonstration.without)("--once" in sys.argv)
    except (Failed, RuntimeError) as error:
        sys.exit(f"  FAIL  {error}")
    return 1 if demonstration.failures else 0


try:
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit(130)
