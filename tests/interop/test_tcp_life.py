# SPDX-License-Identifier: BSD-2-Clause
"""Connections between Linux and Weir beyond the plain transfer: how they end, windows that close, many at once, floods, and a network
that changes under them."""
import contextlib
import fcntl
import hashlib
import os
import random
import resource
import select
import signal
import socket
import struct
import termios
import threading
import time

import pytest
from patience import measured
from scapy.all import ARP, IP, TCP, Ether
from tcp_lab import (HOST, LINUX, WEIR, Lab, Site, check_output, data_file, digest, finish, half_open, in_background,
                     receive_all, status, stop, until)

PORT = 9000
ASAN = "asan" in HOST


@pytest.fixture
def lab():
    with Lab() as made:
        yield made


@pytest.fixture
def site(lab):
    return Site(lab)


@pytest.fixture
def host(site):
    process = site.serve()
    yield process
    stop(process)


def counter(site, name):
    return next((c["value"] for c in status(site)["counters"] if c["name"] == name), 0)


# --- ends ---------------------------------------------------------------------------------------------------------------------

def test_half_close_by_weir(site):
    """Weir has sent FIN and still takes what Linux has to say."""
    path, wanted = data_file(site.lab, 300_000)
    listener = site.listen(PORT)
    weir = site.run(f"send {path} {LINUX} {PORT}")
    sock, _ = listener.accept()
    assert receive_all(sock) == (wanted, 300_000)
    for _ in range(10):
        sock.sendall(os.urandom(20_000))
        time.sleep(0.02)
    sock.close()
    finish(weir)


def test_half_close_by_linux(site):
    path, wanted = data_file(site.lab, 3_000_000)
    weir = site.run(f"serve {PORT} {path}")
    assert until(lambda: "listening" in weir.output())
    sock = site.connect(PORT)
    sock.shutdown(socket.SHUT_WR)
    assert receive_all(sock) == (wanted, 3_000_000)
    sock.close()
    finish(weir)


def linger_zero(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def test_reset_by_linux(site):
    path, _ = data_file(site.lab, 5_000_000)
    listener = site.listen(PORT)
    weir = site.run(f"send {path} {LINUX} {PORT}", "--rate", "20")
    sock, _ = listener.accept()
    assert len(sock.recv(100_000)) > 0
    linger_zero(sock)
    finish(weir, status=1)
    assert "RESET" in weir.output()


def test_reset_by_weir(site):
    got = site.lab.folder / "got"
    weir = site.run(f"listen {PORT} {got}")
    assert until(lambda: "listening" in weir.output())
    sock = site.connect(PORT)
    sock.sendall(b"x" * 10_000)
    assert until(lambda: got.stat().st_size > 0)
    weir.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + 60
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        while time.monotonic() < deadline:
            sock.sendall(b"y" * 1000)
            time.sleep(0.01)
    assert weir.wait(60) != 0
    check_output(weir)


def test_closed_ports_refuse(site, host):
    with pytest.raises(ConnectionRefusedError):
        site.socket().connect((WEIR, 4))


def test_refused_by_linux(site):
    weir = site.run(f"send /dev/null {LINUX} {PORT}")
    finish(weir, status=1)
    assert "refuses" in weir.output()


# --- ends over a delay ----------------------------------------------------------------------------------------------------------

DELAY = ["--delay", "300"]   # far longer than the host needs to end


def left_behind(site):
    """Linux's connections that are neither over nor wait out their time."""
    return site.linux.run("ss", "-Htan", "state", "connected", "exclude", "time-wait")


def nobody_left(site):
    assert until(lambda: left_behind(site) == "", 2), left_behind(site)   # no retransmission, and no time-out, takes so short


@pytest.mark.parametrize("words", [DELAY, [*DELAY, "--rate", "0.02"], ["--rate", "0.02"], [*DELAY, "--reorder", "50"], [*DELAY, "--tick", "10000"]],
                         ids=["delay", "delay and rate", "rate", "delay and reorder", "delay and tick"])
def test_server_interrupted_over_a_delay(site, words):
    """Ctrl-C ends the host, and before that its connections, idle ones and one whose client sends."""
    host = site.serve(*words)
    idle = [site.connect(port) for port in (7, 80, 5201)]
    busy = site.connect(7)
    busy.sendall(b"x" * 3000)
    assert busy.recv(1) == b"x"
    busy.sendall(b"y" * 3000)
    host.send_signal(signal.SIGINT)
    assert host.wait(60) == 0, host.output()
    check_output(host)
    for sock in [*idle, busy]:
        sock.settimeout(2)
        with contextlib.suppress(ConnectionResetError):
            while sock.recv(100_000):
                pass
        sock.close()
    nobody_left(site)


def test_server_interrupted_with_data_queued(site):
    """What a server has queued when Ctrl-C ends it is taken by its peer, and a FIN comes behind it."""
    host = site.serve()
    sock = site.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect((WEIR, 7))
    data = bytes(range(251)) * 120
    sock.sendall(data)
    assert until(lambda: struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))[0] == 0)   # it has all of it
    host.send_signal(signal.SIGINT)
    assert receive_all(sock) == (hashlib.sha256(data).hexdigest(), len(data))
    sock.close()
    assert host.wait(60) == 0, host.output()
    check_output(host)


