# SPDX-License-Identifier: BSD-2-Clause
"""The honest client beside an attack: honest.py ADDRESS PORT. One download that goes on, and a connection after
another, each with a request and its answer. Writes a line of JSON each tenth of a second: the time, bytes of the
download so far, times in which the download had to begin anew, and of the connections that ended since the last line
how long each took, in seconds (null: it failed, or took longer than PATIENCE)."""
import json
import socket
import sys
import threading
import time

PATIENCE = 3.0
PAUSE = 0.05   # between two connections
RATE = 125_000_000   # bytes a second that the download takes at most: a gigabit

address = sys.argv[1], int(sys.argv[2])
lock = threading.Lock()
state = {"bytes": 0, "broken": 0, "connects": []}


def download():
    room = bytearray(1 << 18)
    while True:
        try:
            with socket.create_connection(address, PATIENCE) as sock:
                sock.sendall(b"GET /bytes/1000000000000 HTTP/1.1\r\nHost: weir\r\n\r\n")
                due = time.monotonic()
                while got := sock.recv_into(room):
                    state["bytes"] += got
                    due = max(due, time.monotonic() - 0.01) + got / RATE   # ten milliseconds may be made good
                    time.sleep(max(0, due - time.monotonic()))
        except OSError:
            pass
        with lock:
            state["broken"] += 1
        time.sleep(0.1)


def ask():
    """A new connection, a request and the whole answer: how long it took."""
    began = time.monotonic()
    try:
        with socket.create_connection(address, PATIENCE) as sock:
            sock.sendall(b"GET /bytes/10 HTTP/1.1\r\nHost: weir\r\nConnection: close\r\n\r\n")
            answer = b""
            while part := sock.recv(4096):
                answer += part
                sock.settimeout(max(0.001, began + PATIENCE - time.monotonic()))
    except OSError:
        return None
    took = time.monotonic() - began
    return took if answer.startswith(b"HTTP/1.1 200") and took <= PATIENCE else None


def ask_on():
    while True:
        took = ask()
        with lock:
            state["connects"].append(took)
        time.sleep(PAUSE)


for target in (download, ask_on):
    threading.Thread(target=target, daemon=True).start()
while True:
    time.sleep(0.1)
    with lock:
        line = {"time": time.monotonic(), **state}
        state["connects"] = []
    print(json.dumps(line), flush=True)
