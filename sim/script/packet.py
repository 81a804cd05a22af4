# SPDX-License-Identifier: BSD-2-Clause
"""Packets of IPv4 and IPv6 as bytes, and back, and as people read them. An address is its bytes, 4 or 16: they tell the version."""
import array
import dataclasses
import struct
import sys

from . import ScriptError

ECN_BITS = {"noecn": 0, "ect1": 1, "ect0": 2, "ce": 3}
FLAG_BITS = {"F": 1, "S": 2, "R": 4, "P": 8, ".": 16, "U": 32, "E": 64, "W": 128, "A": 256}
MSS, WSCALE, SACK_OK, SACK, TS, USER_TIMEOUT, ACCECN0, ACCECN1 = 2, 3, 4, 5, 8, 28, 172, 174
ACCECN_ORDER = {ACCECN0: ("e0b", "ceb", "e1b"), ACCECN1: ("e1b", "ceb", "e0b")}
ICMP_TYPES = {"echo_reply": 0, "unreachable": 3, "dst_unreachable": 3, "source_quench": 4, "redirect": 5, "echo_request": 8,
              "time_exceeded": 11, "parameter_problem": 12, "timestamp_request": 13, "timestamp_reply": 14, "information_request": 15,
              "information_reply": 16, "address_mask_request": 17, "address_mask_reply": 18, **{f"type_{number}": number for number in range(256)}}
UNREACHABLE = ("net_unreachable", "host_unreachable", "protocol_unreachable", "port_unreachable", "frag_needed", "source_route_failed",
               "net_unknown", "host_unknown", "source_host_isolated", "net_prohibited", "host_prohibited", "net_unreachable_for_tos",
               "host_unreachable_for_tos", "packet_filtered", "precedence_violation", "precedence_cutoff")
CODES = {**{name: code for code, name in enumerate(UNREACHABLE)}, "ttl_exceeded": 0, "frag_time_exceeded": 1,
         **{f"code_{number}": number for number in range(256)}}
ICMP6_TYPES = {"unreachable": 1, "dst_unreachable": 1, "packet_too_big": 2, "time_exceeded": 3, "parameter_problem": 4, "echo_request": 128,
               "echo_reply": 129, **{f"type_{number}": number for number in range(256)}}
ICMP6_CODES = {"noroute": 0, "admin_prohibited": 1, "beyond_scope": 2, "addr_unreachable": 3, "port_unreachable": 4, "policy": 5, "reject": 6,
               "hop_limit": 0, "frag_time_exceeded": 1, "ttl_exceeded": 0, "header_field": 0, "unknown_nexthdr": 1, "unknown_option": 2,
               **{f"code_{number}": number for number in range(256)}}
# What a script says in IPv4's words means this in IPv6 (RFC 4443 §3): type, code.
ICMP6_FOR_ICMP = {"net_unreachable": (1, 0), "host_unreachable": (1, 3), "protocol_unreachable": (4, 1), "frag_needed": (2, 0),
                  "net_prohibited": (1, 1), "host_prohibited": (1, 1), "packet_filtered": (1, 1)}
LARGER_HEADER = 20      # of IPv6 than of IPv4: an MTU that is told in IPv4's words has room for the same segment
TCP, UDP, ICMP, ICMP6 = 6, 17, 1, 58


def ones_sum(data):
    if len(data) % 2:
        data += b"\0"
    words = array.array("H", data)
    if sys.byteorder == "little":
        words.byteswap()
    total = sum(words)
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def checksum(data):
    return ~ones_sum(data) & 0xffff


def icmp_type(version6, kind, code, mtu):
    """(type, code, MTU) of the words of a script, whichever version they are from; None where there is no such message."""
    if code is not None and code.isdigit():
        code = "code_" + code
    if version6 and kind in ("unreachable", "dst_unreachable") and code in ICMP6_FOR_ICMP:
        return *ICMP6_FOR_ICMP[code], mtu + LARGER_HEADER if code == "frag_needed" else mtu
    types, codes = (ICMP6_TYPES, ICMP6_CODES) if version6 else (ICMP_TYPES, CODES)
    if kind not in types or code is not None and code not in codes:
        return None
    return types[kind], codes.get(code, 0), mtu


def ip_header(source, destination, protocol, length, tos=0, ttl=64, identification=0, fragment=0x4000):
    if len(source) == 16:
        return struct.pack("!IHBB", 6 << 28 | tos << 20, length, protocol, ttl) + source + destination
    head = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + length, identification, fragment, ttl, protocol, 0, source, destination)
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:]


def pseudo(source, destination, protocol, length):
    return source + destination + struct.pack("!II", length, protocol)


