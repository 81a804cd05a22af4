#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Conversations of a program with its system, each of which must go the same way on Linux and under weir-run: run_calls.py NAME. Over
loopback, so that one program is both sides. test_run.py runs them."""
import array
import ctypes
import errno
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading

HOST = "127.0.0.1"
SO_REUSEPORT, SO_LINGER = socket.SO_REUSEPORT, socket.SO_LINGER


def pair():
    """A connection, both ends."""
    with socket.create_server((HOST, 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server = listener.accept()[0]
    client.settimeout(60)
    server.settimeout(60)
    return client, server


def failing(number, call, *words):
    try:
        call(*words)
    except OSError as error:
        assert error.errno == number, (error.errno, number)
    else:
        raise AssertionError(f"no error {errno.errorcode[number]}")


def receive(sock, size):
    got = b""
    while len(got) < size:
        some = sock.recv(65536)
        assert some, f"ended after {len(got)} of {size}"
        got += some
    return got


def polled(sock, mask=select.POLLIN | select.POLLOUT | select.POLLRDHUP, milliseconds=0):
    poll = select.poll()
    poll.register(sock, mask)
    return dict(poll.poll(milliseconds)).get(sock.fileno(), 0)


def bulk():
    client, server = pair()
    data = os.urandom(5_000_000)
    sender = threading.Thread(target=client.sendall, args=(data,))
    sender.start()
    assert receive(server, len(data)) == data
    sender.join()
    client.shutdown(socket.SHUT_WR)
    assert server.recv(1) == b""
    server.sendall(b"after the end of the other side")
    assert receive(client, 31) == b"after the end of the other side"


def lowest_number():
    spare = os.dup(0)
    os.close(0)
    try:
        sock = socket.socket()
        assert sock.fileno() == 0
        sock.detach()
        failing(errno.ENOTCONN, socket.socket(fileno=os.dup(0)).recv, 1)
    finally:
        os.dup2(spare, 0)


def not_connected():
    sock = socket.socket()
    failing(errno.ENOTCONN, sock.recv, 1)
    failing(errno.EPIPE, sock.send, b"x")
    failing(errno.ENOTCONN, sock.getpeername)
    failing(errno.ENOTCONN, sock.shutdown, socket.SHUT_RDWR)
    failing(errno.EINVAL, sock.accept)
    failing(errno.EADDRNOTAVAIL, sock.bind, ("192.0.2.1", 0))
    listener = socket.create_server((HOST, 0))
    failing(errno.EADDRINUSE, socket.socket().bind, listener.getsockname())
    failing(errno.ENOTCONN, listener.recv, 1)
    failing(errno.EBADF, os.read, 987, 1)
    failing(errno.ENOPROTOOPT, sock.getsockopt, socket.IPPROTO_TCP, 250)
    failing(errno.ENOENT, sock.setsockopt, socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"nothing")
    failing(errno.EPROTONOSUPPORT, socket.socket, socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_UDP)


def refused():
    with socket.create_server((HOST, 0)) as listener:
        name = listener.getsockname()
    failing(errno.ECONNREFUSED, socket.create_connection, name)
    sock = socket.socket()
    sock.setblocking(False)
    assert sock.connect_ex(name) == errno.EINPROGRESS
    assert polled(sock, milliseconds=60_000) & ~select.POLLRDHUP == select.POLLIN | select.POLLOUT | select.POLLERR | select.POLLHUP
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0


def connected_later():
    """A connection attempt is told by POLLOUT, and not before."""
    listener = socket.socket()
    listener.bind((HOST, 0))
    listener.listen()
    sock = socket.socket()
    sock.setblocking(False)
    assert sock.connect_ex(listener.getsockname()) in (0, errno.EINPROGRESS)
    assert polled(sock, select.POLLOUT, 60_000) == select.POLLOUT
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    assert sock.connect_ex(listener.getsockname()) in (0, errno.EISCONN)
    other = listener.accept()[0]
    sock.send(b"hello")
    assert receive(other, 5) == b"hello"


def reset():
    client, server = pair()
    server.sendall(b"answer")
    server.setsockopt(socket.SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    assert polled(client, select.POLLIN, 60_000)
    server.close()
    assert polled(client, select.POLLRDHUP, 60_000) & select.POLLHUP
    assert client.recv(100) == b"answer"
    failing(errno.ECONNRESET, client.recv, 100)
    assert client.recv(100) == b""
    failing(errno.EPIPE, client.send, b"x")
    client, server = pair()
    client.sendall(b"never read")
    assert polled(server, select.POLLIN, 60_000)
    server.close()
    assert polled(client, select.POLLRDHUP, 60_000) & select.POLLHUP
    failing(errno.ECONNRESET, client.recv, 100)


def abandoned():
    """Both directions are full and one side goes: the other, which waits in send, learns of it."""
    client, server = pair()
    client.setblocking(False)
    server.setblocking(True)
    told = []

    def send():
        try:
            while True:
                server.sendall(bytes(1_000_000))
        except OSError as error:
            told.append(error.errno)
    thread = threading.Thread(target=send)
    thread.start()
    try:
        while polled(client, select.POLLOUT, 500):
            client.send(bytes(100_000))
    except BlockingIOError:
        pass
    client.close()
    thread.join(60)
    assert not thread.is_alive() and told[0] in (errno.ECONNRESET, errno.EPIPE), told


def states():
    client, server = pair()
    assert polled(client) == select.POLLOUT
    server.shutdown(socket.SHUT_WR)
    assert polled(client, milliseconds=60_000) & select.POLLIN or polled(client, select.POLLIN, 60_000)
    assert polled(client) == select.POLLIN | select.POLLOUT | select.POLLRDHUP
    assert client.recv(1) == b""
    client.shutdown(socket.SHUT_WR)
    assert polled(client, select.POLLRDHUP, 60_000) & select.POLLHUP
    failing(errno.EPIPE, client.send, b"x")


def epoll():
    """Level, edge, one-shot, and with descriptors of the kernel in one set; a set in a set."""
    client, server = pair()
    reader, writer = os.pipe()
    level, edge, once, outer = select.epoll(), select.epoll(), select.epoll(), select.epoll()
    level.register(server, select.EPOLLIN)
    level.register(reader, select.EPOLLIN)
    edge.register(server, select.EPOLLIN | select.EPOLLET)
    once.register(server, select.EPOLLIN | select.EPOLLONESHOT)
    outer.register(level, select.EPOLLIN)
    assert level.poll(0) == [] and outer.poll(0) == []
    client.send(b"a")
    os.write(writer, b"b")
    assert edge.poll(60) == [(server.fileno(), select.EPOLLIN)]
    assert dict(level.poll(60)) == {server.fileno(): select.EPOLLIN, reader: select.EPOLLIN}
    assert outer.poll(60) == [(level.fileno(), select.EPOLLIN)]
    assert edge.poll(0) == [] and level.poll(0) != []
    client.send(b"c")
    assert edge.poll(60) == [(server.fileno(), select.EPOLLIN)]   # an arrival is an event, also where old data waits
    assert once.poll(60) == [(server.fileno(), select.EPOLLIN)] and once.poll(0) == []
    once.modify(server, select.EPOLLIN | select.EPOLLONESHOT)
    assert once.poll(60) == [(server.fileno(), select.EPOLLIN)]
    assert receive(server, 2) == b"ac"
    assert [fd for fd, _ in level.poll(0)] == [reader]


def copies():
    """dup in all forms shares the connection; it ends with the last copy."""
    client, server = pair()
    one, two = os.dup(client.fileno()), os.dup2(client.fileno(), 200)
    client.close()
    os.write(one, b"one")
    os.close(one)
    os.write(two, b"two")
    assert receive(server, 6) == b"onetwo"
    assert polled(server, select.POLLIN) == 0
    os.close(two)
    assert server.recv(1) == b""


def forked():
    """A forked server: the listener in several processes, each connection in one; the child's end is the connection's."""
    listener = socket.create_server((HOST, 0))
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            for _ in range(10):
                with listener.accept()[0] as sock:
                    sock.sendall(sock.recv(100).upper())
            os._exit(0)
        children.append(child)
    for i in range(30):
        with socket.create_connection(listener.getsockname()) as sock:
            sock.sendall(b"hello %d" % i)
            assert sock.recv(100) == b"HELLO %d" % i and sock.recv(1) == b""
    for child in children:
        assert os.waitpid(child, 0)[1] == 0


def executed():
    """A connection as another program's standard input and output, with an environment of its own."""
    client, server = pair()
    server.setblocking(True)   # for cat, too: the flag is the connection's
    cat = subprocess.Popen(["/bin/cat"], stdin=server, stdout=server, env={"PATH": "/bin"})
    server.close()
    client.sendall(b"through cat")
    assert receive(client, 11) == b"through cat"
    client.shutdown(socket.SHUT_WR)
    assert client.recv(1) == b"" and cat.wait(60) == 0
    client, server = pair()
    code = "import os,socket; s=socket.socket(fileno=%d); print(int(s.family), int(s.type)); s.sendall(repr(s.getpeername()).encode())" % server.fileno()
    os.set_inheritable(server.fileno(), True)
    done = subprocess.run([sys.executable, "-c", code], close_fds=False, env={}, capture_output=True, text=True, timeout=60, check=True)
    server.close()
    assert done.stdout.split() == ["2", "1"], done.stdout
    assert client.recv(100).decode() == repr(client.getsockname())


