# SPDX-License-Identifier: BSD-2-Clause
"""IPv4 packets as bytes, and back, and as people read them."""
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


def ip_header(source, destination, protocol, length, tos=0, ttl=64, identification=0, fragment=0x4000):
    head = struct.pack("!BBHHHBBHII", 0x45, tos, 20 + length, identification, fragment, ttl, protocol, 0, source, destination)
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:]


def pseudo(source, destination, protocol, length):
    return struct.pack("!IIHH", source, destination, protocol, length)


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
    total = ones_sum(pseudo(source, destination, 6, len(head) + len(payload))) + ones_sum(head) + ones_sum(payload)
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    head = head[:16] + struct.pack("!H", ~total & 0xffff) + head[18:]
    return ip_header(source, destination, 6, len(head) + len(payload), tos, ttl) + head + payload


def pack_udp(source, destination, sport, dport, payload, tos=0, ttl=255):
    head = struct.pack("!HHHH", sport, dport, 8 + len(payload), 0)
    value = checksum(pseudo(source, destination, 17, 8 + len(payload)) + head + payload) or 0xffff
    return ip_header(source, destination, 17, 8 + len(payload), tos, ttl) + head[:6] + struct.pack("!H", value) + payload


def pack_icmp(source, destination, kind, code, rest, body, ttl=255):
    head = struct.pack("!BBHI", kind, code, 0, rest)
    value = checksum(head + body)
    return ip_header(source, destination, 1, 8 + len(body), 0, ttl) + head[:2] + struct.pack("!H", value) + head[4:] + body


@dataclasses.dataclass
class Live:
    """A packet that Weir sent."""
    time: int
    source: int
    destination: int
    protocol: str
    tos: int
    ttl: int
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
    version, tos, length, _, fragment, ttl, protocol, _, source, destination = struct.unpack("!BBHHHBBHII", data[:20])
    live = Live(time, source, destination, {6: "tcp", 17: "udp", 1: "icmp"}.get(protocol, str(protocol)), tos, ttl)
    size = (version & 15) * 4
    if ones_sum(data[:size]) != 0xffff:
        live.bad = "the checksum of the IP header is wrong"
    elif length != len(data):
        live.bad = f"the IP header says {length} bytes, there are {len(data)}"
    body = data[size:]
    if fragment & 0x3fff:
        live.protocol = "fragment"
    elif protocol == 6:
        live.sport, live.dport, live.seq, live.ack, words, live.window, _, live.urgent = struct.unpack("!HHIIHHHH", body[:20])
        live.flags = words & 0x1ff
        head = words >> 12 << 2
        live.options, live.payload = unpack_options(body[20:head]), body[head:]
        if words & 0xe00:
            live.bad = "reserved bits of the TCP header are set"
        if ones_sum(pseudo(source, destination, 6, len(body)) + body) != 0xffff:
            live.bad = "the TCP checksum is wrong"
    elif protocol == 17:
        live.sport, live.dport, _, value = struct.unpack("!HHHH", body[:8])
        live.payload = body[8:]
        if value and ones_sum(pseudo(source, destination, 17, len(body)) + body) != 0xffff:
            live.bad = "the UDP checksum is wrong"
    elif protocol == 1:
        live.icmp, live.payload = (body[0], body[1], struct.unpack("!I", body[4:8])[0]), body[8:]
        if ones_sum(body) != 0xffff:
            live.bad = "the ICMP checksum is wrong"
    return live
