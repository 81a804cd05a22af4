# SPDX-License-Identifier: BSD-2-Clause
"""Plays the events of a script, one after the other, and judges what Weir does."""
import errno
import itertools
import os
import struct

from . import ScriptError, Skip, calls, info
from .engine import Engine
from .flow import Flow, pattern
from .packet import (ECN_BITS, FLAG_BITS, icmp_type, ip_header, option_text, pack_icmp, pack_option, pack_tcp, pack_udp)
from .parser import ELLIPSIS, Call, Code, Command, Packet
from .settings import take_command

FIRST_PEER_PORT = 40000
PATIENCE = 20 * 60 * 1000000        # µs of virtual time that a failure waits to say what came instead
FOREVER = 48 * 3600 * 1000000


def seconds(time):
    return f"{time / 1e6:.6f}"


class Player:
    """`strict`: the suite's own rules. Whatever Weir sends must be in the script, echoed timestamps are compared, nothing is skipped."""

    def __init__(self, program, config, script, strict):
        self.config, self.script, self.strict = config, script, strict
        self.version6 = config.version == "ipv6"
        self.family = 2 if config.version == "ipv4" else calls.AF_INET6     # of sockets
        self.prepare()
        self.engine = Engine(program, config)
        self.fds, self.flows, self.current = {}, [], None
        self.peer_port = FIRST_PEER_PORT
        self.under_way = None       # (call, spec, event, expected end)
        self.last_time = 0          # of the last event, script's
        self.names = {}             # left by pieces of code
        self.labels = {}            # the script's flow label: Weir's
        self.sequence = 0
        self.sized = set()          # the names of buffers (SO_SNDBUF, SO_RCVBUF) that the script has set

    def prepare(self):
        """Commands before all else set up the host; those after all else would put the machine back as it was."""
        events = self.script.events
        for event in itertools.takewhile(lambda event: isinstance(event.action, Command), events):
            take_command(self.config, event.action.text, event.line)
            event.action.text = ""
        while len(events) > 1 and isinstance(events[-1].action, Command):
            events.pop()
        if not self.strict and not self.config.receive:
            self.config.receive = self.room_of_author()
        if self.config.ecn[0] != self.config.ecn[1]:
            self.choose_role()

    def choose_role(self):
        """A host has one setting for both roles; a script rarely plays both."""
        roles = {event.action.name for event in self.script.events if isinstance(event.action, Call)} & {"listen", "connect"}
        if len(roles) > 1:
            raise Skip("ECN of listeners and of who connects set apart", 1)
        self.config.ecn = (self.config.ecn["connect" in roles],) * 2

    def room_of_author(self):
        """The window scale of our first SYN comes from the receive buffer (RFC 7323 §2.3), which a script that sets none has from the host
        it was written on: 0 where it shows no scale."""
        ours = (event.action for event in self.script.events if isinstance(event.action, Packet) and event.action.outbound)
        options = next((packet.options for packet in ours if "S" in packet.flags), None) or []
        return next((65535 << option[1] for option in options if option[0] == "wscale" and option[1] <= 14), 0)

    # --- what calls.py asks for ---
    def fd(self, value):
        if not isinstance(value, int):
            value = calls.number(value)
        return self.fds[value][0] if value in self.fds else value if value < 0 else 99999     # EBADF

    def flow_of(self, fd):
        return self.fds[fd][1] if fd in self.fds else None

    def is_datagram(self, fd):
        flow = self.flow_of(fd)
        return flow is not None and flow.kind == "datagram"

    def outgoing(self, fd, size):
        flow = self.flow_of(fd)
        return pattern(len(flow.written) if flow and flow.kind != "datagram" else 0, size)

    # --- events ---
    def play(self):
        try:
            for event in self.script.events:
                try:
                    self.step(event)
                except ScriptError as error:
                    error.line = error.line or event.line
                    raise
            last = self.script.events[-1].line
            self.finish_call(last)
            if self.strict:
                self.nothing_more(self.engine.now + self.config.tolerance + 1, last)
        except BaseException:
            self.engine.process.kill()
            self.engine.process.communicate()
            raise
        self.engine.close()

    def step(self, event):
        base = self.engine.now if event.when in ("after", "range after") else 0
        start, end = event.start + base, event.end + base
        action = event.action
        if isinstance(action, Packet) and action.outbound:
            self.expect(event, action, start, end)
        else:
            self.pass_until(start, event.line)
            if isinstance(action, Packet):
                self.inject(action)
            elif isinstance(action, Call) and not calls.is_for_debugging(action):
                self.call(event, action, base)
            elif isinstance(action, Code):
                self.code(event, action)
            elif isinstance(action, Command):
                self.command(event, action)
        self.last_time = start if event.when != "any" else self.engine.now

    def pass_until(self, time, line):
        if time < self.engine.now - self.config.tolerance:
            raise ScriptError(f"the time {seconds(time)} is past: it is {seconds(self.engine.now)} already", line)
        self.engine.until(time)
        self.returned(line)
        if self.strict:
            self.nothing_more(time, line)

    def nothing_more(self, time, line):
        """Whatever was sent before `time` had to be in the script."""
        for live in self.engine.sent:
            if live.time + self.config.tolerance < time:
                raise ScriptError(f"nothing was expected\n{self.shown(live)}", line)

    def tolerance(self, time):
        return max(self.config.tolerance, int(self.config.tolerance_percent / 100 * (time - self.last_time)))

    def command(self, event, action):
        if "tc " in action.text:
            raise Skip("tc in the middle", event.line)
        before = self.config.host()
        take_command(self.config, action.text, event.line)
        if before != self.config.host():
            raise Skip("a sysctl that changes in the middle", event.line)

    def code(self, event, action):
        flow = self.current
        fd = self.fds[flow.fd][0] if flow and flow.fd in self.fds else None
        values = self.engine.info(fd) if fd is not None else None
        info.run(action.text, values, self.names, event.line)

    # --- system calls ---
    def call(self, event, action, base):
        self.finish_call(event.line)
        spec = calls.build(self, action)
        end = None if action.end is None else action.end + base
        self.before(spec, action)
        self.engine.call(spec.name, spec.arguments)
        self.under_way = (action, spec, event, end)
        if self.engine.returned:
            self.returned(event.line)
        elif end is None:
            raise ScriptError(f"{action.name} blocks, and the script gives no end of it (0.1...0.3 {action.name}(…))", event.line)

    def before(self, spec, action):
        """What must be known before the call, since segments may leave during it."""
        fd = action.arguments[0] if action.arguments and isinstance(action.arguments[0], int) else None
        flow = self.flow_of(fd)
        if not flow:
            return
        if spec.sends and flow.kind != "datagram":
            flow.pending = spec.sends[1]
        elif spec.sends:
            flow.datagrams.append(spec.sends[1])
            flow.remote = flow.remote or self.config.connect_port
        elif spec.name == "bind" and flow.kind in ("new", "datagram"):
            flow.local = struct.unpack_from("!H", spec.arguments[1], 2)[0]
        elif spec.name == "connect":
            flow.remote = struct.unpack_from("!H", spec.arguments[1], 2)[0]
            if flow.kind in ("new", "listener"):
                flow.kind = "active"
                self.current = flow
        elif spec.name == "listen":
            flow.kind = "listener"
            self.current = flow

    def finish_call(self, line):
        self.returned(line)
        if not self.under_way:
            return
        end = self.under_way[3]
        while self.under_way:
            if self.engine.now > (end or 0) + PATIENCE:
                raise ScriptError(f"{self.under_way[0].name} has not returned at {seconds(self.engine.now)}, expected at {seconds(end)}",
                                  self.under_way[2].line)
            self.engine.wait((end or self.engine.now) + PATIENCE + 1)
            self.returned(line)

    def returned(self, line):
        """Judges the call that has come back, if one has."""
        if not self.under_way or not self.engine.returned:
            return
        (action, spec, event, end), got = self.under_way, self.engine.returned
        self.under_way = self.engine.returned = None
        self.after(action, spec, got)
        due = end if end is not None else got.time
        if abs(got.time - due) > self.tolerance(due):
            raise ScriptError(f"{action.name} returned at {seconds(got.time)}, expected at {seconds(due)}", event.line)
        self.judge(action, spec, got, event)

    def judge(self, action, spec, got, event):
        if action.result is ELLIPSIS:
            return
        expected = calls.number(action.result)
        name = errno.errorcode.get(got.errno, str(got.errno)) if got.result < 0 else None
        answer = f"{got.result}" + (f" {name} ({os.strerror(got.errno)})" if name else "")
        if spec.makes and got.result >= 0 and expected >= 0:
            return
        if not self.strict and spec.name in ("setsockopt", "getsockopt") and name in ("ENOPROTOOPT", "EOPNOTSUPP") and expected >= 0:
            raise Skip(f"a socket option of Linux ({calls_option(action)})", event.line)
        if got.result != expected or (action.error and got.errno != getattr(errno, action.error, None)):     # EWOULDBLOCK is EAGAIN
            wanted = f"{expected}" + (f" {action.error}" if action.error else "")
            raise ScriptError(f"{action.name} gave {answer}, expected {wanted}", event.line)
        spec.strict = self.strict
        wrong = spec.check(got) if spec.check and got.result >= 0 else None
        if wrong:
            raise ScriptError(f"{action.name}: {wrong}", event.line)
        self.judge_read(action, spec, got, event)

    def judge_read(self, action, spec, got, event):
        if not spec.reads or got.result <= 0:
            return
        fd, index, takes = spec.reads
        flow = self.flow_of(calls.number(fd))
        if not flow or flow.kind == "datagram":
            return
        if flow.check_reads and spec.expected is None and got.buffers[index][:got.result] != pattern(flow.taken, got.result):
            raise ScriptError(f"{action.name} gave other bytes than the peer sent (from byte {flow.taken} of the stream on)", event.line)
        flow.taken += got.result if takes else 0

    def after(self, action, spec, got):
        """What a return changes: descriptors, streams."""
        if spec.makes and got.result >= 0 and isinstance(action.result, int):
            self.made(action, spec, got)
        fd = action.arguments[0] if action.arguments and isinstance(action.arguments[0], int) else None
        flow = self.flow_of(fd)
        if flow and spec.sends:
            if flow.kind != "datagram":
                flow.written += spec.sends[1][:max(got.result, 0)]
                flow.pending = b""
            elif got.result < 0:
                flow.datagrams.pop()
        if flow and spec.name == "send" and spec.arguments[2] & calls.SYMBOLS["MSG_OOB"]:
            flow.check_reads = False
        if spec.name == "close" and got.result == 0 and flow and fd in self.fds:
            flow.closed = True
            del self.fds[fd]

    def made(self, action, spec, got):
        flow = None
        if spec.makes == "socket":
            flow = Flow("datagram" if spec.arguments[1] & 15 == 2 else "new", fd=action.result)
            if flow.kind == "datagram" or self.current is None or self.current.kind != "listener":
                self.current = flow
            self.flows.append(flow)
        elif spec.makes == "accept":
            port = struct.unpack_from("!H", got.buffers[1], 2)[0]
            flow = next((f for f in self.flows if f.kind == "passive" and f.remote == port and f.fd is None), None) or Flow("none")
            flow.fd = action.result
        self.fds[action.result] = (got.result, flow)

    # --- packets in ---
    def flow_for(self, packet):
        """Whose packet it is: that of the ports, where the script gives them, or the newest conversation's."""
        if packet.ports:
            local, remote = packet.ports if packet.outbound else packet.ports[::-1]
            found = next((f for f in self.flows if f.local == local and f.remote == remote and f.kind != "listener"), None)
            if found:
                return found
            if packet.outbound:
                found = next((f for f in self.flows if f.kind == "active" and f.local is None and f.remote == remote), None)
                return found or self.current
            flow = Flow("passive", local, remote)
            self.flows.append(flow)
            self.current = flow
            return flow
        flow = self.current
        if not packet.outbound and (flow is None or flow.kind in ("listener", "new")) and packet.protocol != "icmp":
            local = flow.local if flow and flow.local else self.config.bind_port
            flow = Flow("passive", local, self.peer_port)
            self.peer_port += 1
            self.flows.append(flow)
            self.current = flow
        return flow

    def inject(self, packet):
        flow = self.flow_for(packet)
        if packet.protocol == "icmp":
            return self.inject_icmp(packet, flow)
        local = flow.local if flow.local else self.config.bind_port
        remote = flow.remote if flow.remote else self.config.connect_port
        tos = packet.tos if packet.tos is not None else ECN_BITS.get(packet.ecn, 0)
        if packet.protocol == "udp":
            return self.engine.receive(pack_udp(self.config.remote, self.config.local, remote, local, bytes(packet.length), tos, packet.ttl or 255))
        bits = flag_bits(packet)
        if packet.window is None and "R" not in packet.flags:
            raise ScriptError("a packet that comes in needs its window (win N)")
        if bits & 2 and flow.irs is None:
            flow.irs = packet.seq
        if bits & 32:
            flow.check_reads = False
        if bits & 1 and flow.fin is None:
            flow.fin = (packet.seq + (bits >> 1 & 1) + packet.length + 1) % 2**32
        first = packet.seq + (1 if bits & 2 else 0)
        options = b"".join(pack_option(self.live_option(option, bits, flow), flow.to_wire) for option in packet.options)
        return self.engine.receive(pack_tcp(
            self.config.remote, self.config.local, remote, local, packet.seq % 2**32, flow.to_wire(packet.ack or 0) if bits & 16 else packet.ack or 0,
            bits, packet.window or 0, packet.urgent, options, flow.peer_bytes(first, packet.length), tos, packet.ttl or 255))

    def live_option(self, option, bits, flow):
        if option[0] == "TS" and bits & 16:
            return "TS", option[1], flow.echo_to_wire(option[2])
        return option

    def inject_icmp(self, packet, flow):
        kind, code, mtu, identifier, quoted = packet.icmp
        message = icmp_type(self.version6, kind, code, mtu)
        if message is None:
            raise ScriptError(f"there is no ICMP message '{kind}'" + (f" with code '{code}'" if code else ""))
        number, code, mtu = message
        if kind in ("echo_request", "echo_reply"):
            return self.engine.receive(pack_icmp(self.config.remote, self.config.local, number, 0, identifier << 16, b""))
        if flow is None:
            raise ScriptError("there is no conversation that the ICMP message could be about")
        local, remote = flow.local or 0, flow.remote or self.config.connect_port
        if quoted[0] == "udp":
            body = struct.pack("!HHHH", local, remote, 8 + quoted[1], 0)
            body = ip_header(self.config.local, self.config.remote, 17, 8 + quoted[1]) + body
        else:
            head = struct.pack("!HHIIHHHH", local, remote, flow.to_wire(quoted[1]), 0, 5 << 12 | 16, 0, 0, 0)
            body = ip_header(self.config.local, self.config.remote, 6, 20 + quoted[2]) + head
        return self.engine.receive(pack_icmp(self.config.remote, self.config.local, number, code, mtu & 0xffffffff, body))

    # --- packets out ---
    def owner(self, live):
        """The conversation a packet of Weir's belongs to; None: none of the script's."""
        if live.protocol == "icmp":
            return self.current
        found = next((f for f in self.flows if f.local == live.sport and f.remote == live.dport and f.kind != "listener"), None)
        if found:
            return found
        fresh = [f for f in self.flows if f.local is None and f.remote == live.dport and f.kind in ("active", "datagram")]
        if fresh and (live.protocol == "udp" or live.flags & 2):
            fresh[-1].local = live.sport
            return fresh[-1]
        bound = [f for f in self.flows if f.kind == "datagram" and f.local == live.sport]
        return bound[-1] if bound else None

    def next_packet(self, limit, event, protocol, flow):
        """The next one that Weir sends for the script's conversations; None: none until `limit`."""
        while True:
            while self.engine.sent:
                live = self.engine.sent.popleft()
                if live.protocol == "icmp" != protocol and not self.strict:
                    continue    # the answer to an echo request, say, of which the script says nothing
                owner = self.owner(live)
                if owner is not flow and owner and owner.closed and not self.strict:
                    continue    # the end of what the script has done with
                if owner is None:
                    if self.strict:
                        raise ScriptError(f"a packet of no conversation of the script\n{self.shown(live)}", event.line)
                    continue
                return live, owner
            if self.engine.now >= limit:
                return None, None
            self.engine.wait(limit)
            self.returned(event.line)

    def expect(self, event, packet, start, end):
        flow = self.flow_for(packet)
        patience = FOREVER if event.when == "any" else end + self.tolerance(end) + PATIENCE
        live, owner = self.next_packet(patience, event, packet.protocol, flow)
        if live is None:
            raise ScriptError(f"nothing was sent until {seconds(patience)}\n    expected {self.wanted_time(event, start, end)}: {self.wanted(packet)}")
        wrong = self.compare(packet, live, owner, flow)
        late = not wrong and self.wrong_time(event, live, start, end)
        if wrong or late:
            self.complain(wrong or late, event, packet, live, owner, start, end)
        done = len(live.payload)
        while packet.protocol == "tcp" and done < packet.length:     # the rest of a large one that went in pieces
            piece, owner = self.next_packet(max(patience, self.engine.now), event, packet.protocol, flow)
            if piece is None or owner is not flow:
                raise ScriptError(f"only {done} of {packet.length} bytes were sent\n    expected: {self.wanted(packet)}")
            wrong = self.compare(packet, piece, owner, flow, done) or self.wrong_time(event, piece, start, end)
            if wrong:
                self.complain(wrong, event, packet, piece, owner, start, end)
            done += len(piece.payload)

    def wrong_time(self, event, live, start, end):
        if event.when == "any":
            return None
        allowed = self.tolerance(start)
        return "the time is wrong" if live.time < start - allowed or live.time > end + allowed else None

    def compare(self, packet, live, owner, flow, done=0):
        """The first thing in `live` that is not as expected, in words; None: all is well. `done`: payload bytes that earlier pieces had."""
        if live.bad:
            return live.bad
        if live.protocol != packet.protocol:
            return f"it is {live.protocol}, not {packet.protocol}"
        if owner is not flow and packet.protocol != "icmp":
            return "it is another conversation's"
        bare = not self.strict and not live.tos & 3 and not live.payload    # a pure ACK is not ECT (RFC 3168 §6.1.4): experiments send it so
        if not bare and (packet.ecn == "ect01" and live.tos & 3 not in (1, 2) or packet.ecn in ECN_BITS and live.tos & 3 != ECN_BITS[packet.ecn]):
            return f"the ECN field is not {packet.ecn}"
        if packet.tos is not None and live.tos != packet.tos:
            return f"TOS is {live.tos:#x}, not {packet.tos:#x}"
        if packet.ttl is not None and live.ttl != packet.ttl:
            return f"TTL is {live.ttl}, not {packet.ttl}"
        if packet.label is not None and not self.same_label(packet.label, live.label):
            return f"the flow label is {live.label:#x}, " + (f"and was {self.labels[packet.label]:#x}" if packet.label in self.labels else "not a new one")
        if packet.protocol == "udp":
            return self.compare_udp(packet, live, flow)
        if packet.protocol == "icmp":
            return self.compare_icmp(packet, live)
        return self.compare_tcp(packet, live, flow, done)

    def same_label(self, name, label):
        """A flow label in a script is a name: the same name the same label, another name another. 0 is none."""
        if name == 0 or label == 0:
            return name == label
        return self.labels.setdefault(name, label) == label and [*self.labels.values()].count(label) == 1

    def compare_udp(self, packet, live, flow):
        if len(live.payload) != packet.length:
            return f"the payload has {len(live.payload)} bytes, not {packet.length}"
        if not flow.datagrams or flow.datagrams.pop(0) != live.payload:
            return "the payload is not what was written"
        return None

    def compare_icmp(self, packet, live):
        kind, code, mtu, _, _ = packet.icmp
        wanted = icmp_type(self.version6, kind, code, mtu)
        if wanted is None or live.icmp[:2] != wanted[:2]:
            return f"it is ICMP type {live.icmp[0]}, code {live.icmp[1]}"
        told = live.icmp[2] if self.version6 else live.icmp[2] & 0xffff
        return f"the MTU is {told}, not {wanted[2]}" if mtu and told != wanted[2] else None

    def compare_tcp(self, packet, live, flow, done):
        flow.learn(live, packet)
        wanted, last = flag_bits(packet), done + len(live.payload) >= packet.length
        loose = 0 if last else FLAG_BITS["P"] | FLAG_BITS["F"]      # only the last piece has them
        if done:
            loose |= FLAG_BITS["W"]
        if not self.strict and live.payload:
            loose |= FLAG_BITS["P"]     # where a sender pushes is its own affair (RFC 9293 §3.9.1.2)
        if (wanted ^ live.flags) & ~loose:
            return f"the flags are {live.names() or '-'}, not {flags_text(packet)}"
        seq = flow.to_script(live.seq)
        if seq != (packet.seq + done) % 2**32:
            return f"the sequence number is {seq}, not {packet.seq + done}"
        if done + len(live.payload) > packet.length or not last and self.config.whole_segments or not last and not live.payload:
            return f"the payload has {len(live.payload)} bytes, not {packet.length - done}"
        if live.flags & 16 and packet.ack is not None and live.ack != packet.ack % 2**32:
            return f"the acknowledgement is {live.ack}, not {packet.ack}"
        over = not self.strict and live.flags & 16 and live.ack == flow.fin    # nothing more can come to fill the window
        if packet.window is not None and live.window != packet.window and not over:
            return f"the window is {live.window}, not {packet.window}"
        if live.urgent != packet.urgent:
            return f"the urgent pointer is {live.urgent}, not {packet.urgent}"
        if not live.flags & 2 and live.payload and flow.first is not None and flow.our_bytes(seq, len(live.payload)) != live.payload:
            return "the payload is not what was written"
        return self.compare_options(packet, live, flow)

    def compare_options(self, packet, live, flow):
        """The order of options and their padding are the sender's affair (RFC 9293 §3.2); all else is compared."""
        if packet.options is None:
            return None
        wanted = {option[0]: option for option in packet.options if option[0] not in ("nop", "eol")}
        came = {option[0]: option for option in live.options if option[0] not in ("nop", "eol")}
        if not self.strict and not (self.config.accecn_told and live.flags & 2):
            agree_on_counters(wanted, came)
        for name in list(wanted) + list(came):
            if name not in came:
                return f"the option {name} is missing"
            if name not in wanted:
                return f"there is an option that was not expected: {option_text(came[name])}"
            if name == "ECN" and not self.strict and dict(wanted[name][1:]) == dict(came[name][1:]):
                continue    # two orders of the counters are equally good (RFC 9768 §3.2.3)
            if name == "TS":
                wrong = self.compare_stamps(wanted[name], came[name], flow)
            else:
                wrong = None if wanted[name] == came[name] else f"the option is {option_text(came[name])}, not {option_text(wanted[name])}"
            if wrong:
                return wrong
        return None

    def compare_stamps(self, wanted, came, flow):
        if self.config.ts_tick and flow.first_stamp and wanted[1] is not None:
            value = (came[1] - flow.first_stamp[1] + flow.first_stamp[0]) % 2**32
            apart = (value - wanted[1] + 2**31) % 2**32 - 2**31
            if abs(apart) * self.config.ts_tick > self.config.tolerance:
                return f"the timestamp is {value}, not {wanted[1]}"
        if self.strict and wanted[2] is not None and came[2] != wanted[2]:
            return f"the echoed timestamp is {came[2]}, not {wanted[2]}"
        return None

    # --- complaints ---
    def complain(self, text, event, packet, live, owner, start, end):
        raise ScriptError(f"{text}\n    expected {self.wanted_time(event, start, end)}: {self.wanted(packet)}\n{self.shown(live, owner)}")

    def wanted_time(self, event, start, end):
        if event.when == "any":
            return "at any time"
        return f"at {seconds(start)}" + (f"~{seconds(end)}" if end != start else "")

    def wanted(self, packet):
        if packet.protocol != "tcp":
            return f"> {packet.protocol}" + (f" ({packet.length})" if packet.protocol == "udp" else " " + " ".join(filter(None, packet.icmp[:2])))
        words = ["> " + (f"[{packet.ecn}] " if packet.ecn else "") + flags_text(packet), f"{packet.seq}:{packet.seq + packet.length}({packet.length})"]
        for name, value in (("ack", packet.ack), ("win", packet.window), ("urg", packet.urgent or None)):
            if value is not None:
                words.append(f"{name} {value}")
        if packet.options is None:
            words.append("<...>")
        elif packet.options:
            words.append("<" + ",".join(option_text(option) for option in packet.options) + ">")
        return " ".join(words)

    def shown(self, live, owner=None):
        owner = owner or self.owner(live)
        moved = -(owner.offset or 0) if owner else 0
        raw = next((cut(digits, len(live.payload)) for time, digits in reversed(self.engine.log) if time == live.time and self.same(live, digits)), "")
        return f"    came at {seconds(live.time)}: {live.text(moved)}" + (f"\n    on the wire: {raw}" if raw else "")

    def same(self, live, digits):
        if live.protocol != "tcp":
            return True
        head, below = f"{live.sport:04x}{live.dport:04x}{live.seq:08x}{live.ack:08x}", 40 if self.version6 else 20
        return digits[2 * below:].startswith(head) and len(digits) // 2 - below - len(live.payload) in range(20, 61)


