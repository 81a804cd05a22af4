# SPDX-License-Identifier: BSD-2-Clause
"""SOCK_SPLIT in time, against Linux's delayed acknowledgement: a board whose send queue holds one record answers requests with pages of two, so that
the second record waits until Linux has acknowledged the first. Linux's client has just asked, so it hopes to send its acknowledgement with more data and
waits 40 ms, unless a second segment comes: which is what the option makes of a record. On the compact stack it is one of the build."""
import pathlib
import statistics
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
from boards import ADDRESS, HOST, command  # noqa: E402
from netns import Lab, until  # noqa: E402
from patience import measured  # noqa: E402

PORT, RECORD_BYTES, PAGE_RECORDS, PAGES = 5203, 536, 2, 25
DELAYED_S = 0.040   # Linux's shortest delay
CLIENT = """
import socket, sys, time
def connected(deadline):
    while True:   # the task may not have begun to listen
        try:
            return socket.create_connection((sys.argv[1], int(sys.argv[2])), 60)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
with connected(time.monotonic() + 60) as connection:
    connection.settimeout(None)   # a socket with a time limit does not wait for all
    for number in range(int(sys.argv[3])):
        began = time.monotonic()
        connection.sendall(bytes([number]))
        got = connection.recv(%d, socket.MSG_WAITALL)
        took = time.monotonic() - began
        assert got == bytes((number + i // %d + i %% %d) %% 256 for i in range(%d)), number
        print(took)
""" % (RECORD_BYTES * PAGE_RECORDS, RECORD_BYTES, RECORD_BYTES, RECORD_BYTES * PAGE_RECORDS)


def seconds_a_page(board, program):
    """What each page took."""
    with Lab() as lab:
        linux = lab.namespace("linux")
        if not lab.tap(linux, "weir0"):
            pytest.skip("no TAP is permitted here")
        linux.address("weir0", f"{HOST}/24")
        machine = linux.start(*command(board, "tap,ifname=weir0,script=no,downscript=no", program))
        assert until(lambda: "tasks are running" in machine.output(), 60), machine.output()
        return [float(line) for line in linux.run(sys.executable, "-c", CLIENT, ADDRESS, PORT, PAGES).split()]


@pytest.mark.parametrize("board", ("mps2-an385", "lm3s6965evb"))
@measured
def test_a_split_record_is_acknowledged_at_once(board):
    whole, split = (seconds_a_page(board, f"pages_{kind}") for kind in ("whole", "split"))
    assert statistics.median(whole) >= DELAYED_S         # each page waits for the delayed acknowledgement
    assert statistics.median(split) < DELAYED_S / 2      # none does
