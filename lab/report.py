# SPDX-License-Identifier: BSD-2-Clause
"""Experiment 2: the Linux report. iperf3 between two hosts: the receive buffer from 4 times the default down to 629 bytes, and eight congestion
controls at 0 and 10 % loss, with Linux and with Weir at the ends."""
from net import LINUX_OWN, UML_ONLY, Link, Network, Options, uml_there
from runs import OUT, mean, write_json

DEFAULT = 6291456   # tcp_rmem's largest in the report
BUFFERS = {"4×": 4 * DEFAULT, "2×": 2 * DEFAULT, "1×": DEFAULT, "1/2": 3145728, "1/3": 2097152, "1/6": 1048576, "1/10": 629145, "1/100": 62914, "1/1000": 6291, "1/10000": 629}
REPORT_GBIT = {"1×": 12.9, "1/2": 14.9, "1/3": 17.7, "1/6": 16.9, "1/10": 14.5, "1/100": 2.83, "1/1000": 0.279, "1/10000": 0.031}
ALGORITHMS = LINUX_OWN + UML_ONLY


class Report:
    title = "The Linux report: receive buffers and congestion controls"

    def __init__(self, runs, quick):
        seconds = 2 if quick else 4
        repeats = 1 if quick else 3
        self.buffers, self.losses = {}, {}
        for label, size in BUFFERS.items():
            for end in ("linux", "weir"):
                self.buffers[label, end] = [
                    runs.run("report-buffer", {"buffer": size, "end": end, "seconds": seconds, "seed": seed}, seconds + 2, kind=end,
                             function=lambda end=end, size=size: bulk(Link(), end, end, None, seconds, Options(receive_buffer=size))) for seed in range(repeats)]
        seconds = 3 if quick else 8
        for loss in (0, 10):
            for cc in ALGORITHMS:
                for end in ("linux", "weir"):
                    kind = "uml" if end == "linux" and cc in UML_ONLY else end
                    if kind == "uml" and not uml_there():
                        continue
                    links = (Link(loss=loss, seed=seed) for seed in range(1, repeats + 1))
                    self.losses[cc, loss, end] = [
                        runs.run("report-cc", {"cc": cc, "loss": loss, "sender": kind, "seconds": seconds, "seed": link.seed}, seconds + (5 if kind == "uml" else 2),
                                 kind=kind, share=1 if not loss or cc == "bbr" else 0.5 if kind == "uml" else 0.25, link=link,
                                 function=lambda cc=cc, kind=kind, link=link: bulk(link, kind, "linux", cc, seconds)) for link in links]

    def report(self, page):
        values = {"receive_buffer_mbit": {}, "congestion_control_mbit": {}}
        page.section(self.title, "iperf3 over a link without rate limit and delay. With user-mode Linux the sender is a kernel as a process, and slower for that.")
        table = [["receive buffer", "bytes", "Linux to Linux, Mbit/s", "Weir to Weir, Mbit/s", "the report, Mbit/s"]]
        for label, size in BUFFERS.items():
            rates = {end: [run.result() for run in self.buffers[label, end] if run.result() is not None] for end in ("linux", "weir")}
            values["receive_buffer_mbit"][label] = {end: round(mean(seen), 2) if seen else None for end, seen in rates.items()}
            table.append([label, f"{size:,}", *(f"{mean(seen):,.2f}" if seen else "stalls" for seen in rates.values()),
                          f"{REPORT_GBIT[label] * 1000:,.0f}" if label in REPORT_GBIT else ""])
        page.table(table)
        page.svg("report-buffers", "The receive buffer, Mbit/s", list(BUFFERS), {
            **{f"{who} to {who}": [values["receive_buffer_mbit"][label][end] for label in BUFFERS] for who, end in (("Linux", "linux"), ("Weir", "weir"))},
            "the report": [REPORT_GBIT[label] * 1000 if label in REPORT_GBIT else None for label in BUFFERS]}, "parts of 6 MB", logarithmic=True)
        table = [["", *(f"{who}, {loss} %" for loss in (0, 10) for who in ("Linux", "Weir"))]]
        for cc in ALGORITHMS:
            row = [cc]
            for loss in (0, 10):
                for end in ("linux", "weir"):
                    seen = [run.result() for run in self.losses.get((cc, loss, end), []) if run.result() is not None]
                    values["congestion_control_mbit"].setdefault(cc, {})[f"{end} {loss} %"] = round(mean(seen), 3) if seen else None
                    row.append(f"{mean(seen):,.2f}" if seen else "–")
            table.append(row)
        page.table(table)
        for loss in (0, 10):
            page.svg(f"report-cc-{loss}", f"Mbit/s at {loss} % loss, no delay", ALGORITHMS,
                     {who: [values["congestion_control_mbit"][cc].get(f"{end} {loss} %") for cc in ALGORITHMS] for who, end in (("Linux", "linux"), ("Weir", "weir"))},
                     "the sender's congestion control; bic to yeah of Linux: user-mode Linux", logarithmic=True, joined=False)
        page.commands({f"receive buffer {label}, {end}": found for (label, end), found in self.buffers.items()}
                      | {f"{cc}, {loss} % loss, {end}": found for (cc, loss, end), found in self.losses.items()})
        write_json("report.json", values)


def bulk(link, sender, receiver, cc, seconds, receiver_options=Options()):
    with Network(link, sender, receiver, OUT / "network", receiver_options=receiver_options) as network:
        return network.bulk(cc, seconds)["mbit"]
