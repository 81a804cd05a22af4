# SPDX-License-Identifier: BSD-2-Clause
"""python3 -m netns COMMAND…: the command in a network of its own, which has a loopback and nothing else. Its ports,
interfaces and abstract sockets are then nobody else's. Who is not root becomes root of a user namespace for it."""
import ctypes
import os
import subprocess
import sys

CLONE_NEWNET = 0x40000000

if len(sys.argv) < 2:
    sys.exit("usage: python3 -m netns COMMAND…")
if os.geteuid() != 0:
    words = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-m", "netns"]
    os.execvp(words[0], words + sys.argv[1:])
if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
    sys.exit(f"no right to make a network namespace: {os.strerror(ctypes.get_errno())}")
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
os.execvp(sys.argv[1], sys.argv[1:])
