# SPDX-License-Identifier: BSD-2-Clause
"""Seeds for the fuzz targets, as text instead of binary files: one for each way that embedded stacks were broken (the names of the
disclosures are the seeds' names), and plain conversations to begin from. Formats: see the target's source."""
import random
import struct
import zlib

OURS, PEER = b"\x0a\0\0\1", b"\x0a\0\0\2"
MAC, PEER_MAC = b"\x02WEIR\x01", b"\x02PEER\x02"
FIN, SYN, RST, PSH, ACK, URG = 1, 2, 4, 8, 16, 32


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", ~total & 0xFFFF)


def ip4(protocol, payload, total=None, flags=0, offset=0, options=b"", identification=1, source=PEER, destination=OURS):
    header = struct.pack(">BBHHHBBH", 0x40 | (5 + len(options) // 4), 0, total or 20 + len(options) + len(payload), identification, flags << 13 | offset // 8,
                         64, protocol, 0) + source + destination + options
    return header[:10] + checksum(header) + header[12:] + payload


def icmp(kind, code, rest=b"\0\0\0\0", data=b""):
    message = bytes([kind, code, 0, 0]) + rest + data
    return message[:2] + checksum(message) + message[4:]


def udp(payload, source=5000, destination=9, length=None):
    return struct.pack(">HHHH", source, destination, length or 8 + len(payload), 0) + payload


def tcp(flags, seq=1000, ack=0, window=65535, options=b"", payload=b"", offset=None, urgent=0):
    head = struct.pack(">HHIIBBHHH", 5000, 7, seq, ack, (offset or 5 + len(options) // 4) << 4, flags, window, 0, urgent) + options + payload
    sum_ = checksum(PEER + OURS + struct.pack(">BBH", 0, 6, len(head)) + head)
    return head[:16] + sum_ + head[18:]


# --- the script of fuzz/instance.c ---------------------------------------------------------------------------------------
ETHERNET, RAW = 0, 0x80
POLL = 8


def raw(frame):
    return bytes([0x00 | POLL]) + struct.pack(">H", len(frame)) + frame


def packet(data):
    return raw(MAC + PEER_MAC + b"\x08\0" + data)


def segment(flags, seq=0, ack=0, window=0xFFFF, options=b"", payload=b"", known=True, flow=0, how=0, urgent=0, fitting=None):
    """`fitting`: the harness makes the options, timestamps where they were agreed and fitting & 3 SACK blocks (numbers in `options`)."""
    assert len(options) % 4 == 0
    payload += b"\0" * (-len(payload) % 4)
    return (bytes([0x20 | POLL, how, (0x80 if known else 0) | flow, flags, len(options) // 4 if fitting is None else 0x80 | fitting]) + struct.pack(">HHH", seq & 0xFFFF, ack & 0xFFFF, window)
            + (struct.pack(">H", urgent) if flags & URG else b"") + options + bytes([len(payload) // 4]) + payload)


def time(choice):
    return bytes([0x90, choice])


def call(what, choice, socket=0, more=b""):
    return bytes([0xC0, socket << 4 | what, choice]) + more


MSS = b"\2\4\5\xb4"
OPTIONS = MSS + b"\1\3\3\7" + b"\4\2\1\1"
CONNECT = segment(SYN, known=False, options=OPTIONS) + segment(ACK) + call(1, 0)


TIMES = OPTIONS + b"\1\1\10\12\0\0\0\0\0\0\0\0"   # as Linux opens


def timed(flags, **more):
    return segment(flags, fitting=more.pop("fitting", 0), **more)


def blocks(*edges):
    return b"".join(struct.pack(">HH", back, length) for back, length in edges)


def instance_seeds():
    opened = segment(SYN, known=False, options=TIMES) + timed(ACK) + call(1, 0)
    for link, name in ((ETHERNET, ""), (RAW, "-raw-ip")):
        yield "timestamps" + name, [link, opened] + [timed(ACK, payload=b"data" * 30) for _ in range(6)] + [call(11, 1, 2), call(11, 0xF8, 2), time(0), timed(ACK), timed(ACK, ack=-100),
                                    call(11, 0xF8, 2), time(0), timed(ACK), timed(ACK | FIN), call(2, 1, 2), time(1), timed(ACK), time(6)]
    yield "old-timestamps", [ETHERNET, opened, timed(ACK, payload=b"data", fitting=0x20), timed(ACK, payload=b"data"), timed(ACK, payload=b"data", fitting=0x1C), timed(RST, fitting=4), time(4),
                             segment(ACK, payload=b"none")]
    yield "sack-in", [ETHERNET, opened, call(11, 0xF8, 2), call(11, 0xF8, 2), time(0), timed(ACK, ack=-2000, fitting=1, options=blocks((1000, 500))),
                      timed(ACK, ack=-2000, fitting=3, options=blocks((300, 100), (600, 200), (1000, 300))), time(1), timed(ACK, ack=-1500, fitting=2, options=blocks((2500, 300), (800, 10))), time(4),
                      timed(ACK, ack=-100, fitting=1, options=blocks((65535, 0xFFFF))), timed(ACK)]
    yield "sack-out", [ETHERNET, opened] + [timed(ACK, seq=n, payload=b"abcd" * 5) for n in (400, 40, 200, 80, 200, 0, 20, 100)] + [time(2), call(11, 1, 2)]
    yield "cookies", [ETHERNET] + [segment(SYN, known=False, flow=n % 4, how=2 | (1 + n % 14) << 4, options=OPTIONS) for n in range(40)] + [
        segment(SYN, known=False, flow=5, options=TIMES), timed(ACK), call(1, 0), timed(ACK, payload=b"data"), segment(SYN, known=False, flow=6), segment(ACK), segment(ACK, ack=5), call(1, 0)]
    yield "urgent-both-ways", [ETHERNET, CONNECT, call(11, 0x22, 2), time(0), segment(ACK | URG, urgent=3, payload=b"abcd"), call(11, 3, 2), call(11, 0x0B, 2), call(11, 1, 2),
                               segment(ACK | URG, seq=0, urgent=9, payload=b"efgh"), call(11, 1, 2), segment(ACK, payload=b"ijklmnop"), call(11, 1, 2), call(11, 3, 2), call(11, 1, 2), time(1)]
    yield "loopback", [ETHERNET, call(0, 0), call(12, 0x82, 2), time(0), call(1, 0), call(11, 0xF8, 2), time(1), call(11, 0x81, 3), call(11, 0x88, 3), time(1), call(2, 1, 2), time(1), call(2, 1, 3),
                       call(12, 0), time(6)]
    yield "groups", [ETHERNET, call(12, 0x43, 1), call(12, 0x53, 1)] + [bytes([0x78]) + kind + b"\0" * 8 for kind in (b"\x11\x64\0\0\0\0\0\0", b"\x11\0\0\0\0\0\0\0", b"\x16\0\0\0\xe0\0\0\5",
                     b"\x12\0\0\0\xe0\0\0\5")] + [time(4), bytes([0x78]) + b"\x11\xff\0\0\xe0\0\0\5\x0f\xff\0\1\1\2\3\4", time(5), call(12, 0x4B, 1), time(1)]
    yield "interface-goes", [ETHERNET, CONNECT, call(11, 0xF8, 2), call(12, 7), call(11, 0x18, 2), time(3), call(12, 0x0F), time(4), segment(ACK), time(4)]
    yield "address-goes", [ETHERNET, CONNECT, call(11, 0xF8, 2), call(12, 5), time(3), call(12, 0x1D), time(5), bytes([0x88, 2, 0]), time(3), call(12, 4), time(2), call(12, 0x0C), time(4)]
    yield "inspection", [ETHERNET, opened, call(12, 0, 2), call(12, 6, 2), call(12, 0x0E, 2), segment(SYN, known=False, flow=3), call(12, 0), timed(ACK | FIN), call(2, 1, 2), timed(ACK), call(12, 0)]
    yield "keepalive", [ETHERNET, CONNECT] + [call(5, option, 2, struct.pack(">H", 1)) for option in range(32)] + [time(0x1C), segment(ACK, seq=-1), time(0x1E), time(0x1E)]
    sack = b"\1\1\5\12" + struct.pack(">II", 100, 200)
    yield "conversation", [ETHERNET, CONNECT, segment(ACK | PSH, payload=b"hello world!"), time(1), call(11, 1, 2), call(11, 0x20, 2), time(2), segment(ACK),
                           segment(ACK | FIN), call(2, 1, 2), time(4), segment(ACK), time(6)]
    yield "conversation-raw-ip", [RAW, CONNECT, segment(ACK | PSH, payload=b"x" * 400), call(11, 0x61, 2), time(3)]
    yield "active-open", [ETHERNET, call(0, 32), time(1), segment(SYN | ACK, options=OPTIONS), call(11, 0x48, 2), time(1), segment(ACK, ack=0), time(4)]
    yield "out-of-order", [ETHERNET, CONNECT] + [segment(ACK, seq=20 * n, payload=b"abcd") for n in (9, 3, 5, 1, 7, 0, 2, 4, 6, 8)] + [time(2)]
    yield "segment-smack", [ETHERNET, CONNECT] + [segment(ACK, seq=8 * n, payload=b"abcd") for n in range(60, 0, -1)] + [segment(ACK, payload=b"abcd" * 100)]
    yield "sack-panic", [ETHERNET, segment(SYN, known=False, options=b"\2\4\0\x30" + b"\4\2\1\1"), segment(ACK), call(1, 0), call(11, 0xF8, 2), time(1)] + [
        segment(ACK, ack=-n, options=b"\1\1\5\12" + struct.pack(">II", 1000 + n, 1048 + n)) for n in range(0, 400, 96)] + [segment(ACK, options=sack), time(4)]
    yield "tcp-options", [ETHERNET] + [packet(ip4(6, tcp(SYN, options=o))) for o in (b"\5\3\0\0", b"\10\11" + b"\0" * 10, b"\2\0\0\0", b"\2\x3c\0\0", b"\3\3\xff\0",
                                                                                     b"\2\4\0\0", b"\2\4\0\1", b"\2\4\0\x08")]
    yield "data-offset", [ETHERNET, packet(ip4(6, tcp(SYN, offset=15))), packet(ip4(6, tcp(SYN, offset=4))), packet(ip4(6, tcp(SYN)[:12]))]
    yield "urgent-11", [ETHERNET, segment(SYN | URG, known=False, urgent=0xFFFF), CONNECT, segment(ACK | URG, urgent=0, payload=b"abcd"),
                        segment(ACK | URG, seq=4, urgent=0xFFFF, payload=b"abcd"), segment(ACK | URG, seq=2, urgent=1, payload=b"abcd"), call(11, 0x1B, 2), call(11, 1, 2)]
    yield "rfc5961", [ETHERNET, CONNECT, segment(RST, seq=1), segment(RST, seq=400), segment(SYN, seq=10), segment(ACK, ack=-30000, payload=b"evil"),
                      segment(ACK, ack=30000, payload=b"evil"), segment(RST)]
    yield "rst-storm", [ETHERNET, CONNECT] + [segment(RST, seq=1) + segment(ACK, seq=-5)] * 20
    yield "zero-window", [ETHERNET, CONNECT, segment(ACK, window=0), call(11, 0xF8, 2), time(5), time(6), segment(ACK, window=0), time(6), segment(ACK, window=100), time(2)]
    yield "syn-flood", [ETHERNET] + [segment(SYN, known=False, flow=n % 8, how=2 | n % 16 << 4) for n in range(80)] + [time(6)]
    yield "simultaneous", [ETHERNET, call(0, 32), time(1), segment(SYN), segment(ACK), call(4, 2, 2), time(1), segment(FIN | ACK, ack=-1), segment(ACK), time(6)]
    yield "icmp-blind", [ETHERNET, CONNECT, call(11, 0xF8, 2), time(1)] + [bytes([0x68, how, 28]) + icmp(3, code, struct.pack(">HH", 0, mtu)) + b"\0" * 28
                                                                           for how in (0x80, 0xC0) for code, mtu in ((4, 68), (4, 0), (3, 0), (4, 1300))] + [time(4)]
    yield "icmp-unasked", [ETHERNET] + [packet(ip4(1, icmp(kind, 0, data=b"\0" * 8))) for kind in (0, 3, 4, 5, 8, 11, 12, 13, 14, 17, 18)]
    yield "ping", [ETHERNET, packet(ip4(1, icmp(8, 0, b"\0\1\0\1", b"x" * 56))), packet(ip4(1, icmp(8, 0)[:6])), packet(ip4(1, icmp(8, 0), total=21))]
    yield "source-route", [ETHERNET] + [packet(ip4(17, udp(b"x"), options=o)) for o in (b"\x83\7\0\1\2\3\4\0", b"\x83\7\xff\1\2\3\4\0", b"\x89\1\0\0", b"\x83\0\0\0", b"\7\xff\4\0")]
    yield "lsrr-twice-into-error", [ETHERNET, packet(ip4(17, udp(b"x", destination=4000), options=b"\x83\7\4\1\2\3\4\x89\7\4\1\2\3\4\0\0"))]
    yield "ripple20-ip-in-ip", [ETHERNET, packet(ip4(4, ip4(17, udp(b"x" * 60), total=30)[:48], flags=1)), packet(ip4(4, b"y" * 40, offset=48))]
    yield "teardrop", [ETHERNET, packet(ip4(17, udp(b"x" * 40, length=64), flags=1)), packet(ip4(17, b"y" * 24, offset=24)), packet(ip4(17, b"z" * 16, offset=65528)),
                       packet(ip4(6, b"ab" * 4, flags=1)), time(6)]
    yield "fragment-smack", [ETHERNET] + [packet(ip4(17, b"x" * 8, flags=1, offset=8 * (37 * n % 64), identification=n % 16)) for n in range(80)] + [time(6)]
    yield "runts", [ETHERNET] + [raw((MAC + PEER_MAC + kind + b"\0" * 64)[:length]) for kind in (b"\x08\0", b"\x08\6", b"\x86\xdd", b"\x81\0") for length in (0, 1, 13, 14, 15, 17, 18, 22)]
    yield "lengths-that-lie", [ETHERNET] + [packet(ip4(17, udp(b"x" * 8), total=t)) for t in (19, 21, 27, 29, 0xFFFF)] + [packet(ip4(17, udp(b"x", length=n))) for n in (1, 7, 60000)]
    yield "multicast-syn", [ETHERNET, packet(ip4(6, tcp(SYN), destination=b"\xe0\0\0\1")), packet(ip4(6, tcp(SYN), destination=b"\xff\xff\xff\xff")),
                            packet(ip4(6, tcp(SYN), source=OURS)), packet(ip4(6, tcp(SYN), source=b"\x7f\0\0\1"))]
    yield "arp-flood", [ETHERNET] + [bytes([0x88, 5, n]) for n in range(1, 200)] + [bytes([0x88, 2, 0]), time(3), bytes([0x88, 18, 0]), bytes([0x88, 33, 8])]
    yield "igmp", [ETHERNET, bytes([0x78]) + b"\x11\x64\0\0\0\0\0\0" + b"\0" * 8, bytes([0x78]) + b"\x11\xff\0\0\xe0\0\0\5\x0f\xff\0\1\1\2\3\4", time(5)]
    yield "sad-dns", [ETHERNET] + [bytes([0x58, 3 | n % 16 << 4, 0, 0, 4]) + b"ping" for n in range(60)]
    yield "no-memory", [ETHERNET] + [call(8, n) + CONNECT + segment(ACK, seq=4 * n, payload=b"data" * 20) + call(11, 0x68, 2) + time(2) for n in range(1, 9)]
    yield "cable-pull", [ETHERNET, CONNECT, call(11, 0x88, 2), call(9, 0), time(4), call(9, 1), time(3), segment(ACK), time(4)]
    yield "driver-full", [ETHERNET, CONNECT, call(10, 1), call(11, 0xF8, 2), time(2), segment(ACK, payload=b"more"), time(4), call(10, 0), time(2)]
    yield "use-after-close", [ETHERNET, CONNECT, call(2, 0, 2), call(11, 0x88, 2), call(11, 1, 2), call(5, 3, 2, b"\0\1"), call(4, 3, 2), call(2, 0, 2), time(6)]


def instance():
    """Every script on every driver mode would be too many: the mode goes round with the seeds."""
    for number, (name, parts) in enumerate(instance_seeds()):
        yield name, bytes([parts[0] + number % 5]) + b"".join(parts[1:])


def wire():
    yield "ethernet-vlan", b"\0" + MAC + PEER_MAC + b"\x81\0\0\7\x08\0"
    yield "arp", b"\1" + b"\0\1\x08\0\6\4\0\1" + PEER_MAC + PEER + b"\0" * 6 + OURS
    yield "ip4", b"\2" + ip4(17, udp(b"x"))
    yield "ip4-options", b"\2" + ip4(1, icmp(8, 0), options=b"\x94\4\0\0\7\7\4\0\0\0\0\0")
    yield "icmp4", b"\3" + icmp(3, 4, b"\0\0\5\x14", b"\0" * 28)
    yield "igmp3-query", b"\4" + b"\x11\xff\0\0\xe0\0\0\5\x0f\xff\0\1\1\2\3\4"
    yield "udp", b"\5" + udp(b"abc")
    yield "tcp-all-options", b"\6" + tcp(SYN, options=OPTIONS + b"\1\1\10\12\0\0\0\1\0\0\0\2" + b"\1\1\5\12\0\0\0\1\0\0\0\2"[:12])
    yield "tcp-option-length-0", b"\6" + tcp(ACK, options=b"\10\0\0\0")
    yield "tcp-sack-3", b"\6" + tcp(ACK, options=b"\5\3\1\1")


def fragments():
    def record(identification, offset, length, more, wait=0):
        return struct.pack(">BHHB", identification | (0x80 if more else 0), offset // 8, length, wait)
    whole = [(0, 1480, True), (1480, 1480, True), (2960, 1040, False)]
    yield "in-order", b"\0" + b"".join(record(1, *part) for part in whole)
    yield "reverse", b"\1" + b"".join(record(2, *part) for part in reversed(whole))
    yield "two-mixed", b"\1" + b"".join(record(n, *part) for part in whole for n in (3, 4))
    yield "overlap", b"\1" + record(5, 0, 1480, True) + record(5, 1472, 1480, True) + record(5, 2960, 1040, False)
    yield "duplicate", b"\1" + b"".join(record(6, *part) * 2 for part in whole)
    yield "timeout", b"\1" + record(7, 0, 1480, True, 0x80 | 100) + record(7, 1480, 1480, True) + record(7, 2960, 1040, False)
    yield "ping-of-death", b"\1" + record(8, 65528, 1480, False) + record(8, 65512, 24, True)
    yield "smack", b"\1" + b"".join(record(n % 64, 8 * (n * 29 % 512), 8, True) for n in range(400))


def name_on_wire(name):
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"


def dns():
    question = name_on_wire("wWw.eXample.org") + b"\0\1\0\1"

    def answer(records, count=1, flags=b"\x81\x80", identification=b"\x12\x34", asked=question):
        return identification + flags + struct.pack(">HHHH", 1, count, 0, 0) + asked + records
    address = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc0\0\2\1"
    for name, message in {
        "address": answer(address), "two": answer(address * 2, 2), "cname": answer(b"\xc0\x0c\0\5\0\1\0\0\0\x3c\0\2\xc0\x10" + b"\xc0\x10" + address[2:], 2),
        "pointer-to-itself": answer(b"\xc0\x21" + address[2:]), "pointer-forward": answer(b"\xc0\xff" + address[2:]),
        "two-cycle": answer(b"\xc0\x23\xc0\x21" + address[2:]), "rdlength-short": answer(b"\xc0\x0c\0\5\0\1\0\0\0\x3c\0\1\xc0\x10"),
        "count-65535": answer(address, 65535), "label-63": answer(b"\x3f" + b"a" * 10), "wrong-id": answer(address, identification=b"\x12\x35"),
        "name-too-long": answer((b"\x3f" + b"a" * 63) * 4 + b"\0" + address[2:]), "no-name": answer(b"", 0, b"\x81\x83"), "truncated": answer(b"", 0, b"\x83\x80"),
        "missing-nul": answer(b"\3abc"), "wrong-case": answer(address, asked=name_on_wire("www.example.org") + b"\0\1\0\1")}.items():
        yield name, b"\0" + message
        yield name + "-repaired", b"\1" + message


def dhcp():
    def message(options):
        return b"\1" + b"\2\1\6\0" + b"\0" * 12 + b"\x0a\0\0\x32" + b"\x0a\0\0\1" + b"\0" * 4 + MAC + b"\0" * 202 + b"\x63\x82\x53\x63" + options
    basic = b"\x35\1\2\x36\4\x0a\0\0\1\x33\4\0\0\x0e\x10\1\4\xff\xff\xff\0\3\4\x0a\0\0\1\6\4\x0a\0\0\1"
    yield "offer", message(basic + b"\xff")
    yield "no-end", message(basic)
    yield "length-255-last", message(basic + b"\x37\xff")
    yield "overload", message(basic + b"\x34\1\3\xff")
    yield "length-0", message(b"\x35\0\x33\0\1\0\3\0\6\0\xff")
    yield "odd-lists", message(b"\x35\1\5\3\5\1\2\3\4\5\6\3\1\2\3\x2a\x09123456789\xff")
    yield "multicast-address", message(basic + b"\xff").replace(b"\x0a\0\0\x32", b"\xe0\0\0\1")
    yield "domain", message(basic + b"\x0f\x20" + b"a" * 32 + b"\x1a\2\0\x10\xff")


def dhcp6():
    def option(code, data):
        return code.to_bytes(2, "big") + len(data).to_bytes(2, "big") + data
    address = option(5, b"\x20\1\x0d\xb8" + b"\0" * 11 + b"\7" + b"\0\0\0\x64\0\0\0\xc8")
    ids = option(1, b"\0\3\0\1" + MAC) + option(2, b"\0\3\0\1SERVER")
    whole = ids + option(3, b"\1\2\3\4\0\0\0\x32\0\0\0\x50" + address * 2) + option(23, b"\xfe\x80" + b"\0" * 13 + b"\1") + option(24, b"\3lab\4test\0")
    yield "reply", b"\1\7\0\0\x2a" + whole + option(82, b"\0\0\0\x3c") + option(83, b"\0\1\x51\x80") + option(32, b"\0\0\2\x58") + option(14, b"")
    yield "advertise", b"\1\2\0\0\x2a" + whole + option(7, b"\xff")
    yield "status", b"\1\7\0\0\x2a" + ids + option(3, b"\1\2\3\4" + b"\0" * 8 + option(13, b"\0\2no")) + option(13, b"\0\1")
    yield "address-beyond-its-ia", b"\1\7\0\0\x2a" + option(3, b"\1\2\3\4" + b"\0" * 8 + address[:20]) + address
    yield "duid-too-long", b"\1\7\0\0\x2a" + option(2, b"\0" * 131)
    yield "label-beyond", b"\1\7\0\0\x2a" + option(24, b"\x3fabc")


def http():
    yield "get", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    yield "range", b"GET /x?y HTTP/1.1\r\nHost: a\r\nRange: bytes=5-9\r\nIf-Range: \"a\"\r\nConnection: close\r\n\r\n"
    yield "suffix-range", b"HEAD /x HTTP/1.0\r\nRange: bytes=-5\r\nConnection: keep-alive\r\n\r\n"
    yield "post-4g", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4294967295\r\n\r\n"
    yield "two-lengths", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"
    yield "folded", b"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"
    yield "absolute", b"GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n"


def json():
    yield "parameters", b'{"tcp":true,"omit":0,"time":10,"num":0,"parallel":1,"len":131072,"pacing_timer":1000,"client_version":"3.12"}'
    yield "results", b'{"cpu_util_total":1.5e0,"streams":[{"id":1,"bytes":123456,"retransmits":-1,"jitter":0.001,"errors":0,"packets":5}]}'
    yield "deep", b"[" * 40 + b"]" * 40
    yield "escape", b'{"a\\u0000":"\\"","b":[1,-2.5E-3,null]}'


def micro():
    def message(operation, channel, first=0, second=0, host=2, port=80):
        return bytes([0, operation, channel, first, second, host, port])

    def frame(packet):
        return bytes([5, len(packet)]) + packet
    turn, listening = b"\7\1", message(0, 0) + message(1, 0, host=0, port=7) + message(2, 0, 2)
    handshake = frame(ip4(6, tcp(SYN))) + turn + turn
    datagram = message(0, 0, 1) + message(1, 0, host=0, port=9)
    yield "listen", listening + handshake + message(3, 0) + turn
    yield "connect", message(0, 0) + message(4, 0, host=2, port=80) + turn + message(6, 0) + turn
    yield "datagram", datagram + turn + frame(ip4(17, udp(b"hello"))) + turn + b"\3\0\0\x20" + turn + message(6, 0)
    yield "counters", listening + handshake + b"\3\0\xff\xff" + turn + b"\3\1\xff\xff" + turn + message(5, 1, 2) + turn
    yield "anywhere", datagram + b"\2\0\5\xff\xff\x10\xff" * 4 + turn + b"\4\0\0\xff\xff\x10\xff" + turn + b"\4\0\x0b\xff\xff\x10\xff" + turn


def paths(count=400):
    """Conversations as a host has them, decided by chance: opened from either side, some data, closed in one of the usual ways. In some
    the network spoils a segment here and there."""
    chance = random.Random(9293)
    pick, below = chance.choice, chance.randrange

    def frame(kind, talk, choice):
        spoilt = chance.random() < 0.06
        rows = range(0x00, 0x60, 0x10) if chance.random() < 0.75 else range(0x60, 0x90, 0x10)  # with a poll after it, or without
        return bytes([pick(rows) | kind | (8 if spoilt else 0), talk, choice]) + (bytes([below(32), below(256)]) if spoilt else b"")

    def socket(operation, choice, more=b""):
        return bytes([pick((0xC0, 0xD0, 0xE0, 0xF0)) | operation, choice]) + more

    def sized(operation, index):
        return socket(operation, pick([choice for choice in range(16, 256) if choice % 10 == index]))

    def wait(*steps):
        return bytes([pick((0x90, 0xA0, 0xB0)) | pick(steps or (0, 2, 4, 5, 6, 7, 8, 9, 10))])

    def clock():
        return pick((0, 1, 1, 1, 2))

    def opened(talk):
        if chance.random() < 0.7:
            return frame(0, below(32), pick((1, 1, 1, 0x21, 0x23, 0x27, 0x2B, 0x2F, 0x00, 0x20))) + (wait() if chance.random() < 0.2 else b"") + frame(1, talk, clock()) + socket(1, 0)
        return socket(0, pick((0, 1, 2, 3, 4, 5, 6, 7, below(256)))) + wait(0) + (wait(5, 9, 11, 12) if chance.random() < 0.25 else b"") + frame(6, talk, pick((1, 1, 1, 2, 3, 7)))

    def used(talk, index):
        return pick((lambda: frame(pick((2, 3)), talk, pick((1, 2)) | below(8) << 2), lambda: frame(1, talk, clock()), lambda: sized(3, index), lambda: socket(15, index), wait, wait, wait,
                     lambda: socket(2, talk | pick((0, 0, 0x40, 0x80)), bytes([below(256)])), lambda: sized(6, index) + bytes([below(256)]),
                     lambda: pick((socket(10, index), socket(11, below(256)), socket(9, index, bytes([below(256)])), frame(1, talk, 0x81)))))()

    def closed(talk, index):
        read = socket(15, index) if chance.random() < 0.8 else b""
        ack, fin, close = frame(1, talk, clock()), frame(4, talk, clock()), socket(5, index)
        return pick((read + close + ack + fin + wait() + ack, fin + read + close + ack, read + socket(8, index | pick((0, 64, 128))) + fin + close + ack, read + close + frame(4, talk, 0x81) + ack,
                     frame(5, talk, 1) + read + close + wait(8, 11, 13) + ack, socket(7, index) + ack, frame(7, talk, pick((4, 5))) + ack)) + (wait(4, 6, 10, 12, 13, 14) if chance.random() < 0.5 else b"")

    for number in range(count):
        data, ends = bytes([pick((0, 0, 0, 1, 2, 4, 8, 8, 9, 12)) | pick((0, 0, 0, 0, 0, 0, 0, *range(0x10, 0x100, 0x10)))]), []
        for talk in range(1 + below(6)):
            data += opened(talk)
            ends.append((talk, talk + 1))  # its socket comes after the listener
            data += b"".join(used(*pick(ends)) for _ in range(below(8)))
            data += closed(*pick(ends)) if chance.random() < 0.75 else b""
        yield f"conversation-{number}", data


def hostile():
    """Conversations in the script of fuzz/hostile.c, all of them honest, or with a middlebox that only loses and delays, or that forges
    segments with nothing wrong in them: what is wrong the fuzzer is to find."""
    client, server, size = 0, 1, {length: index for index, length in enumerate((1, 2, 10, 100, 536, 1000, 1448, 1460, 2896, 4000, 5792, 8192, 12000, 16384, 3, 700))}

    def operation(code, arg=0):
        return bytes([code | arg << 4])

    def exchange(rounds=4):
        return operation(0, rounds - 1)

    def pause(step):
        return operation(2, step)

    def write(who, length, talk=0, how=2):
        return operation(3, size[length]) + bytes([how << 4 | talk << 1 | who])

    def read(who, length=16384, talk=0, in_place=0):
        return operation(4, size[length]) + bytes([in_place << 4 | 8 | talk << 1 | who])

    def other(who, what, talk=0, more=b""):
        return operation(5, what) + bytes([0xC0 | talk << 1 | who]) + more

    def opened(talk=0):
        return other(client, 0, talk) + exchange()

    def forged(talk=0, to=server, changes=b"", count=0, choice=0):
        return operation(11, count << 1 | to) + bytes([choice | talk]) + changes
    end = other(client, 11) + exchange() + read(server) + other(server, 14) + exchange() + other(client, 14) + exchange()
    transfer = b"".join(write(client, 8192) + exchange() + read(server) + exchange() for _ in range(6))
    lossy = b"".join(write(client, 8192) + operation(0) + operation(6, 1) + exchange() + operation(6, 0) + pause(7) + exchange() + read(server) for _ in range(5))
    for mode, name in ((0, ""), (0x03, "-held"), (0x36, "-full"), (0x40, "-large-buffers"), (0xC0, "-urgent-apart")):
        for cc in range(9) if not mode else (0,):
            start = bytes([mode, cc | (0x80 if cc & 1 else 0)])
            suffix = name + (f"-{cc}" if not mode else "")
            yield "transfer" + suffix, start + opened() + transfer + end
            yield "both-ways" + suffix, start + opened() + (write(client, 4000) + write(server, 4000) + exchange() + read(client) + read(server) + pause(4) + exchange()) * 4 + end
            yield "lossy" + suffix, start + opened() + lossy + pause(9) + exchange() + end
    start = b"\0\0"
    yield "reordered", start + opened() + b"".join(write(client, 5792) + operation(0) + operation(6, 7) * 3 + exchange() + read(server) for _ in range(4)) + end
    yield "doubled", start + opened() + b"".join(write(client, 2896) + operation(0) + operation(6, 5) * 2 + exchange() + read(server) for _ in range(4)) + end
    yield "old-segments", start + opened() + write(client, 1000) + operation(0) + operation(6, 11) + exchange() + pause(12) + operation(7, 8) + exchange() + operation(7, 9) + operation(7, 10) + exchange() + read(server) + end
    yield "urgent", b"\x80\0" + opened(1) + write(client, 10, 1, 1) + exchange() + read(server, 100, 1) + other(server, 6, 1) + write(client, 10, 1) + exchange() + read(server, 100, 1)
    yield "three", start + b"".join(opened(talk) for talk in range(3)) + b"".join(write(who, 1448, talk) + exchange() + read(1 - who, talk=talk) for talk in range(3) for who in (0, 1)) + pause(10)
    yield "hostile-client", start + operation(14) + b"\0" + write(server, 1448) + exchange() + forged() + read(server) + forged(choice=0x88) + read(server) + pause(9)
    yield "plain-acks", start + opened() + write(server, 4000) + operation(0) + forged() * 3 + forged(to=client, choice=0x90) + exchange() + read(client) + pause(9)
    yield "altered", start + opened() + write(client, 4000) + operation(0) + operation(8, 9) + b"\x0f" + operation(8, 9) + b"\x32" + exchange() + read(server) + pause(9)
    yield "errors", start + opened() + write(client, 2896) + operation(15, 0) + b"\x86\0" + exchange() + write(client, 2896) + operation(15, 0) + b"\1\0" + exchange() + end
    yield "windows", start + opened() + write(client, 8192) + exchange() + write(client, 8192) + pause(9) + exchange() + pause(11) + exchange() + read(server) + exchange() + pause(7) + end


def tiny():
    """Conversations in the script of fuzz/tiny.c: by signed distances from what the server last said, and by its boundaries."""
    def segment(flags, seq=0, ack=0, length=0, peer=0, window=4096):
        return bytes([0x00, peer, flags, 0]) + struct.pack(">HHH", seq & 0xFFFF, ack & 0xFFFF, window) + bytes([length // 4])

    def at(flags, seq, ack, length=0, peer=0, window=4096):
        """seq and ack: what the server expects (0x30), what it sent (0x10) or had acknowledged (0x00), a step in the low digit."""
        return bytes([0x70, peer, flags, 0, seq, ack]) + struct.pack(">H", window) + bytes([length // 4])

    def call(what, amount=0, user=0):
        return bytes([0xB0, what << 4 | user, amount])
    opened, wait = segment(SYN, peer=0) + segment(ACK) + call(0), bytes([0x92])
    yield "conversation", b"\0" + opened + segment(ACK | PSH, length=200) + call(2, 255) + call(5, 60) + segment(ACK) + segment(ACK | FIN) + call(7, 2) + segment(ACK) + wait
    yield "boundaries", b"\0" + opened + at(ACK, 0x30, 0x10) + call(5, 100) + at(ACK, 0x30, 0x00) + at(ACK, 0x30, 0x10, 100) + call(2, 100) + at(ACK, 0x32, 0x10, 4) + wait
    for name, base in (("una", 0x00), ("nxt", 0x10), ("expected", 0x30)):   # each number that means something, with some steps: mutations try the others
        yield f"acknowledged-{name}", b"\0" + opened + b"".join(at(ACK, 0x30, base | step) + call(5, 3) + at(ACK, 0x30, 0x10) for step in (1, 2, 6, 8, 9, 10, 11, 12)) + wait
        yield f"received-{name}", b"\0" + opened + b"".join(at(ACK, base | step, 0x10, 8) + call(2, 10) for step in (1, 2, 6, 8, 9, 10, 11, 12)) + wait
    yield "in-place", b"\0" + opened + call(13, 1) + segment(ACK) + call(13, 3) + wait + segment(ACK) + wait
    yield "closed-window", b"\0" + opened + segment(ACK, window=0) + call(5, 200) + bytes([0x93]) * 4 + segment(ACK, window=300) + wait
    yield "two", b"\0" + opened + segment(SYN, peer=1) + segment(ACK, peer=1) + call(0) + segment(ACK, length=100, peer=1) + segment(ACK, seq=100, length=100) + segment(ACK, length=100)


def wire6():
    addresses = ("20010db8", "01"), ("fe80", "01"), ("ff02", "fb")
    ours, router, group = (bytes.fromhex(start.ljust(30, "0") + end) for start, end in addresses)

    def ip6(first, payload, length=None):
        length = len(payload) if length is None else length
        return b"\0" + struct.pack(">IHBB", 6 << 28, length, first, 64) + router + ours + payload

    def header(following, options, units=None):
        rest = -(len(options) + 4) % 8
        options += bytes([1, rest]) + b"\0" * rest if (len(options) + 2) % 8 else b""
        return bytes([following, (len(options) + 2) // 8 - 1 if units is None else units]) + options

    def fragment(following, offset, more=0):
        return struct.pack(">BBHI", following, 0, offset | more, 7)
    alert, skipped = b"\5\2\0\0", b"\x1e\4abcd"
    yield "udp", ip6(17, udp(b"x"))
    yield "payload-beyond-the-frame", ip6(17, udp(b"x"), 2000)       # CVE-2020-17441
    yield "jumbogram", ip6(0, header(17, b"\xc2\4\0\1\0\0") + udp(b"x"), 0)
    chain = header(60, alert) + header(43, skipped) + b"\x2c\0\0\0\0\0\0\0" + fragment(60, 0) + header(58, skipped)
    yield "all-headers", ip6(0, chain + icmp(128, 0))
    for bits in range(1, 4):
        yield f"unknown-option-{bits}", ip6(60, header(17, skipped + bytes([bits << 6 | 30, 0])) + udp(b"x"))
    # CVE-2020-17442 and CVE-2020-17445.
    yield "length-of-31", ip6(60, header(17, b"\x1e\xf8" + b"\0" * 248 + b"\x1e\2\0\0", 31) + udp(b"x"))
    yield "option-beyond-its-header", ip6(0, header(17, b"\x1e\xff\0\0\0\0", 0) + udp(b"x"))
    yield "header-beyond-the-packet", ip6(0, header(17, alert, 200))
    yield "hop-by-hop-inside", ip6(60, header(0, skipped) + header(17, alert) + udp(b"x"))
    yield "routing-type-0", ip6(43, b"\x11\2\0\1" + b"\0" * 4 + ours + udp(b"x"))
    yield "nine-headers", ip6(60, header(60, skipped) * 8 + header(17, skipped) + udp(b"x"))
    yield "fragments-in-fragments", ip6(44, fragment(44, 0) * 7 + fragment(17, 8, 1) + udp(b"x"))

    def option(kind, content):
        return bytes([kind, (len(content) + 2 + 7) // 8]) + content + b"\0" * (-(len(content) + 2) % 8)
    lifetime = b"\0\0\0\0\2\x58"
    prefix = b"\xc0" + struct.pack(">II", 7200, 3600) + b"\0" * 4 + ours
    known = {
        "link": option(1, PEER_MAC), "target": option(2, PEER_MAC), "prefix": option(3, b"\x40" + prefix),
        "redirected": option(4, b"\0" * 6 + b"\x60" + b"\0" * 47), "mtu": option(5, b"\0\0\0\0\5\xdc"),
        "nonce": option(14, b"nonce6"), "route": option(24, b"\x30\x08\0\0\2\x58" + ours[:8]),
        "servers": option(25, lifetime + ours * 2),
        "domains": option(31, lifetime + name_on_wire("lab.test") + name_on_wire("example.org")),
        "portal": option(37, b"https://x/"), "pref64": option(38, b"\x02\x58" + bytes.fromhex("0064ff9b") + b"\0" * 8)}
    advertisement = b"\x86\0\0\0\x40\xc8\7\x08" + b"\0" * 8
    yield "rs", b"\1\x05" + icmp(133, 0) + known["link"]
    yield "ns", b"\1\x09" + icmp(135, 0) + ours + known["link"]
    yield "ns-of-dad", b"\1\x08" + icmp(135, 0) + ours + known["nonce"]
    yield "na", b"\1\x0d" + icmp(136, 0, b"\x60\0\0\0") + ours + known["target"]
    yield "redirect", b"\1\x0d" + icmp(137, 0) + router + ours + known["target"] + known["redirected"]
    yield "ra", b"\1\x09" + advertisement + b"".join(known.values())
    for name, content in known.items():
        yield "ra-" + name, b"\1\x09" + advertisement + content
        yield f"ra-{name}-cut", b"\1\x09" + advertisement + content[:-8] + b"\0" * (len(content) == 8)
    # CVE-2021-21279, CVE-2026-7426 and CVE-2020-16898.
    yield "option-length-0", b"\1\x09" + advertisement + known["mtu"] + b"\x0e\0" + b"\0" * 6
    yield "prefix-length-200", b"\1\x09" + advertisement + option(3, b"\xc8" + prefix)
    yield "half-a-server", b"\1\x09" + advertisement + option(25, lifetime + ours + b"\0" * 8)
    yield "fragmented-ra", b"\1\xc9" + advertisement
    yield "mld-query-v1", b"\2\x09" + icmp(130, 0, b"\x27\x10\0\0") + group
    yield "mld-query-v2", b"\2\x09" + icmp(130, 0, b"\x83\xe8\0\0") + group + b"\2\x7d\0\1" + ours
    yield "mld-report-v1", b"\2\x09" + icmp(131, 0) + group
    yield "mld-sources-beyond", b"\2\x09" + icmp(130, 0) + group + b"\2\x7d\x10\0" + ours
    for text in ("::", "2001:db8::1", "::ffff:192.0.2.33", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7.8.9.10", "1::2::3",
                 "fe80::1%eth0", "1:2:3:4:5:6:7::", ":::"):
        yield "text-" + text.replace(":", "-").replace("%", "-"), b"\3" + text.encode()


def hostile6():
    """Packets and calls in the script of fuzz/hostile6.c. Places are those of fuzz/craft6.h."""
    ns, na, ra, redirect, mld, error, tcp6, udp6 = range(8)

    def packet(kind, how=0, body=b"", spoilt=b"", count=0, pieces=b"", poll=True):
        return bytes([kind | (count + 1 << 3 if count else 0) | (0x20 if pieces else 0) | (0 if poll else 0x40), how]) + body + spoilt + pieces

    def call(what, choice, socket=3, more=b""):
        return bytes([0xC0 | (socket - 1) << 3 & 0x28 | what, choice]) + more

    def wait(step):
        return bytes([0xF0 | step])
    prefix, mtu, link, nonce = b"\3\1\x04", b"\x46", b"\0", b"\7"
    advertised = packet(ra, 0x82, b"\0\0" + prefix + mtu) + wait(2) + wait(3)
    opened = packet(tcp6, 0, b"\x81") + packet(tcp6, 0, b"\0") + call(1, 0, 4) + packet(tcp6, 1, b"\0\x20") + call(2, 200, 4)
    for mode in range(5):
        yield f"autoconfiguration-{mode}", bytes([mode]) + advertised + packet(ns, 0xC2, b"\4" + link + nonce) + packet(na, 0x42, link) + wait(4) + packet(ra, 2, b"\0\2") + wait(7)
        yield f"known-{mode}", bytes([0x20 | mode]) + opened + (packet(tcp6, 1, b"\0\x20") + call(2, 200, 4)) * 3 + packet(tcp6, 0, b"\0") * 3
        yield f"connection-{mode}", bytes([mode]) + opened + packet(tcp6, 3, b"\0") + call(3, 1, 4) + packet(tcp6, 0, b"\0") + wait(5)
    yield "duplicate-address", b"\x80" + packet(ns, 1, b"\xe0") + packet(na, 8, b"\xe0") + wait(3) + packet(na, 9, b"\xe4") + wait(4)
    yield "looped-probe", b"\x80" + packet(ns, 0x45, b"\xe0" + nonce) + wait(3)
    yield "routers", b"\0" + advertised + packet(ra, 0x8A, b"\x18\0" + b"\x08\x1a" + b"\x46") + packet(ra, 0xC2, b"\0\0" + b"\x09\x1a\x73") + packet(redirect, 0x40, b"\6\6\2") + wait(6) + wait(7)
    yield "prefixes", b"\0" + b"".join(packet(ra, 0xC2, b"\0\0" + bytes([3, n, 4, 3, n + 1, 0x2d, 3, n + 2, 0x3f])) for n in range(0, 60, 3)) + wait(6) + wait(7)
    yield "redirects", b"\0" + advertised + call(0, 8 | 2 << 4) + packet(redirect, 0x48, b"\3\6\2") + packet(redirect, 0x48, b"\6\6\2") + wait(3) + packet(redirect, 0x40, b"\7\7\2")
    yield "queries", b"\0" + packet(mld, 4, b"\3\xe8\2\x7d\1") + wait(3) + packet(mld, 0, b"\0\x64\x0a\2\x7d\0") + wait(4) + packet(mld, 12, b"\x83\xe8\x0f\xff\1") + packet(mld, 2, b"\0\0\x0a\0\0") + wait(4)
    for kind in range(8):
        yield f"error-{kind}", b"\0" + opened + b"".join(packet(error, kind, bytes([n << 2])) for n in range(0, 8, 2)) + call(2, 200, 4) + packet(error, 8 | kind, b"\0\0\x40\0\0\1") + wait(3)
    yield "echoes", b"\0" + packet(error, 6, b"\0" + b"ping1234") + packet(error, 14, b"\0" + b"x" * 1200) + packet(error, 7, b"\0reply123") + call(2, 6, 3)
    yield "datagrams", b"\0" + b"".join(packet(udp6, n, b"\0") for n in range(16)) + call(2, 6, 2) * 8 + call(2, 4, 2, b"\0") + call(2, 12, 2, b"\1") + wait(3)
    for size in range(3, 8):
        for odd in (0, 0x10, 0x20, 0x40, 0x80):
            yield f"pieces-{size}-{odd}", b"\0" + packet(udp6, 5, b"\0", pieces=bytes([size, odd | 1, size])) + packet(error, 14, b"\0" + b"x" * 1200, pieces=bytes([8 | size, odd, 9])) + wait(6)
    yield "chains", b"\0" + b"".join(packet(error, 6, b"\0ping1234", bytes([0x0f, header | how << 4]), 1) for header in range(8) for how in (0, 2, 3, 4, 5, 6))
    yield "strangers", b"\0" + b"".join(packet(error, 6, b"\0ping1234", bytes([0x0b, n]), 1) for n in range(80)) + wait(3) + wait(6)
    yield "own-calls", b"\0" + b"".join(call(0, n << 4 | 0x0d, 1 + n % 4) for n in range(4)) + call(5, 5) + call(2, 4, 2, b"\5") + wait(5) + call(5, 0) + call(5, 8) + wait(4) + call(5, 1) + call(5, 9) + wait(4) + call(5, 0x3a) + wait(4) + call(5, 0x83)


def devices():
    """Scripts of fuzz/devices.c: what an honest device would do to descriptors, with some words of another mind."""
    def word(value):
        return b"\xc0" + struct.pack(">I", value)

    def memory(region, at, value, step=0, count=1):
        return b"\x0c" + bytes([region | step | count - 1 << 5]) + struct.pack(">H", at // 4) + word(value)

    def register(at, value, flips=None):
        return b"\x09" + bytes([at // 4 | (0x80 if flips is not None else 0)]) + word(value) + (word(flips) if flips is not None else b"")
    poll, timer, interrupt, flush = b"\x00", b"\x95", b"\6", b"\7"
    sent = b"".join(b"\3" + bytes([how]) for how in (0x1C, 0x3D, 0x3E, 0x3F, 0x7F)) + flush
    gem, emac, pcnet, lan9118, stellaris, virtio, pci, smc91c111 = (bytes([n]) for n in range(8))
    for length in (0, 13, 60, 1514, 1518, 1519, 0x7FF, 0x1FFF):
        yield f"gem-{length}", gem + memory(0, 4, 3 << 14 | length) + memory(0, 0, 1) + poll + sent + timer
        yield f"emac-{length}", emac + memory(0, 4, length) + memory(0, 0, 1) + poll + sent + timer
        yield f"pcnet-{length}", pcnet + memory(0, 8, length) + memory(0, 4, 3 << 24) + poll + sent + timer
        yield f"lan9118-{length}", lan9118 + register(0x40, length << 16) + register(0x7C, 1 << 16) + poll + sent + timer
        yield f"stellaris-{length}", stellaris + register(0x10, length) + register(0x34, 1) + poll + sent + timer
        yield f"smc91c111-{length}", smc91c111 + register(0x08, length + 6 << 16) + poll + register(0x0C, 0x33000008) + sent + timer
        yield f"virtio-{length}", virtio + b"\xe0\0" + memory(0, 8, length) + memory(0, 4, 0) + memory(3, 12, 1) + memory(0, 0, 0x10000) + poll + sent + timer
    yield "gem-all-owned", gem + memory(0, 0, 1, 8, 8) + memory(0, 4, 3 << 14 | 60, 8, 8) + (b"\xf0" + interrupt) * 4 + sent + memory(0, 260, 1 << 31, 8, 8) + poll
    yield "gem-in-the-middle", gem + sent + b"\x08\2" + poll + b"\1" + memory(0, 260, 1 << 31, 8, 8)[1:] + sent + poll
    yield "emac-transmitter", emac + sent + register(0x14, 0x20) + poll + sent + register(0x14, 0x7F, 0x60) + poll + sent
    yield "emac-reports", emac + register(0x20, 1) + poll + register(0x20, 7, 7) + poll
    yield "pcnet-off", pcnet + sent + register(0x10, 0) + poll + register(0x10, 0x1130, 0x1000) + poll + sent + timer
    yield "lan9118-states", lan9118 + register(0x80, 0x11200) + sent + register(0x80, 0, 0x11200) + sent + poll + timer
    yield "smc91c111-longest", smc91c111 + register(8, 0x7FF << 16) + poll + register(8, 0x20FF5F4) + poll
    yield "smc91c111-full", smc91c111 + sent + register(0x0C, 0x33000008, 8) + sent + poll + timer + interrupt + poll
    yield "smc91c111-states", smc91c111 + register(0, 0, 1) + register(0x0C, 0x33000012, 0x40) + poll + register(4, 0x8000, 0x8000) + register(8, 0x20400000, 0xA0030020) + b"\xf0" + interrupt + poll + timer
    for size in (0, 4, 0x80, 0xF0):
        yield f"virtio-sizes-{size}", virtio + b"\xe0" + bytes([size]) + sent + memory(1, 0, 1 << 16) + poll + memory(1, 0, 0x4000 << 16) + poll + timer + b"\xf5" * 4 + sent + poll
    yield "virtio-merged", virtio + b"\xe0\0" + memory(3, 12, 3) + memory(0, 4, 0) + memory(0, 8, 4094) + memory(0, 12, 1) + memory(0, 16, 4094) + memory(0, 20, 2) + memory(0, 24, 100) + memory(0, 0, 0x30000) + poll
    yield "virtio-resets", virtio + b"\xe0\0" + sent + register(0, 0x40) + timer + b"\xf5" * 3 + register(0, 0) + b"\xf5" * 3 + sent + poll + interrupt
    yield "pci", pci + b"\0" + sent + poll + timer
    for number in (0x14, 0x18, 0x1C, 0x20, 0x0D, 4):
        yield f"pci-{number}", pci + b"\1" + bytes([number]) + b"\xe1" + sent + poll + timer


def apps():
    """Conversations in the script of fuzz/apps.c."""
    serves, asks, http_server, sntp, resolver, dhcp_client = (bytes([n]) for n in range(6))

    def connect(at=0):
        return bytes([at << 4])

    def words(which, at=0):
        return bytes([at << 4 | 3, which])

    def state(value, at=0):
        return words(value << 3 | 6, at)

    def reply(message, fitting=True):
        return bytes([9 if fitting else 8, len(message)]) + message

    def wait(step):
        return bytes([0x0D | step << 4])
    cookie, create, begun, running, end, results, shown, done = 5, 10, 1, 2, 4, 13, 14, 16
    tail = wait(4) + state(end) + wait(1) + words(4) + wait(1) + state(done) + wait(2)
    for parameters in range(4):
        streams = b"".join(connect(n) + (b"\x0b" if parameters == 1 else words(cookie, n)) for n in range(1, 5))
        yield f"iperf3-server-{parameters}", serves + connect() + words(cookie) + words(parameters) + wait(1) + streams + wait(3) + b"\x26" + tail
    yield "iperf3-server-busy", serves + connect() + words(cookie) + words(0) + connect(1) + words(cookie, 1) + words(0, 1) + wait(4) + wait(5) + connect(2) + b"\x22\x04abcd" + b"\x27\1"
    for how in (0x01, 0x11, 0x21, 0x41, 0x81, 0xC1, 0x61):
        accepted = b"".join(connect(n) + b"\x1b" for n in range(1, 5))
        yield f"iperf3-client-{how}", bytes([how]) + wait(1) + connect() + state(9) + wait(1) + state(create) + wait(1) + accepted + state(begun) + state(running) + wait(4) + wait(4) + b"\x16" + wait(4) \
            + state(results) + words(4) + state(shown) + wait(3)
    for number in range(8):
        yield f"http-{number}", http_server + connect() + words(number) + wait(1) + b"\6" * 4 + words(number) + wait(6) + b"\6" + b"\7\0" + wait(6)
    yield "http-many", http_server + b"".join(connect(n) + words(n + 1, n) for n in range(6)) + wait(3) + b"\x06\x16\x26\x36\x46\x56" * 3 + wait(7)
    yield "http-crowd", http_server + connect() + words(2) + b"\x8c" * 5 + wait(3) + b"\x3c" * 3 + wait(6)
    yield "iperf3-crowd", serves + connect() + words(cookie) + b"\x0c" * 5 + wait(3) + words(0) + wait(6)
    answered = bytes([0x24, 2]) + b"\0" * 38 + struct.pack(">I", 0xEE000000) + b"\0" * 4 + struct.pack(">I", 0xEE000000) + b"\0" * 4
    good = answered[:32] + struct.pack(">II", 0xEE000000, 0) * 2
    for name, message in (("good", good), ("kiss", b"\x24\0" + b"\0" * 10 + b"RATE" + good[16:]), ("deny", b"\x24\0" + b"\0" * 10 + b"DENY" + good[16:]), ("short", good[:40]),
                          *((f"stratum-{n}", good[:1] + bytes([n]) + good[2:]) for n in (1, 7, 15))):
        yield f"sntp-{name}", sntp + wait(0) + reply(message) + wait(4) + reply(message) + wait(7) + reply(message, False)
    address = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc0\0\2\1"
    for name, message in (("found", b"\x81\x80\0\1\0\0\0\0" + address), ("none", b"\x81\x83\0\0\0\0\0\0"), ("cut", b"\x83\x80\0\0\0\0\0\0"), ("refused", b"\x81\x85\0\0\0\0\0\0"),
                          ("bad", b"\x81\x81\0\0\0\0\0\0"), ("cname", b"\x81\x80\0\2\0\0\0\0\xc0\x0c\0\5\0\1\0\0\0\x3c\0\4\1a\xc0\x14" + address)):
        yield f"dns-{name}", resolver + b"\0" + wait(0) + reply(message) + wait(1) + b"\x0c\1" + wait(0) + reply(message, False) + connect() + b"\2\x20" + b"\0\x1e" + message + b"\0" * 22 + wait(5) + wait(6)
    basic = b"\x36\4\x0a\0\0\x09\x33\4\0\0\0\x3c\1\4\xff\xff\xff\0\3\4\x0a\0\0\x09\6\4\x0a\0\0\x09\xff"
    offer, ack, nak = (b"\x35\1" + bytes([kind]) + basic for kind in (2, 5, 6))
    yield "dhcp-lease", dhcp_client + wait(6) + reply(offer) + wait(1) + reply(ack) + wait(6) + wait(7) + reply(ack) + wait(7) + wait(7)
    yield "dhcp-claimed", dhcp_client + wait(6) + reply(offer) + wait(1) + reply(ack) + b"\x0b" + wait(3) + b"\x0b" + wait(6) + wait(6)
    yield "dhcp-refused", dhcp_client + wait(6) + reply(offer) + wait(1) + reply(nak) + wait(6) + reply(offer) + wait(7)


def framing():
    """SLIP: what comes, then polls and packets to send. vnet: frames of fuzz/framing.c, each with its header."""
    end, escape = b"\xc0", b"\xdb"

    def slip(line, script=b"\x0c" * 4):
        return b"\0" + struct.pack(">H", len(line)) + line + script
    yield "slip-packets", slip(end + b"packet one" + end + end + b"two" + end)
    yield "slip-escapes", slip(b"a" + escape + b"\xdc" + escape + b"\xdd" + b"b" + end + escape + end + b"c" + escape + b"d" + end)
    yield "slip-overlong", slip(b"x" * 1006 + end + b"y" * 1007 + end + b"z" + end)
    yield "slip-out", slip(b"q" + end, b"\x0f" + b"\1\5" + b"\xc0\xdb\xdc\xdd" * 6 + b"\0" + b"\x07\0\0\xff" + b"\1\x03" + b"abcd" * 4 + b"\0")

    def vnet(how, rest, kind, flags, gso, size, start, cut=b""):
        return bytes([how, rest, kind, flags, gso, 0, size, start, 14]) + cut
    for link, start in ((1, 4), (0, 6)):
        yield f"vnet-plain-{link}", bytes([1, link]) + vnet(5, 10, 1, 0, 0, 0, 0) + vnet(5, 10, 0, 1, 0, 0, start)
        yield f"vnet-tcp-{link}", bytes([1, link]) + b"".join(vnet(5, 12, 1 | n & 2, 1, gso, 11, start) for n, gso in enumerate((1, 4, 0x81, 3)))
        yield f"vnet-udp-{link}", bytes([1, link]) + vnet(5, 12, 0, 1, 5, 10, start) + vnet(5, 11, 0, 1, 5, 1, start) + vnet(5, 10, 0, 1, 5, 0, start) + vnet(1, 10, 0, 1, 5, 10, 13, b"\7")


def threads():
    """Calls of fuzz/threads.c, after a schedule of half their length: descriptors count up from 0."""
    def call(what, how=0, fd=0):
        return bytes([fd << 4 | what, how])
    listener, stream, datagrams = call(0, 0x70), call(0, 0), call(0, 0x33)
    opened = listener + stream + call(2, 0, 1) + call(4, 0, 0)
    scripts = {
        "conversation": opened + (call(5, 200, 1) + call(7, 4, 2)) * 6 + call(10, 1, 1) + call(7, 4, 2) * 2 + call(9, 0, 2) + call(9, 0, 1),
        "waiting-reader-is-closed": opened + call(7, 4, 1) + call(7, 4, 2) + call(9, 0, 1) + call(9, 0, 2) + call(9, 0, 0),
        "full": opened + call(5, 0x40, 1) * 6 + call(7, 0x40, 2) * 8 + call(9, 0, 1),
        "datagrams": datagrams + call(0, 3) + (call(5, 0xB0, 1) + call(7, 8, 0)) * 4 + call(9, 0, 0),
        "polls": opened + (call(11, 0x0B) + b"\1\1\2\5\0\1" + call(5, 9, 1) + call(14, 7) + b"\1\2" + call(11, 0x0E) + b"\1\4\2\1") * 3 + call(9, 0, 2),
        "sets": opened + call(12, 0) + (call(12, 0x47, 3) + b"\1" + call(12, 0x51, 3) + b"\2" + call(12, 0xC1, 3) + call(5, 9, 1) + call(12, 0x8F, 3) + b"\2" + call(12, 0xC2, 3)) * 2 + call(12, 0xA0, 3) + b"\1" + call(9, 0, 3),
        "options": opened + b"".join(call(13, n | 0x48, 1) for n in range(8)) + call(7, 9, 1) + call(5, 0x40, 1) * 3 + call(9, 0, 1) + call(15, 2, 2),
        "accepts": listener + call(4, 0, 0) * 3 + (stream + call(2, 0, 1) + call(9, 0, 1)) * 3 + call(9, 0, 0)}
    chance = random.Random(1003)
    for name, script in scripts.items():
        for number in range(4):
            yield f"{name}-{number}", bytes(chance.randrange(256) if number else 0 for _ in range(len(script) // 2)) + script


def syscalls():
    """Calls of fuzz/syscalls.c by whoever runs: the driver first, then the server, then the two others."""
    call, receive, reply, notify, now, on, show, chance, rest, leave = range(10)

    def calls(to, place=0x10, offset=0x40):
        return bytes([call, to, place, offset])

    def receives(place=0x10, offset=0, seconds=9):
        return bytes([receive, place, offset, 0, seconds])

    def replies(to, place=0x10, offset=0x40):
        return bytes([reply, to, place, offset])
    server, two, tick, interrupt, fault = 0, 3, b"\xbb", b"\x0d", b"\x0f"
    waiting = receives() * 3
    yield "call", waiting + calls(server) + replies(two) + receives() + calls(server) + replies(two)
    yield "notifications", waiting + bytes([notify, server, notify, two, notify, 4]) + tick + interrupt + receives(0x10, 0, 0) + bytes([on])
    yield "ends", waiting + calls(server) + fault + tick + bytes([leave]) + tick + tick + fault
    yield "shared", receives() + receives() + receives(0x50, 0) + calls(server, 0x50, 4) + replies(two, 0x50, 8) + receives(0x50, 0x7C)
    yield "others", b"".join(calls(server, 0x90 | place, offset) + receives(0x80 | place, offset) for place in range(9) for offset in (0, 0x60, 0x7C, 0xFF))
    yield "all", bytes([now, on, show, 0x10, 0x40, 64, show, 0x10, 0x40, 65, show, 0x90 | 7, 0, 16, chance, rest, 14, 77]) + tick * 3
    yield "times", waiting + bytes([rest]) * 3 + b"\x0a\x4a\x8a\xca\xea" * 3


def mdns():
    def name(*labels):
        return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"

    def message(flags, *sections):
        return struct.pack(">6H", 0, flags, *map(len, sections)) + b"".join(part for section in sections for part in section)

    def question(whose, kind, klass=1):
        return whose + struct.pack(">HH", kind, klass)

    def record(whose, kind, data, ttl=120, klass=0x8001):
        return whose + struct.pack(">HHIH", kind, klass, ttl, len(data)) + data

    def row(*messages, how=0):
        return b"".join(struct.pack(">H", how | len(m)) + m for m in messages)
    host, web, http, ipp = name(b"kitchen", b"local"), name(b"Web", b"_http", b"_tcp", b"local"), name(b"_http", b"_tcp", b"local"), name(b"_ipp", b"_tcp", b"local")
    one = name(b"One", b"_ipp", b"_tcp", b"local")
    ask = [message(0, [question(host, 255)], [], [], []), message(0, [question(http, 12)], [record(http, 12, web, 4500, 1)], [], []),
           message(0x200, [question(http, 12), question(web, 33, 0x8001)], [], [], [])]
    offer = message(0x8400, [], [record(ipp, 12, one, 4500, 1)], [], [record(one, 33, b"\0" * 4 + b"\2\x77" + b"\xc0\x0c"), record(one, 16, b"\3a=b"),
                                                                 record(name(b"p", b"local"), 1, PEER)])
    claim = message(0x8400, [], [record(host, 1, PEER), record(web, 33, b"\0" * 5 + b"\1" + host)], [], [])
    probe = message(0, [question(host, 255)], [], [record(host, 1, PEER, 120, 1)], [])
    yield "asked", row(*ask)
    yield "asked-late", row(*ask, how=0x2000)
    yield "asked-of-old", row(*ask, how=0xa000)
    yield "asked-unicast", row(*ask, how=0x6000)
    yield "offer", row(offer, offer, how=0x2000)
    yield "claim", row(claim)
    yield "claim-late", row(claim, claim, how=0x2000)
    yield "probe", row(probe)
    yield "loop", row(message(0, [b"\xc0\x0c" + b"\0\1\0\1"], [], [], []))


def mqtt():
    def packet(first, body):
        return bytes([first, len(body)]) + body

    def row(how, *packets):
        return bytes([how]) + b"".join(bytes([len(p)]) + p for p in packets)
    message, second, release = packet(0x32, b"\0\3a/b\0\7hello"), packet(0x34, b"\0\1a\0\x08x"), packet(0x62, b"\0\x08")
    five = packet(0x32, b"\0\3a/b\0\7\x0f\x02\0\0\0\x3c\x03\0\1t\x0b\1\x26\0\0\0\0hi")
    yield "connack", row(0, b"\x20\2\0\0", b"\xd0\0")
    yield "connack-5", row(1, packet(0x20, b"\0\0\x0d\x21\0\1\x13\0\5\x24\1\x27\0\0\0\x14"), five)
    yield "refused", row(0, b"\x20\2\0\5")
    yield "messages", row(2, message, second, second, release, message[:3], message[3:])
    yield "acknowledgements", row(10, b"\x40\2\0\1\x50\2\0\2", b"\x70\2\0\2\x90\3\0\3\1")
    yield "acknowledgements-5", row(11, b"\x40\3\0\1\x10", packet(0x50, b"\0\2\0\4\x1f\0\1r"), b"\x70\2\0\2", b"\x90\4\0\3\0\1")
    yield "disconnect", row(3, b"\xe0\1\x8e")
    yield "long", row(2, b"\x30\xff\xff\xff\x7f\0\1a", b"x" * 200)


def http_server():
    def row(how, *pieces):
        return bytes([how]) + b"".join(b"\xff" if p is None else bytes([len(p)]) + p for p in pieces)

    def frame(first, data, mask=b"\1\2\3\4"):
        return bytes([first, 0x80 | len(data)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))
    upload, chunked = b"POST /upload HTTP/1.1\r\nHost: a\r\n", b"Transfer-Encoding: chunked\r\n\r\n"
    yield "length", row(1, upload + b"Content-Length: 5\r\n\r\nabcde", b"GET /text?name=%41 HTTP/1.1\r\nHost: a\r\nRange: bytes=1-2\r\nIf-Range: \"ten\"\r\n\r\n")
    yield "chunks", row(2, upload + chunked + b"3;a=b\r\nabc\r\n", b"1\r\nd\r\n0\r\nX: y\r\n\r\n", b"GET /lines HTTP/1.1\r\nHost: a\r\n\r\n")
    yield "continue", row(0, upload + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", b"a", None, None)
    yield "refused", row(0, upload + b"X-Key: wrong\r\n" + chunked, b"4\r\nGET \r\n0\r\n\r\n")
    yield "files", row(0, b"GET /page.html HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br, gzip;q=0.5\r\nIf-None-Match: W/\"p1\", \"p1z\"\r\n\r\n")
    yield "later", row(0, b"GET /later HTTP/1.1\r\nHost: a\r\n\r\nGET /a.js HTTP/1.0\r\n\r\n", None)
    yield "events", row(0, b"GET /events HTTP/1.1\r\nHost: a\r\n\r\n", None, None, b"x")
    yield "upgrade", row(0, b"GET /echo HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: a, upgrade\r\nOrigin: http://a\r\n",
                         b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n" + frame(0x81, b"hi"), None, None)
    yield "frames", row(0x10, frame(1, b"\xe2\x82"), frame(0x89, b"ping") + frame(0x80, b"\xac"), frame(0x88, b"\3\xe8bye"))
    yield "long-frame", row(0x10, b"\x82\xfe\0\xfa\1\2\3\4" + b"x" * 200, b"x" * 50, None)
    yield "bad-frame", row(0x10, b"\x82\xff\0\0\0\0\0\1\0\0\1\2\3\4", b"x" * 200)


def tftp():
    def row(how, *packets):
        return bytes([how]) + b"".join(bytes([len(p)]) + p for p in packets)

    def data(number, length):
        return struct.pack(">HH", 3, number) + b"x" * length

    def ack(number):
        return struct.pack(">HH", 4, number)
    oack = b"\0\6blksize\x0064\0windowsize\x004\0"
    yield "get", row(6, oack, data(1, 64), data(2, 64), data(4, 64), data(3, 64), data(4, 64), data(5, 10))
    yield "get-size", row(2, b"\0\6blksize\x0064\0tsize\x005000\0")
    yield "get-refused", row(6, b"\0\5\0\x08no\0", data(1, 64), b"\0\5\0\1gone\0")
    yield "put", row(7, oack, ack(4), ack(6), ack(6), ack(10))
    yield "put-slow", row(3, b"\0\6blksize\x0064\0", ack(1)) + b"\x80\x80\x84" + ack(2)


def http_client():
    def row(how, *pieces):
        return bytes([how]) + b"".join(bytes([len(p)]) + p for p in pieces)
    ok, moved = b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 302 Found\r\nLocation: "
    yield "length", row(0, b"HTTP/1.1 100 Continue\r\n\r\n" + ok + b"Content-Length: 5\r\n\r\nab", b"cde")
    yield "chunks", row(3, ok + b"Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n", b"0\r\nX: y\r\n\r\n")
    yield "until-the-end", row(0, b"HTTP/1.0 200\r\n\r\nabc", b"")
    yield "range", row(0x10, b"HTTP/1.1 206 P\r\nContent-Range: bytes 4-6/9\r\nContent-Length: 3\r\n\r\nabc")
    yield "redirects", row(0x20, moved + b"../c?d#e\r\n\r\n", b"", moved + b"//127.0.0.1:80/x/./y\r\n\r\n", b"", ok + b"\r\nabc", b"")
    yield "nowhere", row(0, moved + b"https://[::1]:70000/\r\n\r\n")


def shell():
    def row(*pieces):
        return b"".join(bytes([len(p)]) + p for p in pieces)
    yield "look", row(b"help\n", b"ifconfig\r\n", b"netstat\nnetstat -s\n", b"cc\nstats\n", b"quit\n")
    yield "ask", row(b"ping 127.0.0.1 2\ncc\n") + b"\x80\x80\x81\x03" + row(b"nslookup localhost\n")
    yield "telnet", row(b"\xff\xfd\3c\xff\xfa\x18x\xff\xf0c\xff\xf1\0\r\n", b"x" * 100, b"x" * 100, b"\n")


def syslog():
    yield "message", b"\1\3\3\xff\0\6\0\0\0\0kitchen\0pump\0" + b"12\0id\0data@1\0name\0val\"ue\0text"
    yield "short", b"\x17\7\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0"


def update():
    body = bytes(range(200))
    start = struct.pack(">5I8x", 0x57494d31, 385, 2, len(body), zlib.crc32(body))
    whole = start + struct.pack(">I", zlib.crc32(start)) + body
    yield "whole", b"\xfc" + whole
    yield "short", b"\x40" + whole[:-1]
    yield "put-right", b"\x43" + bytes(8) + b"\0\0\0\3" + bytes(80)


def dhcp_server():
    yield "leases", b"".join(bytes([0, who, 0, 0, 2, who, 8 | 32 | 2 + who, 0]) for who in range(5))
    yield "renewals", b"\0\1\0\0\2\1\x2a\0\2\1\x12\x80\6\1\x32\0\0\2\0\0\3\2\x2a\0\7\3\x12\0"
    yield "raw", b"\0\1\0\4abcd"


# Each target's, by its name.
SEEDS = {make.__name__: make for make in (
    tiny, hostile, hostile6, paths, micro, devices, apps, syscalls, threads, framing, instance, wire, wire6,
    fragments, dns, dhcp, http, http_server, http_client, json, mdns, dhcp6, mqtt, tftp, shell, syslog,
    update, dhcp_server)}


def of(target):
    """Data by name."""
    return dict(SEEDS.get(target, lambda: ())())