def pack_option(option, remap=None):
    """One option's bytes. `remap`: what is done to sequence numbers in SACK blocks."""
    name, *values = option
    if name == "nop":
        return b"\x01"
    if name == "eol":
        return b"\0"
    if name == "mss":
        return struct.pack("!BBH", MSS, 4, values[0])
    if name == "wscale":
        return struct.pack("!BBB", WSCALE, 3, values[0])
    if name == "uto":
        return struct.pack("!BBH", USER_TIMEOUT, 4, values[0])
    if name == "sackOK":
        return struct.pack("!BB", SACK_OK, 2)
    if name == "TS":
        return struct.pack("!BBII", TS, 10, values[0], values[1])
    if name == "sack":
        remap = remap or (lambda seq: seq)
        return struct.pack("!BB", SACK, 2 + 8 * len(values)) + b"".join(struct.pack("!II", remap(a), remap(b)) for a, b in values)
    if name == "ECN":
        order = [key for key, _ in values]
        kind = next((k for k, names in ACCECN_ORDER.items() if list(names[:len(order)]) == order), None)
        if kind is None:
            raise ScriptError(f"the AccECN option has its counters in the order e0b ceb e1b or e1b ceb e0b, not {' '.join(order)}")
        return struct.pack("!BB", kind, 2 + 3 * len(values)) + b"".join(struct.pack("!I", value)[1:] for _, value in values)
    raise ScriptError(f"the TCP option {name} cannot be written")


def unpack_options(data):
    found, at = [], 0
    while at < len(data):
        kind = data[at]
        if kind == 0:
            found.append(("eol",))
            break
        if kind == 1:
            found.append(("nop",))
            at += 1
            continue
        size = data[at + 1] if at + 1 < len(data) else 0
        if size < 2 or at + size > len(data):
            found.append(("malformed", data[at:].hex()))
            break
        found.append(unpack_option(kind, data[at + 2:at + size]))
        at += size
    return found


def unpack_option(kind, body):
    if kind == MSS and len(body) == 2:
        return "mss", struct.unpack("!H", body)[0]
    if kind == WSCALE and len(body) == 1:
        return "wscale", body[0]
    if kind == USER_TIMEOUT and len(body) == 2:
        return "uto", struct.unpack("!H", body)[0]
    if kind == SACK_OK and not body:
        return ("sackOK",)
    if kind == TS and len(body) == 8:
        return "TS", *struct.unpack("!II", body)
    if kind == SACK and len(body) % 8 == 0 and body:
        numbers = struct.unpack(f"!{len(body) // 4}I", body)
        return "sack", *zip(numbers[::2], numbers[1::2])
    if kind in ACCECN_ORDER and len(body) % 3 == 0 and len(body) <= 9:
        counters = [int.from_bytes(body[i:i + 3], "big") for i in range(0, len(body), 3)]
        return "ECN", *zip(ACCECN_ORDER[kind], counters)
    return f"option{kind}", body.hex()


def pack_tcp(source, destination, sport, dport, seq, ack, flags, window, urgent, options, payload, tos=0, ttl=255):
    options += b"\0" * (-len(options) % 4)
    if len(options) > 40:
        raise ScriptError("the TCP options are longer than 40 bytes")
    words = (20 + len(options)) // 4 << 12 | flags
    head = struct.pack("!HHIIHHHH", sport, dport, seq, ack, words, window, 0, urgent) + options
    total = ones_sum(pseudo(source, destination, TCP, len(head) + len(payload))) + ones_sum(head) + ones_sum(payload)
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    head = head[:16] + struct.pack("!H", ~total & 0xffff) + head[18:]
    return ip_header(source, destination, 6, len(head) + len(payload), tos, ttl) + head + payload


def pack_udp(source, destination, sport, dport, payload, tos=0, ttl=255):
    head = struct.pack("!HHHH", sport, dport, 8 + len(payload), 0)
    value = checksum(pseudo(source, destination, UDP, 8 + len(payload)) + head + payload) or 0xffff
    return ip_header(source, destination, 17, 8 + len(payload), tos, ttl) + head[:6] + struct.pack("!H", value) + payload


def pack_icmp(source, destination, kind, code, rest, body, ttl=255):
    head = struct.pack("!BBHI", kind, code, 0, rest)
    version6 = len(source) == 16
    value = checksum((pseudo(source, destination, ICMP6, 8 + len(body)) if version6 else b"") + head + body)
    protocol = ICMP6 if version6 else ICMP
    return ip_header(source, destination, protocol, 8 + len(body), 0, ttl) + head[:2] + struct.pack("!H", value) + head[4:] + body


