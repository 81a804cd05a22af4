# SPDX-License-Identifier: BSD-2-Clause
"""relay.py HOST PORT: carries connections of a listening socket, whose descriptor number comes on standard input, to
HOST:PORT. Started inside a namespace with a socket opened outside of it, it is the way in for a browser. Prints the
URL."""
import socket
import sys
import threading


def carry(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(client, target):
    with client:
        try:
            with socket.create_connection(target, timeout=60) as server:
                server.settimeout(None)
                back = threading.Thread(target=carry, args=(server, client), daemon=True)
                back.start()
                carry(client, server)
                back.join()
        except OSError:
            pass


def forward(door, target):
    """Each connection of the listening socket `door` to `target`, for ever."""
    while True:
        threading.Thread(target=serve, args=(door.accept()[0], target), daemon=True).start()


if __name__ == "__main__":
    outside = socket.socket(fileno=int(sys.stdin.readline()))
    print(f"http://127.0.0.1:{outside.getsockname()[1]}/", flush=True)
    forward(outside, (sys.argv[1], int(sys.argv[2])))
