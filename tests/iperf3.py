# SPDX-License-Identifier: BSD-2-Clause
"""Linux's iperf3 -s. From a test's control connection to that test's end it listens nowhere: a client that comes in between is refused."""
import re

from netns import until


class Server:
    def __init__(self, namespace, *words):
        # By lines: --forceflush alone keeps back that a client came, and ready() would see what was before it.
        self.process = namespace.start("stdbuf", "-oL", "iperf3", "-s", *words)
        self.ready()

    def ready(self):
        """Waits until it listens (again): the last that it says is where."""
        assert until(lambda: re.search(r"Server listening .*\n-+\n*$", self.process.output()), 60), self.process.output()
