# SPDX-License-Identifier: BSD-2-Clause
"""What the laboratory makes of its runs: tables, JSON and plots from numbers that are known. (That it runs is tests/interop/test_lab.py's.)"""
import html
import json
import os
import pathlib
import re
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("MPLCONFIGDIR", str(ROOT / "build/lab/matplotlib"))
sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests")]
import fairness  # noqa: E402
import grid  # noqa: E402
import ipv6  # noqa: E402
import page  # noqa: E402
import report  # noqa: E402
import runs  # noqa: E402
import thesis  # noqa: E402


class Ledger:
    """As runs.Runs, but a run's result is what `results` says of (experiment, settings). What it started: one program, named after it."""

    def __init__(self, results):
        self.results = results

    def run(self, experiment, what, seconds, function, kind, share=1.0, link=None):
        value = self.results(experiment, {**what, "link": link})
        return types.SimpleNamespace(result=lambda: value, commands=lambda: [f"[ns] {experiment}.{what.get('seed')} <it>"])


class Sheet(page.Page):
    """Remembers what is in a plot."""

    def __init__(self):
        super().__init__("a heading")
        self.svgs_drawn, self.lines_drawn = {}, {}

    def svg(self, name, title, labels, series, *words, **more):
        self.svgs_drawn[name] = {label: dict(zip(labels, values)) for label, values in series.items()}
        super().svg(name, title, labels, series, *words, **more)

    def plot(self, name, title):
        axes = page.pyplot.gca()
        self.lines_drawn[name] = {line.get_label(): [tuple(map(float, point)) for point in zip(*line.get_data())] for line in axes.lines}
        super().plot(name, title)


@pytest.fixture
def out(tmp_path, monkeypatch):
    for module in (page, report, grid, ipv6, thesis, runs):
        monkeypatch.setattr(module, "OUT", tmp_path)
    for module in (report, grid):
        monkeypatch.setattr(module, "uml_there", lambda: False)
    return tmp_path


def reported(experiment, results, out, quick=True):
    """(page, rows of its tables, its text) of an experiment."""
    sheet = Sheet()
    experiment(Ledger(results), quick).report(sheet)
    sheet.write()
    written = (out / "index.html").read_text()
    rows = [[html.unescape(cell) for cell in re.findall(r"<t[dh]>(.*?)</t[dh]>", row)] for row in re.findall("<tr>(.*?)</tr>", written)]
    return sheet, rows, html.unescape(written)


def test_a_page(out):
    sheet = page.Page("some <heading>")
    sheet.section("a < b", "less & more")
    sheet.table([["one", "two"], [1, "<3>"]])
    sheet.failures({"the reason": [{"seed": 1}, {"seed": 2}]})
    sheet.failures({})
    sheet.write()
    written = (out / "index.html").read_text()
    assert "<h2>a &lt; b</h2><p>less &amp; more</p>" in written
    assert "<table><tr><th>one</th><th>two</th></tr><tr><td>1</td><td>&lt;3&gt;</td></tr></table>" in written
    assert "<tr><td>the reason</td><td>2</td><td>{&#x27;seed&#x27;: 1}</td></tr>" in written and written.count("What failed") == 1


def test_a_curve_and_an_svg(out):
    sheet = Sheet()
    sheet.curves("curve", "its title", "x", "y", {"Weir": [(1, 10), (2, 20)], "Linux": [(1, 5)], "none": []})
    sheet.svg("points", "their title", ["a", "b"], {"Weir": [1, 2], "Linux": [3, None]}, "a unit")
    assert sheet.lines_drawn["curve"] == {"Weir": [(1, 10), (2, 20)], "Linux": [(1, 5)]}
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")
    drawn = (out / "points.svg").read_text()
    assert drawn.startswith("<svg ") and ">their title<" in drawn and ">a unit<" in drawn and drawn.count("<circle ") == 3 + 2   # and the legend
    assert sheet.parts[-1] == "<p><img src='points.svg' alt='their title'></p>"


# Seconds, end, direction, ports, sequence number, length, acknowledgement. The largest flow begins just before the numbers wrap; its second segment is lost
# the first time; what another flow sends is not drawn.
TRACE = """10.0,0,in,5000,5001,4294966296,1000,1
10.1,0,in,5000,5001,0,1000,1
10.1,1,out,5000,5001,4294966296,1000,1
10.2,0,in,7000,7001,77,500,1
10.2,0,out,5001,5000,1,0,0
10.5,0,in,5000,5001,0,1000,1
10.6,1,out,5000,5001,0,1000,1
10.7,0,out,5001,5000,1,0,1000
13.0,0,in,5000,5001,1000,1000,1
"""


