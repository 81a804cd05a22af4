# SPDX-License-Identifier: BSD-2-Clause
"""The Linux drivers against Linux itself, without a stack: what a driver sends arrives in Linux' sockets and captures, what Linux
sends arrives in the driver, whole, cut or merged as the offloads promise. driver_probe.c is the program that holds the driver."""
import os
import queue
import shutil
import struct
import subprocess
import threading
import time

import pytest
from scapy.all import ARP, IP, TCP, UDP, Dot1Q, Ether, rdpcap

from building import build, host_flags
from netns import ROOT, Lab, until

PROBE = ROOT / "build/tests/driver_probe"
VERIFIED, UNVERIFIED = 1, 0
CHECKSUM, TSO = 1, 2


@pytest.fixture(scope="module", autouse=True)
def probe_program():
    PROBE.parent.mkdir(parents=True, exist_ok=True)
    build("build/host/liball.a")
    compiler = os.environ.get("CC", "cc")
    words = ["-std=c11", "-O1", "-Wall", "-Wextra", *host_flags(), "-Iinclude", "-I.", "tests/interop/driver_probe.c", "build/host/liball.a", "-o", PROBE]
    subprocess.run([compiler, *words], cwd=ROOT, check=True)


@pytest.fixture
def lab():
    with Lab() as made:
        yield made


class Frame:
    def __init__(self, words):
        self.length, self.checksum, self.segments, self.segment_size = (int(w) for w in words[:4])
        self.head = bytes.fromhex(words[4])


class Probe:
    """A driver_probe in a namespace."""

    def __init__(self, *words):
        # Linux gives the queue of an XDP socket back some time after its process has gone.
        assert until(lambda: self._started(*words) or "busy" not in self.said, 60, 0.2) and self.said.startswith("ready"), self.said
        self.mtu, self.capabilities = (int(word) for word in self.said.split()[1:3])

    def _started(self, namespace, kind, ifname, flags="-", *more):
        self.process = namespace.popen(PROBE, kind, ifname, flags, *more, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, args=(self.process, self.lines), daemon=True).start()
        self.said = " ".join(self.line())
        return self.said.startswith("ready")

    @staticmethod
    def _read(process, lines):
        for line in process.stdout:
            lines.put(line.split())

    def line(self, seconds=60):
        return self.lines.get(timeout=seconds)

    def send(self, frame, pad=0, offload=""):
        if pad:
            self.tell(f"pad {pad}")
        self.tell(f"send {bytes(frame).hex()} {offload}")

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def frames(self, wanted, count=1, seconds=60):
        """The next `count` frames for which wanted(frame) holds."""
        found, deadline = [], time.monotonic() + seconds
        while len(found) < count and (left := deadline - time.monotonic()) > 0:
            try:
                words = self.line(left)
            except queue.Empty:
                break
            if words[0] == "frame" and wanted(frame := Frame(words[1:])):
                found.append(frame)
        return found

    def wait_for(self, *words, seconds=60):
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            try:
                if self.line(left) == list(words):
                    return True
            except queue.Empty:
                break
        return False

    def quit(self):
        self.tell("quit")
        return self.process.wait(60)


def permitted(lab, kind):
    namespace = lab.namespace("try")
    if not lab.tap(namespace, "try0", kind):
        pytest.skip(f"this machine permits no {kind} here")


