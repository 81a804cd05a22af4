# SPDX-License-Identifier: BSD-2-Clause
"""The runner of conversation scripts can fail. Each conversation here passes as it stands; with one line of it changed it must fail, at
that line and for that reason, so that nothing else can be why. What no script can bring about (a wrong checksum, other bytes than were
written) a liar does, who stands between the runner and Weir."""
import contextlib
import io
import pathlib
import re
import subprocess
import sys
import textwrap
import unittest.mock

import pytest

from building import build

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
import sim.script.run   # noqa: E402

RUN = [sys.executable, str(ROOT / "sim/script/run.py")]
PROGRAM = ROOT / "build/host/weir-script"


@pytest.fixture(scope="module", autouse=True)
def player():
    build("build/host/weir-script")


def play(folder, text, *words):
    """(exit status, the line that tells the result, what is told of it, the sums)."""
    (folder / "a.pkt").write_text(text)
    output = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(output), unittest.mock.patch.object(sys, "argv", ["run.py", *words, "a.pkt"]):
        status = sim.script.run.main()
    result, *told, sums = output.getvalue().rstrip("\n").split("\n")
    return status, result, "\n".join(told), sums


def passes(folder, text, *words):
    status, result, told, sums = play(folder, text, *words)
    assert (status, result, told) == (0, " ok   a.pkt", ""), told
    assert sums.startswith("1 passed, 0 failed, 0 skipped")


def fails(folder, text, line, reason, *words):
    status, result, told, sums = play(folder, text, *words)
    assert (status, result) == (1, "FAIL  a.pkt"), (result, told)
    assert told.startswith(f"      a.pkt:{line}: {reason}"), told
    assert sums.startswith("0 passed, 1 failed, 0 skipped")
    return told


def line_of(text, part):
    assert text.count(part) == 1, f"{part!r} is there {text.count(part)} times"
    return text[:text.index(part)].count("\n") + 1


# --- conversations that are right --------------------------------------------------------------------------------------

OPEN = """\
   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
  +0 bind(3, ..., ...) = 0
  +0 listen(3, 5) = 0
  +0 < S 0:0(0) win 32792 <mss 1000>
  +0 > S. 0:0(0) ack 1 win 65535 <mss 1460>
 +.1 < . 1:1(0) ack 1 win 32792
  +0 accept(3, ..., ...) = 4
"""

# Sent, lost, sent again after 300 ms: the first sample is 100 ms.
RESENT = OPEN + """\
  +0 write(4, ..., 100) = 100
  +0 > P. 1:101(100) ack 1 win 65535
 +.3 > [ttl 64] P. 1:101(100) ack 1 win 65535
 +.1 < . 1:1(0) ack 101 win 32792
  +0 %{ assert tcpi_total_retrans == 1 }%
"""

LARGE = OPEN + """\
  +0 write(4, ..., 2000) = 2000
  +0 > P. 1:2001(2000) ack 1
 +.1 < . 1:1(0) ack 2001 win 32792
"""

OPTIONS = """\
--tcp_ts_tick_usecs=1000
   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
  +0 bind(3, ..., ...) = 0
  +0 listen(3, 5) = 0
  +0 < S 0:0(0) win 32792 <mss 1000,sackOK,TS val 10 ecr 0,nop,wscale 5>
  +0 > S. 0:0(0) ack 1 win 65535 <mss 1460,sackOK,TS val 100 ecr 10,nop,wscale 7>
 +.1 < . 1:1(0) ack 1 win 1025 <nop,nop,TS val 20 ecr 100>
  +0 accept(3, ..., ...) = 4
 +.1 write(4, ..., 100) = 100
  +0 > P. 1:101(100) ack 1 <nop,nop,TS val 300 ecr 20>
"""

HOLES = OPEN.replace("<mss 1000>", "<mss 1000,sackOK,nop,nop>").replace("<mss 1460>", "<mss 1460,sackOK,nop,nop>") + """\
 +.1 < . 1001:2001(1000) ack 1 win 32792
  +0 > . 1:1(0) ack 1 <nop,nop,sack 1001:2001>
+.01 < . 3001:4001(1000) ack 1 win 32792
  +0 > . 1:1(0) ack 1 <nop,nop,sack 3001:4001 1001:2001>
"""

ACCURATE = """\
`sysctl -q net.ipv4.tcp_ecn=3`
   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
  +0 bind(3, ..., ...) = 0
  +0 listen(3, 5) = 0
  +0 < SEWA 0:0(0) win 32792 <mss 1000,sackOK,nop,nop>
  +0 > SW. 0:0(0) ack 1 win 65535 <mss 1460,sackOK,ECN e0b 1 ceb 0 e1b 1>
 +.1 < [ect0] W. 1:1(0) ack 1 win 32792 <ECN e0b 1 ceb 0 e1b 1,nop>
  +0 accept(3, ..., ...) = 4
  +0 write(4, ..., 100) = 100
  +0 > [ect0] P.5 1:101(100) ack 1 <ECN e0b 1 ceb 0 e1b 1,nop>
"""

URGENT = OPEN + """\
  +0 send(4, ..., 5, MSG_OOB) = 5
  +0 > PU. 1:6(5) ack 1 urg 5
"""

PATIENCE = """\
   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
  +0 setsockopt(3, SOL_TCP, TCP_USER_TIMEOUT_OPTION, [1], 4) = 0
  +0 bind(3, ..., ...) = 0
  +0 listen(3, 5) = 0
  +0 < S 0:0(0) win 32792 <mss 1000,uto 1000>
  +0 > S. 0:0(0) ack 1 win 65535 <mss 1460,uto 900>
"""

# What calls give, and when.
CALLS = OPEN + """\
  +0 getsockopt(4, SOL_TCP, TCP_CONGESTION, "cubic", [16]) = 0
  +0 setsockopt(4, SOL_SOCKET, SO_RCVLOWAT, [2], 4) = 0
  +0 getsockopt(4, SOL_SOCKET, SO_RCVLOWAT, [2], [4]) = 0
  +0 poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 0) = 1
  +0 epoll_create(1) = 7
  +0 epoll_ctl(7, EPOLL_CTL_ADD, 4, {events=EPOLLIN, fd=4}) = 0
  +0...0.1 read(4, ..., 100) = 100
 +.1 < P. 1:201(200) ack 1 win 32792
  +0 > . 1:1(0) ack 201
  +0 ioctl(4, SIOCINQ, [100]) = 0
  +0 epoll_wait(7, [{events=EPOLLIN, fd=4}], 1, 0) = 1
  +0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 40}], msg_flags=0}, MSG_PEEK) = 40
  +0 readv(4, [{..., 30}, {..., 30}], 2) = 60
  +0 recv(4, ..., 100, MSG_DONTWAIT) = 40
  +0 recv(4, ..., 100, MSG_DONTWAIT) = -1 EAGAIN (Resource temporarily unavailable)
"""

