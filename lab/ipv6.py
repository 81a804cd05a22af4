# SPDX-License-Identifier: BSD-2-Clause
"""Experiment 5: a few cells of the grid over IPv6 and over IPv4, by turns, on the same emulated links: what the family of addresses changes."""
from net import Link, Network
from grid import queue_bytes
from runs import OUT, median, write_json

ALGORITHMS = ("cubic", "bbr")
HEADERS = {4: 20, 6: 40}   # bytes, which a packet of 1500 has less for data; with those of Ethernet, TCP and timestamps:
EXPECTED = (1500 - HEADERS[6] - 32) / (1500 - HEADERS[4] - 32)


class Ipv6:
    title = "IPv6 beside IPv4"

    def __init__(self, runs, quick):
        rates, losses, seeds, seconds = ((100,), (1, 10), 1, 5) if quick else ((10, 100), (0, 1, 10), 5, 15)
        self.real = {}
        for rate in rates:
            for loss in losses:
                for cc in ALGORITHMS:
                    for end in ("linux", "weir"):
                        for seed in range(1, 1 + seeds):
                            for version in (4, 6):
                                link = Link(rate=rate, delay=10, queue=queue_bytes(rate), loss=loss, seed=seed)
                                self.real.setdefault((end, cc, rate, loss), {}).setdefault(version, []).append(
                                    runs.run("ipv6", {"rate": rate, "loss": loss, "cc": cc, "sender": end, "seconds": seconds, "seed": seed, "version": version},
                                             seconds + 3, kind=end, share=1 if rate > 10 else 0.25, link=link,
                                             function=lambda link=link, end=end, cc=cc, seconds=seconds, version=version: bulk(link, end, cc, seconds, version)))

    def report(self, page):
        values, table = {}, [["sender, link", "IPv4, Mbit/s", "IPv6, Mbit/s", "IPv6 / IPv4"]]
        for (end, cc, rate, loss), of in self.real.items():
            pairs = [(four.result(), six.result()) for four, six in zip(of[4], of[6]) if four.result() and six.result()]
            name = f"{'Weir' if end == 'weir' else 'Linux'}, {cc}, {rate} Mbit/s, {loss:g} %"
            if not pairs:
                table.append([name, "–", "–", "–"])
                continue
            four, six = (median([pair[at] for pair in pairs]) for at in (0, 1))
            ratio = median([pair[1] / pair[0] for pair in pairs])
            values[f"{end}.{cc}.{rate}.{loss:g}"] = {"4": round(four, 3), "6": round(six, 3), "ratio": round(ratio, 3), "runs": len(pairs)}
            table.append([name, f"{four:.2f}", f"{six:.2f}", f"{ratio:.3f}"])
        write_json("ipv6.json", values)
        page.section(self.title, f"The grid's links, a Linux receiver; medians. Of a full packet {EXPECTED:.3f} times as much is data over IPv6.")
        page.table(table)
        page.commands({f"{end}, {cc}, {rate} Mbit/s, {loss:g} % loss, over IPv{version}": found
                       for (end, cc, rate, loss), of in self.real.items() for version, found in of.items()})


def bulk(link, sender, cc, seconds, version):
    with Network(link, sender, "linux", OUT / "network", version6=version == 6) as network:
        return network.bulk(cc, seconds)["mbit"]
