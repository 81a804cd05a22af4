# SPDX-License-Identifier: BSD-2-Clause
"""The shell on a board's console: what is typed on QEMU's serial line is answered there, beside connections that are served."""
import pathlib
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
from boards import HOST, Machine, exchange, read  # noqa: E402
from building import build  # noqa: E402

PROMPT = "weir> "


@pytest.fixture(scope="module")
def machine():
    build("build/boards/mps2-an385/shell.elf")
    with Machine("mps2-an385", program="shell", stdin=subprocess.PIPE) as machine:
        machine.until(PROMPT)
        yield machine


def shown(machine):
    return machine.log.read_bytes().decode(errors="replace")   # lines end as on the wire


def hear(machine, after, *parts, seconds=60):
    """Waits until the console has shown all parts since then; what it has shown."""
    end = time.monotonic() + seconds
    while not all(part in shown(machine)[after:] for part in parts):
        assert machine.process.poll() is None and time.monotonic() < end, shown(machine)[after:]
        time.sleep(0.05)
    return shown(machine)[after:]


def say(machine, line, *parts):
    after = len(shown(machine))
    machine.say(line)
    return hear(machine, after, *parts, "\n" + PROMPT)


def test_what_is_there(machine):
    assert say(machine, "ifconfig\r", "eth0 up", "address 10.0.0.2/24\r\n").startswith("ifconfig\r\n")   # as it was typed
    with machine.connect(7) as connection:   # open at both ends while its sockets are listed
        connection.sendall(b"x" * 1000)
        assert read(connection, 1000) == b"x" * 1000
        say(machine, "netstat\r\n", "proto recv-q", "10.0.0.2:7 ", "ESTABLISHED")
        assert exchange(connection, b"x" * 5000) == b"x" * 5000
    say(machine, "netstat -s\n", "passive connections established\r\n")
    say(machine, "stats\r", "version ", "segments sent ")
    say(machine, "help\r", "nslookup")


def test_ping(machine):
    say(machine, f"ping {HOST} 2\r", f"64 bytes from {HOST}: seq ", "2 sent, 2 received\r\n")
    after = len(shown(machine))
    machine.say(f"ping {HOST} 1000\r")
    hear(machine, after, f"64 bytes from {HOST}")
    say(machine, "\x03")


def test_tcpdump(machine):
    after = len(shown(machine))
    machine.say("tcpdump count 3 port 7\r")
    hear(machine, after, "tcpdump count 3 port 7\r\n")
    with machine.connect(7) as connection:
        assert exchange(connection, b"x" * 100) == b"x" * 100
        said = hear(machine, after, "\n" + PROMPT)
    assert " eth0 in " in said and " > 10.0.0.2:7: tcp S seq " in said and " eth0 out 10.0.0.2:7 > " in said


def test_a_line_is_edited_and_never_ends(machine):
    assert "version" in say(machine, "stxx\b\x7fats\r", "version ")
    say(machine, "nonsense\r", "no such command")
    say(machine, "quit\r")
    say(machine, "\xff\xfa" + "y" * 300 + "\r", "the line is too long")
    say(machine, "stats\r", "version ")
