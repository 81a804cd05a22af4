# SPDX-License-Identifier: BSD-2-Clause
"""System calls as scripts write them: their symbols, what goes to the player, and what is compared when they return."""
import difflib
import errno
import struct

from . import ScriptError, Skip
from .engine import Nowhere, Out
from .parser import ELLIPSIS, Either, Struct, Word

AF_INET6, SOCKADDR_BYTES = 10, 28   # of the larger family

SYMBOLS = {
    "AF_UNSPEC": 0, "AF_INET": 2, "PF_INET": 2, "AF_INET6": AF_INET6, "PF_INET6": AF_INET6, "SOCK_STREAM": 1, "SOCK_DGRAM": 2, "SOCK_RAW": 3, "SOCK_NONBLOCK": 0o4000, "SOCK_CLOEXEC": 0o2000000,
    "IPPROTO_IP": 0, "IPPROTO_ICMP": 1, "IPPROTO_TCP": 6, "IPPROTO_UDP": 17, "SHUT_RD": 0, "SHUT_WR": 1, "SHUT_RDWR": 2,
    "MSG_OOB": 1, "MSG_PEEK": 2, "MSG_CTRUNC": 8, "MSG_TRUNC": 0x20, "MSG_DONTWAIT": 0x40, "MSG_EOR": 0x80, "MSG_WAITALL": 0x100, "MSG_NOSIGNAL": 0x4000,
    "MSG_MORE": 0x8000,
    "SOL_SOCKET": 1, "SOL_IP": 0, "SOL_TCP": 6, "SOL_UDP": 17,
    "SO_REUSEADDR": 2, "SO_TYPE": 3, "SO_ERROR": 4, "SO_BROADCAST": 6, "SO_SNDBUF": 7, "SO_RCVBUF": 8, "SO_KEEPALIVE": 9, "SO_OOBINLINE": 10,
    "SO_LINGER": 13, "SO_RCVLOWAT": 18, "SO_SNDLOWAT": 19, "SO_RCVTIMEO": 20, "SO_SNDTIMEO": 21, "SO_BINDTODEVICE": 25, "SO_ACCEPTCONN": 30,
    "SO_PROTOCOL": 38, "SO_DOMAIN": 39,
    "TCP_NODELAY": 1, "TCP_MAXSEG": 2, "TCP_CORK": 3, "TCP_KEEPIDLE": 4, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 6, "TCP_DEFER_ACCEPT": 9, "TCP_INFO": 11,
    "TCP_QUICKACK": 12, "TCP_CONGESTION": 13, "TCP_USER_TIMEOUT": 18, "TCP_USER_TIMEOUT_OPTION": 1004, "TCP_RTO_MIN_US": 45,
    "IP_TOS": 1, "IP_TTL": 2, "IP_MTU_DISCOVER": 10, "IP_RECVTTL": 12, "IP_RECVTOS": 13, "IP_MTU": 14,
    "IPPROTO_IPV6": 41, "SOL_IPV6": 41, "IPV6_UNICAST_HOPS": 16, "IPV6_MTU_DISCOVER": 23, "IPV6_MTU": 24, "IPV6_V6ONLY": 26, "IPV6_TCLASS": 67,
    "IP_PMTUDISC_DONT": 0, "IP_PMTUDISC_WANT": 1, "IP_PMTUDISC_DO": 2,
    "F_GETFD": 1, "F_SETFD": 2, "F_GETFL": 3, "F_SETFL": 4, "O_RDWR": 2, "O_NONBLOCK": 0o4000, "FD_CLOEXEC": 1, "O_RDONLY": 0, "O_WRONLY": 1,
    "FIONREAD": 0x541b, "SIOCINQ": 0x541b, "FIONBIO": 0x5421, "SIOCATMARK": 0x8905, "SIOCOUTQ": 0x5411, "TIOCOUTQ": 0x5411, "SIOCOUTQNSD": 0x894b,
    "POLLIN": 1, "POLLPRI": 2, "POLLOUT": 4, "POLLERR": 8, "POLLHUP": 0x10, "POLLNVAL": 0x20, "POLLRDNORM": 0x40, "POLLRDBAND": 0x80,
    "POLLWRNORM": 0x100, "POLLWRBAND": 0x200, "POLLRDHUP": 0x2000,
    "EPOLLIN": 1, "EPOLLPRI": 2, "EPOLLOUT": 4, "EPOLLERR": 8, "EPOLLHUP": 0x10, "EPOLLRDHUP": 0x2000, "EPOLLONESHOT": 1 << 30, "EPOLLET": 1 << 31,
    "EPOLL_CTL_ADD": 1, "EPOLL_CTL_DEL": 2, "EPOLL_CTL_MOD": 3, "EPOLL_CLOEXEC": 0o2000000,
}
BUFFER_OPTIONS = {(1, 7), (1, 8)}   # SO_SNDBUF, SO_RCVBUF