def passed():
    """SCM_RIGHTS: a connection goes to another process, which knows what it has got."""
    client, server = pair()
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        server.close()
        client.close()
        fds = array.array("i")
        _, control, _, _ = theirs.recvmsg(1, socket.CMSG_SPACE(4))
        fds.frombytes(control[0][2])
        got = socket.socket(fileno=fds[0])
        got.sendall(repr(got.getpeername()).encode())
        os._exit(0)
    ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [server.fileno()]))])
    server.close()
    assert client.recv(100).decode() == repr(client.getsockname())
    assert os.waitpid(child, 0)[1] == 0 and client.recv(1) == b""


def killed():
    """A process that is killed leaves nothing: its connections end, its address is free."""
    listener = socket.create_server((HOST, 0))
    name = listener.getsockname()
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        taken = [listener.accept()[0] for _ in range(5)]
        os.write(tell, b"%d" % len(taken))
        signal.pause()
    listener.close()
    clients = [socket.create_connection(name) for _ in range(5)]
    assert os.read(ready, 1) == b"5"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for client in clients:
        client.settimeout(60)
        assert client.recv(1) == b""
        client.close()
    failing(errno.ECONNREFUSED, socket.create_connection, name)
    socket.create_server(name).close()


def datagrams():
    for family, host in ((socket.AF_INET, HOST), (socket.AF_INET6, "::1")):
        a, b = socket.socket(family, socket.SOCK_DGRAM), socket.socket(family, socket.SOCK_DGRAM)
        a.bind((host, 0))
        b.bind((host, 0))
        a.settimeout(60)
        b.settimeout(60)
        for size in (0, 1, 1000, 9000):
            assert a.sendto(b"x" * size, b.getsockname()) == size
            assert b.recvfrom(70000) == (b"x" * size, a.getsockname())
        a.sendto(b"abcdef", b.getsockname())
        assert b.recvmsg(3)[::2] == (b"abc", socket.MSG_TRUNC)
        a.connect(b.getsockname())
        a.send(b"connected")
        assert b.recv(100, socket.MSG_PEEK) == b"connected" and b.recv(100) == b"connected"
        failing(errno.EMSGSIZE, a.send, b"x" * 65536)
        failing(errno.EDESTADDRREQ, b.send, b"x")
        b.close()
        a.send(b"nobody")
        assert polled(a, select.POLLIN, 60_000)
        failing(errno.ECONNREFUSED, a.recv, 1)
        a.setblocking(False)
        failing(errno.EAGAIN, a.recv, 1)