def test_what_entered_the_link_is_drawn_as_passed_or_lost(out):
    sheet = Sheet()
    (out / "trace.csv").write_text(TRACE)
    sheet.time_sequence("sequence", "a title", out / "trace.csv")
    drawn = {name: [(round(at, 6), value) for at, value in points] for name, points in sheet.lines_drawn["sequence"].items()}
    assert {name: sorted(points) for name, points in drawn.items()} == {"passed": [(0, 0), (0.5, 0.001)], "lost": [(0.1, 0.001)], "acknowledged": [(0.2, 0.001), (0.7, 0.002)]}
    assert page.distance(5, 4294967295) == 6e-6


def test_ipv6_beside_ipv4_is_compared_run_by_run(out):
    def results(experiment, what):
        """Over IPv6 the runs have 0.9, 1, …, 1.3 times what they have over IPv4; that of bbr with Linux failed."""
        assert experiment == "ipv6" and what["link"].seed == what["seed"]
        if (what["sender"], what["cc"], what["version"]) == ("linux", "bbr", 6):
            return None
        return 10 * what["seed"] * (0.8 + what["seed"] / 10 if what["version"] == 6 else 1)
    _, rows, text = reported(ipv6.Ipv6, results, out, quick=False)
    assert ["Weir, cubic, 10 Mbit/s, 0 %", "30.00", "33.00", "1.100"] in rows and ["Linux, bbr, 100 Mbit/s, 10 %", "–", "–", "–"] in rows
    assert len(rows) == 1 + 2 * 3 * 2 * 2
    written = json.loads((out / "ipv6.json").read_text())
    assert written["weir.bbr.100.1"] == {"4": 30, "6": 33, "ratio": 1.1, "runs": 5} and "linux.bbr.10.0" not in written
    assert "0.986 times" in text
    _, rows, _ = reported(ipv6.Ipv6, results, out)
    assert [row[0] for row in rows[1:]] == [f"{who}, {cc}, 100 Mbit/s, {loss} %" for loss in (1, 10) for cc in ("cubic", "bbr") for who in ("Linux", "Weir")]


def test_the_report_on_buffers_and_congestion_controls(out):
    def results(experiment, what):
        """Of three runs the last is faster by 3: the mean by 1."""
        if experiment == "report-buffer":   # from 25 MB down to 629 bytes; the smallest stalls Weir
            return None if (what["buffer"], what["end"]) == (629, "weir") else what["buffer"] / 1e6 * {"linux": 1, "weir": 2}[what["end"]] - 1 + 3 * (what["seed"] == 2)
        return {"reno": 100, "cubic": 200, "bbr": 300}.get(what["cc"], 50) - 1 + 10 * (what["sender"] == "weir") - what["link"].loss + 3 * (what["seed"] == 3)
    sheet, rows, _ = reported(report.Report, results, out, quick=False)
    assert ["1×", "6,291,456", "6.29", "12.58", "12,900"] in rows and ["1/10000", "629", "0.00", "stalls", "31"] in rows
    assert ["cubic", "200.00", "210.00", "190.00", "200.00"] in rows and ["vegas", "–", "60.00", "–", "50.00"] in rows
    values = json.loads((out / "report.json").read_text())
    assert values["receive_buffer_mbit"]["4×"] == {"linux": 25.17, "weir": 50.33} and values["receive_buffer_mbit"]["1/10000"] == {"linux": 0, "weir": None}
    assert values["congestion_control_mbit"]["bbr"] == {"linux 0 %": 300, "weir 0 %": 310, "linux 10 %": 290, "weir 10 %": 300}
    linux, weir = sheet.svgs_drawn["report-cc-10"].values()
    assert (linux["reno"], weir["reno"], linux["vegas"], weir["vegas"]) == (90, 100, None, 50)
    assert sheet.svgs_drawn["report-cc-0"]["Weir"]["cubic"] == 210 and sheet.svgs_drawn["report-buffers"]["Weir to Weir"]["4×"] == 50.33