def number(value):
    if isinstance(value, int):
        return value
    if isinstance(value, Word):
        if value.text in SYMBOLS:
            return SYMBOLS[value.text]
        if hasattr(errno, value.text):
            return getattr(errno, value.text)
        raise Skip(f"the symbol {value.text}")
    if isinstance(value, Either):
        result = 0
        for member in value.members:
            result |= number(member)
        return result
    if isinstance(value, list) and not isinstance(value, Struct) and len(value) == 1:
        return number(value[0])
    raise ScriptError("a number is expected among the arguments")


def sockaddr(host, port):
    return struct.pack("=H", 2) + struct.pack("!H4s", port, host) + bytes(8)


def sockaddr6(host, port):
    return struct.pack("=H", AF_INET6) + struct.pack("!HI16sI", port, 0, host, 0)


def address_of(player, value, host, port):
    """What a socket call is given as an address: `...` means the runner's own."""
    if value is ELLIPSIS:
        mapped = bytes(10) + b"\xff\xff" if player.config.version == "ipv4-mapped-ipv6" else b""
        return sockaddr6(mapped + host, port) if player.family == AF_INET6 else sockaddr(host, port)
    if isinstance(value, Struct) and value.get("sa_family") is not None:
        family = number(value.get("sa_family"))
        if family == AF_INET6 and value.get("sin6_addr") is not None:
            return sockaddr6(value.get("sin6_addr"), number(value.get("sin6_port")))
        if family != 2:
            return struct.pack("=H", family) + bytes(14)
        return sockaddr(number(value.get("sin_addr")).to_bytes(4, "big"), number(value.get("sin_port")))
    raise ScriptError("an address is expected: ... or {sa_family = AF_INET, sin_port = htons(…), sin_addr = inet_addr(…)}")


def option_bytes(value, size):
    if isinstance(value, bytes):
        return value[:size] if size and size <= len(value) else value
    if isinstance(value, list) and not isinstance(value, Struct) and len(value) == 1 and isinstance(value[0], (Struct, bytes)):
        value = value[0]
        return option_bytes(value, size)
    if isinstance(value, Struct):
        if value.get("onoff") is not None:
            return struct.pack("=ii", number(value.get("onoff")), number(value.get("linger")))
        numbers = [number(member) for _, member in value]
        return struct.pack(f"={len(numbers)}q", *numbers)
    data = struct.pack("=i", number(value))
    return data[:size] if size < 4 else data


def message(value):
    """(bytes in the vector, flags) of a msghdr."""
    if not isinstance(value, Struct) or value.get("msg_iov") is None:
        raise ScriptError("a message is expected: {msg_name(...)=..., msg_iov(1)=[{..., 1000}], msg_flags=0}")
    if value.get("msg_control"):
        raise Skip("ancillary data")
    total, content = vector(value.get("msg_iov"))
    return total, content, value.get("msg_flags", 0)


def vector(pieces):
    total, content = 0, b""
    for piece in pieces:
        data, size = piece[0][1], number(piece[1][1])
        if isinstance(data, bytes):
            content += data[:size]
        total += size
    return total, content if len(content) == total else None


class CallSpec:
    """A call on its way: what the player gets, and how its return is looked at."""

    def __init__(self, name, arguments):
        self.name, self.arguments = name, arguments
        self.sends = None           # (descriptor of the script, bytes) of the stream
        self.reads = None           # (descriptor, buffer's index, takes the bytes away)
        self.expected = None        # bytes that a read must give
        self.check = None           # function(returned): text of what is wrong, or None
        self.makes = None           # "socket", "accept", "epoll"
        self.strict = True


def build(player, call):
    """The CallSpec of a call in a script."""
    maker = MAKERS.get(call.name)
    if not maker:
        if call.name in OTHERS:
            raise Skip(f"the system call {call.name}")
        near = difflib.get_close_matches(call.name, MAKERS, 1)
        raise ScriptError(f"there is no system call {call.name}" + (f"; did you mean {near[0]}?" if near else ""))
    return maker(player, call.arguments, call)


# What packetdrill plays, and Weir has not.
OTHERS = ("cap_set", "open", "pipe", "sendfile", "splice", "vmsplice", "mmap", "madvise", "sctp_bindx", "sctp_connectx", "sctp_peeloff", "sctp_sendv",
          "sctp_recvv", "sctp_sendmsg", "sctp_recvmsg", "sctp_send", "sctp_sendx")


def make_socket(player, args, _):
    kind = number(args[1])
    spec = CallSpec("socket", [player.family if args[0] is ELLIPSIS else number(args[0]), kind, number(args[2])])
    spec.makes = "socket"
    return spec


