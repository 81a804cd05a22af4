# SPDX-License-Identifier: BSD-2-Clause
"""The other end of the pipe: build/VARIANT/weir-script (sim/script/engine.c), one process a script."""
import collections
import ipaddress
import subprocess

from . import ScriptError
from .packet import unpack

Returned = collections.namedtuple("Returned", "time result errno buffers")


class Engine:
    def __init__(self, program, config):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.now, self.blocked = 0, False
        self.sent = collections.deque()     # packets that nobody expected yet
        self.returned = None                # of the call under way
        self.log = []                       # (time, hex) of all that was on the wire
        words = (ipaddress.ip_address(config.local), config.prefix, config.mtu, config.receive, config.send, config.congestion, config.ecn[0])
        self.tell("open " + " ".join(str(word) for word in words))

    def tell(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self.died()
        answer = None
        while True:
            reply = self.process.stdout.readline()
            if not reply:
                self.died()
            verb, _, rest = reply.rstrip("\n").partition(" ")
            if verb == "ok":
                now, state = rest.split()
                self.now, self.blocked = int(now), state == "blocked"
                return answer
            if verb == "tx":
                time, digits = rest.split(" ", 1)
                self.log.append((int(time), digits))
                live = unpack(int(time), bytes.fromhex(digits))
                if not live.to_group():     # what group management has to say is no part of a conversation
                    self.sent.append(live)
            elif verb == "ret":
                time, result, error, *buffers = rest.split(" ")
                self.returned = Returned(int(time), int(result), int(error), [bytes.fromhex(b[1:]) for b in buffers])
            elif verb == "err":
                raise ScriptError(f"weir-script: {rest}")
            else:
                answer = reply

    def died(self):
        _, text = self.process.communicate()
        raise ScriptError("weir-script ended by itself" + (":\n" + text[-6000:] if text else f" with status {self.process.returncode}"))

    def until(self, time):
        if time > self.now:
            self.tell(f"until {time}")

    def wait(self, limit):
        """Time passes until something is sent or a call returns, at most to `limit`."""
        self.tell(f"wait {max(limit, self.now)}")

    def receive(self, data):
        self.log.append((self.now, data.hex()))
        self.tell("rx " + data.hex())

    def call(self, name, arguments):
        words = []
        for argument in arguments:
            if argument is None:
                words.append("-")
            elif isinstance(argument, int):
                words.append(str(argument))
            elif isinstance(argument, bytes):
                words.append("x" + argument.hex())
            elif isinstance(argument, Nowhere):
                words.append(f"n{argument.size}")
            else:
                words.append(f"o{argument.size}")
        self.returned = None
        self.tell(" ".join(["call", name] + words))

    def info(self, fd):
        words = (self.tell(f"info {fd}") or "none").split()
        return {key: int(value) for key, value in (word.split("=") for word in words[1:])} if words[0] == "info" else None

    def close(self):
        """Ends the host; what a sanitizer has to say is an error."""
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.stdin = None
            try:
                _, text = self.process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.communicate()
                raise ScriptError("weir-script does not end")
            if self.process.returncode:
                raise ScriptError(f"weir-script ended with status {self.process.returncode}:\n{text[-6000:]}")


class Nowhere:
    """So many bytes at the address 0."""

    def __init__(self, size):
        self.size = size


class Out:
    """A buffer that the call fills."""

    def __init__(self, size):
        self.size = size
