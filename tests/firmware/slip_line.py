# SPDX-License-Identifier: BSD-2-Clause
"""SLIP (RFC 1055) at this end of a board's serial line: packets for a test, or for a TUN interface of Linux's."""
import fcntl
import os
import select
import struct
import time

END, ESC, ESC_END, ESC_ESC = 0xC0, 0xDB, 0xDC, 0xDD
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


def pack(packet):
    return bytes([END]) + packet.replace(bytes([ESC]), bytes([ESC, ESC_ESC])).replace(bytes([END]), bytes([ESC, ESC_END])) + bytes([END])


def unpack(coded):
    return coded.replace(bytes([ESC, ESC_END]), bytes([END])).replace(bytes([ESC, ESC_ESC]), bytes([ESC]))


class Line:
    """Packets over a socket that carries a serial line's bytes."""

    def __init__(self, connection):
        self.connection, self.bytes, self.packets = connection, b"", []

    def send(self, packet):
        self.connection.sendall(pack(packet))

    def noise(self, data):
        self.connection.sendall(data)

    def receive(self, seconds=5):
        """The next packet; None: none came."""
        deadline = time.monotonic() + seconds
        while not self.packets:
            ready, _, _ = select.select([self.connection], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                return None
            self.take()
        return self.packets.pop(0)

    def take(self):
        data = self.connection.recv(65536)
        if not data:
            raise EOFError("the line is closed")
        *whole, self.bytes = (self.bytes + data).split(bytes([END]))
        self.packets += [unpack(packet) for packet in whole if packet]


def open_tun(name):
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return tun


def relay(line, tun, stop):
    """Carries packets between a line and a TUN until `stop`, a threading.Event, is set."""
    while not stop.is_set():
        ready, _, _ = select.select([line.connection, tun], [], [], 0.1)
        if tun in ready:
            line.send(os.read(tun, 65536))
        if line.connection in ready:
            line.take()
            while line.packets:
                os.write(tun, line.packets.pop(0))