WAITING = OPEN + """\
  +0...0.1 read(4, ..., 100) = 100
 +.1 < P. 1:101(100) ack 1 win 32792
  +0 > . 1:1(0) ack 101
"""

TWO = """\
   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
  +0 bind(3, ..., ...) = 0
  +0 listen(3, 5) = 0
  +0 < 5001>8080 S 0:0(0) win 32792 <mss 1000>
  +0 > 8080>5001 S. 0:0(0) ack 1 <mss 1460>
  +0 < 5002>8080 S 0:0(0) win 32792 <mss 1000>
  +0 > 8080>5002 S. 0:0(0) ack 1 <mss 1460>
"""

IN_TWO = OPEN + """\
  +0 write(4, ..., 1000) = 1000
 +.1 write(4, ..., 1000) = 1000
  .1 > P. 1:1001(1000) ack 1
  .2 > P. 1001:2001(1000) ack 1
"""

BUFFER = OPEN + """\
  +0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [4000], 4) = 0
  +0 getsockopt(4, SOL_SOCKET, SO_SNDBUF, [4000], [4]) = 0
"""

DATAGRAMS = """\
   0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3
  +0 bind(3, ..., ...) = 0
  +0 connect(3, ..., ...) = 0
  +0 write(3, ..., 30) = 30
  +0 > udp (30)
  +0 < udp (40)
  +0 read(3, ..., 100) = 40
"""

NO_PORT = """\
   0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3
  +0 < icmp echo_request id 7
  +0 > icmp echo_reply
  +0 < udp 5001>9999 (40)
  +0 > icmp unreachable port_unreachable
"""

TALKS = {name: text for name, text in globals().items() if name.isupper() and isinstance(text, str)}


@pytest.mark.parametrize("name", TALKS)
def test_what_is_right_passes(name, tmp_path):
    if name != "IN_TWO":    # packets that are looked at late are surplus to the strict
        passes(tmp_path, TALKS[name], "--strict")
    passes(tmp_path, TALKS[name])


# --- … and one thing wrong with each -------------------------------------------------------------------------------------