def test_a_second_interrupt_waits_for_nothing(site):
    host = site.serve("--delay", "20000")   # its end takes twice that
    host.send_signal(signal.SIGINT)
    assert host.poll() is None
    time.sleep(0.5)    # or the two would be one
    host.send_signal(signal.SIGINT)
    assert host.wait(20) == 0, host.output()


def test_receiver_interrupted_over_a_delay(site):
    """What came and was not read makes the end a RST, which nobody repeats."""
    weir = site.run(f"listen {PORT} {site.lab.folder / 'got'}", *DELAY)
    assert until(lambda: "listening" in weir.output())
    sock = site.connect(PORT)
    sender = in_background(lambda: [sock.sendall(b"x" * 1000) for _ in iter(int, 1)])
    assert until(lambda: (site.lab.folder / "got").stat().st_size > 0)
    weir.send_signal(signal.SIGINT)
    assert weir.wait(60) == 128 + signal.SIGINT
    check_output(weir)
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        sender(2)
    sock.close()
    nobody_left(site)


def test_connecting_interrupted_over_a_delay(site):
    """A SYN is under way when the host is interrupted: what Linux answers is refused, and no half-open connection stays."""
    listener = site.listen(PORT)
    weir = site.run(f"send /dev/zero {LINUX} {PORT}", *DELAY)
    assert until(lambda: half_open(site.linux), step=0.01)
    weir.send_signal(signal.SIGINT)
    assert weir.wait(60) == 128 + signal.SIGINT
    check_output(weir)
    nobody_left(site)
    listener.close()


@pytest.mark.parametrize("weir_first", [True, False], ids=["Weir closes first", "Linux closes first"])
def test_command_ends_over_a_delay(site, weir_first):
    """The last acknowledgement arrives, whoever closed first."""
    path, wanted = data_file(site.lab, 100_000)
    listener = site.listen(PORT)
    weir = site.run(f"{'send' if weir_first else 'receive'} " + (f"{path} {LINUX} {PORT}" if weir_first else f"{LINUX} {PORT} {site.lab.folder / 'got'}"), *DELAY)
    sock, _ = listener.accept()
    listener.close()
    if weir_first:
        assert receive_all(sock) == (wanted, 100_000)
    else:
        sock.sendall(path.read_bytes())
    sock.close()
    finish(weir)
    assert weir_first or digest(site.lab.folder / "got") == wanted
    nobody_left(site)


# --- windows ------------------------------------------------------------------------------------------------------------------

def test_reader_on_linux_sleeps(site):
    path, wanted = data_file(site.lab, 1_000_000)
    listener = site.listen(PORT, SO_RCVBUF=8192)
    weir = site.run(f"send {path} {LINUX} {PORT}")
    sock, _ = listener.accept()
    time.sleep(3)   # several probes
    began = time.monotonic()
    assert receive_all(sock) == (wanted, 1_000_000)
    assert time.monotonic() - began < 60   # not at the pace of probes: 125 windows of 8 KB
    sock.close()
    finish(weir)


def closed_window(site):
    """Whether the echo server's connection holds more than a megabyte that it does not read, and no more comes."""
    def queued():
        return next(s["receive_queue"] for s in status(site)["sockets"] if s["state"] == "ESTABLISHED" and s["local"].endswith(":7"))
    before = queued()
    time.sleep(0.5)
    return queued() == before > 1_000_000


def test_reader_on_weir_sleeps(site, host):
    """The echo server cannot write, so it does not read: Weir's window closes, and opens as soon as Linux reads."""
    size = 40_000_000 if not ASAN else 20_000_000
    path, wanted = data_file(site.lab, size)
    sock = site.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    sock.connect((WEIR, 7))
    done = in_background(lambda: (sock.sendall(path.read_bytes()), sock.shutdown(socket.SHUT_WR)))
    assert until(lambda: closed_window(site), 60), status(site)["sockets"]
    began = time.monotonic()
    assert receive_all(sock) == (wanted, size)
    done()
    assert time.monotonic() - began < 60
    sock.close()