def datagram_control():
    a, b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    b.bind((HOST, 0))
    b.settimeout(60)
    b.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    b.setsockopt(socket.IPPROTO_IP, 8, 1)   # IP_PKTINFO
    a.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x28)
    a.sendto(b"x", b.getsockname())
    data, control, flags, _ = b.recvmsg(10, 200)
    kinds = {(level, kind): value for level, kind, value in control}
    assert data == b"x" and flags == 0 and kinds[0, socket.IP_TOS][0] == 0x28
    assert socket.inet_ntoa(kinds[0, 8][8:12]) == HOST
    a.sendto(b"y", b.getsockname())
    assert b.recvmsg(10, 1)[2] & socket.MSG_CTRUNC


def header_options():
    """IPv4 options that one socket sends reach the other; what is malformed is refused."""
    alert = b"\x94\x04\0\0"
    a, b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    b.bind((HOST, 0))
    b.settimeout(60)
    b.setsockopt(socket.IPPROTO_IP, socket.IP_RECVOPTS, 1)
    assert a.getsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, 40) == b""
    failing(errno.EINVAL, a.setsockopt, socket.IPPROTO_IP, socket.IP_OPTIONS, bytes([1] * 44))
    a.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, alert)
    failing(errno.EINVAL, a.setsockopt, socket.IPPROTO_IP, socket.IP_OPTIONS, b"\x94\x09\0\0")
    assert a.getsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, 40) == alert
    a.sendto(b"x", b.getsockname())
    data, control, flags, _ = b.recvmsg(10, 200)
    assert (data, flags, control) == (b"x", 0, [(socket.IPPROTO_IP, socket.IP_RECVOPTS, alert)])
    a.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b"")
    a.sendto(b"y", b.getsockname())
    assert b.recvmsg(10, 200)[:2] == (b"y", [])