def test_the_grid_is_compared_with_the_simulator(out):
    simulated = {"command": "make some-grid", "weir.cubic.100.1": 50, "weir.cubic.100.10": 8, "weir.bbr.100.1": 90, "weir.vegas.100.1": 7}

    def results(experiment, what):
        if experiment == "sim-grid":
            return simulated
        if (what["sender"], what["cc"], what["loss"]) == ("linux", "bbr", 10):
            return None
        mbit = {("weir", "cubic", 1): 54, ("weir", "cubic", 10): 9.6, ("weir", "bbr", 1): 67.5}.get((what["sender"], what["cc"], what["loss"]), 20)
        return {"mbit": mbit, "intervals": [(0.5, 1, 14480, 3), (1, 2, 28960, 4)]}
    sheet, rows, text = reported(grid.Grid, results, out)
    values = json.loads((out / "grid.json").read_text())
    assert values["real_time_against_simulator_percent"] == {"weir.cubic.100.1": 8, "weir.cubic.100.10": 20, "weir.bbr.100.1": -25}
    assert values["weir"]["cubic"]["100"] == {"1": 54, "10": 9.6} and values["runs.weir.cubic.100.10"] == 1 and values["spread.weir.cubic.100.10"] == 0
    assert values["fewer_runs_than_asked"] == {"linux.bbr.100.10": "0 of 1"} and "asked for: linux.bbr.100.10 0 of 1" in text
    assert "agree within 10 % in 1 of 3 cells; the largest difference is -25.0 %, the mean of all +1.0 %." in text
    assert ["simulated: cubic", "", "", "50.00", "", "", "8.00", ""] in rows and ["Weir: cubic", "", "", "54.00", "", "", "9.60", ""] in rows
    assert "<code>make some-grid</code>" in text and "# weir, cubic, 100 Mbit/s, 10 % loss\n[ns] grid.1 <it>\n" in text
    assert sheet.lines_drawn["grid-100"]["cubic"] == [(1, 50), (10, 8)] and sheet.lines_drawn["grid-100"]["Linux cubic"] == [(1, 20), (10, 20)]
    assert sheet.lines_drawn["cwnd-cubic"]["Weir cubic"] == [(0.5, 10), (1, 20)]


def test_the_five_are_put_in_user_mode_linuxs_order(out, monkeypatch):
    monkeypatch.setattr(grid, "uml_there", lambda: True)
    linux = {"yeah": 16, "westwood": 12.5, "bic": 12, "vegas": 7, "htcp": 6}
    asked = {}

    def results(experiment, what):
        if experiment == "sim-grid":
            long = what.get("cc") == "bic,htcp,vegas,westwood,yeah"   # 60 s stand for 15 s
            return {"command": "make some-grid"} | {f"weir.{cc}.{rate}.{loss}": mbit - 1 if long else 1 for cc, mbit in linux.items() for rate in (10, 100) for loss in (0, 1)}
        asked.setdefault((what["sender"], what["cc"], what["loss"]), []).append(what["seconds"])
        swapped = {"westwood": 11, "bic": 12.1} if what["rate"] == 10 and what["loss"] == 1 and what["sender"] == "weir" else {}
        return {"mbit": (linux | swapped).get(what["cc"], 20), "intervals": []}
    _, rows, text = reported(grid.Grid, results, out, quick=False)
    assert asked["uml", "bic", 1] == asked["weir", "bic", 1] == [60] * 6 and asked["uml", "bic", 0] == [60] * 2, "both rates; three seeds where losses decide"
    assert asked["uml", "bic", 10] == [15] * 6 and asked["weir", "cubic", 1] == [15] * 14
    values = json.loads((out / "grid.json").read_text())
    assert list(values["order"]["10.1"]["Weir"].items()) == [("yeah", 16), ("bic", 12.1), ("westwood", 11), ("vegas", 7), ("htcp", 6)]
    assert list(values["order"]["100.0"]["user-mode Linux"]) == list(values["order"]["100.0"]["Weir, simulated"]) == list(linux)
    assert values["real_time_against_simulator_percent"]["weir.yeah.100.1"] == pytest.approx(100 * (16 / 15 - 1), abs=0.1)
    assert ["10 Mbit/s, 1 %", "user-mode Linux", "yeah 16.00", "westwood 12.50", "bic 12.00", "vegas 7.00", "htcp 6.00"] in rows
    assert "Weir: westwood before bic by 4.17 %, here behind it by 10.00 % (10 Mbit/s, 1 %)." in text
    assert "Weir, simulated: every pair is in user-mode Linux's order." in text


