# SPDX-License-Identifier: BSD-2-Clause
"""sim/golden/goodput.txt is what comes out: a change of behaviour is a diff, to be committed with the change (make sim-golden)."""
import json
import re
import subprocess
import sys

import pytest

from building import ROOT, SIM, build


def sim(*words):
    build(SIM)
    return subprocess.run([sys.executable, "tools/sim.py", *words], cwd=ROOT, capture_output=True, text=True)


def test_goodput_is_as_kept():
    done = sim("golden")
    assert done.returncode == 0, done.stdout


def test_a_changed_table_is_shown_as_a_diff(tmp_path, monkeypatch):
    """The comparison itself can fail."""
    kept = ROOT / "sim/golden/goodput.txt"
    sys.path.insert(0, str(ROOT / "tools"))
    import sim as front
    changed = tmp_path / "goodput.txt"
    lines = kept.read_text().split("\n")
    changed.write_text("\n".join(lines[:4] + [lines[4].replace("0", "9", 1)] + lines[5:]))
    short, long = kept.read_text().split("\n\n")
    monkeypatch.setattr(front, "golden_table", lambda: short + "\n")
    monkeypatch.setattr(front, "long_table", lambda: "\n" + long)
    options = type("options", (), {"renew": False})
    assert front.golden(options) == 0
    monkeypatch.setattr(front, "GOLDEN", changed)
    assert front.golden(options) == 1


HALF_OF_THOUSANDS = "--burst 0.001 --burst_end 0.02 --burst_loss 50"


@pytest.mark.parametrize("words, least_mbit", [
    ("--rate 100 --delay 150 --loss 0.1 --cc bbr --seconds 60", 85),
    (f"--rate 1000 --delay 25 {HALF_OF_THOUSANDS} --cc cubic --seconds 30", 100),
    (f"--rate 1000 --delay 25 {HALF_OF_THOUSANDS} --cc reno --seconds 30", 100),
    (f"--rate 100 --delay 150 {HALF_OF_THOUSANDS} --cc cubic --seconds 60", 10),
    (f"--rate 1000 --delay 150 {HALF_OF_THOUSANDS} --cc westwood --seconds 8 --send_buffer 134217728 --receive_buffer 134217728", 100)])
def test_what_is_sent_again_was_lost_at_any_window(words, least_mbit):
    """Every second segment of some thousands is missing: each hole has its place in the flight log and at the receiver."""
    build(SIM)
    buffers = [] if "buffer" in words else ["--send_buffer", "16777216", "--receive_buffer", "16777216"]
    command = [str(ROOT / "build/host/weir-sim"), *words.split(), *buffers, "--counters", "1"]
    result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    flow = result["flows"][0]
    assert flow["retransmits"] <= 1.05 * (result["lost"] + result["dropped"]), result
    assert result["lost"] + result["dropped"] > 2000 and result["mbit"] > least_mbit and flow["srtt_ms"] > (300 if "--delay 150" in words else 50), result
    assert "TCP_OUT_OF_ORDER_DROPPED" not in flow["server"], result


def test_the_same_run_twice_is_the_same_line():
    build(SIM)
    command = [str(ROOT / "build/host/weir-sim"), "--loss", "3", "--seconds", "5", "--reorder", "1"]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split('"real_s"')[0] for _ in range(2)]
    assert runs[0] == runs[1] and '"mbit"' in runs[0]


