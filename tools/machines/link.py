# SPDX-License-Identifier: BSD-2-Clause
"""The other end of a modelled machine's cable, named by the words that QEMU's -nic has for it: `tap,ifname=…`, datagrams
(`socket,udp=HOST:PORT,localaddr=HOST:PORT`), or QEMU's own user-mode network (`user,…`), which a QEMU without a machine carries here. Beyond these there
is `peer,…` (peer.py)."""
import fcntl
import os
import select
import socket
import struct
import subprocess

from peer import Peer

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 2, 0x1000
SIOCGIFFLAGS, IFF_UP = 0x8913, 1
FRAME_MAX = 65536
ARP, PROBE_MAC = 0x0806, bytes.fromhex("02576569720f")


def words_of(nic):
    kind, *rest = nic.split(",")
    return kind, dict(word.partition("=")[::2] for word in rest)


def address_of(word):
    host, _, port = word.rpartition(":")
    return host, int(port)


class Tap:
    def __init__(self, ifname):
        self.file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.file, TUNSETIFF, struct.pack("16sH22x", ifname.encode(), IFF_TAP | IFF_NO_PI))
        self.ifname, self.asks = ifname.encode(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def up(self):
        """Whether the interface is up: a cable that is plugged in."""
        request = fcntl.ioctl(self.asks, SIOCGIFFLAGS, struct.pack("16sH22x", self.ifname, 0))
        return bool(struct.unpack_from("H", request, 16)[0] & IFF_UP)

    def fileno(self):
        return self.file

    def receive(self):
        """The next frame; None: none waits. A TAP that is down has none, and takes none."""
        try:
            return os.read(self.file, FRAME_MAX)
        except OSError:
            return None

    def send(self, frame):
        try:
            os.write(self.file, frame)
        except OSError:
            pass

    def close(self):
        self.asks.close()
        os.close(self.file)


class Datagrams:
    """A frame a datagram, as QEMU's `-netdev socket,udp=` has it."""

    def __init__(self, here, there):
        self.there = there
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.socket.bind(here)

    def up(self):
        return True

    def fileno(self):
        return self.socket.fileno()

    def receive(self):
        try:
            return self.socket.recv(FRAME_MAX)
        except OSError:
            return None

    def send(self, frame):
        try:
            self.socket.sendto(frame, self.there)
        except OSError:   # nobody is there, or it has no room: a frame is lost
            pass

    def close(self):
        self.socket.close()


class UserNetwork(Datagrams):
    """QEMU's user-mode network (NAT, forwarded ports) in a QEMU that emulates no machine, a hub and datagrams away."""

    def __init__(self, nic):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            there = probe.getsockname()
        super().__init__(("127.0.0.1", 0), there)
        here = self.socket.getsockname()
        self.network = subprocess.Popen(
            ["timeout", "600", "qemu-system-arm", "-M", "none", "-nographic", "-monitor", "none", "-serial", "none", "-netdev", nic.replace("user", "user,id=outside", 1),
             "-netdev", "hubport,id=hub0,hubid=0,netdev=outside", "-netdev",
             f"socket,id=board,udp={here[0]}:{here[1]},localaddr={there[0]}:{there[1]}", "-netdev", "hubport,id=hub1,hubid=0,netdev=board"],
            stdin=subprocess.DEVNULL)
        self.wait_for(socket.inet_aton(words_of(nic)[1]["host"]))

    def wait_for(self, gateway):
        """Until the network is there, which is when its gateway answers ARP."""
        asked = b"\xff" * 6 + PROBE_MAC + struct.pack(">HHHBBH", ARP, 1, 0x0800, 6, 4, 1) + PROBE_MAC + bytes(10) + gateway
        answered = False
        while not answered and self.network.poll() is None:
            self.send(asked)
            select.select([self], [], [], 0.05)
            answered = self.receive() is not None
        while self.receive():
            pass

    def close(self):
        self.network.terminate()
        self.network.wait()
        super().close()


def open_link(nic):
    kind, words = words_of(nic)
    if kind == "tap":
        return Tap(words["ifname"])
    if kind == "socket":
        return Datagrams(address_of(words["localaddr"]), address_of(words["udp"]))
    if kind == "user":
        return UserNetwork(nic)
    if kind == "peer":
        return Peer(words)
    raise ValueError(f"no such link: {nic}")
