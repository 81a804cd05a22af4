# SPDX-License-Identifier: BSD-2-Clause
"""Explicit congestion notification with Linux, each end asking in turn, over a network (nftables in the namespace) that marks packets;
what is on the wire is captured and read."""
import os
import re
import signal

import pytest
from scapy.all import IP, TCP, rdpcap
from tcp_lab import LINUX, WEIR, Lab, Site, data_file, digest, finish, receive_all, status, stop, until

PORT = 9000
SIZE = 4_000_000
NOT_ECT, ECT0, CE = 0, 2, 3


@pytest.fixture
def site():
    with Lab() as lab:
        yield Site(lab)


def wants(site, mode):
    site.linux.run("sysctl", "-qw", f"net.ipv4.tcp_ecn={mode}")


def mark(site, hook, every):
    """One in so many capable packets that leave Linux (output), or come to it (prerouting), is marked."""
    run = site.linux.run
    run("nft", "add", "table", "ip", "marker")
    run("nft", f"add chain ip marker {hook} {{ type filter hook {hook} priority 0; }}")
    run("nft", f"add rule ip marker {hook} ip ecn ect0 numgen inc mod {every} {every - 1} ip ecn set ce counter")


def marked(site):
    words = site.linux.run("nft", "list", "table", "ip", "marker").split()
    return int(words[words.index("packets") + 1])


class Capture:
    """Everything of the connections to PORT, as link0 sees it: what Linux sends after it is marked, what it gets before."""

    def __init__(self, site):
        self.file = site.lab.folder / "wire.pcap"
        self.process = site.linux.start("tcpdump", "--immediate-mode", "-U", "-s", "128", "-B", "16384", "-i", "link0", "-w", self.file, f"tcp port {PORT}")
        assert until(lambda: "listening on" in self.process.output(), 60)

    def caught_up(self):
        """Whether tcpdump, which says so when it is asked by this signal, has taken all that the kernel has for it."""
        self.process.send_signal(signal.SIGUSR1)
        said = re.findall(r"(\d+) packets? captured, (\d+) packets? received by filter, (\d+) packets? dropped",
                          self.process.output())
        return said and int(said[-1][0]) > 0 and int(said[-1][0]) + int(said[-1][2]) >= int(said[-1][1])

    def packets(self):
        """All of them: on a busy machine tcpdump is late, and what it has not written when it is stopped is lost."""
        assert until(self.caught_up, 60, 0.2), self.process.output()
        self.process.stop()
        return [p[IP] for p in rdpcap(str(self.file)) if TCP in p]


def flags(packet):
    """The ECN flags as scapy spells them: E, C, N (which is AE now)."""
    return "".join(f for f in "NCE" if f in str(packet[TCP].flags))


def payload(packet):
    return packet.len - 4 * packet.ihl - 4 * packet[TCP].dataofs


def by(packets, address):
    return [p for p in packets if p.src == address]


def data_is_capable(packets):
    """New data is ECT(0) or marked; what was sent before, SYN, FIN alone and ACKs are not capable. Returns how much data there was."""
    end, count, again = None, 0, 0
    for p in packets:
        first = p[TCP].seq
        last = (first + payload(p)) & 0xffffffff
        if not payload(p):
            assert p.tos & 3 == NOT_ECT, p.summary()
            continue
        new = end is None or (first - end) & 0xffffffff < 1 << 31
        if new:
            assert p.tos & 3 in (ECT0, CE), p.summary()
            end, count = last, count + 1
        else:
            assert p.tos & 3 == NOT_ECT, p.summary()
            again += 1
    assert again < 20, "marks take the place of losses"
    return count


def to_weir(site, *words):
    path, wanted = data_file(site.lab, SIZE)
    got = site.lab.folder / "received"
    weir = site.run(f"listen {PORT} {got}", "--no-offload", *words)
    assert until(lambda: "listening" in weir.output(), 60), weir.output()
    capture = Capture(site)
    sock = site.connect(PORT)
    sock.sendall(path.read_bytes())
    sock.shutdown(1)
    finish(weir)
    sock.close()
    assert digest(got) == wanted
    return capture.packets()


def from_weir(site, *words):
    path, wanted = data_file(site.lab, SIZE)
    listener = site.listen(PORT)
    capture = Capture(site)
    weir = site.run(f"send {path} {LINUX} {PORT}", *words)
    sock, _ = listener.accept()
    assert receive_all(sock) == (wanted, SIZE)
    sock.close()
    finish(weir)
    listener.close()
    return capture.packets()


