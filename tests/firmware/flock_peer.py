# SPDX-License-Identifier: BSD-2-Clause
"""What stands at the other end of a board's cable, without privileges: a gateway that answers ARP, and behind it a host with an SNTP and an
HTTP server, frame by frame over QEMU's datagram sockets. Its TCP serves one page at a time and closes, as nginx with keepalive_timeout 0."""
import random
import socket
import struct
import threading
import time

MAC = bytes.fromhex("025765697290")
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
WINDOW, RESEND_S = 4, 0.4   # segments in flight, and when they go again


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data[:len(data) // 2 * 2])) + (data[-1] << 8 if len(data) % 2 else 0)
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


class Connection:
    """Sends `data` and FIN with going back to the first unacknowledged byte; offsets from the SYN, which is 0."""

    def __init__(self, peer_next, mss, first, data):
        self.peer_next, self.mss, self.first, self.data = peer_next, mss, first, data
        self.acknowledged, self.sent, self.asked, self.since = 0, 0, b"", time.monotonic()
        self.ended = False

    def ready(self):
        return b"\r\n\r\n" in self.asked


class Peer:
    def __init__(self, server, gateway, page, loss=0.0):
        self.server, self.gateway, self.loss = socket.inet_aton(server), socket.inet_aton(gateway), loss
        self.page = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(page) + page
        self.random = random.Random(1)
        self.link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.link.bind(("127.0.0.1", 0))
        self.link.settimeout(0.05)
        self.port = self.link.getsockname()[1]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            self.there = probe.getsockname()[1]
        self.resolved, self.acknowledged_end, self.connections = set(), False, {}
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
        self.link.close()

    def run(self):
        while not self.stopping.is_set():
            try:
                frame = self.link.recv(2048)
            except TimeoutError:
                frame = b""
            if len(frame) >= 14 and self.random.random() >= self.loss:
                self.input(frame)
            for key, connection in list(self.connections.items()):
                self.serve(key, connection)

    def send(self, to, ethertype, payload):
        if self.random.random() >= self.loss:
            self.link.sendto(to + MAC + struct.pack(">H", ethertype) + payload, ("127.0.0.1", self.there))

    def input(self, frame):
        ethertype, payload = struct.unpack(">H", frame[12:14])[0], frame[14:]
        if ethertype == 0x0806 and payload[6:8] == b"\0\1":
            sender, asked = payload[14:18], payload[24:28]
            if asked != sender:   # not an announcement
                self.resolved.add(socket.inet_ntoa(asked))
            if asked == self.gateway:
                self.send(frame[6:12], 0x0806, payload[:6] + b"\0\2" + MAC + asked + payload[8:18])
        elif ethertype == 0x0800 and frame[:6] == MAC and payload[16:20] == self.server:
            total = struct.unpack(">H", payload[2:4])[0]
            assert checksum(payload[:20]) == 0
            handler = {17: self.udp, 6: self.tcp}.get(payload[9])
            if handler:
                handler(frame[6:12], payload[12:16], payload[20:total])

    def ip(self, mac, to, protocol, payload):
        header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0x4000, 63, protocol, 0, self.server, to)
        self.send(mac, 0x0800, header[:10] + struct.pack(">H", checksum(header)) + header[12:] + payload)

    def summed(self, to, protocol, segment, at):
        pseudo = self.server + to + struct.pack(">HH", protocol, len(segment))
        return segment[:at] + struct.pack(">H", checksum(pseudo + segment)) + segment[at + 2:]

    def udp(self, mac, source, datagram):
        port, own, length, _ = struct.unpack(">HHHH", datagram[:8])
        asked = datagram[8:length]
        if own == 123 and len(asked) == 48 and asked[0] & 7 == 3:
            seconds = struct.pack(">II", int(time.time()) + 2208988800, 0)
            answer = bytes([0x1c, 8, 0, 0xe9]) + bytes(12) + seconds + asked[40:48] + seconds * 2
            self.ip(mac, source, 17, self.summed(source, 17, struct.pack(">HHHH", 123, port, 56, 0) + answer, 6))

    def segment(self, key, connection, flags, offset, data=b""):
        mac, to, port = key
        header = struct.pack(">HHIIBBHHH", 80, port, (connection.first + offset) & 0xffffffff, connection.peer_next, 0x60 if flags & SYN else 0x50, flags, 8192, 0, 0)
        options = struct.pack(">BBH", 2, 4, 1460) if flags & SYN else b""
        self.ip(mac, to, 6, self.summed(to, 6, header + options + data, 16))

    def tcp(self, mac, source, segment):
        port, own, sequence, acknowledgement, offset, flags = struct.unpack(">HHIIBB", segment[:14])
        key, data = (mac, source, port), segment[(offset >> 4) * 4:]
        if own != 80:
            return
        if flags & SYN:
            options = segment[20:(offset >> 4) * 4]
            mss = struct.unpack(">H", options[2:4])[0] if options[:2] == b"\2\4" else 536
            if key not in self.connections:
                self.connections[key] = Connection((sequence + 1) & 0xffffffff, mss, self.random.getrandbits(32), self.page)
            self.segment(key, self.connections[key], SYN | ACK, 0)
            return
        connection = self.connections.get(key)
        if not connection or flags & RST:
            self.connections.pop(key, None)
            return
        advance = (acknowledgement - connection.first) & 0xffffffff
        if connection.acknowledged < advance <= len(connection.data) + 2:
            connection.acknowledged, connection.since = advance, time.monotonic()
        if sequence == connection.peer_next and data:
            connection.asked += data
            connection.peer_next = (sequence + len(data)) & 0xffffffff
        if flags & FIN and (sequence + len(data)) & 0xffffffff == connection.peer_next:
            connection.peer_next = (connection.peer_next + 1) & 0xffffffff
            connection.ended = True
        if data or flags & FIN:
            self.segment(key, connection, ACK, max(connection.sent, 1))
        if connection.ended and connection.acknowledged == len(connection.data) + 2:
            self.acknowledged_end = True

    def serve(self, key, connection):
        if not connection.ready() or connection.acknowledged == len(connection.data) + 2:
            return
        if time.monotonic() - connection.since > RESEND_S:
            connection.sent, connection.since = connection.acknowledged, time.monotonic()
        connection.sent = max(connection.sent, connection.acknowledged, 1)
        end = len(connection.data) + 1   # of the FIN
        while connection.sent <= end and connection.sent - connection.acknowledged < WINDOW * connection.mss:
            data = connection.data[connection.sent - 1:connection.sent - 1 + connection.mss]
            last = connection.sent + len(data) == end
            self.segment(key, connection, ACK | PSH | (FIN if last else 0), connection.sent, data)
            connection.sent += len(data) + last