def make_bind(player, args, _):
    return CallSpec("bind", [player.fd(args[0]), address_of(player, args[1], player.config.local, player.config.bind_port)])


def make_connect(player, args, _):
    return CallSpec("connect", [player.fd(args[0]), address_of(player, args[1], player.config.remote, player.config.connect_port)])


def make_accept(player, args, call):
    spec = CallSpec("accept", [player.fd(args[0]), Out(SOCKADDR_BYTES), number(args[3]) if call.name == "accept4" else 0])
    spec.makes = "accept"
    return spec


def make_plain(name):
    def make(player, args, _):
        return CallSpec(name, [player.fd(args[0])] + [0 if a is ELLIPSIS else number(a) for a in args[1:]])
    return make


def is_for_debugging(call):
    """SO_DEBUG makes some systems keep a log; none does anything else for it."""
    return call.name == "setsockopt" and isinstance(call.arguments[2], Word) and call.arguments[2].text == "SO_DEBUG"


def make_setsockopt(player, args, _):
    level, name = number(args[1]), number(args[2])
    player.sized |= {(level, name)} & BUFFER_OPTIONS
    size = 4 if len(args) < 5 or args[4] is ELLIPSIS else number(args[4])
    return CallSpec("setsockopt", [player.fd(args[0]), level, name, option_bytes(args[3], size)])


def make_getsockopt(player, args, _):
    value = args[3]
    option = (number(args[1]), number(args[2]))
    if not player.strict and option in BUFFER_OPTIONS - player.sized:
        value = ELLIPSIS    # how large a buffer is that nobody has set is each system's own affair
    spec = CallSpec("getsockopt", [player.fd(args[0]), *option, Out(max(number(args[4]) if args[4] is not ELLIPSIS else 4, 16))])
    if value is ELLIPSIS:
        return spec
    wanted = value if isinstance(value, bytes) else option_bytes(value, 4)
    spec.arguments[3] = Out(max(16, len(wanted)) if len(wanted) != 4 else 4)

    def check(returned):
        got = returned.buffers[3][:len(wanted)]
        if not spec.strict and option in BUFFER_OPTIONS and 2 * int.from_bytes(got, "little") == int.from_bytes(wanted, "little"):
            return None     # Linux answers with the double
        if got != wanted:
            if len(wanted) == 4:
                return f"the option is {struct.unpack('=i', got.ljust(4, bytes(1)))[0]}, expected {struct.unpack('=i', wanted)[0]}"
            return f"the option is {got!r}, expected {wanted!r}"
        return None
    spec.check = check
    return spec


def make_ioctl(player, args, _):
    spec = CallSpec("ioctl", [player.fd(args[0]), number(args[1]), Out(8) if len(args) < 3 or args[2] is ELLIPSIS else struct.pack("=ii", number(args[2]), 0)])
    if len(args) > 2 and args[2] is not ELLIPSIS and number(args[1]) != SYMBOLS["FIONBIO"]:
        wanted = number(args[2])

        def check(returned):
            got = struct.unpack("=i", returned.buffers[2][:4])[0]
            return None if got == wanted else f"the answer is {got}, expected {wanted}"
        spec.check = check
    return spec


def content_of(player, fd, data, size):
    """What a write sends: the bytes the script names, or those of the stream's pattern."""
    if isinstance(data, bytes):
        return (data + bytes(size))[:size]
    return player.outgoing(fd, size)


def is_null(value):
    return isinstance(value, Word) and value.text == "NULL"


def flags_of(player, fd, value):
    flags = number(value)
    if flags & SYMBOLS["MSG_EOR"] and not player.strict and not player.is_datagram(fd):
        raise Skip("records in a stream (MSG_EOR)")
    return flags


def make_write(player, args, call):
    if call.name in ("writev",):
        total, content = vector(args[1])
        data = content if content is not None else player.outgoing(args[0], total)
    else:
        data = content_of(player, args[0], args[1], number(args[2]))
    flags = flags_of(player, args[0], args[3]) if len(args) > 3 and call.name in ("send", "sendto") else 0
    words = [player.fd(args[0]), Nowhere(len(data)) if is_null(args[1]) else data, flags]
    if call.name == "sendto" and len(args) > 4 and not is_null(args[4]) and args[4] != 0:
        if player.is_datagram(args[0]) or args[4] is not ELLIPSIS:
            words.append(address_of(player, args[4], player.config.remote, player.config.connect_port))
    spec = CallSpec("send", words)
    spec.sends = (args[0], data)
    return spec


def make_sendmsg(player, args, _):
    total, content, _flags = message(args[1])
    data = content if content is not None else player.outgoing(args[0], total)
    spec = CallSpec("sendmsg", [player.fd(args[0]), data, flags_of(player, args[0], args[2])])
    spec.sends = (args[0], data)
    return spec