def test_linux_asks_and_sends(site):
    """Weir as it is by default: it agrees, and echoes each mark until Linux answers."""
    wants(site, 1)
    mark(site, "output", 50)
    site.linux.offloads("link0", False)
    packets = to_weir(site)
    linux, weir = by(packets, LINUX), by(packets, WEIR)
    assert flags(linux[0]) == "CE" and flags(weir[0]) == "E"
    marks = [p for p in linux if p.tos & 3 == CE]
    assert len(marks) > 5 and any("E" in flags(p) for p in weir[1:])
    assert any("C" in flags(p) for p in linux[1:])
    echoing = None    # after a mark every ACK of it says so, until CWR has come
    for p in packets[2:]:
        if p.src == LINUX:
            if "C" in flags(p) and payload(p):
                echoing = None
            if p.tos & 3 == CE:
                echoing = (p[TCP].seq + payload(p)) & 0xffffffff
        elif echoing is not None and p[TCP].ack == echoing:
            assert "E" in flags(p), p.summary()
    assert all(p.tos & 3 == NOT_ECT for p in weir)    # nothing but ACKs


@pytest.mark.parametrize("words", [["--no-offload"], []], ids=["", "offload"])
def test_weir_asks_and_sends(site, words):
    """Linux echoes marks; Weir reduces, and says so on the next new data. With offloads Linux cuts Weir's large segments."""
    wants(site, 1)
    mark(site, "prerouting", 50 if words else 10)    # of large ones there are fewer
    packets = from_weir(site, "--ecn", "on", *words)
    linux, weir = by(packets, LINUX), by(packets, WEIR)
    assert flags(weir[0]) == "CE" and flags(linux[0]) == "E"
    assert data_is_capable(weir[1:]) > 10
    assert marked(site) > 3
    echoes = [p for p in linux[1:] if "E" in flags(p)]
    answers = [p for p in weir[1:] if "C" in flags(p)]
    assert echoes and answers and all(payload(p) for p in answers)
    assert all(payload(p) <= 1460 for p in answers)    # CWR is for one segment: it is not cut
    # An answer ends the echo: at most one for each time that it begins.
    begins = sum(1 for a, b in zip(linux[1:], linux[2:]) if "E" not in flags(a) and "E" in flags(b)) + 1
    assert len(answers) <= begins + 1


def test_linux_server_by_default(site):
    wants(site, 2)
    packets = from_weir(site, "--ecn", "on", "--no-offload")
    assert flags(by(packets, LINUX)[0]) == "E"
    assert data_is_capable(by(packets, WEIR)[1:]) > 10


@pytest.mark.parametrize("ecn", ["on", "accurate"])
def test_linux_does_not_want_it(site, ecn):
    wants(site, 0)
    packets = from_weir(site, "--ecn", ecn, "--no-offload")
    assert flags(by(packets, WEIR)[0]) == ("CE" if ecn == "on" else "NCE")
    assert flags(by(packets, LINUX)[0]) == ""
    assert all(p.tos & 3 == NOT_ECT and not flags(p) for p in by(packets, WEIR)[1:])


def test_weir_does_not_want_it(site):
    wants(site, 1)
    packets = to_weir(site, "--ecn", "off")
    assert flags(by(packets, LINUX)[0]) == "CE" and flags(by(packets, WEIR)[0]) == ""
    assert all(p.tos & 3 == NOT_ECT for p in by(packets, LINUX))


def accurate_linux(site):
    """Whether this kernel's TCP can be told to use RFC 9768."""
    site.linux.run("sysctl", "-qw", "net.ipv4.tcp_ecn=3", check=False)
    return site.linux.run("sysctl", "-n", "net.ipv4.tcp_ecn").strip() == "3"


def test_accurate_with_a_classic_peer(site):
    """Weir asks for accurate feedback; Linux knows, or wants, only RFC 3168: that is used, with all that belongs to it."""
    wants(site, 1)
    mark(site, "prerouting", 50)
    packets = from_weir(site, "--ecn", "accurate", "--no-offload")
    linux, weir = by(packets, LINUX), by(packets, WEIR)
    assert flags(weir[0]) == "NCE" and flags(linux[0]) == "E"
    assert data_is_capable(weir[1:]) > 10
    assert any("E" in flags(p) for p in linux[1:]) and any("C" in flags(p) for p in weir[1:])
    assert not any("N" in flags(p) for p in weir[1:])


@pytest.mark.parametrize("direction", ["to", "from"])
def test_accurate_with_linux(site, direction):
    if not accurate_linux(site):
        pytest.skip("this kernel does not take net.ipv4.tcp_ecn=3")
    mark(site, "output" if direction == "to" else "prerouting", 50)
    packets = (to_weir if direction == "to" else from_weir)(site, "--ecn", "accurate")
    syn, answer = packets[0], packets[1]
    assert flags(syn) == "NCE" and flags(answer) == "C"    # it came as Not-ECT
    assert len({flags(p) for p in packets[3:]}) > 2        # counters move
    assert marked(site) > 3


def test_the_status_page_tells(site):
    wants(site, 1)
    weir = site.serve()
    sock = site.connect(7)
    sock.sendall(os.urandom(1000))
    sock.recv(1000)
    page = status(site)
    assert [s["ecn"] for s in page["sockets"] if s.get("local", "").endswith(":7") and s["state"] == "ESTABLISHED"] == [1]
    assert next(c["value"] for c in page["counters"] if c["name"] == "TCP_ECN") >= 1
    sock.close()
    stop(weir)