@dataclasses.dataclass
class Live:
    """A packet that Weir sent."""
    time: int
    source: bytes
    destination: bytes
    protocol: str
    tos: int
    ttl: int
    label: int = 0      # IPv6's flow label
    sport: int = 0
    dport: int = 0
    seq: int = 0
    ack: int = 0
    flags: int = 0
    window: int = 0
    urgent: int = 0
    options: list = None
    payload: bytes = b""
    icmp: tuple = None
    bad: str = ""

    def to_group(self):
        return self.destination[0] == 0xff if len(self.destination) == 16 else self.destination[0] >> 4 == 0xe

    def names(self):
        return "".join(letter for letter, bit in FLAG_BITS.items() if self.flags & bit and letter != ".") + ("." if self.flags & 16 else "")

    def text(self, seq=0, ack=0):
        """In the language; `seq` and `ack` are added to the numbers."""
        ecn = {0: "", 1: "[ect1] ", 2: "[ect0] ", 3: "[ce] "}[self.tos & 3]
        if self.protocol == "udp":
            return f"> {ecn}udp ({len(self.payload)})"
        if self.protocol == "icmp":
            return f"> icmp type {self.icmp[0]} code {self.icmp[1]}"
        if self.protocol != "tcp":
            return f"> protocol {self.protocol}"
        start = (self.seq + seq) % 2**32
        words = [f"> {ecn}{self.names() or '-'} {start}:{(start + len(self.payload)) % 2**32}({len(self.payload)})"]
        if self.flags & 16:
            words.append(f"ack {(self.ack + ack) % 2**32}")
        words.append(f"win {self.window}")
        if self.urgent or self.flags & 32:
            words.append(f"urg {self.urgent}")
        if self.options:
            words.append("<" + ",".join(option_text(option) for option in self.options) + ">")
        return " ".join(words)


def option_text(option):
    name, *values = option
    if name == "TS":
        return "TS val {} ecr {}".format(*("..." if value is None else value for value in values))
    if name == "sack":
        return "sack " + " ".join(f"{a}:{b}" for a, b in values)
    if name == "ECN":
        return "ECN " + " ".join(f"{a} {b}" for a, b in values)
    return " ".join([name] + [str(v) for v in values])


def unpack(time, data):
    if data[0] >> 4 == 6:
        return unpack_ip6(time, data)
    version, tos, length, _, fragment, ttl, protocol, _, source, destination = struct.unpack("!BBHHHBBH4s4s", data[:20])
    live = Live(time, source, destination, {TCP: "tcp", UDP: "udp", ICMP: "icmp"}.get(protocol, str(protocol)), tos, ttl)
    size = (version & 15) * 4
    if ones_sum(data[:size]) != 0xffff:
        live.bad = "the checksum of the IP header is wrong"
    elif length != len(data):
        live.bad = f"the IP header says {length} bytes, there are {len(data)}"
    if fragment & 0x3fff:
        live.protocol = "fragment"
    else:
        unpack_body(live, protocol, data[size:], b"")
    return live


def unpack_ip6(time, data):
    first, length, protocol, hop_limit = struct.unpack("!IHBB", data[:8])
    source, destination, rest = data[8:24], data[24:40], data[40:]
    live = Live(time, source, destination, "", first >> 20 & 255, hop_limit, first & 0xfffff)
    if length != len(rest):
        live.bad = f"the IP header says {40 + length} bytes, there are {len(data)}"
    while protocol in (0, 43, 60):      # what stands before the transport header
        protocol, rest = rest[0], rest[8 + 8 * rest[1]:]
    live.protocol = {TCP: "tcp", UDP: "udp", ICMP6: "icmp", 44: "fragment"}.get(protocol, str(protocol))
    if protocol != 44:
        unpack_body(live, protocol, rest, pseudo(source, destination, ICMP6, len(rest)))
    return live


def unpack_body(live, protocol, body, pseudo_icmp):
    source, destination = live.source, live.destination
    if protocol == TCP:
        live.sport, live.dport, live.seq, live.ack, words, live.window, _, live.urgent = struct.unpack("!HHIIHHHH", body[:20])
        live.flags = words & 0x1ff
        head = words >> 12 << 2
        live.options, live.payload = unpack_options(body[20:head]), body[head:]
        if words & 0xe00:
            live.bad = "reserved bits of the TCP header are set"
        if ones_sum(pseudo(source, destination, TCP, len(body)) + body) != 0xffff:
            live.bad = "the TCP checksum is wrong"
    elif protocol == UDP:
        live.sport, live.dport, _, value = struct.unpack("!HHHH", body[:8])
        live.payload = body[8:]
        if (value or len(source) == 16) and ones_sum(pseudo(source, destination, UDP, len(body)) + body) != 0xffff:
            live.bad = "the UDP checksum is wrong"
    elif protocol == (ICMP6 if pseudo_icmp else ICMP):
        live.icmp, live.payload = (body[0], body[1], struct.unpack("!I", body[4:8])[0]), body[8:]
        if ones_sum(pseudo_icmp + body) != 0xffff:
            live.bad = "the ICMP checksum is wrong"
