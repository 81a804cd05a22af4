# SPDX-License-Identifier: BSD-2-Clause
"""The grammar: a script becomes options, an init command and events."""
import dataclasses
import ipaddress
import re

from . import ScriptError, Skip
from .lexer import tokens


@dataclasses.dataclass
class Event:
    line: int
    when: str           # "at", "after", "range at", "range after", "any"
    start: int          # µs
    end: int            # of a range
    action: object = None


@dataclasses.dataclass
class Packet:
    outbound: bool
    protocol: str = "tcp"       # "udp", "icmp"
    ecn: str = None             # noecn ect0 ect1 ect01 ce
    tos: int = None
    ttl: int = None             # of IPv6: the hop limit
    label: int = None           # IPv6's flow label: a name, if it is not 0
    ports: tuple = None
    flags: str = ""             # of FSRPEWUA (A: AE), and "." for ACK
    ace: int = None             # the three flags read as a number
    seq: int = 0
    length: int = 0
    ack: int = None
    window: int = None
    urgent: int = 0
    options: list = dataclasses.field(default_factory=list)     # (name, value…); None: <...>
    icmp: tuple = None          # type, code, mtu, id, what is quoted: ("tcp", seq, length) or ("udp", length)


@dataclasses.dataclass
class Call:
    name: str
    arguments: list
    result: object
    error: str
    end: int            # µs; None: does not block


@dataclasses.dataclass
class Command:
    text: str


@dataclasses.dataclass
class Code:
    text: str


@dataclasses.dataclass
class Word:
    text: str


@dataclasses.dataclass
class Either:   # a | b
    members: list


class Struct(list):
    """{…}: (key, value) pairs; the key is None where none was written."""

    def get(self, key, default=None):
        return next((value for name, value in self if name == key), default)


@dataclasses.dataclass
class Script:
    options: list
    init: list
    events: list


ELLIPSIS = Ellipsis
ECN = ("noecn", "ect0", "ect1", "ect01", "ce")


def microseconds(text):
    return round(float(text) * 1e6)