def make_read(player, args, call):
    if call.name == "readv":
        size, expected = vector(args[1])
    else:
        size, expected = number(args[2]), args[1] if isinstance(args[1], bytes) else None
    flags = number(args[3]) if call.name in ("recv", "recvfrom") and len(args) > 3 else 0
    spec = CallSpec("recv", [player.fd(args[0]), Nowhere(size) if is_null(args[1]) else Out(size), flags, Out(SOCKADDR_BYTES) if call.name == "recvfrom" else None])
    read_rules(spec, args[0], flags, expected)
    return spec


def read_rules(spec, fd, flags, expected):
    spec.expected = expected
    if not flags & (SYMBOLS["MSG_OOB"] | SYMBOLS["MSG_TRUNC"]):
        spec.reads = (fd, 1, not flags & SYMBOLS["MSG_PEEK"])
    if expected is not None:
        def check(returned):
            got = returned.buffers[1][:returned.result]
            return None if got == expected[:returned.result] else f"the bytes read are {got[:64]!r}, expected {expected[:64]!r}"
        spec.check = check


def make_recvmsg(player, args, _):
    total, content, wanted = message(args[1])
    flags = number(args[2])
    spec = CallSpec("recvmsg", [player.fd(args[0]), Out(total), flags, Out(SOCKADDR_BYTES), Out(4)])
    read_rules(spec, args[0], flags, content)
    if wanted is not ELLIPSIS:
        before, expected = spec.check, number(wanted)

        def check(returned):
            got = struct.unpack("=i", returned.buffers[4])[0]
            return (before and before(returned)) or (None if got == expected else f"msg_flags is {got:#x}, expected {expected:#x}")
        spec.check = check
    return spec


def make_poll(player, args, _):
    entries = [(player.fd(e.get("fd")), number(e.get("events"))) for e in args[0]]
    wanted = [e.get("revents") for e in args[0]]
    spec = CallSpec("poll", [b"".join(struct.pack("=ihh", fd, events, 0) for fd, events in entries), number(args[1]), number(args[2])])

    def check(returned):
        for i, expected in enumerate(wanted):
            got = struct.unpack_from("=ihH", returned.buffers[0], 8 * i)[2]
            if expected is not ELLIPSIS and got != number(expected or 0):
                return f"revents of entry {i} is {got:#x}, expected {number(expected or 0):#x}"
        return None
    spec.check = check
    return spec


def make_epoll_create(player, args, _):
    spec = CallSpec("epoll_create", [])
    spec.makes = "epoll"
    return spec


def epoll_event(player, value):
    data = value.get("fd")
    for key in ("u32", "u64", "ptr"):
        data = value.get(key) if data is None else data
    return struct.pack("=I4xQ", number(value.get("events")) & 0xffffffff, number(data) & (1 << 64) - 1)


def make_epoll_ctl(player, args, _):
    event = epoll_event(player, args[3]) if len(args) > 3 and isinstance(args[3], Struct) else bytes(16)
    return CallSpec("epoll_ctl", [player.fd(args[0]), number(args[1]), player.fd(args[2]), event])


def make_epoll_wait(player, args, _):
    wanted = args[1] if isinstance(args[1], list) and not isinstance(args[1], Struct) else [args[1]]
    spec = CallSpec("epoll_wait", [player.fd(args[0]), Out(16 * max(1, number(args[2]))), number(args[2]), number(args[3])])

    def check(returned):
        for i, expected in enumerate(wanted[:returned.result]):
            if not isinstance(expected, Struct):
                continue
            bits, data = struct.unpack_from("=I4xQ", returned.buffers[1], 16 * i)
            want_bits, want_data = struct.unpack("=I4xQ", epoll_event(player, expected))
            if (bits, data) != (want_bits, want_data):
                return f"event {i} is {bits:#x} with data {data}, expected {want_bits:#x} with {want_data}"
        return None
    spec.check = check
    return spec


MAKERS = {
    "socket": make_socket, "bind": make_bind, "listen": make_plain("listen"), "accept": make_accept, "accept4": make_accept, "connect": make_connect,
    "close": make_plain("close"), "shutdown": make_plain("shutdown"), "fcntl": make_plain("fcntl"), "ioctl": make_ioctl,
    "setsockopt": make_setsockopt, "getsockopt": make_getsockopt, "write": make_write, "writev": make_write, "send": make_write, "sendto": make_write,
    "sendmsg": make_sendmsg, "read": make_read, "readv": make_read, "recv": make_read, "recvfrom": make_read, "recvmsg": make_recvmsg,
    "poll": make_poll, "epoll_create": make_epoll_create, "epoll_create1": make_epoll_create, "epoll_ctl": make_epoll_ctl, "epoll_wait": make_epoll_wait,
}