def agree_on_counters(wanted, came):
    """Which of its counters an end tells, and with which segments, is its own choice (RFC 9768 §3.2.3.3); those in both are compared."""
    both = {name for name, _ in wanted.get("ECN", (0,))[1:]} & {name for name, _ in came.get("ECN", (0,))[1:]}
    for options in (wanted, came):
        counters = sorted(counter for counter in options.pop("ECN", (0,))[1:] if counter[0] in both)
        if counters:
            options["ECN"] = ("ECN", *counters)


def flag_bits(packet):
    bits = 0
    for letter in packet.flags:
        bits |= FLAG_BITS[letter]
    if packet.ace is not None:
        bits |= (FLAG_BITS["A"] if packet.ace & 4 else 0) | (FLAG_BITS["W"] if packet.ace & 2 else 0) | (FLAG_BITS["E"] if packet.ace & 1 else 0)
    return bits


def flags_text(packet):
    return (packet.flags or "-") + (str(packet.ace) if packet.ace is not None else "")


def cut(digits, payload):
    """The headers in full, the payload's beginning."""
    head = len(digits) - 2 * payload
    return digits[:head] + (" " + digits[head:head + 32] + (f"… ({payload} bytes)" if payload > 16 else "") if payload else "")


def calls_option(action):
    return " ".join(str(getattr(a, "text", a)) for a in action.arguments[1:3])