class Parser:
    def __init__(self, text, defines):
        self.list, self.at, self.defines = tokens(text), 0, dict(defines)

    # --- words ---
    @property
    def next(self):
        return self.list[self.at]

    def peek(self, ahead=1):
        return self.list[min(self.at + ahead, len(self.list) - 1)]

    def take(self, kind=None, text=None):
        token = self.next
        if (kind and token.kind != kind) or (text and token.text != text):
            wanted = text or {"integer": "a number", "word": "a word"}.get(kind, f"'{kind}'")
            raise ScriptError(f"syntax: {wanted} expected, '{token.text or 'the end of the file'}' found", token.line)
        self.at += 1
        return token

    def accept(self, kind, text=None):
        if self.next.kind == kind and (text is None or self.next.text == text):
            return self.take()
        return None

    def integer(self):
        token = self.take()
        if token.kind not in ("integer", "hex"):
            raise ScriptError(f"syntax: a number expected, '{token.text}' found", token.line)
        return int(token.text, 0) if token.kind == "hex" else int(token.text)

    # --- the whole ---
    def script(self):
        options, init, events = [], [], []
        while self.next.kind == "option":
            options.append(self.option())
        while self.next.kind == "command":
            init.append((self.next.line, self.take().text))
        while self.next.kind not in ("end", "command"):
            events.append(self.event())
        while self.accept("command"):   # the clean-up: nothing outlives a script here
            pass
        self.take("end")
        if not events:
            raise ScriptError("there is no event", 1)
        return Script(options, init, events)

    def option(self):
        token = self.take("option")
        value = ""
        if self.accept("="):
            while self.next.line == token.line and self.next.kind not in ("option", "end"):
                value += self.take().text
        if token.text == "define" and "=" in value:
            name, replacement = value.split("=", 1)
            self.defines[name] = replacement
        return token.text, value, token.line

    def event(self):
        event = self.time()
        kind = self.next.kind
        if kind in ("<", ">"):
            event.action = self.packet()
        elif kind == "command":
            event.action = Command(self.take().text)
        elif kind == "code":
            event.action = Code(self.take().text)
        else:
            event.action = self.call()
        outbound = isinstance(event.action, Packet) and event.action.outbound
        if event.when in ("any", "range at", "range after") and not outbound:
            raise ScriptError("only a packet that is expected can have the time * or a range", event.line)
        return event

    def number_of_time(self):
        token = self.take()
        if token.kind not in ("integer", "float") or token.text.startswith("-"):
            raise ScriptError(f"syntax: a time expected, '{token.text}' found", token.line)
        return microseconds(token.text)

    def time(self):
        line = self.next.line
        if self.accept("*"):
            return Event(line, "any", 0, 0)
        relative = self.accept("+") is not None
        start = self.number_of_time()
        if not self.accept("~"):
            return Event(line, "after" if relative else "at", start, start)
        if relative:
            self.take("+")
        end = self.number_of_time()
        if end < start:
            raise ScriptError("the time range is backwards", line)
        return Event(line, "range after" if relative else "range at", start, end)

    # --- packets ---
    def packet(self):
        packet = Packet(self.take().kind == ">")
        while self.next.kind == "word" and self.next.text in ("ipv4", "ipv6", "gre", "GREv0", "mpls"):
            raise Skip(f"encapsulated packets ({self.next.text})", self.next.line)
        quoted = None
        if self.next.kind == "[" and self.peek(2).kind == ":":  # packetdrill's first versions wrote what an ICMP error quotes before it
            self.take("[")
            quoted = ("tcp", *self.sequence())
            self.take("]")
        self.ip_info(packet)
        if self.accept("word", "udp"):
            packet.protocol = "udp"
            self.port_pair(packet)
            self.take("(")
            packet.length = self.integer()
            self.take(")")
        elif self.accept("word", "icmp"):
            packet.protocol = "icmp"
            self.icmp(packet, quoted)
        else:
            self.port_pair(packet)
            self.tcp(packet)
        return packet

    def ip_info(self, packet):
        closing = {"[": "]", "(": ")"}.get(self.next.kind)
        if not closing:
            return
        self.take()
        while not self.accept(closing):
            word = self.take()
            if word.text in ECN:
                packet.ecn = word.text
            elif word.text == "tos":
                packet.tos = self.integer()
            elif word.text == "ttl":
                packet.ttl = self.integer()
            elif word.text == "flowlabel":
                packet.label = self.integer()
            elif word.text != ",":
                raise ScriptError(f"syntax: '{word.text}' says nothing about an IP header", word.line)
        if packet.ecn == "ect01" and not packet.outbound:
            raise ScriptError("[ect01] is for packets that are expected", self.next.line)

    def port_pair(self, packet):
        if self.next.kind == "integer" and self.peek().kind == ">":
            source = self.integer()
            self.take(">")
            packet.ports = (source, self.integer())

    def tcp(self, packet):
        line = self.next.line
        if not self.accept("-"):
            word = self.accept("word") or self.accept("integer")    # 5. is .5
            packet.flags = word.text if word else ""
            number = self.accept("float")
            if re.fullmatch(r"[A-Z]*[0-7]", packet.flags):      # P5. is another way to write P.5
                packet.ace = int(packet.flags[-1])
                packet.flags = packet.flags[:-1]
            if number:
                packet.flags += "."
                packet.ace = int(number.text.lstrip("."))
            elif self.accept("."):
                packet.flags += "."
            elif not word:
                raise ScriptError(f"syntax: TCP flags expected, '{self.next.text}' found", line)
        if re.search(r"[^FSRPEWUA.]", packet.flags):
            raise ScriptError(f"syntax: '{packet.flags}' are no TCP flags", line)
        packet.seq, packet.length = self.sequence()
        if self.accept("word", "ack"):
            packet.ack = self.integer()
        if self.accept("word", "win"):
            packet.window = self.integer()
        if self.accept("word", "urg"):
            packet.urgent = self.integer()
        if self.next.kind == "<":
            packet.options = self.tcp_options()
        if not packet.outbound and (packet.options is None or any(o[0] == "TS" and None in o for o in packet.options)):
            raise ScriptError("<...> and TS val ... are for packets that are expected", line)
        if self.next.kind == "{":
            raise Skip("fuzzing of packets", line)

    def sequence(self):
        line = self.next.line
        start = self.integer()
        self.take(":")
        end = self.integer()
        self.take("(")
        length = self.integer()
        self.take(")")
        if (end - start) % 2**32 != length:
            raise ScriptError(f"{start}:{end}({length}): the numbers and the length differ", line)
        return start, length

    def tcp_options(self):
        self.take("<")
        if self.accept("ellipsis"):
            self.take(">")
            return None
        options = [self.tcp_option()]
        while self.accept(","):
            options.append(self.tcp_option())
        self.take(">")
        return options

    def tcp_option(self):
        token = self.take("word")
        name = token.text
        if name in ("nop", "eol", "sackOK"):
            return (name,)
        if name in ("mss", "wscale", "uto"):
            return name, self.integer()
        if name == "TS":
            self.take("word", "val")
            value = None if self.accept("ellipsis") else self.integer()
            self.take("word", "ecr")
            return name, value, None if self.accept("ellipsis") else self.integer()
        if name == "sack":
            blocks = []
            while self.next.kind == "integer":
                left = self.integer()
                self.take(":")
                blocks.append((left, self.integer()))
            return (name, *blocks)
        if name == "ECN":
            fields = []
            while self.next.kind == "word":
                fields.append((self.take().text, self.integer()))
            return (name, *fields)
        if name in ("FO", "FOEXP", "md5"):
            raise Skip({"md5": "TCP MD5 signatures (RFC 2385)"}.get(name, "TCP Fast Open"), token.line)
        raise Skip(f"the TCP option '{name}'", token.line)

    def icmp(self, packet, quoted):
        words = []
        mtu = identifier = 0
        quoted = quoted or ("tcp", 0, 0)
        while self.next.kind == "word":
            word = self.take().text
            if word in ("mtu", "pointer"):
                mtu = self.integer()
            elif word == "id":
                identifier = self.integer()
            else:
                words.append(self.defines.get(word, word))
        if self.accept("["):
            if self.accept("word", "udp"):
                self.take("(")
                quoted = ("udp", self.integer())
                self.take(")")
            elif self.next.text == "raw":
                raise Skip("ICMP errors about raw packets", self.next.line)
            else:
                quoted = ("tcp", *self.sequence())
            self.take("]")
        packet.icmp = (words[0] if words else None, words[1] if len(words) > 1 else None, mtu, identifier, quoted)

    # --- system calls ---
    def call(self):
        end = None
        if self.accept("ellipsis"):
            end = self.number_of_time()
        name = self.take("word").text
        self.take("(")
        arguments = self.expressions(")")
        self.take(")")
        self.take("=")
        result = self.expression()
        error = self.accept("word")
        if self.accept("("):
            while not self.accept(")"):
                self.take()
        return Call(name, arguments, result, error.text if error else None, end)

    def expressions(self, closing):
        found = []
        while self.next.kind != closing:
            found.append(self.expression())
            if not self.accept(","):
                break
        return found

    def expression(self):
        members = [self.primary()]
        while self.accept("|"):
            members.append(self.primary())
        return members[0] if len(members) == 1 else Either(members)

    def primary(self):
        token = self.next
        if self.accept("ellipsis"):
            return ELLIPSIS
        if token.kind in ("integer", "hex"):
            return self.integer()
        if token.kind == "string":
            text = ""
            while self.next.kind == "string":
                text += self.take().text
            self.accept("ellipsis")
            return text.encode("latin-1")
        if self.accept("["):
            found = self.expressions("]")
            self.take("]")
            return found
        if token.kind == "{":
            return self.struct()
        if token.kind == "word":
            return self.word()
        raise ScriptError(f"syntax: '{token.text}' is no value", token.line)

    def word(self):
        token = self.take("word")
        if self.next.kind == "(":
            if token.text not in ("htons", "inet_addr", "inet6_addr"):
                raise ScriptError(f"syntax: '{token.text}' is no function of the language", token.line)
            self.take("(")
            value = self.primary()
            self.take(")")
            if token.text == "inet6_addr":
                return ipaddress.IPv6Address(value.decode()).packed
            return int(ipaddress.IPv4Address(value.decode())) if token.text == "inet_addr" else value
        replacement = self.defines.get(token.text)
        if replacement is None:
            return Word(token.text)
        if replacement[:1] == '"':
            return replacement.strip('"').encode()
        return int(replacement) if replacement.lstrip("-").isdigit() else Word(replacement)

    def struct(self):
        self.take("{")
        members = Struct()
        while not self.accept("}"):
            key = None
            if self.next.kind == "word" and self.peek().kind in ("=", "("):
                if self.peek().kind == "=":
                    key = self.take().text
                    self.take("=")
                elif self.next.text.startswith("msg_"):     # msg_iov(1)=[…]
                    key = self.take().text
                    self.take("(")
                    self.expression()
                    self.take(")")
                    self.take("=")
            members.append((key, self.expression()))
            if not self.accept(","):
                self.take("}")
                break
        return members


def parse(text, defines=()):
    return Parser(text, defines).script()
