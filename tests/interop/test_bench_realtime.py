# SPDX-License-Identifier: BSD-2-Clause
"""make bench-realtime: that it writes the figures it is asked for, with the values that are determined, and that its runs in real time go on where
they were ended."""
import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

from building import build

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/realtime")]
import common  # noqa: E402
import clocked_runs as runs  # noqa: E402
import sim_part  # noqa: E402

spec = importlib.util.spec_from_file_location("bench_realtime", ROOT / "bench/realtime/run.py")   # there is more than one run.py
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(common, "OUT", tmp_path)


class Pretended:
    started = []

    def __init__(self, name, percent):
        self.name, self.percent, self.closed = name, percent, False

    def start(self):
        Pretended.started.append(self.name)

    def ended(self):
        return True

    def take(self):
        return None if self.percent is None else {"met_percent": self.percent}

    def close(self):
        self.closed = True


def measure(percents, of, monkeypatch):
    monkeypatch.setattr(Pretended, "started", [])
    return runs.all_of("pretended", [Pretended(str(number), percent) for number, percent in enumerate(percents)], 2, [of])


def test_runs_go_on_where_they_were_ended(tmp_path, monkeypatch):
    of = tmp_path / "program"
    of.write_text("one")
    with pytest.raises(common.Failed, match="no result of 2"):
        measure((90, 80, None), of, monkeypatch)
    found = measure((0, 0, 70), of, monkeypatch)     # what was there is not measured again
    assert Pretended.started == ["2"] and [found[name]["met_percent"] for name in "012"] == [90, 80, 70]
    assert runs.mean(found, "012") == 80 and runs.least(found, "012") == 70
    measure((1, 2, 3), of, monkeypatch)              # all was there: the next measurement is a new one
    assert len(Pretended.started) == 3


def test_results_of_another_program_are_not_kept(tmp_path, monkeypatch):
    of = tmp_path / "program"
    of.write_text("one")
    with pytest.raises(common.Failed):
        measure((90, None), of, monkeypatch)
    of.write_text("two")
    measure((90, 80), of, monkeypatch)
    assert Pretended.started == ["0", "1"]


def test_the_figures_of_the_simulated_part(monkeypatch):
    build("build/host/weir-realtime")
    for name, value in (("SEEDS", "1001-1002"), ("SWEEP_SEEDS", "1001-1001"), ("LOSSES", (0, 10)),
                        ("SWEEPS", {"delay_ms": ("delay_us", (10, 200), 1000, "delay"), "period_ms": ("period", (20, 50), 1, "period")}),
                        ("FAIR_QUEUES", {"25 KB": {"queue": 25000}, "33 packets": {"queue": 0, "queue_frames": 33}})):
        monkeypatch.setattr(sim_part, name, value)
    progress = common.Progress("test", 20)
    figures = {**sim_part.paper(progress), **sim_part.beside_skip_update(progress), **sim_part.fairness(progress)}
    met = {mode: program.figure(figures, f"paper.{mode}.0") for mode in sim_part.MODES}
    assert met == {"regular": 0.56, "regular_update": 100, "skip": 66.85, "skip_update": 100, "weir": 100}
    assert 63 <= program.figure(figures, "paper.skip.10") <= 67 and program.figure(figures, "paper.weir.10") >= 99.7
    assert program.figure(figures, "updates_ratio_at_0") <= 0.5
    assert program.figure(figures, "fairness.cubic_loss_percent") <= 10
    assert figures["weir_minus_skip_update_min"] >= 0 and figures["packet_queue_frames_ratio"] >= 0.9
    json.dumps(figures)


def test_the_page_has_the_fairness_table_of_the_run():
    """docs/realtime.md's table, cell by cell, and the frames that Weir's receiver reads at every queue of it."""
    build("build/host/weir-realtime")
    fair = sim_part.fairness(common.Progress("test", 1))["fairness"]
    assert fair["frames_ratio_min"] >= sim_part.SAME_SHARE and fair["cubic_loss_percent"] <= 10
    page = [[cell.strip() for cell in line.strip("|").split("|")] for line in (ROOT / "docs/realtime.md").read_text().split("\n") if line.startswith("| ")]
    for queue, row in fair["by_queue"].items():
        stands, = [cells[1:] for cells in page if cells[0] == queue]
        made = [f"{row[name]['cubic_kbit']:.0f} / {row[name]['frames_kbit']:.0f}" for name in sim_part.FAIR_FLOWS]
        numbers = [[int(number) for cell in cells for number in cell.split(" / ")] for cells in (made, stands)]
        assert numbers[1] == pytest.approx(numbers[0], rel=0.04, abs=12), f"docs/realtime.md: | {queue} | {' | '.join(made)} |"


