# SPDX-License-Identifier: BSD-2-Clause
"""LyraOS's server on a board in QEMU: echo to several at once from one thread, 10,000 writes of 1460 bytes each way. And what the stack's
component imports and exports: no more than its lists say, and nothing of a file system."""
import pathlib
import random
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from boards import Machine, exchange, read  # noqa: E402

BOARD = "mps2-an385"   # whose component is looked at
BOARDS = ("mps2-an385", "pc", "pc-ne2k")
WRITES, WRITE_BYTES = 10_000, 1460
TABLE_1 = "socket bind listen connect accept send sendto sendmsg recv recvfrom recvmsg getsockopt setsockopt".split()
FILES = re.compile(r"(^|_)(open|creat|read|write|lseek|stat|mount|inode|file|files|vfs|dentry|path|dir|fd)(_|$)")


def names(option):
    out = subprocess.run(["arm-none-eabi-nm", option, ROOT / f"build/boards/{BOARD}/lyraos/component.o"], capture_output=True, text=True, check=True).stdout
    return {re.sub("_configuration_[0-9a-f]{6}$", "", line.split()[-1]) for line in out.splitlines() if option == "-u" or line.split()[-2].isupper() and line.split()[-2] != "U"}


def listed(name):
    return {line for line in (ROOT / f"api/lyraos/{name}.txt").read_text().split("\n") if line and not line.startswith("#")}


def test_imports_are_those_listed():
    assert names("-u") == listed("imports")


def test_exports_are_those_listed():
    exports = names("-g")
    assert exports == listed("exports")
    assert set(TABLE_1) | {"select"} <= exports


def test_nothing_of_a_file_system():
    # (lyraos_fd_… are the sets of select: arrays of sockets)
    assert not [name for name in names("-u") | names("-g") if FILES.search(name) and not name.startswith("lyraos_fd_")]


@pytest.fixture(scope="module", params=BOARDS)
def machine(request):
    with Machine(request.param, ports=(7, 5001, 5002), program="lyraos") as machine:
        machine.until("the server listens")
        yield machine


def test_one_thread_echoes_to_several(machine):
    connections = [machine.connect(7) for _ in range(3)]
    for number in range(20):
        for connection in connections:
            text = random.Random(number).randbytes(700)
            connection.sendall(text)
            assert read(connection, 700) == text
    for connection in connections:
        connection.close()
    for _ in range(10):
        with machine.connect(7) as connection:
            assert exchange(connection, b"more than at once") == b"more than at once"


def test_the_server_sends(machine):
    with machine.connect(5001) as connection:
        data = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    write = bytes(ord("a") + i % 26 for i in range(WRITE_BYTES))
    assert data == write * WRITES
    machine.until(f"sent {WRITES * WRITE_BYTES} bytes in ")


def test_the_server_receives(machine):
    with machine.connect(5002) as connection:
        answer = exchange(connection, bytes(WRITES * WRITE_BYTES))
    assert re.fullmatch(rb"received %d bytes in \d+ us\n" % (WRITES * WRITE_BYTES), answer)