def for_everybody():
    """For tests that give root up: skipped where there is none to give up, or where others may not reach the program."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root, to give it up")
    if subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", "test", "-x", PROBE]).returncode:
        pytest.skip("the build folder is not open to other users")


def quiet(namespace):
    """No IPv6 chatter between the frames under test."""
    namespace.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1", check=False)


DATAGRAM = "import socket, sys; to, size, cut = sys.argv[1:]; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n" \
           "if int(cut): s.setsockopt(17, 103, int(cut))   # UDP_SEGMENT\n" \
           "s.sendto(b'x' * int(size), (to, 9))"
LISTENER = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('10.7.0.1', 9)); print('bound')\n" \
           "while True: d, a = s.recvfrom(9000); print(d.decode()); s.sendto(d * 20, a)"


def datagram(namespace, to, size, cut=0):
    """Linux sends a UDP datagram (or, cut into so many bytes, several in one call)."""
    namespace.run("python3", "-c", DATAGRAM, to, size, cut)


def listener(namespace):
    """A UDP socket of Linux on 10.7.0.1 port 9 that prints each datagram and answers with twenty of it."""
    process = namespace.popen("python3", "-uc", LISTENER, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "bound\n"
    return process


def pseudo_sum(packet, transport_bytes):
    """The pseudo-header sum that a device with checksum offload expects in the field (not complemented)."""
    words = packet[IP].src.split(".") + packet[IP].dst.split(".")
    total = sum(struct.unpack("!4H", bytes(int(w) for w in words))) + packet[IP].proto + transport_bytes
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def big_tcp(source_mac, destination_mac, payload, flags="A"):
    """Ethernet, IPv4 and TCP header of a segment of `payload` bytes whose checksum is left to the device."""
    ip = IP(src="10.7.0.1", dst="10.7.0.2", len=40 + payload, id=1, flags="DF")
    packet = Ether(src=source_mac, dst=destination_mac) / ip / TCP(sport=7, dport=9, seq=1000, ack=1, flags=flags)
    packet[TCP].chksum = pseudo_sum(packet, 20 + payload)
    return packet


def is_tcp(frame):
    return frame.head[12:14] == b"\x08\x00" and frame.head[23] == 6


def tcp_sum_is_right(frame, payload):
    """Whether the checksum of a TCP frame over Ethernet with `payload` bytes of 'x' is complete and right."""
    segment = frame.head[34:54] + b"x" * payload
    data = frame.head[26:34] + struct.pack("!BBH", 0, 6, len(segment)) + segment + b"\0" * (len(segment) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total == 0xffff


# --- TAP -------------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("flags, checksum", [("u", VERIFIED), ("uv", UNVERIFIED)])
def test_tap_receives_what_linux_sends(lab, flags, checksum):
    permitted(lab, "tap")
    host = lab.namespace("host")
    quiet(host)
    probe = Probe(host, "tap", "tap0", flags)
    assert bool(probe.capabilities & TSO) == (checksum == VERIFIED)
    host.address("tap0", "10.7.0.1/24")
    datagram(host, "10.7.0.2", 100)
    request, = probe.frames(lambda f: f.head[12:14] == b"\x08\x06")
    assert Ether(request.head)[ARP].pdst == "10.7.0.2"
    host.run("ip", "neigh", "replace", "10.7.0.2", "lladdr", "02:00:00:00:00:02", "dev", "tap0")
    datagram(host, "10.7.0.2", 1000)
    frame, = probe.frames(lambda f: f.length == 1042)
    assert frame.checksum == checksum
    if checksum == UNVERIFIED:   # then Linux must have completed it
        packet = Ether(frame.head[:42] + b"x" * 1000)
        given = packet[UDP].chksum
        del packet[UDP].chksum
        assert Ether(bytes(packet))[UDP].chksum == given
    assert probe.quit() == 0


def test_tap_sends_into_linux_sockets_with_checksum_offload(lab):
    permitted(lab, "tap")
    host = lab.namespace("host")
    quiet(host)
    probe = Probe(host, "tap", "tap0", "u")
    host.address("tap0", "10.7.0.1/24")
    mac = host.run("ip", "link", "show", "tap0").split("link/ether ")[1].split()[0]
    receiver = listener(host)
    headers = Ether(dst=mac, src="02:00:00:00:00:02") / IP(src="10.7.0.2", dst="10.7.0.1") / UDP(sport=5, dport=9)
    probe.send(headers / b"checksum by the stack")
    assert receiver.stdout.readline() == "checksum by the stack\n"
    packet = Ether(bytes(headers / b"checksum by the device"))
    packet[UDP].chksum = pseudo_sum(packet, packet[UDP].len)
    probe.send(packet, offload="34 6")
    assert receiver.stdout.readline() == "checksum by the device\n"


def bridged_taps(lab, flags_b):
    """Two TAPs, a bridge between them that knows both sides."""
    permitted(lab, "tap")
    host = lab.namespace("host")
    quiet(host)
    try:
        host.run("ip", "link", "add", "br0", "type", "bridge")
    except RuntimeError:
        pytest.skip("this kernel has no bridge")
    probes = Probe(host, "tap", "tap0", "u"), Probe(host, "tap", "tap1", flags_b)
    for name in ("tap0", "tap1"):
        host.run("ip", "link", "set", name, "master", "br0")
    host.up("br0")
    ports = ("ip", "-d", "link", "show", "master", "br0")
    assert until(lambda: host.run(*ports).count("state forwarding") == 2, 60), host.run(*ports)
    return host, probes


def test_tap_large_segment_stays_whole_where_the_other_side_takes_it(lab):
    host, (a, b) = bridged_taps(lab, "u")
    a.send(big_tcp("02:00:00:00:00:01", "02:00:00:00:00:02", 60000), 60000, "34 16 TCP 1448 54")
    frame, = b.frames(is_tcp)
    assert (frame.length, frame.segments, frame.segment_size, frame.checksum) == (60054, 42, 1448, VERIFIED)


def test_tap_large_segment_is_cut_where_the_other_side_does_not(lab):
    host, (a, b) = bridged_taps(lab, "uv")
    a.send(big_tcp("02:00:00:00:00:01", "02:00:00:00:00:02", 4000, "APC"), 4000, "34 16 TCP 1448 54")
    frames = b.frames(is_tcp, 3)
    assert [f.length for f in frames] == [1502, 1502, 1158]
    packets = [Ether(f.head) for f in frames]
    assert [p[TCP].seq for p in packets] == [1000, 2448, 3896]
    assert ["C" in p[TCP].flags for p in packets] == [True, False, False]   # RFC 3168: CWR once
    assert ["P" in p[TCP].flags for p in packets] == [False, False, True]
    assert all(tcp_sum_is_right(f, f.length - 54) for f in frames)
    assert all(f.checksum == UNVERIFIED for f in frames)


def test_tap_oversized_frame_is_dropped_not_fatal(lab):
    permitted(lab, "tap")
    host = lab.namespace("host")
    quiet(host)
    probe = Probe(host, "tap", "tap0", "u")
    probe.send(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:02", type=0x88b5), 150000)
    assert probe.wait_for("sent", "0")
    assert probe.quit() == 0


def test_tap_carrier_follows_linux(lab):
    permitted(lab, "tap")
    host = lab.namespace("host")
    probe = Probe(host, "tap", "tap0", "u")
    host.run("ip", "link", "set", "tap0", "down")
    assert probe.wait_for("carrier", "0")
    probe.send(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:02", type=0x88b5), 50)   # as if the cable were out
    assert probe.wait_for("sent", "0")
    host.up("tap0")
    assert probe.wait_for("carrier", "1")


def test_tap_survives_the_deletion_of_its_interface(lab):
    permitted(lab, "tap")
    host = lab.namespace("host")
    probe = Probe(host, "tap", "tap0", "u")
    host.run("ip", "link", "delete", "tap0")
    assert probe.wait_for("carrier", "0")
    probe.send(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:02", type=0x88b5), 50)
    assert probe.wait_for("sent", "0")
    probe.tell("turns")
    before = int(probe.line()[1])
    time.sleep(0.5)
    probe.tell("turns")
    assert int(probe.line()[1]) - before < 50   # who sleeps on its descriptor still sleeps
    assert probe.quit() == 0


def test_tap_that_is_open_elsewhere_is_refused_with_a_sentence(lab):
    permitted(lab, "tap")
    host = lab.namespace("host")
    Probe(host, "tap", "tap0", "u")
    answer = host.run(PROBE, "tap", "tap0", check=False)
    assert answer.startswith("error -5 ") and "another program has it open" in answer
    lab.tap(host, "tun7", "tun")
    answer = host.run(PROBE, "tap", "tun7", check=False)
    assert answer.startswith("error -2 ") and "another kind" in answer


def test_tap_without_the_right_says_what_to_do(lab):
    for_everybody()
    host = lab.namespace("host")
    answer = host.run("setpriv", "--reuid", "65534", "--clear-groups", PROBE, "tap", "tap0", check=False)
    assert answer.startswith("error -20 ") and "run as root" in answer, answer


# --- TUN -------------------------------------------------------------------------------------------------------------------

def test_tun_carries_bare_packets_both_ways(lab):
    permitted(lab, "tun")
    host = lab.namespace("host")
    quiet(host)
    probe = Probe(host, "tun", "tun0", "u")
    host.address("tun0", "10.7.0.1/24")
    receiver = listener(host)
    packet = IP(bytes(IP(src="10.7.0.2", dst="10.7.0.1") / UDP(sport=5, dport=9) / b"hello"))
    packet[UDP].chksum = pseudo_sum(packet, packet[UDP].len)
    probe.send(packet, offload="20 6")
    assert receiver.stdout.readline() == "hello\n"
    answer, = probe.frames(lambda f: f.head[0] == 0x45 and f.head[9] == 17)
    assert answer.length == 28 + 100 and answer.checksum == VERIFIED
    assert IP(answer.head)[UDP].dport == 5


# --- packet socket ---------------------------------------------------------------------------------------------------------

def cable(lab):
    a, b = lab.namespace("a"), lab.namespace("b")
    for namespace in (a, b):
        quiet(namespace)
    lab.veth(a, "eth0", b, "eth0")
    return a, b


def test_packet_carries_large_segments_over_veth(lab):
    a, b = cable(lab)
    left, right = Probe(a, "packet", "eth0", "u"), Probe(b, "packet", "eth0", "u")
    assert left.mtu == 1500 and left.capabilities & TSO
    left.send(big_tcp("02:00:00:00:00:01", "02:00:00:00:00:02", 60000), 60000, "34 16 TCP 1448 54")
    frame, = right.frames(is_tcp)
    assert (frame.length, frame.segments, frame.segment_size, frame.checksum) == (60054, 42, 1448, VERIFIED)
    assert left.frames(is_tcp, seconds=0.3) == []   # not our own frames


def test_packet_ring_goes_round(lab):
    a, b = cable(lab)
    left, right = Probe(a, "packet", "eth0"), Probe(b, "packet", "eth0")
    for i in range(600):   # more than twice its slots
        left.send(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01", type=0x88b5) / struct.pack("!I", i), 60)
        if i % 100 == 99:
            frames = right.frames(lambda f: f.head[12:14] == b"\x88\xb5", 100)
            assert [struct.unpack("!I", f.head[14:18])[0] for f in frames] == list(range(i - 99, i + 1))


def test_packet_linux_checksums_and_merged_segments_arrive(lab):
    a, b = cable(lab)
    probe = Probe(a, "packet", "eth0")
    b.address("eth0", "10.7.0.1/24")
    b.run("ip", "neigh", "replace", "10.7.0.2", "lladdr", "02:00:00:00:00:02", "dev", "eth0")
    datagram(b, "10.7.0.2", 1000)
    frame, = probe.frames(lambda f: f.length == 1042)
    assert frame.checksum == VERIFIED   # Linux left it unfinished: the receiver must not look at it
    # UDP_SEGMENT (103): one send, cut into datagrams of 300 bytes at the receiver at the latest
    datagram(b, "10.7.0.2", 1000, cut=300)
    frames = probe.frames(lambda f: f.head[12:14] == b"\x08\x00" and f.head[23] == 17, 4)
    assert [f.length for f in frames] == [342, 342, 342, 142]
    assert [Ether(f.head)[UDP].len for f in frames] == [308, 308, 308, 108]


def test_packet_tags_are_put_back(lab):
    a, b = cable(lab)   # Linux takes the tag off on arrival, whether or not it has an interface for it
    left, right = Probe(a, "packet", "eth0"), Probe(b, "packet", "eth0")
    tagged = Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:02") / Dot1Q(vlan=7, prio=5)
    right.send(tagged / ARP(psrc="10.8.0.2", pdst="10.8.0.1", hwsrc="02:00:00:00:00:02"))
    frame, = left.frames(lambda f: f.head[12:18] == b"\x81\x00\xa0\x07\x08\x06")
    assert frame.length == 46 and Ether(frame.head)[ARP].psrc == "10.8.0.2"
    segment = big_tcp("02:00:00:00:00:01", "02:00:00:00:00:02", 6000)
    tagged = Ether(src=segment.src, dst=segment.dst) / Dot1Q(vlan=7) / segment[IP]
    left.send(tagged, 6000, "38 16 TCP 1448 58")
    frame, = right.frames(lambda f: f.head[12:18] == b"\x81\x00\x00\x07\x08\x00")
    assert (frame.length, frame.segments, frame.segment_size, frame.checksum) == (6058, 5, 1448, VERIFIED)


def test_packet_carrier_follows_the_cable(lab):
    a, b = cable(lab)
    probe = Probe(a, "packet", "eth0")
    b.run("ip", "link", "set", "eth0", "down")
    assert probe.wait_for("carrier", "0")
    b.up("eth0")
    assert probe.wait_for("carrier", "1")
    a.run("ip", "link", "set", "eth0", "down")
    assert probe.wait_for("carrier", "0")
    probe.send(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01", type=0x88b5), 60)
    assert probe.wait_for("sent", "0")
    a.up("eth0")
    assert probe.wait_for("carrier", "1")


def test_packet_works_for_an_ordinary_user_in_a_user_namespace(lab):
    for_everybody()
    script = "ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up && exec " + str(PROBE) + " packet v0"
    words = ["setpriv", "--reuid", "65534", "--clear-groups", "unshare", "--user", "--map-root-user", "--net", "sh", "-c", script]
    user = subprocess.run(words, input="quit\n", stdout=subprocess.PIPE, text=True, timeout=60)
    assert user.stdout.startswith("ready 1500 "), user.stdout


def test_packet_says_what_is_wrong(lab):
    host = lab.namespace("host")
    answer = host.run(PROBE, "packet", "nosuch0", check=False)
    assert answer.startswith("error -2 ") and "no such interface" in answer
    answer = host.run(PROBE, "packet", "lo", check=False)
    assert answer.startswith("error -2 ") and "Ethernet" in answer


# --- AF_XDP ----------------------------------------------------------------------------------------------------------------

@pytest.fixture
def ends(lab):
    """The probe's end of a cable, and Linux's, which finishes its checksums (the driver's header says why)."""
    a, b = cable(lab)
    attempt = a.run(PROBE, "xdp", "eth0", check=False, stdin=subprocess.DEVNULL)
    if attempt.startswith("error") and ("lacks AF_XDP" in attempt or "run as root" in attempt):
        pytest.skip(attempt)
    b.run("ethtool", "-K", "eth0", "tx", "off")
    return a, b


@pytest.mark.parametrize("flags", ["-", "v", "g"])
def test_xdp_frames_go_both_ways_and_the_rings_go_round(ends, flags):
    a, b = ends
    left, right = Probe(a, "xdp", "eth0", flags), Probe(b, "packet", "eth0", "v")
    assert left.mtu == 1500 and not left.capabilities & TSO
    frame = Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01", type=0x88b5)
    for sender, receiver in ((left, right), (right, left)):
        for i in range(4500):   # more than twice a ring
            sender.send(frame / struct.pack("!I", i), 60)
            if i % 100 == 99:
                frames = receiver.frames(lambda f: f.head[12:14] == b"\x88\xb5", 100)
                assert [struct.unpack("!I", f.head[14:18])[0] for f in frames] == list(range(i - 99, i + 1))
    assert all(f.length == 78 and f.head[18:78] == b"x" * 60 for f in frames)
    assert left.quit() == 0


def test_xdp_checksums_are_finished_on_the_way_out_and_left_to_weir_on_the_way_in(ends):
    a, b = ends
    probe = Probe(a, "xdp", "eth0")
    assert probe.capabilities & CHECKSUM
    a.run("ethtool", "-K", "eth0", "tx", "off")   # then Linux's own code must finish them
    b.address("eth0", "10.7.0.1/24")
    b.run("ip", "neigh", "replace", "10.7.0.2", "lladdr", "02:00:00:00:00:02", "dev", "eth0")
    mac = b.run("ip", "link", "show", "eth0").split("link/ether ")[1].split()[0]
    receiver = listener(b)
    packet = Ether(bytes(Ether(dst=mac, src="02:00:00:00:00:02") / IP(src="10.7.0.2", dst="10.7.0.1") / UDP(sport=5, dport=9) / b"by Linux"))
    packet[UDP].chksum = pseudo_sum(packet, packet[UDP].len)
    probe.send(packet, offload="34 6")
    assert receiver.stdout.readline() == "by Linux\n"
    answer, = probe.frames(lambda f: f.head[12:14] == b"\x08\x00" and f.head[23] == 17)
    assert (answer.length, answer.checksum) == (42 + 160, UNVERIFIED)
    whole = Ether(answer.head[:42] + b"by Linux" * 20)
    given = whole[UDP].chksum
    del whole[UDP].chksum
    assert Ether(bytes(whole))[UDP].chksum == given


def test_xdp_packet_takes_many_frames_where_the_mtu_is_large(ends):
    a, b = ends
    for namespace in (a, b):
        namespace.run("ip", "link", "set", "eth0", "mtu", "9000")
    left, right = Probe(a, "xdp", "eth0"), Probe(b, "packet", "eth0", "v")
    frame = Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01", type=0x88b5)
    for sender, receiver in ((left, right), (right, left)):
        sender.send(frame, 8900)
        got, = receiver.frames(lambda f: f.head[12:14] == b"\x88\xb5")
        assert got.length == 8914
    left.send(frame, 150000)
    assert left.wait_for("sent", "0")
    assert left.quit() == 0


def test_xdp_tags_stay_in_their_frames(ends):
    a, b = ends
    b.run("ethtool", "-K", "eth0", "txvlan", "off")
    left, right = Probe(a, "xdp", "eth0"), Probe(b, "packet", "eth0", "v")
    tagged = Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:02") / Dot1Q(vlan=7, prio=5) / ARP(psrc="10.8.0.2", pdst="10.8.0.1")
    for sender, receiver in ((left, right), (right, left)):
        sender.send(tagged)
        frame, = receiver.frames(lambda f: f.head[12:18] == b"\x81\x00\xa0\x07\x08\x06")
        assert frame.length == 46


def test_xdp_carrier_follows_the_cable(ends):
    a, b = ends
    probe = Probe(a, "xdp", "eth0")
    for namespace in (b, a):
        namespace.run("ip", "link", "set", "eth0", "down")
        assert probe.wait_for("carrier", "0")
        probe.send(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01", type=0x88b5), 60)
        assert probe.wait_for("sent", "0")
        namespace.up("eth0")
        assert probe.wait_for("carrier", "1")
    right = Probe(b, "packet", "eth0", "v")
    probe.send(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01", type=0x88b5), 61)
    assert right.frames(lambda f: f.length == 75)


def test_xdp_survives_the_deletion_of_its_interface_and_leaves_nothing_behind(ends):
    a, b = ends
    probe = Probe(a, "xdp", "eth0")
    assert "xdp" in a.run("ip", "link", "show", "eth0")
    probe.process.kill()
    probe.process.wait()
    assert until(lambda: "xdp" not in a.run("ip", "link", "show", "eth0"), 60)
    probe = Probe(a, "xdp", "eth0")
    b.run("ip", "link", "delete", "eth0")
    assert probe.wait_for("carrier", "0")
    probe.send(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:02", type=0x88b5), 50)
    assert probe.wait_for("sent", "0")
    assert probe.quit() == 0


def test_xdp_says_what_is_wrong(ends):
    a, b = ends
    answer = a.run(PROBE, "xdp", "nosuch0", check=False)
    assert answer.startswith("error -2 ") and "no such interface" in answer
    answer = a.run(PROBE, "xdp", "lo", check=False)
    assert answer.startswith("error -2 ") and "Ethernet" in answer
    Probe(a, "xdp", "eth0")
    answer = a.run(PROBE, "xdp", "eth0", check=False)
    assert answer.startswith("error -5 ") and "another program has the queue" in answer
    for_everybody()
    answer = b.run("setpriv", "--reuid", "65534", "--clear-groups", PROBE, "xdp", "eth0", check=False)
    assert answer.startswith("error -20 ") and "run as root" in answer, answer


# --- capture ---------------------------------------------------------------------------------------------------------------

def test_capture_opens_in_tshark(lab, tmp_path):
    a, b = cable(lab)
    path = tmp_path / "capture.pcapng"
    left, right = Probe(a, "packet", "eth0", "-", path), Probe(b, "packet", "eth0")
    before = time.time()
    left.send(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01") / ARP(psrc="10.7.0.1", pdst="10.7.0.2"))
    assert right.frames(lambda f: f.head[12:14] == b"\x08\x06")
    ip = IP(src="10.7.0.2", dst="10.7.0.1")
    right.send(Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") / ip / UDP(sport=1, dport=2) / b"odd")
    assert left.frames(lambda f: f.head[12:14] == b"\x08\x00")
    assert left.quit() == 0
    packets = rdpcap(str(path))
    assert len(packets) == 2 and packets[1][UDP].dport == 2
    assert before - 1 < float(packets[0].time) < time.time() + 1
    if not shutil.which("tshark"):
        return
    fields = ["frame.interface_name", "frame.packet_flags_direction", "frame.len", "_ws.col.Protocol"]
    words = ["tshark", "-r", path, "-T", "fields"] + [word for field in fields for word in ("-e", field)]
    shown = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    assert shown[0].split("\t") == ["eth0", "0x00000002", "42", "ARP"]
    assert shown[1].split("\t")[:3] == ["eth0", "0x00000001", "45"]
