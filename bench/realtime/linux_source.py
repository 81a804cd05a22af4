#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The ordinary source of the benchmark: Linux's own TCP. Waits for one player, then writes a file as fast as it goes, or a frame each period
from a moment of the monotonic clock on.

usage: linux_source.py file BYTES PORT | frames BYTES PERIOD_MS COUNT START_US PORT"""
import socket
import sys
import time

words = sys.argv[1:]
server = socket.create_server(("", int(words[-1])))
print("listening", flush=True)
connection, _ = server.accept()
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
late = 0
try:
    if words[0] == "file":
        connection.sendall(bytes(i * 31 & 255 for i in range(4096)) * (int(words[1]) // 4096 + 1))
    else:
        size, period, count, start = int(words[1]), float(words[2]) / 1000, int(words[3]), int(words[4]) / 1e6
        for number in range(count):
            left = start + number * period - time.monotonic()
            if left > 0:
                time.sleep(left)
            late = max(late, time.monotonic() - start - number * period)
            connection.sendall(number.to_bytes(4, "big") * (size // 4))
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(20)
    while connection.recv(4096):
        pass
except OSError as error:
    print(f"{error}", flush=True)
print(f"late {late * 1000:.1f} ms", flush=True)