def test_a_failing_run_prints_its_replay():
    """A flow over a link that loses everything fails, and is reported with the command that repeats it."""
    command = ["build/host/weir-sim", "--bytes", "1000000", "--loss", "100", "--seconds", "5"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "to replay: build/host/weir-sim --scenario bulk --seed 1 --seconds 5 --bytes 1000000 --loss 100\n" in done.stderr, done.stderr


def test_a_coarse_clock_costs_ticks_not_timeouts():
    """5 MB over a near path: everything sent and acknowledged within a tick has no time, and is a rate and a round trip all the same."""
    for loss, most_ticks in ((0, 20), (15, 60)):
        for tick_us in (1000, 10000, 20000):
            seconds = []
            for seed in range(1, 10):
                command = [str(ROOT / "build/host/weir-sim"), "--cc", "bbr", "--rate", "0", "--delay", "0.05", "--loss", str(loss), "--spare_arp", "1",
                           "--bytes", "5242880", "--seconds", "60", "--tick_us", str(tick_us), "--seed", str(seed)]
                flow = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["flows"][0]
                seconds.append(flow["finished_s"] - flow["connected_s"])
            assert sorted(seconds)[4] < most_ticks * tick_us / 1e6, (loss, tick_us, seconds)


def test_bbr_is_the_same_with_every_tick():
    """As between the laboratory's TAPs: 1.2 Gbit/s, a ring of 255 frames, far less than passes in a tick."""
    for loss in (0, 15):
        took = {}
        for tick_us in (1000, 10000, 20000):
            seconds = []
            for seed in range(1, 16):
                command = [str(ROOT / "build/host/weir-sim"), "--cc", "bbr", "--rate", "1200", "--queue", "386000", "--delay", "0.02", "--loss", str(loss), "--spare_arp", "1",
                           "--bytes", "5242880", "--tick_us", str(tick_us), "--seed", str(seed)]
                flow = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["flows"][0]
                seconds.append(flow["finished_s"] - flow["connected_s"])
            took[tick_us] = sorted(seconds)[7]
        assert max(took.values()) < 1.05 * min(took.values()), (loss, took)
        assert max(took.values()) < 0.05, (loss, took)   # 36.6 ms at the link's rate, 43 with what is lost


def test_many_hosts_in_one_process():
    command = [str(ROOT / "build/host/weir-sim"), "--scenario", "hosts", "--hosts", "200"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert result["hosts"] == 200 and result["received"] == result["flows"] * 20100


def test_settings_come_from_a_file(tmp_path):
    path = tmp_path / "link.conf"
    path.write_text("# a comment\nscenario = bulk\nbytes = 50000   # and another\nloss = 2\n")
    program = str(ROOT / "build/host/weir-sim")
    by_file = subprocess.run([program, "--file", path], capture_output=True, text=True, check=True).stdout
    by_words = subprocess.run([program, "--bytes", "50000", "--loss", "2"], capture_output=True, text=True, check=True).stdout
    assert by_file.split('"real_s"')[0] == by_words.split('"real_s"')[0]
    path.write_text("scenario = hosts\nrate = 1\n")   # before or after: what counts is all together
    done = subprocess.run([program, "--hosts", "60", "--file", path], capture_output=True, text=True)
    assert done.returncode == 2 and "hosts does not use --rate" in done.stderr, done.stderr
    path.write_text("no_such = 1\n")
    done = subprocess.run([program, "--file", path], capture_output=True, text=True)
    assert done.returncode == 2 and "no_such" in done.stderr and "line 1" in done.stderr


def test_what_a_scenario_does_not_use_is_refused(tmp_path):
    """Nobody looks for a file that will not be written, or takes a default for what was asked."""
    program = str(ROOT / "build/host/weir-sim")
    for words, unused in ((["hosts", "--pcap", tmp_path], "pcap"), (["hosts", "--trace", tmp_path / "x"], "trace"), (["campaign", "--loss", "0"], "loss"),
                          (["bulk", "--count", "2"], "count"), (["algorithms", "--seed", "1"], "seed")):
        done = subprocess.run([program, "--scenario", *words], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, ""), done
        assert done.stderr == f"weir-sim: the scenario {words[0]} does not use --{unused}; --help lists what it uses\n"
    told = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    assert re.search(r"^  bulk .*\n +all settings but count, hosts$", told, re.MULTILINE), told
    assert re.search(r"^  hosts .*\n +settings: seed, cc, bytes, loss, family, hosts, unchecked$", told, re.MULTILINE), told
    done = subprocess.run([program, "--family", "5"], capture_output=True, text=True)
    assert done.returncode == 2 and "family is 4" in done.stderr
    done = subprocess.run([program, "--flows", "0"], capture_output=True, text=True)
    assert done.returncode == 2 and "flows" in done.stderr


@pytest.mark.parametrize("words, said", [
    ("--aqm codel-ecn", "--aqm codel-ecn marks nothing unless the flows ask for it: --ecn on, or accurate"),
    ("--aqm codel-ecn --ecn passive", "--aqm codel-ecn marks nothing unless the flows ask for it: --ecn on, or accurate"),
    ("--mark 20000", "--mark marks nothing unless the flows ask for it: --ecn on, or accurate"),
    ("--mark 30000 --ecn on", "--mark marks nothing: the queue never holds so much"),
    ("--aqm codell", "--aqm is droptail, codel or codel-ecn, not codell"),
    ("--ecn yes", "--ecn is off, passive, on or accurate, not yes"),
    ("--other_cc bbr", "--other_cc changes nothing without --others"),
    ("--burst_loss 50", "--burst_loss changes nothing without --burst"),
    ("--reorder_ms 1", "--reorder_ms changes nothing without --reorder"),
    ("--queue 20000 --bdp 2", "--bdp changes nothing with --queue")])
def test_a_setting_that_changes_nothing_is_refused(words, said):
    build(SIM)
    done = subprocess.run([str(ROOT / "build/host/weir-sim"), *words.split()], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"weir-sim: {said}\n")


def test_no_flow_starves_by_the_phase_of_its_timers():
    """Each of these seeds left one of 20 cubic flows without a byte in 60 s while frames arrived in step with what left the bottleneck's queue."""
    build(SIM)
    for seed in (1000, 1017, 1031, 1042):
        command = [str(ROOT / "build/host/weir-sim"), "--flows", "20", "--others", "1", "--other_cc", "bbr", "--delay", "20", "--seconds", "60", "--seed", str(seed)]
        result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        assert min(flow["received"] for flow in result["flows"]) > 500000, (seed, result)


@pytest.mark.parametrize("ecn, counted", [("on", "TCP_ECN"), ("accurate", "TCP_ACCECN")])
@pytest.mark.parametrize("queue", ["--aqm codel-ecn", "--mark 15000"])
def test_flows_that_ask_for_ecn_are_marked(queue, ecn, counted):
    build(SIM)
    command = [str(ROOT / "build/host/weir-sim"), *queue.split(), "--ecn", ecn, "--counters", "1"]
    result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    flow = result["flows"][0]
    assert flow["client"][counted] == flow["server"][counted] == 1
    assert result["marked"] > 10 and flow["client"]["TCP_ECN_REDUCED"] > 5, result
    assert flow["server"]["TCP_CE_RECEIVED"] > 10 and result["mbit"] > 9, result