def stream_options():
    """… and those of a stream, which carries data with them."""
    route = b"\x07\x0b\x04" + bytes(9)
    listener = socket.create_server((HOST, 0))
    client = socket.socket()
    assert client.getsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, 40) == b""
    failing(errno.EINVAL, client.setsockopt, socket.IPPROTO_IP, socket.IP_OPTIONS, b"\x07\x0b\x03" + bytes(9))
    client.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, route)
    client.connect(listener.getsockname())
    server, _ = listener.accept()
    assert client.getsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, 40) == route
    client.sendall(b"x" * 10000)
    server.sendall(b"y" * 10000)
    assert receive(server, 10000) == b"x" * 10000 and receive(client, 10000) == b"y" * 10000
    client.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b"")
    assert client.getsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, 40) == b""
    client.sendall(b"z" * 10000)
    assert receive(server, 10000) == b"z" * 10000


def options():
    client, server = pair()
    assert client.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == socket.SOCK_STREAM
    assert client.getsockopt(socket.SOL_SOCKET, 39) == socket.AF_INET and client.getsockopt(socket.SOL_SOCKET, 38) == socket.IPPROTO_TCP
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 100000)
    assert client.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) == 200000
    for name, value in ((socket.TCP_NODELAY, 1), (socket.TCP_KEEPIDLE, 77), (socket.TCP_KEEPINTVL, 33), (socket.TCP_KEEPCNT, 5)):
        client.setsockopt(socket.IPPROTO_TCP, name, value)
        assert client.getsockopt(socket.IPPROTO_TCP, name) == value
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    assert client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0") == b"reno"
    info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    assert len(info) == 104 and info[0] == 1   # ESTABLISHED
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 50000))
    client.setblocking(True)
    failing(errno.EAGAIN, client.recv, 1)
    for name in (socket.SO_PRIORITY, socket.SO_KEEPALIVE):
        client.setsockopt(socket.SOL_SOCKET, name, 1)
    with socket.create_server((HOST, 0)) as listener:
        assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1


def groups():
    """SO_REUSEPORT: two listeners of one address, both get some."""
    def listener(port):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, SO_REUSEPORT, 1)
        sock.bind((HOST, port))
        sock.listen(100)
        sock.setblocking(False)
        return sock
    one = listener(0)
    two = listener(one.getsockname()[1])
    failing(errno.EADDRINUSE, socket.socket().bind, one.getsockname())
    clients = [socket.create_connection(one.getsockname()) for _ in range(60)]
    both, counts = select.poll(), {one.fileno(): 0, two.fileno(): 0}
    for sock in (one, two):
        both.register(sock, select.POLLIN)
    while sum(counts.values()) < len(clients):
        ready = both.poll(60_000)
        assert ready, counts
        for sock in (one, two):
            if sock.fileno() in dict(ready):
                sock.accept()[0].close()
                counts[sock.fileno()] += 1
    assert min(counts.values()) > 0, counts
    assert polled(one, select.POLLIN) == polled(two, select.POLLIN) == 0
    one.close()
    socket.create_connection(two.getsockname()).close()
    assert polled(two, select.POLLIN, 60_000)
    two.accept()[0].close()