def test_tiny_windows(site):
    """A Linux reader with the smallest buffer there is, who reads in small bites."""
    path, wanted = data_file(site.lab, 60_000)
    listener = site.listen(PORT, SO_RCVBUF=1)
    weir = site.run(f"send {path} {LINUX} {PORT}")
    sock, _ = listener.accept()
    got = bytearray()
    while chunk := sock.recv(700):
        got += chunk
    assert bytes(got) == path.read_bytes()
    sock.close()
    finish(weir)


# --- many -----------------------------------------------------------------------------------------------------------------------

@measured
def test_thousand_short_connections(site, host):
    began = time.monotonic()
    for i in range(1000):
        sock = site.socket()
        sock.connect((WEIR, 7))
        word = b"connection %d" % i
        sock.sendall(word)
        assert sock.recv(100) == word
        sock.close()
    took = time.monotonic() - began
    print(f"{1000 / took:.0f} connections a second")
    assert took < 35   # none waits for a timer: a delayed acknowledgement in each would take 40 s
    assert until(lambda: sum(s["state"] != "LISTEN" for s in status(site)["sockets"]) < 10, 60), status(site)["sockets"]


def test_ten_thousand_open(site, host):
    count = 10_000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    want = count + 500
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (want, max(hard, want)))
    except (ValueError, OSError):
        pytest.skip(f"no right to open {want} files")
    before = host.memory_kb()
    socks = []
    try:
        for i in range(count):
            sock = site.socket()
            sock.connect((WEIR, 7))
            sock.sendall(b"%06d" % i)
            socks.append(sock)
        for i, sock in enumerate(socks):
            assert sock.recv(100) == b"%06d" % i
        def each():
            return (host.memory_kb() - before) * 1024 / count
        assert ASAN or until(lambda: each() < 4096, 60), f"{each():.0f} bytes"   # once idle: what only traffic needs is let go of
        print(f"{each():.0f} bytes for each of {count} idle connections")
        for i in random.Random(1).sample(range(count), 200):   # all alive
            socks[i].sendall(b"again")
            assert socks[i].recv(100) == b"again"
        assert "sockets_total" in status(site)
    finally:
        for sock in socks:
            sock.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert until(lambda: sum(s["state"] != "LISTEN" for s in status(site)["sockets"]) < 100, 60)


def test_iperf3_parallel(site, host):
    for words in (["-P", "4"], ["-P", "4", "-R"]):
        text = site.linux.run("iperf3", "-c", WEIR, "-t", "1", *words, timeout=60)
        assert "iperf Done" in text, text


# --- floods ----------------------------------------------------------------------------------------------------------------------

def test_syn_flood(lab):
    """Twenty thousand SYNs from addresses that do not answer: a flow goes on, a newcomer connects."""
    site = Site(lab)
    host = site.serve("--gateway", LINUX)
    flow = site.connect(7)
    mac = next(i["mac"] for i in status(site)["netifs"] if i["name"] == "eth0")
    raw = site.socket(socket.SOCK_RAW, socket.htons(0x0003), socket.AF_PACKET)
    raw.bind(("link0", 0))
    own = raw.getsockname()[4].hex(":")
    frame = bytearray(bytes(Ether(dst=mac, src=own) / IP(src="198.18.0.1", dst=WEIR) / TCP(sport=1024, dport=7, flags="S", seq=1)))

    def adjust(at, old, new):   # RFC 1624
        total = (~struct.unpack_from("!H", frame, at)[0] & 0xffff) + (~old & 0xffff) + new
        while total >> 16:
            total = (total & 0xffff) + (total >> 16)
        struct.pack_into("!H", frame, at, ~total & 0xffff)

    stopping = threading.Event()
    sent = [0]

    def flood():
        old = struct.unpack_from("!H", frame, 28)[0]
        while not stopping.is_set() and sent[0] < 20_000:
            new = (old + 1) & 0xffff
            struct.pack_into("!H", frame, 28, new)   # low half of the source address
            adjust(24, old, new)                     # IP header checksum
            adjust(50, old, new)                     # TCP's
            old = new
            try:
                raw.send(frame)
                sent[0] += 1
            except OSError:
                time.sleep(0.001)
            if sent[0] % 50 == 0:
                time.sleep(0.002)

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        while sent[0] < 5000:
            time.sleep(0.01)
        block = os.urandom(50_000)
        for _ in range(20):   # the flow that was there
            flow.sendall(block)
            got = b""
            while len(got) < len(block):
                got += flow.recv(65536)
            assert got == block
        for i in range(20):   # newcomers
            sock = site.socket()
            sock.settimeout(60)
            sock.connect((WEIR, 7))
            sock.sendall(b"newcomer")
            assert sock.recv(100) == b"newcomer"
            sock.close()
    finally:
        stopping.set()
        thread.join()
        raw.close()
    assert counter(site, "TCP_SYNCOOKIE_SENT") > 1000
    assert counter(site, "TCP_SYNCOOKIE_ACCEPTED") > 0
    flow.close()
    stop(host)


