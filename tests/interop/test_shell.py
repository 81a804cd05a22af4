# SPDX-License-Identifier: BSD-2-Clause
"""The shell of weir-host, from Linux's nc."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from scapy.all import PcapNgReader

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import iperf3  # noqa: E402
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
FOLDER = ROOT / "build/labs/shell"
EXTCAP = str(ROOT / "tools/weir_extcap.py")
LINUX, WEIR = "10.92.0.1", "10.92.0.2"


def shell(lab, *options):
    """Linux and, beside it, a host with a shell."""
    linux = lab.namespace("linux")
    where, words = lab.link(linux, "weir0", LINUX)
    host = where.start(HOST, *words, "--address", f"{WEIR}/24", "--shell", "2323", *options)
    assert until(lambda: "up on" in host.output(), 60), host.output()
    return linux, host


def pinging_shell(lab, *options):
    linux, host = shell(lab, *options)
    linux.start("ping", "-i", "0.2", WEIR)
    return linux, host


def test_a_session():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        linux, _ = shell(lab)
        said = subprocess.run(linux.enter() + ["nc", "-N", "-w", "60", WEIR, "2323"], input=f"ifconfig\nroute\nneigh\nnetstat\nping {LINUX} 2\nnetstat -s\nstats\n",
                              capture_output=True, text=True, timeout=90).stdout
        for part in ("10.92.0.0/24 dev ", " metric 0 connected\n", f"address {WEIR}/24", f"{WEIR}:2323", f"64 bytes from {LINUX}: seq ", "2 sent, 2 received", "passive connections established", "version "):
            assert part in said, said
        assert re.search(rf"{LINUX} dev \w+ [0-9a-f:]{{17}} [A-Z]+\n", said), said
        assert "ESTABLISHED" in said or "CLOSE" in said   # nc has said everything by then, or not
        assert said.count("weir> ") == 8


def test_iperf_measures_both_ways_and_ctrl_c_ends_it():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with Lab(FOLDER) as lab:
        linux, _ = shell(lab)
        server = iperf3.Server(linux)
        with subprocess.Popen(linux.enter() + ["nc", "-w", "60", WEIR, "2323"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as session:
            heard = bytearray()

            def hear(*parts, after=0):
                while not all(part in heard[after:] for part in parts):
                    more = os.read(session.stdout.fileno(), 65536)
                    assert more, heard
                    heard.extend(more)

            def say(words):
                session.stdin.write(words)
                session.stdin.flush()

            for words in (b"iperf %s 1\n", b"iperf %s 1 -R\n"):
                after = len(heard)
                say(words % LINUX.encode())
                hear(b"sender", b"receiver", b"weir> ", after=after)
                server.ready()
            after = len(heard)
            say(b"iperf %s 600\n" % LINUX.encode())
            hear(b"bits/sec", after=after)
            say(b"\x03")
            hear(b"weir> ", after=after)
            say(b"quit\n")
        assert session.returncode == 0


def test_tcpdump_is_offered_only_where_it_is_asked_for():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for option in ((), ("--shell-tcpdump",)):
        with Lab(FOLDER) as lab:
            linux, _ = pinging_shell(lab, *option)
            said = subprocess.run(linux.enter() + ["nc", "-N", "-w", "60", WEIR, "2323"], input=f"tcpdump count 4 proto icmp host {LINUX}\n",
                                  capture_output=True, text=True, timeout=90).stdout
            assert ("no such command" in said) == (not option), said
            assert len(re.findall(rf"(in {LINUX} > {WEIR}|out {WEIR} > {LINUX}): icmp data \d+\n", said)) == (4 if option else 0), said


def test_an_extcap_says_where_nothing_answers():
    done = subprocess.run([sys.executable, EXTCAP, "--capture", "--host", "127.0.0.1", "--shell-port", "1"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "nothing answers at 127.0.0.1 port 1 (" in done.stderr and "--shell 1 --shell-tcpdump" in done.stderr


def test_an_extcap_brings_packets_to_wireshark(tmp_path):
    """tools/weir_extcap.py as Wireshark calls it, into a fifo, and as a pipe; what it writes is read by scapy."""
    def ask(*words):
        return subprocess.run([sys.executable, EXTCAP, *words], capture_output=True, text=True, timeout=90).stdout
    assert "interface {value=weir}" in ask("--extcap-interfaces") and "dlt {number=1}" in ask("--extcap-dlts", "--extcap-interface", "weir")
    options = re.findall(r"\{call=(--[a-z-]+)\}", ask("--extcap-config", "--extcap-interface", "weir"))
    assert "--host" in options and "--shell-port" in options
    FOLDER.mkdir(parents=True, exist_ok=True)
    with Lab(FOLDER) as lab:
        linux, _ = pinging_shell(lab, "--shell-tcpdump")
        capture = [sys.executable, EXTCAP, "--capture", "--extcap-interface", "weir", "--host", WEIR, "--shell-port", "2323", "--proto", "icmp", "--address", LINUX]
        before = time.time()
        for count in (2, 6):   # a second one finds the session free again
            fifo = tmp_path / f"fifo{count}"
            os.mkfifo(fifo)
            with subprocess.Popen(linux.enter() + [*capture, "--count", str(count), "--fifo", str(fifo)], stderr=subprocess.PIPE) as extcap:
                packets = list(PcapNgReader(str(fifo)))
            assert extcap.returncode == 0 and len(packets) == count, extcap.stderr
            for packet in packets:
                assert packet.haslayer("ICMP") and {packet["IP"].src, packet["IP"].dst} == {LINUX, WEIR}
                assert before - 60 < packet.time < time.time() + 60 and packet.wirelen >= 98
        with subprocess.Popen(linux.enter() + capture, stdout=subprocess.PIPE) as extcap:   # a pipe, which its reader leaves
            head = extcap.stdout.read(400)
            extcap.stdout.close()
            assert extcap.wait(60) == 0
        (tmp_path / "head.pcapng").write_bytes(head)
        assert PcapNgReader(str(tmp_path / "head.pcapng")).read_packet().haslayer("ICMP")
        wrong = subprocess.run(linux.enter() + [*capture, "--shell-port", "7"], capture_output=True, text=True, timeout=60)   # an echo server is no shell
        assert wrong.returncode == 1 and "the shell does not answer" in wrong.stderr
        assert subprocess.run(linux.enter() + [*capture, "--shell-port", "2324"], capture_output=True, timeout=90).returncode == 1


def test_tshark_captures_by_the_extcap(tmp_path):
    """It finds the extcap in the user's folder, asks it for its interface, its link type and its options, and captures; a sentence of the extcap's ends it."""
    for folder in (".config/wireshark/extcap", ".local/lib/wireshark/extcap"):   # before version 4.2, and since
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "weir-extcap").symlink_to(EXTCAP)
    home = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")} | {"HOME": str(tmp_path)}
    with Lab(FOLDER) as lab:
        linux, host = pinging_shell(lab, "--shell-tcpdump")

        def tshark(*options, timeout=60):
            """Its standard output, and what it says beside."""
            done = subprocess.run([*linux.enter(), "tshark", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, env=home)
            return done.stdout, done.stderr
        assert re.search(r"^\d+\. weir \(Weir host", tshark("-D")[0], re.M)
        assert "EN10MB" in "".join(tshark("-i", "weir", "-L"))
        at = ("-o", f"extcap.weir.host:{WEIR}")
        fields = ("-T", "fields", "-e", "frame.len", "-e", "ip.src", "-e", "icmp.type")
        out, said = tshark("-n", "-i", "weir", *at, "-o", "extcap.weir.proto:icmp", "-o", f"extcap.weir.address:{LINUX}", "-c", "6", *fields)
        assert {tuple(line.split()) for line in out.splitlines()} == {("98", LINUX, "8"), ("98", WEIR, "0")} and len(out.splitlines()) == 6, out + said
        for options, sentence in (((), "--host is needed"), ((*at, "-f", "icmp"), "capture filters are not understood"),
                                  ((*at, "-o", "extcap.weir.shellport:7"), "the shell does not answer")):
            out, said = tshark("-n", "-i", "weir", *options, "-c", "1")
            assert sentence in said and out == "", said
        assert host.poll() is None, host.output()


def test_nothing_listens_unless_asked():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with Lab(FOLDER) as lab:
        linux = lab.namespace("linux")
        where, words = lab.link(linux, "weir0", LINUX)
        host = where.start(HOST, *words, "--address", f"{WEIR}/24")
        assert until(lambda: "up on" in host.output(), 60), host.output()
        for port in ("23", "2323"):
            assert subprocess.run(linux.enter() + ["nc", "-z", "-w", "60", WEIR, port], timeout=90).returncode == 1