def group_sources():
    """A member of a group hears the sources that it names alone, and can read which they are."""
    add, drop, block, msfilter, port = 39, 40, 38, 41, 9753
    group, here, one, two, three = map(socket.inet_aton, ("239.1.2.4", HOST, "127.0.0.2", "127.0.0.3", "127.0.0.4"))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as member, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as first, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as third:
        def source(option, address):
            member.setsockopt(socket.IPPROTO_IP, option, group + here + address)
        member.bind(("", port))
        member.settimeout(60)
        failing(errno.EINVAL, source, block, one)
        source(add, one)
        source(add, two)
        failing(errno.EADDRNOTAVAIL, source, add, one)
        failing(errno.EADDRNOTAVAIL, source, drop, three)
        failing(errno.EINVAL, source, block, one)
        value, length = ctypes.create_string_buffer(group + here + struct.pack("=II", 0, 5) + bytes(20)), ctypes.c_uint(36)
        assert ctypes.CDLL(None).getsockopt(member.fileno(), socket.IPPROTO_IP, msfilter, value, ctypes.byref(length)) == 0
        assert value.raw[8:24] == struct.pack("=II", 1, 2) + one + two, value.raw
        for sender, address in ((first, "127.0.0.2"), (third, "127.0.0.4")):
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, here)
            sender.bind((address, 0))
        for sender, word in ((third, b"deaf"), (first, b"heard")):
            sender.sendto(word, ("239.1.2.4", port))
        assert member.recvfrom(100) == (b"heard", first.getsockname())
        source(drop, one)
        source(drop, two)
        failing(errno.EADDRNOTAVAIL, member.setsockopt, socket.IPPROTO_IP, socket.IP_DROP_MEMBERSHIP, group + here)


def urgent():
    client, server = pair()
    client.sendall(b"before")
    client.send(b"!", socket.MSG_OOB)
    client.sendall(b"after")
    assert polled(server, select.POLLPRI, 60_000) == select.POLLPRI
    assert server.recv(1, socket.MSG_OOB) == b"!"
    assert receive(server, 11) == b"beforeafter"


def interrupted():
    """A signal ends a wait in recv only where its handler says so."""
    client, _server = pair()
    client.setblocking(True)
    seen = []
    signal.signal(signal.SIGALRM, lambda *_: seen.append(1) or (_ for _ in ()).throw(InterruptedError(errno.EINTR, "")))

    def wait():   # the signal may come before the call, where the machine is that slow
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        client.recv(1)
    failing(errno.EINTR, wait)
    assert seen == [1]


def sent_files():
    client, server = pair()
    with open(__file__, "rb") as file:
        whole = file.read()
        file.seek(0)
        sender = threading.Thread(target=client.sendfile, args=(file,))
        sender.start()
        assert receive(server, len(whole)) == whole
        sender.join()
    reader, writer = os.pipe()
    os.write(writer, b"spliced")
    assert os.splice(reader, client.fileno(), 7) == 7
    assert receive(server, 7) == b"spliced"


def threads():
    """Many threads, a connection each, at once."""
    listener = socket.create_server((HOST, 0), backlog=100)
    errors = []

    def serve():
        while True:
            sock = listener.accept()[0]
            threading.Thread(target=lambda s=sock: s.sendall(receive(s, 10000)), daemon=True).start()

    def ask(number):
        try:
            with socket.create_connection(listener.getsockname(), 60) as sock:
                sock.sendall(b"%10d" % number * 1000)
                assert receive(sock, 10000) == b"%10d" % number * 1000
        except (OSError, AssertionError) as error:
            errors.append(error)
    threading.Thread(target=serve, daemon=True).start()
    asking = [threading.Thread(target=ask, args=(n,)) for n in range(50)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert errors == []


def names():
    assert socket.if_nametoindex("lo") in dict(socket.if_nameindex())
    assert socket.gethostbyname("localhost") == HOST
    assert {info[4][0] for info in socket.getaddrinfo("localhost", 80, socket.AF_INET)} == {HOST}
    try:
        socket.getaddrinfo("no-such-name.invalid", 80)
    except socket.gaierror:
        pass
    else:
        raise AssertionError("a name that cannot be was found")


CASES = {name: function for name, function in list(globals().items())
         if callable(function) and getattr(function, "__module__", "") == __name__ and name not in ("pair", "failing", "receive", "polled")}

if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    CASES[sys.argv[1]]()
    print("done")