# --- a network that changes --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("way", ["to", "from"])
@pytest.mark.parametrize("kind", ["tap", "packet"])
@measured
def test_cable_pulled_and_put_back(lab, kind, way):
    site = Site(lab, kind)
    size = 12_000_000   # nearly two seconds at 50 Mbit/s
    path, wanted = data_file(lab, size)
    got = lab.folder / "got"
    if way == "to":
        weir = site.run(f"listen {PORT} {got}", "--rate", "50")
        assert until(lambda: "listening" in weir.output())
        sock = site.connect(PORT)
        done = in_background(lambda: (sock.sendall(path.read_bytes()), sock.shutdown(socket.SHUT_WR)))
    else:
        listener = site.listen(PORT)
        weir = site.run(f"send {path} {LINUX} {PORT}", "--rate", "50")
        sock, _ = listener.accept()
        done = in_background(receive_all, sock)
    time.sleep(0.7)
    assert weir.poll() is None
    site.linux.run("ip", "link", "set", "link0", "down")
    time.sleep(1.5)
    site.linux.run("ip", "link", "set", "link0", "up")
    result = done(60)   # not at the pace of a timeout that has backed off to a minute
    if way == "from":
        sock.close()
    finish(weir)
    assert (digest(got) == wanted) if way == "to" else (result == (wanted, size))
    sock.close()


def test_address_conflict_is_defended_and_shown(site, host):
    """RFC 5227 §2.4: another station claims our address; Weir announces that it is its own, once, and goes on."""
    listener = site.socket(socket.SOCK_RAW, socket.htons(0x0806), socket.AF_PACKET)
    listener.bind(("link0", 0x0806))
    status(site)
    other = "02:00:00:00:00:99"
    listener.send(bytes(Ether(dst="ff:ff:ff:ff:ff:ff", src=other) / ARP(op=1, hwsrc=other, psrc=WEIR, pdst=WEIR)))
    defended, deadline = False, time.monotonic() + 60
    while not defended and select.select([listener], [], [], max(0, deadline - time.monotonic()))[0]:
        seen = Ether(listener.recv(2000))
        defended = ARP in seen and seen[ARP].psrc == WEIR == seen[ARP].pdst and seen[ARP].hwsrc != other
    assert defended
    for _ in range(3):   # disputed: a static address stays all the same
        listener.send(bytes(Ether(dst="ff:ff:ff:ff:ff:ff", src=other) / ARP(op=2, hwsrc=other, psrc=WEIR, pdst=WEIR)))
    site.linux.run("ip", "neighbour", "flush", "dev", "link0")
    assert until(lambda: counter(site, "ARP_CONFLICT") == 4, 60)
    assert counter(site, "ADDRESS_DEFENDED") == 1
    own = next(netif for netif in status(site)["netifs"] if netif["address"].startswith(WEIR))
    assert own["conflicts"] == 4 and own["conflict_mac"] == other and own["address_state"] in ("announcing", "ready")


@pytest.mark.parametrize("words", [[], ["--no-offload"]], ids=["offload", "no-offload"])
@pytest.mark.parametrize("mtu", [1280, 600])
def test_path_mtu(lab, mtu, words):
    """A router's second link is narrower than both ends know: Weir learns it from ICMP."""
    site = Site(lab)
    far = lab.namespace("far")
    lab.veth(site.linux, "link1", far, "eth0")
    site.linux.address("link1", "10.91.0.1/24")
    far.address("eth0", "10.91.0.2/24")
    far.run("ip", "route", "add", "default", "via", "10.91.0.1")
    site.linux.run("ip", "link", "set", "link1", "mtu", mtu)
    site.linux.run("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")
    path, wanted = data_file(lab, 2_000_000)
    far_site = object.__new__(Site)
    far_site.linux = far
    listener = far_site.socket()
    listener.bind(("10.91.0.2", PORT))
    listener.listen(1)
    weir = site.run(f"send {path} 10.91.0.2 {PORT}", "--gateway", LINUX, *words)
    sock, _ = listener.accept()
    began = time.monotonic()
    assert receive_all(sock) == (wanted, 2_000_000)
    assert time.monotonic() - began < 60   # 2,000 segments; were each sent again after its timeout it took minutes
    sock.close()
    finish(weir)