def test_an_order_is_told_of_what_was_measured_on_both_sides():
    def told(linux, weir):
        return grid.swapped({"10.0": {"user-mode Linux": linux, "Weir": weir, "Weir, simulated": {}}})
    assert told({"bic": 9.5, "htcp": 9.4, "yeah": 9.3}, {"yeah": 9.4, "bic": 9.3}) == ("Weir: bic before yeah by 2.15 %, here behind it by 1.08 % (10 Mbit/s, 0 %). "
                                                                                      "Weir, simulated: nothing to compare.")
    means = {"linux.htcp.10.0": 9.5566, "linux.vegas.10.0": 9.5569, "weir.htcp.10.0": 9, "linux.bic.10.1": 7}   # to three places the first two are one
    assert list(grid.order(means, "linux", 10, 0)) == ["vegas", "htcp"] and grid.order(means, "linux", 100, 0) == {}


def test_sixty_seconds_are_not_compared_with_fifteen(out, monkeypatch):
    monkeypatch.setattr(grid, "uml_there", lambda: False)

    def results(experiment, what):
        if experiment == "sim-grid":
            return None if "loss" in what else {"command": "make some-grid", "weir.bic.10.1": 7, "weir.cubic.10.1": 5, "spread.cubic.10.1": 0.1}
        return {"mbit": 5, "intervals": []}
    _, _, text = reported(grid.Grid, results, out, quick=False)
    values = json.loads((out / "grid.json").read_text())
    assert values["real_time_against_simulator_percent"] == {"weir.cubic.10.1": 0} and values["order"] == {} and "fastest first" not in text
    assert json.loads((out / "sim-alike.json").read_text()) == {"weir.cubic.10.1": 5, "spread.cubic.10.1": 0.1}


def test_flows_that_share(out):
    cell = {"jain": 0.98765, "share": 0.256, "queue_ms": 12.345, "mbit": 94.25}
    _, rows, _ = reported(fairness.Fairness, lambda *_: {"cubic": {"alone": {"2": cell, "10": {**cell, "share": 1}}, "bbr": {"2": cell, "10": cell}}}, out)
    assert rows[1] == ["cubic", "its like", "0.988", "26", "12.35", "94.2", "0.988", "100", "12.35", "94.2"]
    assert rows[2][:2] == ["cubic", "bbr"] and json.loads((out / "fairness.json").read_text())["cubic"]["bbr"]["10"] == cell


def test_the_thesis_transfers(out):
    def results(experiment, what):
        if experiment == "thesis-ticks":
            return {thesis.BASE: [2.0], thesis.DOUBLED: [2.0], thesis.TENTH: [2.1], "tick 20 ms": [2.02], "tick 1 ms": [1.8]}
        if experiment == "thesis-clocks":
            return {thesis.BASE: [10.0], thesis.DOUBLED: [9.5], thesis.TENTH: [{"reno": 11.0, "cubic": 12.0}[what["cc"]]]}
        if experiment == "thesis-copy":
            return 5000
        return {"weir": 1, "linux": 4}[what["sender"]] * {"bbr": 1, "cubic": 2, "reno": 3}[what["cc"]] + 0.5 * what["seed"] + what["loss"]
    _, rows, text = reported(thesis.Thesis, results, out)
    assert ["send, no loss, cubic", "weir", "linux", "3.000 s", "2.500 s", "3.500 s", "3"] in rows   # 2 and half a second for each of the seeds
    assert ["send, 15 % loss, bbr", "linux", "linux", "20.000 s", "19.500 s", "20.500 s", "3"] in rows
    values = json.loads((out / "thesis.json").read_text())
    assert values["median_s_at_15"] == 17 and values["linux_median_s_at_15"] == 20
    assert values["by_algorithm_at_15"]["weir"]["send, 15 % loss, cubic, weir to linux"] == 18
    change = values["tick_change_percent"]["15"]
    assert change["tick 20 ms"] == [1.0, 1.0, 1.0] and change["tick 1 ms"] == [-10.0, -10.0, -10.0] and change[thesis.DOUBLED] == [0.0, 0.0, 0.0]
    assert values["tick_100ms_percent"] == {"reno": 10.0, "cubic": 20.0, "bbr": 5.0}
    assert thesis.CLOCKS[thesis.DOUBLED] * 2 == thesis.CLOCKS[thesis.BASE] and thesis.CLOCKS[thesis.TENTH] == 10 * thesis.CLOCKS[thesis.BASE]
    assert "tick 20 ms against 10 ms +1.0 % (+1.0 to +1.0), within 5 %; tick 1 ms against 10 ms -10.0 % (-10.0 to -10.0), beyond 5 %" in text
    assert thesis.verdict(-6, 2) == "too few runs to tell whether within"
