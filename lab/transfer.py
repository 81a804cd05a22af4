#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""One TCP transfer between Linux's sockets, timed: `listen` reads one connection to its end and closes; `send HOST BYTES [CC]` connects,
sends and waits for that close, and prints how long it took, the handshake included. weir-host's send and listen do the same."""
import socket
import sys
import time

PORT = 5001


def listen():
    both = socket.has_dualstack_ipv6()
    with socket.create_server(("", PORT), family=socket.AF_INET6 if both else socket.AF_INET, dualstack_ipv6=both) as server:
        print("listening", flush=True)
        connection, _ = server.accept()
        with connection:
            while connection.recv(1 << 18):
                pass


def send(host, size, cc=None):
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as connection:
        if cc:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
        begin = time.monotonic()
        connection.connect((host, PORT))
        connection.sendall(bytes(size))
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1):
            pass
        print(f"{size} bytes in {time.monotonic() - begin:.4f} s")


if __name__ == "__main__":
    if sys.argv[1:] == ["listen"]:
        listen()
    elif sys.argv[1:2] == ["send"] and len(sys.argv) in (4, 5):
        send(sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
    else:
        sys.exit(__doc__)