WRONG = {
    # when
    "too early": (RESENT, "+.3 >", "+.4 >",
                  "the time is wrong\n    expected at 0.500000: > P. 1:101(100) ack 1 win 65535\n"
                  "    came at 0.400000: > P. 1:101(100) ack 1 win 65535\n    on the wire: 45"),
    "too late": (RESENT, "+.3 >", "+.2 >", "the time is wrong"),
    "2 ms too late": (RESENT, "+.3 >", "+.298 >", "the time is wrong"),
    "later than the range": (RESENT, "+.3 >", "+.1~+.2 >", "the time is wrong\n    expected at 0.200000~0.300000"),
    "earlier than the range": (RESENT, "+.3 >", "+.4~+.5 >", "the time is wrong"),
    "at another time": (RESENT, " +.3 >", "0.38 >", "the time is wrong"),
    "the time is past": (RESENT, "+.1 < . 1:1(0) ack 101", "0.1 < . 1:1(0) ack 101", "the time 0.100000 is past"),
    # whether
    "missing": (RESENT, "+0 write(4, ..., 100) = 100", "+0 fcntl(4, F_SETFD, 0) = 0", None),
    "a piece is missing": (LARGE, "> P. 1:2001(2000)", "> P. 1:4001(4000)",
                           "the sequence number is 1, not 2001\n    expected at 0.100000: > P. 1:4001(4000) ack 1"),
    "a piece too many": (LARGE, "> P. 1:2001(2000)", "> . 1:1001(1000)", None),
    # what
    "flags": (RESENT, "[ttl 64] P.", "[ttl 64] F.", "the flags are P., not F."),
    "PSH": (RESENT, "[ttl 64] P.", "[ttl 64] .", "the flags are P., not ."),
    "no flags": (RESENT, "[ttl 64] P.", "[ttl 64] -", "the flags are P., not -"),
    "flags of a SYN": (RESENT, "> S. 0", "> S 0", "the flags are S., not S"),
    "accurate ECN's flags": (ACCURATE, "P.5", "P.6", "the flags are PEA., not P.6"),
    "flags of ECN": (ACCURATE, "> SW. 0", "> SE. 0", "the flags are SW., not SE."),
    "sequence number": (RESENT, "[ttl 64] P. 1:101(100)", "[ttl 64] P. 2:102(100)", "the sequence number is 1, not 2"),
    "length": (RESENT, "[ttl 64] P. 1:101(100)", "[ttl 64] P. 1:51(50)", "the payload has 100 bytes, not 50"),
    "acknowledgement": (RESENT, "(100) ack 1 win 65535\n +.3", "(100) ack 2 win 65535\n +.3", "the acknowledgement is 1, not 2"),
    "window": (RESENT, "S. 0:0(0) ack 1 win 65535", "S. 0:0(0) ack 1 win 65534", "the window is 65535, not 65534"),
    "urgent pointer": (URGENT, "urg 5", "urg 4", "the urgent pointer is 5, not 4"),
    "no urgent pointer": (URGENT, " urg 5", "", "the urgent pointer is 5, not 0"),
    # options
    "MSS": (OPTIONS, "mss 1460", "mss 1459", "the option is mss 1460, not mss 1459"),
    "window scale": (OPTIONS, "wscale 7", "wscale 8", "the option is wscale 7, not wscale 8"),
    "echoed timestamp": (OPTIONS, "ecr 20", "ecr 21", "the echoed timestamp is 20, not 21"),
    "timestamp": (OPTIONS, "TS val 300", "TS val 303", "the timestamp is 300, not 303"),
    "an option is missing": (OPTIONS, "<nop,nop,TS val 300 ecr 20>", "<nop,nop,TS val 300 ecr 20,sackOK>", "the option sackOK is missing"),
    "SACK permitted is missing": (OPEN, "<mss 1460>", "<mss 1460,sackOK>", "the option sackOK is missing"),
    "an option too many": (OPTIONS, " <nop,nop,TS val 300 ecr 20>", "", "there is an option that was not expected: TS val "),
    "SACK permitted is too many": (OPTIONS, "<mss 1460,sackOK,", "<mss 1460,", "there is an option that was not expected: sackOK"),
    "SACK's end": (HOLES, "sack 1001:2001>", "sack 1001:2002>", "the option is sack 1001:2001, not sack 1001:2002"),
    "SACK's beginning": (HOLES, "sack 1001:2001>", "sack 1002:2001>", "the option is sack 1001:2001, not sack 1002:2001"),
    "SACK's order": (HOLES, "sack 3001:4001 1001:2001", "sack 1001:2001 3001:4001",
                     "the option is sack 3001:4001 1001:2001, not sack 1001:2001 3001:4001"),
    "SACK's number": (HOLES, "sack 3001:4001 1001:2001", "sack 3001:4001", "the option is sack 3001:4001 1001:2001, not sack 3001:4001"),
    "user timeout": (PATIENCE, "uto 900>", "uto 901>", "the option is uto 900, not uto 901"),
    "a counter of ECN": (ACCURATE, "> [ect0] P.5 1:101(100) ack 1 <ECN e0b 1 ceb 0", "> [ect0] P.5 1:101(100) ack 1 <ECN e0b 1 ceb 9",
                         "the option is ECN e0b 1 ceb 0 e1b 1, not ECN e0b 1 ceb 9 e1b 1"),
    # IP
    "ECN field": (ACCURATE, "> [ect0]", "> [ect1]", "the ECN field is not ect1"),
    "no ECN field": (ACCURATE, "> [ect0]", "> [noecn]", "the ECN field is not noecn"),
    "CE": (ACCURATE, "> [ect0]", "> [ce]", "the ECN field is not ce"),
    "neither of ECT": (RESENT, "[ttl 64]", "[ect01]", "the ECN field is not ect01"),
    "TOS": (RESENT, "[ttl 64]", "[tos 0x10]", "TOS is 0x0, not 0x10"),
    "TTL": (RESENT, "[ttl 64]", "[ttl 63]", "TTL is 64, not 63"),
    "another conversation's": (TWO, "> 8080>5002", "> 8080>5001", "it is another conversation's"),
    # calls
    "result": (RESENT, ", 100) = 100", ", 100) = 99", "write gave 100, expected 99"),
    "an error was expected": (RESENT, ", 100) = 100", ", 100) = -1 EPIPE (Broken pipe)", "write gave 100, expected -1 EPIPE"),
    "another error": (CALLS, "-1 EAGAIN", "-1 EPIPE", "recv gave -1 EAGAIN (Resource temporarily unavailable), expected -1 EPIPE"),
    "an error came": (CALLS, "= -1 EAGAIN", "= 40", "recv gave -1 EAGAIN (Resource temporarily unavailable), expected 40"),
    "a descriptor was not to come": (OPEN, "accept(3, ..., ...) = 4", "accept(3, ..., ...) = -1 EAGAIN", "accept gave "),
    "a descriptor was to come": (OPEN, "accept(3,", "accept(9,", "accept gave -1 EBADF"),
    "a call ends early": (CALLS, "+0...0.1 read", "+0...0.2 read", "read returned at 0.200000, expected at 0.300000"),
    "a call ends late": (CALLS, "+0...0.1 read", "+0...0.05 read", "read returned at 0.200000, expected at 0.150000"),
    "a call does not end": (WAITING, "< P. 1:101(100) ack 1 win 32792\n  +0 > . 1:1(0) ack 101", "< . 1:1(0) ack 1 win 32792", None),
    "a call blocks": (CALLS, "+0...0.1 read", "+0 read", "read blocks, and the script gives no end of it"),
    "bytes read, as a text": (CALLS, "recv(4, ..., 100, MSG_DONTWAIT) = 40", 'recv(4, "text", 100, MSG_DONTWAIT) = 40',
                              "recv: the bytes read are b'"),
    "socket option": (CALLS, "SO_RCVLOWAT, [2], [4]", "SO_RCVLOWAT, [3], [4]", "getsockopt: the option is 2, expected 3"),
    "socket option, a text": (CALLS, '"cubic"', '"renoo"', "getsockopt: the option is b'cubic', expected b'renoo'"),
    "ioctl": (CALLS, "SIOCINQ, [100]", "SIOCINQ, [99]", "ioctl: the answer is 100, expected 99"),
    "poll": (CALLS, "revents=POLLOUT", "revents=POLLIN|POLLOUT", "poll: revents of entry 0 is 0x4, expected 0x5"),
    "epoll": (CALLS, "epoll_wait(7, [{events=EPOLLIN,", "epoll_wait(7, [{events=EPOLLIN|EPOLLOUT,",
              "epoll_wait: event 0 is 0x1 with data 4, expected 0x5 with 4"),
    "epoll's data": (CALLS, "epoll_wait(7, [{events=EPOLLIN, fd=4}]", "epoll_wait(7, [{events=EPOLLIN, fd=5}]",
                     "epoll_wait: event 0 is 0x1 with data 4, expected 0x1 with 5"),
    "msg_flags": (CALLS, "msg_flags=0", "msg_flags=MSG_TRUNC", "recvmsg: msg_flags is 0x0, expected 0x20"),
    # code
    "an assertion": (RESENT, "retrans == 1", "retrans == 2",
                     "assertion failed: assert tcpi_total_retrans == 2\n    now: tcpi_total_retrans = 1"),
    "an assertion with a text": (RESENT, "retrans == 1", "retrans == 2, 'too few'",
                                 "assertion failed: assert tcpi_total_retrans == 2, 'too few'\n    too few"),
    "no Python": (RESENT, "assert tcpi", "assert assert tcpi", "in %{ }%: SyntaxError"),
    "a name that is not": (RESENT, "retrans == 1", "retrans == one", "in %{ }%: name 'one' is not defined"),
    "an exception": (RESENT, "retrans == 1", "retrans == 1 / 0", "in %{ }%: ZeroDivisionError"),
    # other protocols
    "datagram's length": (DATAGRAMS, "> udp (30)", "> udp (29)",
                          "the payload has 30 bytes, not 29\n    expected at 0.000000: > udp (29)\n    came at 0.000000: > udp (30)"),
    "datagram that came": (DATAGRAMS, "= 40", "= 41", "read gave 40, expected 41"),
    "no TCP": (DATAGRAMS, "> udp (30)", "> P. 1:31(30) ack 1", "it is udp, not tcp"),
    "no datagram": (RESENT, "> [ttl 64] P. 1:101(100) ack 1 win 65535", "> udp (100)", "it is tcp, not udp"),
    "no ICMP": (RESENT, "> [ttl 64] P. 1:101(100) ack 1 win 65535", "> icmp echo_reply", "it is tcp, not icmp"),
    "ICMP's type": (NO_PORT, "echo_reply", "echo_request", "it is ICMP type 0, code 0\n    expected at 0.000000: > icmp echo_request"),
    "ICMP's code": (NO_PORT, "unreachable port_unreachable", "unreachable host_unreachable", "it is ICMP type 3, code 3"),
    "ICMP's MTU": (NO_PORT, "unreachable port_unreachable", "unreachable port_unreachable mtu 1200", "the MTU is 0, not 1200"),
    # the language
    "no packet": (RESENT, "1:101(100) ack 1 win 65535\n +.3", "1:102(100) ack 1 win 65535\n +.3",
                  "1:102(100): the numbers and the length differ"),
    "no flags at all": (RESENT, "> S. 0", "> SX. 0", "syntax: 'SX.' are no TCP flags"),
    "no window": (RESENT, "ack 101 win 32792", "ack 101", "a packet that comes in needs its window (win N)"),
    "no number": (RESENT, "ack 101 win 32792", "ack many win 32792", "syntax: a number expected, 'many' found"),
    "no value": (RESENT, "listen(3, 5)", "listen(3, <)", "syntax: '<' is no value"),
    "a call at a range": (RESENT, "+0 write", "+0~+1 write", "only a packet that is expected can have the time * or a range"),
    "code without end": (RESENT, "}%", "", "a piece of code has no end"),
    "an option of nobody": (OPTIONS, "--tcp_ts_tick_usecs=1000", "--no_such=1", "there is no option --no_such"),
    "any options, of the peer": (RESENT, "ack 101 win 32792", "ack 101 win 32792 <...>", "<...> and TS val ... are for packets that are expected"),
}
ELSEWHERE = {   # where the complaint is another line's
    "missing": ("> P. 1:101(100) ack 1 win 65535\n +.3",
                "nothing was sent until 1200.101000\n    expected at 0.100000: > P. 1:101(100) ack 1 win 65535"),
    "a piece too many": ("+.1 < . 1:1(0) ack 2001", "nothing was expected\n    came at 0.100000: > P. 1001:2001(1000) ack 1 win 65535"),
    "a call does not end": ("+0...0.1 read", "read has not returned at "),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_fails(name, tmp_path):
    talk, right, wrong, reason = WRONG[name]
    line = line_of(talk, right)
    if name in ELSEWHERE:
        part, reason = ELSEWHERE[name]
        line = line_of(talk, part)
    fails(tmp_path, talk.replace(right, wrong), line, reason, "--strict")


# --- what is sent, and no script has it ------------------------------------------------------------------------------------

UNFORESEEN = RESENT.replace(" +.3 > [ttl 64] P. 1:101(100) ack 1 win 65535\n +.1 <", " +.5 <")


def test_a_packet_too_many_fails(tmp_path):
    fails(tmp_path, UNFORESEEN, 10, "nothing was expected\n    came at 0.400000: > P. 1:101(100) ack 1 win 65535", "--strict")
    passes(tmp_path, UNFORESEEN)


def test_a_packet_too_many_at_the_end_fails(tmp_path):
    text = UNFORESEEN[:UNFORESEEN.index(" +.5 <")]
    passes(tmp_path, text, "--strict")      # what Weir does after the last event is no part of it
    text = OPEN + "  +0 < . 1:101(100) ack 1 win 32792\n"
    fails(tmp_path, text, 8, "nothing was expected\n    came at 0.100000: > . 1:1(0) ack 101 win 65535", "--strict")
    passes(tmp_path, text)


def test_a_packet_too_many_comes_instead_of_the_next(tmp_path):
    text = UNFORESEEN + "  +0 write(4, ..., 50) = 50\n  +0 > P. 101:151(50) ack 1\n"
    fails(tmp_path, text, 13, "the sequence number is 1, not 101\n    expected at 0.600000: > P. 101:151(50) ack 1\n    came at 0.400000")


# --- the tolerant way, for scripts of others ---------------------------------------------------------------------------------

TOLERATED = {
    "4 ms": (RESENT, "+0 > S.", "+.004 > S."),
    "an eighth of the time since": (RESENT, "+.3 >", "+.27 >"),
    "PSH": (RESENT, "[ttl 64] P.", "[ttl 64] ."),
    "echoed timestamp": (OPTIONS, "ecr 20", "ecr 21"),
    "counters in another order": (ACCURATE, "> SW. 0:0(0) ack 1 win 65535 <mss 1460,sackOK,ECN e0b 1 ceb 0 e1b 1>",
                                  "> SW. 0:0(0) ack 1 win 65535 <mss 1460,sackOK,ECN e1b 1 ceb 0 e0b 1>"),
    "the double of a buffer": (BUFFER, "SO_SNDBUF, [4000], [4]", "SO_SNDBUF, [8000], [4]"),
}
NOT_TOLERATED = {
    "more than 4 ms": (RESENT, "+0 > S.", "+.006 > S.", "the time is wrong"),
    "more than an eighth": (RESENT, "+.3 >", "+.25 >", "the time is wrong"),
    "a counter": (ACCURATE, "> [ect0] P.5 1:101(100) ack 1 <ECN e0b 1 ceb 0", "> [ect0] P.5 1:101(100) ack 1 <ECN e0b 1 ceb 9",
                  "the option is ECN"),
    "a piece that comes late": (IN_TWO, "1:1001(1000) ack 1\n  .2 > P. 1001:2001(1000)", "1:2001(2000)",
                                "the time is wrong\n    expected at 0.100000"),
    "PSH without data": (RESENT, "> S. 0", "> PS. 0", "the flags are S., not PS."),
    "a buffer": (BUFFER, "SO_SNDBUF, [4000], [4]", "SO_SNDBUF, [8001], [4]",
                 "getsockopt: the option is 4000, expected 8001"),
    "an end of a call": (CALLS, "+0...0.1 read", "+0...0.05 read", "read returned at 0.200000, expected at 0.150000"),
    "an assertion": (RESENT, "retrans == 1", "retrans == 2", "assertion failed: assert tcpi_total_retrans == 2"),
    "window": (RESENT, "S. 0:0(0) ack 1 win 65535", "S. 0:0(0) ack 1 win 65534", "the window is 65535, not 65534"),
}


@pytest.mark.parametrize("name", TOLERATED)
def test_strict_alone_sees(name, tmp_path):
    talk, right, other = TOLERATED[name]
    passes(tmp_path, talk, "--strict")
    passes(tmp_path, talk.replace(right, other))
    status, result, _, _ = play(tmp_path, talk.replace(right, other), "--strict")
    assert (status, result) == (1, "FAIL  a.pkt")


@pytest.mark.parametrize("name", NOT_TOLERATED)
def test_also_the_tolerant_way_sees(name, tmp_path):
    talk, right, wrong, reason = NOT_TOLERATED[name]
    passes(tmp_path, talk)
    fails(tmp_path, talk.replace(right, wrong), line_of(talk, right), reason)


ALIKE = {   # other ways to say what is right
    "a range": (RESENT, "+.3 >", "+.2~+.4 >"), "a range of the clock": (RESENT, " +.3 >", ".399~.401 >"),
    "any time": (RESENT, "+.3 >", "* >"), "the clock": (RESENT, " +.3 >", ".4 >"), "half a millisecond": (RESENT, "+.3 >", "+.2995 >"),
    "either of ECT": (ACCURATE, "> [ect0]", "> [ect01]"), "any result": (RESENT, ", 100) = 100", ", 100) = ..."),
    "any options": (OPTIONS, "<mss 1460,sackOK,TS val 100 ecr 10,nop,wscale 7>", "<...>"),
    "options in another order": (OPTIONS, "<mss 1460,sackOK,TS val 100 ecr 10,nop,wscale 7>",
                                 "<wscale 7,nop,TS val 100 ecr 10,mss 1460,sackOK>"),
    "no window": (RESENT, "(100) ack 1 win 65535\n +.3", "(100) ack 1\n +.3"), "no acknowledgement": (URGENT, "ack 1 urg 5", "urg 5"),
    "flags as a number": (ACCURATE, "P.5", "PEA."), "TOS": (ACCURATE, "> [ect0]", "> [tos 0x02]"),
    "pieces": (LARGE, "> P. 1:2001(2000) ack 1", "> . 1:1001(1000) ack 1\n  +0 > P. 1001:2001(1000) ack 1"),
    "anything read": (CALLS, "SO_RCVLOWAT, [2], [4]", "SO_RCVLOWAT, ..., [4]"), "any event": (CALLS, "revents=POLLOUT", "revents=..."),
}


@pytest.mark.parametrize("name", ALIKE)
def test_another_way_to_say_it_passes(name, tmp_path):
    talk, right, other = ALIKE[name]
    line_of(talk, right)
    passes(tmp_path, talk.replace(right, other), "--strict")


def test_code_is_carried_out_in_its_order(tmp_path):
    code = "  +0 %{ seen = tcpi_state }%\n  +0 close(4) = 0\n  +0 > F. 1:1(0) ack 1\n  +0 %{ assert seen == TCP_ESTABLISHED, seen }%\n"
    passes(tmp_path, OPEN + code, "--strict")
    fails(tmp_path, OPEN + code.replace("seen == TCP_E", "seen != TCP_E"), 11,
          "assertion failed: assert seen != TCP_ESTABLISHED, seen\n    1", "--strict")
    several = "  +0 %{\ntotal = 0\nfor number in (1, 2):\n    total += number\nassert total == 4, total\n}%\n"
    fails(tmp_path, OPEN + several, 8, "assertion failed: total = 0", "--strict")
    passes(tmp_path, OPEN + several.replace("== 4", "== 3"), "--strict")


def test_options_of_a_script_have_their_effect(tmp_path):
    wrong = RESENT.replace("+.3 >", "+.25 >")
    fails(tmp_path, wrong, 10, "the time is wrong", "--strict")
    passes(tmp_path, "--tolerance_usecs=51000\n" + wrong, "--strict")
    passes(tmp_path, wrong, "--strict", "--tolerance_usecs=51000")
    passes(tmp_path, wrong, "--tolerance_percent=25")
    fails(tmp_path, wrong, 10, "the time is wrong", "--tolerance_percent=10")
    fails(tmp_path, "--strict_segments\n" + LARGE, 10, "the payload has 1000 bytes, not 2000", "--strict")
    passes(tmp_path, "--define=MANY=100\n" + RESENT.replace("write(4, ..., 100) = 100", "write(4, ..., MANY) = MANY"), "--strict")
    passes(tmp_path, RESENT.replace("write(4, ..., 100) = 100", "write(4, ..., MANY) = MANY"), "--strict", "-D", "MANY=100")
    passes(tmp_path, "--mtu=1200\n" + OPEN.replace("mss 1460", "mss 1160"), "--strict")
    passes(tmp_path, "--bind_port=7\n--local_ip=10.0.0.1\n--remote_ip=10.0.0.2\n" + TWO.replace("8080", "7"), "--strict")


SETTINGS = {    # those that are carried out, and what shows it
    "tcp_rmem": ("net.ipv4.tcp_rmem='4096 8000 8000'", OPEN, "S. 0:0(0) ack 1 win 65535", "S. 0:0(0) ack 1 win 8000"),
    "tcp_wmem": ("net.ipv4.tcp_wmem='4096 2000 3000'", OPEN + "  +0 send(4, ..., 9000, MSG_DONTWAIT) = 9000\n  * > P. 1:9001(9000) ack 1\n",
                 "= 9000\n  * > P. 1:9001(9000)", "= 3000\n  * > P. 1:3001(3000)"),
    "tcp_congestion_control": ("net.ipv4.tcp_congestion_control=reno",
                               OPEN + '  +0 getsockopt(4, SOL_TCP, TCP_CONGESTION, "cubic", [16]) = 0\n', "cubic", "reno"),
    "tcp_ecn": ("net.ipv4.tcp_ecn=0", OPEN.replace("< S 0:0", "< SEW 0:0").replace("> S. 0", "> SE. 0"), "> SE. 0", "> S. 0"),
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("form", ("sysctl -q %s", "sysctl -q -w %s > /dev/null 2>&1", "set_sysctls.py %s"))
def test_a_setting_has_its_effect(name, form, tmp_path):
    setting, talk, without, with_it = SETTINGS[name]
    line_of(talk, without)
    head = f"`{form % setting}`\n"
    passes(tmp_path, talk, "--strict")
    passes(tmp_path, head + talk.replace(without, with_it), "--strict")
    status, result, _, _ = play(tmp_path, head + talk, "--strict")
    assert (status, result) == (1, "FAIL  a.pkt")


# --- versions of IP -----------------------------------------------------------------------------------------------------------

LABELS = """\
--ip_version=ipv6
   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
  +0 bind(3, ..., ...) = 0
  +0 listen(3, 5) = 0
  +0 < 7000>8080 S 0:0(0) win 32792 <mss 1000>
  +0 > [flowlabel 1] 8080>7000 S. 0:0(0) ack 1 win 65535 <mss 1460>
  +0 < 7001>8080 S 0:0(0) win 32792 <mss 1000>
  +0 > [flowlabel 2] 8080>7001 S. 0:0(0) ack 1 win 65535 <mss 1460>
"""
TOO_BIG = OPEN.replace("mss 1000", "mss 1460") + """\
  +0 write(4, ..., 1460) = 1460
  +0 > P. 1:1461(1460) ack 1
 +.1 < icmp unreachable frag_needed mtu 1400 [1:1461(1460)]
  +0 > . 1:1361(1360) ack 1
  +0 > P. 1361:1461(100) ack 1
"""


@pytest.mark.parametrize("version", ("ipv4", "ipv4-mapped-ipv6", "ipv6"))
def test_a_conversation_is_the_same_over_each_version(version, tmp_path):
    option = f"--ip_version={version}"
    for talk in (RESENT, CALLS, TWO, DATAGRAMS, NO_PORT, TOO_BIG):
        passes(tmp_path, talk, "--strict", option)
        passes(tmp_path, f"{option}\n{talk}", "--strict")
    first = {"ipv4": "45", "ipv4-mapped-ipv6": "45", "ipv6": "60"}[version]
    told = fails(tmp_path, RESENT.replace("ttl 64", "ttl 63"), 10, "TTL is 64, not 63", "--strict", option)
    assert f"on the wire: {first}" in told


def test_a_script_of_another_version_is_left_out_and_counted(tmp_path):
    status, result, _, sums = play(tmp_path, "--ip_version=ipv6\n" + OPEN, "--ip_version=ipv4")
    assert (status, result) == (0, "other a.pkt") and sums.startswith("0 passed, 0 failed, 0 skipped, 1 for another version of IP")


def test_a_flow_label_is_a_name(tmp_path):
    passes(tmp_path, LABELS, "--strict")
    fails(tmp_path, LABELS.replace("flowlabel 2", "flowlabel 1"), 8, "the flow label is 0x", "--strict")
    fails(tmp_path, LABELS.replace("flowlabel 2", "flowlabel 0"), 8, "the flow label is 0x", "--strict")


def test_addresses_are_of_the_version(tmp_path):
    fails(tmp_path, "--ip_version=ipv6\n--local_ip=10.0.0.1\n" + OPEN, 1, "the addresses are not of --ip_version=ipv6")
    fails(tmp_path, "--ip_version=ipv5\n" + OPEN, 1, "--ip_version is ipv4, ipv6, ipv4-mapped-ipv6, not ipv5")
    passes(tmp_path, "--ip_version=ipv6\n--local_ip=fd00::1\n--remote_ip=fd01::1\n" + OPEN, "--strict")


# --- a liar between the runner and Weir ----------------------------------------------------------------------------------------

LIAR = """\
    #!{python}
    import subprocess, struct, sys
    sys.path.insert(0, {root!r})
    from sim.script.packet import checksum, pseudo

    def mended(packet):
        at = {{6: 36, 17: 26, 1: 22}}[packet[9]]
        packet[10:12] = packet[at:at + 2] = bytes(2)
        packet[10:12] = struct.pack("!H", checksum(bytes(packet[:20])))
        source, destination = bytes(packet[12:16]), bytes(packet[16:20])
        head = b"" if packet[9] == 1 else pseudo(source, destination, packet[9], len(packet) - 20)
        packet[at:at + 2] = struct.pack("!H", checksum(head + bytes(packet[20:])))

    def lie(packet):
    {packet}

    def lie_about(line):
        verb, _, rest = line.partition(" ")
        if verb == "tx":
            time, digits = rest.split()
            packet = bytearray.fromhex(digits)
            lie(packet)
            return f"tx {{time}} {{packet.hex()}}\\n"
    {line}
        return line

    reads = []
    host = subprocess.Popen([{program!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for told in sys.stdin:
        host.stdin.write(told)
        host.stdin.flush()
        answer = ""
        while not answer.startswith(("ok ", "err ")):
            answer = host.stdout.readline()
            sys.stdout.write(lie_about(answer))
        sys.stdout.flush()
    host.stdin.close()
    {end}
"""


def liar(folder, packet="pass", line="pass", end=""):
    path = folder / "liar"
    lines = textwrap.dedent(LIAR).format(python=sys.executable, root=str(ROOT), program=str(PROGRAM), end=end,
                                         packet=textwrap.indent(packet, "    "), line=textwrap.indent(line, "    "))
    path.write_text(lines)
    path.chmod(0o755)
    return f"--program={path}"


IF_DATA = "if len(packet) > 40 and packet[9] == 6 and packet[32] >> 4 == 5:\n    "
LIES = {
    "another byte": (RESENT, IF_DATA + "packet[-1] ^= 1; mended(packet)", 9, "the payload is not what was written"),
    "the first byte": (RESENT, IF_DATA + "packet[40] ^= 1; mended(packet)", 9, "the payload is not what was written"),
    "a later piece": (LARGE, "if len(packet) == 1040 and packet[33] & 8:\n    packet[-1] ^= 1; mended(packet)", 9,
                      "the payload is not what was written"),
    "a text": (OPEN + '  +0 write(4, "weir", 4) = 4\n  +0 > P. 1:5(4) ack 1\n', IF_DATA + "packet[-1] ^= 1; mended(packet)", 9,
               "the payload is not what was written"),
    "TCP checksum": (RESENT, "packet[36] ^= 1", 5, "the TCP checksum is wrong"),
    "IP checksum": (RESENT, "packet[10] ^= 1", 5, "the checksum of the IP header is wrong"),
    "IP length": (RESENT, IF_DATA + "packet += b'0'; mended(packet)", 9, "the IP header says 140 bytes, there are 141"),
    "reserved bits": (RESENT, "packet[32] |= 2; mended(packet)", 5, "reserved bits of the TCP header are set"),
    "a broken option": (RESENT, "if packet[33] & 2:\n    packet[41] = 9; mended(packet)", 5, "the option mss is missing"),
    "another option": (RESENT, "if packet[33] & 2:\n    packet[40] = 99; mended(packet)", 5, "the option mss is missing"),
    "a fragment": (RESENT, "packet[6] |= 0x20; mended(packet)", 5,
                   "a packet of no conversation of the script\n    came at 0.000000: > protocol fragment"),
    "another port": (RESENT, "packet[23] ^= 1; mended(packet)", 5, "a packet of no conversation of the script\n    came at 0.000000"),
    "datagram": (DATAGRAMS, "packet[-1] ^= 1; mended(packet)", 5, "the payload is not what was written"),
    "UDP checksum": (DATAGRAMS, "packet[-1] ^= 1", 5, "the UDP checksum is wrong"),
    "ICMP checksum": (NO_PORT, "packet[24] ^= 1", 3, "the ICMP checksum is wrong"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_on_the_wire_is_found_out(name, tmp_path):
    talk, lie, line, reason = LIES[name]
    fails(tmp_path, talk, line, reason, "--strict", liar(tmp_path, lie))


def test_the_liar_who_does_not_lie_passes(tmp_path):
    for talk in (RESENT, DATAGRAMS, NO_PORT, CALLS):
        passes(tmp_path, talk, "--strict", liar(tmp_path))
        passes(tmp_path, talk, "--strict", liar(tmp_path, "mended(packet)"))


OTHER_READ = """\
if verb == "ret" and len(rest) > 100:
    reads.append(line)
    if len(reads) == {number}:
        before, _, after = line.partition(" x")
        return before + " x" + ("00" if after[:2] != "00" else "01") + after[2:]"""


def test_other_bytes_than_the_peer_sent_are_found_out(tmp_path):
    talk = OPEN + "  +0 < . 1:101(100) ack 1 win 32792\n  +0 > . 1:1(0) ack 101\n  +0 read(4, ..., 60) = 60\n  +0 recv(4, ..., 60, 0) = 40\n"
    passes(tmp_path, talk, "--strict")
    for number, name, start in ((1, "read", 0), (2, "recv", 60)):
        fails(tmp_path, talk, 9 + number, f"{name} gave other bytes than the peer sent (from byte {start} of the stream on)", "--strict",
              liar(tmp_path, line=OTHER_READ.format(number=number)))


def test_an_end_before_the_end_is_an_error(tmp_path):
    fails(tmp_path, RESENT, 8, "weir-script ended by itself with status 3", "--strict",
          liar(tmp_path, IF_DATA + "sys.stdout.flush(); sys.exit(3)"))
    fails(tmp_path, RESENT, 1, "weir-script ended with status 7:\na complaint of a sanitizer", "--strict",
          liar(tmp_path, end="sys.stderr.write('a complaint of a sanitizer'); sys.exit(7)"))
    fails(tmp_path, RESENT, 8, "weir-script: no more", "--strict",
          liar(tmp_path, line="if verb == 'ret' and rest.startswith('100000 100 '):\n    return 'err no more\\n'"))


# --- what Weir has not -------------------------------------------------------------------------------------------------------

ONE = "   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"


def test_a_misspelt_call_fails(tmp_path):
    fails(tmp_path, ONE + " +0 lisen(3, 5) = 0\n", 2, "there is no system call lisen; did you mean listen?")


SKIPPED = {     # text, line, reason
    "unknown sysctl": ("`sysctl -q net.ipv4.tcp_no_such=1`\n" + ONE, 1, "sysctl net.ipv4.tcp_no_such=1"),
    "unknown sysctl, of the core": ("`sysctl -q net.core.busy_poll=1`\n" + ONE, 1, "sysctl net.core.busy_poll=1"),
    "sysctl, written": ("`echo 1 > /proc/sys/net/ipv4/tcp_no_such`\n" + ONE, 1, "sysctl net.ipv4.tcp_no_such=1"),
    "sysctl, by packetdrill's own": ("`../common/set_sysctls.py /proc/sys/net/ipv4/tcp_no_such=1`\n" + ONE, 1,
                                     "sysctl net.ipv4.tcp_no_such=1"),
    "second of several": ("`sysctl -q net.ipv4.tcp_sack=1 && sysctl -q net.ipv4.tcp_sack=0`\n" + ONE, 1, "sysctl net.ipv4.tcp_sack=0"),
    "congestion control": ("`sysctl -q net.ipv4.tcp_congestion_control=dctcp`\n" + ONE, 1, "congestion control dctcp"),
    "another tcp_ecn": ("`sysctl -q net.ipv4.tcp_ecn=9`\n" + ONE, 1, "sysctl net.ipv4.tcp_ecn=9"),
    "command": ("`modprobe tcp_no_such`\n" + ONE, 1, "the command 'modprobe tcp_no_such'"),
    "command in the middle": (ONE + " +0 `modprobe tcp_no_such`\n +0 close(3) = 0\n", 2, "the command 'modprobe tcp_no_such'"),
    "setting in the middle": (ONE + " +0 `sysctl -q net.ipv4.tcp_ecn=1`\n +0 close(3) = 0\n", 2, "a sysctl that changes in the middle"),
    "tc in the middle": (ONE + " +0 `tc qdisc add dev tun0 root fq`\n +0 close(3) = 0\n", 2, "tc in the middle"),
    "tunnel": (ONE + " +0 > ipv4 1.1.1.1 > 2.2.2.2: S 0:0(0)\n", 2, "encapsulated packets (ipv4)"),
    "tcpi_ name": (OPEN + " +0 %{ assert tcpi_no_such == 1 }%\n", 8, "tcpi_no_such in TCP_INFO"),
    "bbr's name": (OPEN + " +0 %{ assert bbr_bw_lo == 1 }%\n", 8, "bbr_bw_lo in TCP_INFO"),
    "socket option, by name": (ONE + " +0 setsockopt(3, SOL_SOCKET, SO_NO_SUCH, [1], 4) = 0\n", 2, "the symbol SO_NO_SUCH"),
    "socket option, by number": (ONE + " +0 setsockopt(3, SOL_TCP, 99, [1], 4) = 0\n", 2, "a socket option of Linux (SOL_TCP 99)"),
    "flag of a call": (OPEN + " +0 send(4, ..., 10, MSG_NO_SUCH) = 10\n", 8, "the symbol MSG_NO_SUCH"),
    "system call": (ONE + " +0 splice(3, 4) = 0\n", 2, "the system call splice"),
    "ancillary data": (OPEN + " +0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 9}], msg_flags=0, msg_control=[{cmsg_level=1}]}, 0) = 0\n",
                       8, "ancillary data"),
    "Fast Open": (ONE + " +0 < S 0:0(0) win 100 <mss 1000,FO 1234>\n", 2, "TCP Fast Open"),
    "MD5": (ONE + " +0 < S 0:0(0) win 100 <mss 1000,md5 00>\n", 2, "TCP MD5 signatures (RFC 2385)"),
    "TCP option": (ONE + " +0 < S 0:0(0) win 100 <mpcapable 1>\n", 2, "the TCP option 'mpcapable'"),
    "fuzzing": (ONE + " +0 < S 0:0(0) win 100 {tcp_mss 1}\n", 2, "fuzzing of packets"),
    "ICMP about raw": (ONE + " +0 < icmp unreachable net_unreachable [raw (8)]\n", 2, "ICMP errors about raw packets"),
    "wire": ("--wire_server\n" + ONE, 1, "--wire_server"),
}


@pytest.mark.parametrize("name", SKIPPED)
def test_what_weir_has_not_is_skipped_and_counted(name, tmp_path):
    text, line, reason = SKIPPED[name]
    status, result, told, sums = play(tmp_path, text)
    assert (status, result, told) == (0, "skip  a.pkt", f"      a.pkt:{line}: {reason}")
    assert sums.startswith("0 passed, 0 failed, 1 skipped")
    if name == "socket option, by number":
        reason = "setsockopt gave -1 ENOPROTOOPT (Protocol not available), expected 0"
    fails(tmp_path, text, line, reason if "ENOPROTOOPT" in reason else f"needs {reason}", "--strict")


# Of each setting that has a bearing: a value that is true of Weir, and one that asks for something else.
VALUES = """
tcp_slow_start_after_idle 1 0     tcp_rfc1337 1 0                   tcp_sack 1 0                      tcp_timestamps 1 0
tcp_recovery 1 0                  tcp_comp_sack_nr 0 44             tcp_comp_sack_delay_ns 0 1000000   tcp_challenge_ack_limit 1000 1
tcp_fastopen 3 1027               tcp_app_win 31 1                  tcp_max_orphans 8192 0            tcp_max_syn_backlog 128 2
tcp_max_tw_buckets 16 0           tcp_mem 8192_9000_9999 8192_9000_1   tcp_min_rtt_wlen 300 1            tcp_max_reordering 300 3
tcp_min_snd_mss 48 536            tcp_moderate_rcvbuf 1 0           tcp_no_metrics_save 1 0           tcp_no_ssthresh_metrics_save 1 0
tcp_pacing_ca_ratio 120 200       tcp_pacing_ss_ratio 200 120       tcp_retrans_collapse 1 0          tcp_tso_win_divisor 3 1
tcp_tw_reuse 1 0                  tcp_ecn_fallback 1 0              route.min_pmtu 576 68             route.mtu_expires 600 1
tcp_early_retrans 3 0             tcp_mtu_probing 0 1
""".split()


@pytest.mark.parametrize("name, same, other", zip(VALUES[::3], VALUES[1::3], VALUES[2::3]))
def test_a_setting_is_taken_at_its_value_only(name, same, other, tmp_path):
    same, other = same.replace("_", " "), other.replace("_", " ")
    passes(tmp_path, f'`sysctl -q net.ipv4.{name}="{same}"`\n{ONE}', "--strict")
    status, result, told, _ = play(tmp_path, f'`sysctl -q net.ipv4.{name}="{other}"`\n{ONE}')
    assert (status, result, told) == (0, "skip  a.pkt", f"      a.pkt:1: sysctl net.ipv4.{name}={other}")


def test_limits_of_the_core_may_be_larger_not_smaller(tmp_path):
    for name, same, other in (("somaxconn", 4096, 1), ("rmem_max", 212992, 4096), ("wmem_max", 212992, 4096)):
        passes(tmp_path, f"`sysctl -q net.core.{name}={same}`\n{ONE}", "--strict")
        status, _, told, _ = play(tmp_path, f"`sysctl -q net.core.{name}={other}`\n{ONE}")
        assert (status, told) == (0, f"      a.pkt:1: sysctl net.core.{name}={other}")


# --- the sums -------------------------------------------------------------------------------------------------------------------

def test_a_folder_is_counted(tmp_path):
    (tmp_path / "b").mkdir()
    for name, text in (("a", ONE), ("b/skipped", "--wire_server\n" + ONE), ("c", ONE.replace("= 3", "= -1 EPERM")), ("d", ONE),
                       ("e", "")):
        (tmp_path / f"{name}.pkt").write_text(text)
    done = subprocess.run([*RUN, "."], cwd=tmp_path, capture_output=True, text=True)
    assert re.findall(r"^(\S| ok |FAIL|skip) +(\S+\.pkt)$", done.stdout, re.MULTILINE) == [
        (" ok ", "a.pkt"), ("skip", "b/skipped.pkt"), ("FAIL", "c.pkt"), (" ok ", "d.pkt"), ("FAIL", "e.pkt")]
    assert done.stdout.split("\n")[-2].startswith("2 passed, 2 failed, 1 skipped")
    assert "e.pkt:1: there is no event" in done.stdout
    assert done.returncode == 1
    for names, status in ((["a.pkt", "d.pkt"], 0), (["a.pkt", "b"], 0), (["c.pkt", "a.pkt"], 1), (["a.pkt", "--strict", "b"], 1)):
        assert subprocess.run([*RUN, *names], cwd=tmp_path, capture_output=True).returncode == status, names
    (tmp_path / "empty").mkdir()
    assert subprocess.run([*RUN, "empty"], cwd=tmp_path, capture_output=True).returncode == 1     # nothing was played: that is no success
