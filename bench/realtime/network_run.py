# SPDX-License-Identifier: BSD-2-Clause
"""A run of clocked_runs over the laboratory's link: a source at one end, weir-host as the player at the other, each in a namespace of its own."""
import json
import os
import sys
import time

import common
import clocked_runs as runs

sys.path.insert(0, str(common.ROOT / "lab"))
import net  # noqa: E402

PROGRAMS = [net.BIN / "weir-host", net.BIN / "weir-link"]
DELAY_MS, LIMIT_S = 10, 150
LATE_START_S = 6   # of a voice: the processes start, and ARP and the handshake may be lost a few times


def need_root(without):
    if os.geteuid() != 0:
        raise common.Failed(f"TAPs and network namespaces need root: run it as root, or {without} without")


class NetworkRun:
    """`frames` could be met; what sends is of a kind of net.Network's. Media that begin at a moment of their own begin at start_us."""
    sender = "weir"

    def __init__(self, name, frames, loss, seed, folder=None):
        self.name, self.frames, self.loss, self.seed = name, frames, loss, seed
        self.folder = folder or common.OUT / "realtime"

    def start_source(self, sender, receiver):
        """Starts the source; returns it, and whether it says that it listens."""
        raise NotImplementedError

    def play(self):
        """What the player's command says behind the source's address."""
        raise NotImplementedError

    def start(self):
        link = net.Link(delay=DELAY_MS, loss=self.loss, back_loss=self.loss, seed=self.seed, spare_arp=1)
        self.network = net.Network(link, self.sender, "weir", self.folder / "labs" / self.name, serve=False)
        self.network.__enter__()
        sender, receiver = self.network.sender, self.network.receiver
        self.start_us = int((time.monotonic() + LATE_START_S) * 1e6)
        self.source, listens = self.start_source(sender, receiver)
        if listens and not net.until(lambda: "listening" in self.source.output(), 60):
            raise common.Failed(f"the source does not start: {self.source.output()}")
        log = self.folder / "frames" / f"{self.name}.csv"
        log.parent.mkdir(parents=True, exist_ok=True)
        self.player = receiver.namespace.start(*receiver.common, "--run", f"play {sender.address} {self.play()} log={log}")
        for process in (self.network.emulator, self.source, self.player):
            runs.first(process.pid)
        self.limit = time.monotonic() + LIMIT_S

    def ended(self):
        return self.player.poll() is not None or time.monotonic() > self.limit

    def take(self):
        text = self.player.output()
        self.close()
        begin = text.find("{")
        if begin < 0:
            return None
        found, _ = json.JSONDecoder().raw_decode(text[begin:])
        # What never came, because the connection ended, was not met.
        return {**found, "met_percent": 100 * found["met"] / self.frames}

    def close(self):
        self.network.__exit__(None, None, None)
