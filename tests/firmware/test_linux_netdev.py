# SPDX-License-Identifier: BSD-2-Clause
"""LyraOS's server on a PC whose network cards have drivers of Linux 2.0's kind (api/linux_netdev), written to its calls alone: an NE2000 on PCI
and on ISA, and an RTL8139, one image for all three. And what those drivers include: nothing but Linux's headers."""
import dataclasses
import pathlib
import random
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from boards import BOARDS, Machine, exchange, read  # noqa: E402

CARDS = {"ne2k": (BOARDS["pc-ne2k"].device, "NE2000"), "ne2k-isa": (BOARDS["pc-ne2k-isa"].device, "NE2000"), "rtl8139": ("rtl8139,romfile=", "RTL8139")}
SENT = 10_000 * 1460
RECEIVED = 500_000   # QEMU's own peer recovers slowly from what a full ring loses
DRIVERS = ("ne.c", "rtl8139.c")
SECONDS = 60
HEADERS = ROOT / "api/linux_netdev/include"
# As docs/lyraos.md says that a driver of Linux 2.0 is compiled for a PC; -nostdinc: without this machine's own <linux/…>.
AS_LINUX = ("gcc", "-m32", "-std=gnu89", "-nostdinc", "-isystem", "INCLUDE", "-U__linux__", "-U__unix__", "-ffreestanding", "-fno-strict-aliasing", "-D__KERNEL__",
            "-Iboards/include", "-Iinclude", "-I.", f"-I{HEADERS.relative_to(ROOT)}", "-Wall", "-Werror", "-fsyntax-only", "-x", "c")


@pytest.fixture(scope="module", params=CARDS)
def machine(request):
    device, name = CARDS[request.param]
    board = f"pc-linux-{request.param}"
    BOARDS[board] = dataclasses.replace(BOARDS["pc-ne2k"], name=board, device=device, image="pc-ne2k")
    with Machine(board, ports=(7, 5001, 5002), program="lyraos_linux") as machine:
        machine.until("the server listens", SECONDS)
        assert re.search(rf"eth0: {name} at 0x[0-9a-f]+, irq \d+\n", machine.console())
        yield machine
    del BOARDS[board]


def test_several_are_echoed_to(machine):
    connections = [machine.connect(7, SECONDS) for _ in range(3)]
    for number in range(20):
        for connection in connections:
            text = random.Random(number).randbytes(700)
            connection.sendall(text)
            assert read(connection, 700) == text
    for connection in connections:
        connection.close()


def test_frames_of_every_length_come_back(machine):
    with machine.connect(7, SECONDS) as connection:
        for length in (*range(1, 20), *range(1440, 1461)):   # odd ones, and the card's pages
            text = random.Random(length).randbytes(length)
            connection.sendall(text)
            assert read(connection, length) == text


def test_the_server_sends(machine):
    with machine.connect(5001, SECONDS) as connection:
        data = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert data == bytes(ord("a") + i % 26 for i in range(1460)) * (SENT // 1460)


def test_the_server_receives(machine):
    with machine.connect(5002, SECONDS) as connection:
        assert re.fullmatch(rb"received %d bytes in \d+ us\n" % RECEIVED, exchange(connection, random.Random(1).randbytes(RECEIVED)))


def test_a_timer_of_the_driver_runs(machine):
    if "RTL8139" in machine.console():
        machine.until("eth0: carrier on", SECONDS)


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_driver_includes_what_linux_has(driver):
    found = re.findall(r"#include ([<\"][^>\"]+[>\"])", (ROOT / "examples/linux_netdev" / driver).read_text())
    assert [name for name in found if not name.startswith(("<linux/", "<asm/"))] == ['"drivers.h"']


def compiled_as_linux(text, *more):
    include = subprocess.run(["gcc", "-print-file-name=include"], check=True, capture_output=True, text=True).stdout.strip()
    words = [include if word == "INCLUDE" else word for word in AS_LINUX]
    return subprocess.run([*words, *more, "-"], cwd=ROOT, input=text, capture_output=True, text=True)


def test_what_drivers_of_linux_name_is_there():
    done = compiled_as_linux((ROOT / "tests/firmware/linux_driver.c").read_text())
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("header", sorted(str(path.relative_to(HEADERS)) for path in HEADERS.rglob("*.h")))
def test_a_header_stands_alone_in_old_c(header):
    done = compiled_as_linux(f"#include <{header}>\n")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_module_is_refused_with_a_sentence():
    done = compiled_as_linux("#include <linux/module.h>\n", "-DMODULE")
    assert done.returncode and "api/linux_netdev has no modules" in done.stderr


def test_a_header_that_is_not_there_is_named():
    done = compiled_as_linux("#include <linux/proc_fs.h>\n")
    assert done.returncode and "linux/proc_fs.h: No such file" in done.stderr
