# SPDX-License-Identifier: BSD-2-Clause
"""The model of the Portux 920T where its time is instructions: by a peer in the same time (lab/machine_peer.c), and by a link in ours."""
import json
import pathlib
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/machines"), str(ROOT / "tests/unit/machines")]
from at91rm9200_test import processor  # noqa: E402
from boards import Machine, command, read  # noqa: E402

MOVE, STAY = 0xE1A00000, 0xEAFFFFFE   # mov r0, r0; b .
SIZE = 100_000


def model(*words, program="flock_transfer"):
    return subprocess.run([*command("portux920t", words[0], program), *words[1:]], capture_output=True, text=True)


def seconds(rate, way, loss=0, size=SIZE):
    """Of the machine's time, as text. The wire takes none, where the board receives."""
    done = model(f"peer,way={way},bytes={size},delay=0.02,loss={loss},back_loss={loss},spare_arp=1", "--rate", str(rate))
    assert done.returncode == 0, done.stdout + done.stderr
    found, = (json.loads(line) for line in done.stderr.splitlines() if line.startswith("{"))
    assert found["bytes"] == size
    return found["seconds"]


def test_every_instruction_counts_once():
    cpu = processor(*[MOVE] * 50, STAY)
    executed = cpu.counted()
    cpu.run(20)
    assert executed() == 20 and cpu.pc == 0x100 + 4 * 20
    cpu.run(7)
    assert executed() == 27


def test_a_device_sees_how_many_there_were_before_it():
    # ldr r1, [pc, #8]; mov; str r0, [r1]; stay
    cpu = processor(0xE59F1008, MOVE, 0xE5810000, STAY, 0xF0000000)
    executed, seen = cpu.counted(), []
    cpu.device(0xF0000000, 0x1000, lambda offset: 0, lambda offset, value: seen.append(executed()))
    cpu.run(10)
    assert seen == [3]   # itself as well


@pytest.mark.parametrize("way, within", (("send", 0.2), ("receive", 0.05)))
def test_where_the_processor_is_the_limit_its_rate_is_the_time(way, within):
    """Twice the rate takes half as long, a tenth ten times. Timers do not change with it, nor does the wire, which what is sent has 0.12 ms a frame of."""
    base = seconds(30_000_000, way)
    assert seconds(60_000_000, way) / base == pytest.approx(0.5, rel=within)
    assert seconds(3_000_000, way) / base == pytest.approx(10, rel=within)


def test_a_run_is_the_same_again_and_another_rate_is_another_run():
    lossy = [seconds(rate, "receive", 15) for rate in (18_000_000, 18_000_000, 17_000_000)]
    assert lossy[0] == lossy[1] != lossy[2]
    assert lossy[0] > seconds(18_000_000, "receive")


def test_what_passed_the_cable_is_kept_with_what_was_lost(tmp_path):
    """pcap=FOLDER: each frame when it entered the simulated link, so that who looks for a lost retransmission finds it."""
    done = model(f"peer,way=send,bytes={SIZE},delay=0.02,loss=15,spare_arp=1,pcap={tmp_path}", "--rate", "180000000")
    assert done.returncode == 0, done.stderr
    sent = subprocess.run(["tshark", "-r", tmp_path / "machine-far.pcapng", "-Y", "tcp.srcport==5001 && tcp.len>0", "-T", "fields", "-e", "tcp.seq", "-e", "tcp.len"],
                          capture_output=True, text=True, check=True).stdout
    sizes = [tuple(map(int, line.split())) for line in sent.splitlines()]
    assert sum(length for _, length in set(sizes)) >= SIZE
    assert len(sizes) > len(set(sizes))   # what was sent again stands there twice


@pytest.mark.parametrize("nic, more, complaint", [
    ("peer,way=send,delay=1,bytes=1000,pcap=/nowhere", ("--rate", "1000000"), "/nowhere/machine-far.pcapng"),
    ("peer,way=send,delay=0.02,bytes=1000", (), "a peer wants to know the processor's rate"),
    ("peer,way=send,bytes=1000", ("--rate", "1000000"), "a peer has a way (send or receive) and a delay"),
    ("peer,way=send,delay=0,bytes=1000", ("--rate", "1000000"), "delay, bytes (4 GB at the most) and runs are not 0"),
    ("peer,way=send,delay=1,bytes=1000,colour=red", ("--rate", "1000000"), "colour"),
    ("peer,way=send,delay=1,bytes=1000", ("--rate", "0"), "the processor's rate is positive")])
def test_what_makes_no_sense_is_refused(nic, more, complaint):
    done = model(nic, *more)
    assert done.returncode != 0 and complaint in done.stderr and "Traceback" not in done.stderr, done.stderr


def echoes(rate, count):
    """Seconds of our time that so many round trips take: with a rate no fewer, however fast this computer is."""
    log = ROOT / "build/boards/portux920t/echo.time.log"   # test_boards.py has this board, too
    with Machine("portux920t", program="echo", log=log, extra=("--rate", str(rate))) as machine:
        machine.until("echo on port 7")
        with machine.connect(7) as connection:
            began = time.monotonic()
            for _ in range(count):
                connection.sendall(bytes(1000))
                assert read(connection, 1000) == bytes(1000)
            return time.monotonic() - began


def test_beside_a_link_in_our_time_the_machine_waits_for_it():
    """An echo of 1000 bytes takes more than 12,000 instructions."""
    assert echoes(1_000_000, 100) > 1