def test_the_parts_are_in_order():
    assert program.parts() == ["sim", "weir", "boards", "linux", "tap"]


def test_a_part_measured_anew_replaces_its_figures_and_no_others():
    figures = {"paper": {"weir": {"0": 1}, "gone": {"0": 2}}, "linux_sender": {"met_percent_at_0": 3}, "voice": {"linux_sender": {"old": 4}, "weir_sender": {"kept": 5}},
               "measured": {"sim": "then", "tap": "then"}}
    program.merge(figures, {"paper": {"weir": {"0": 6}}, "voice": {"linux_sender": {"new": 7}}, "measured": {"sim": "now"}})
    assert figures == {"paper": {"weir": {"0": 6}}, "linux_sender": {"met_percent_at_0": 3}, "voice": {"linux_sender": {"new": 7}, "weir_sender": {"kept": 5}},
                       "measured": {"sim": "now", "tap": "then"}}


def test_figures_of_an_earlier_version_do_not_stop_the_others(tmp_path):
    class Other:
        TITLE, GOALS = "another", {}

        @staticmethod
        def plots(figures, folder):
            return ()

        @staticmethod
        def tables(figures):
            yield "a table", [["head"], [figures["there"]]]

    class Earlier(Other):
        @staticmethod
        def tables(figures):
            yield "of", [["head"], [figures["not there"]]]
    program.web([Earlier, Other], {"there": 42})
    page = (tmp_path / "realtime.html").read_text()
    assert "to be measured anew" in page and "<td>42</tr>" in page


WITHOUT = ("-DWEIR_CFG_REALTIME=0", "-DWEIR_CFG_REALTIME_SENDER=0")


@pytest.mark.parametrize("profile", ("SMALL", "FULL"))
def test_a_connection_without_it_is_no_larger_for_it(tmp_path, profile):
    """What a stream in a mode needs is attached to it: neither the connection itself nor what is attached to it while data is out has a field for it."""
    def sizes(*options):
        (tmp_path / "probe.c").write_text('#include "tcp/conn.h"\n#include "tcp/flight.h"\n'
                                          "char conn[sizeof(struct tcp_conn)], flow[sizeof(struct tcp_flow)], flight[sizeof(struct flight)];\n")
        subprocess.run(["cc", "-std=c11", f"-DWEIR_PROFILE_{profile}", *options, "-Iinclude", "-Isrc", "-c", tmp_path / "probe.c", "-o", tmp_path / "probe.o"],
                       cwd=ROOT, check=True)
        symbols = subprocess.run(["nm", "-S", tmp_path / "probe.o"], capture_output=True, text=True, check=True).stdout
        return {words[3]: int(words[1], 16) for words in map(str.split, symbols.splitlines()) if words[-1] in ("conn", "flow", "flight")}
    assert len(sizes()) == 3 and sizes() == sizes(*WITHOUT)


def test_nothing_is_left_of_it_where_it_is_left_out(tmp_path):
    """The sources that stay, with the options off, ask for nothing of those that go; and a profile without it has none of them."""
    def left_out_of(profile):
        return subprocess.run([sys.executable, "tools/options.py", "--left-out", profile], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    left_out, other = left_out_of("tiny"), left_out_of("full")
    for name in ("src/rt/weir.c", "src/rt/skip2009.c", "src/tcp/realtime.c", "src/socket/realtime.c", "src/tcp/deadline.c"):
        assert name in left_out
    for source in sorted((ROOT / "src/tcp").glob("*.c")):
        asks = "tcp_realtime" in source.read_text() or "tcp_deadline" in source.read_text()
        if not asks or source.name in ("realtime.c", "deadline.c") or str(source.relative_to(ROOT)) in other:
            continue
        subprocess.run(["cc", "-std=c11", "-O1", "-DWEIR_PROFILE_FULL", *WITHOUT, "-Iinclude", "-Isrc", "-c", source, "-o", tmp_path / "one.o"], cwd=ROOT, check=True)
        symbols = subprocess.run(["nm", tmp_path / "one.o"], capture_output=True, text=True, check=True).stdout
        assert not [line for line in symbols.splitlines() if "tcp_realtime" in line or "tcp_deadline" in line or " rt_" in line], source.name
