# SPDX-License-Identifier: BSD-2-Clause
"""However a run of the simulator ends, if not well, it tells the command that repeats it, and what runs many of them fails."""
import os
import pathlib
import re
import resource
import signal
import stat
import subprocess
import sys

import pytest

from building import ROOT, SIM, build
from netns import until

sys.path.insert(0, str(ROOT / "tools"))
import sim as front  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def built():
    build(SIM)


def at_work(pid, number):
    """It has a handler for the signal, and has had a processor for 0.3 s, which is enough for many seeds."""
    about = pathlib.Path(f"/proc/{pid}")
    caught = int(re.search(r"^SigCgt:\s+(\w+)", (about / "status").read_text(), re.MULTILINE).group(1), 16)
    used = sum(map(int, (about / "stat").read_text().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    return caught >> (number - 1) & 1 and used >= 0.3


def killed(number, *words):
    """(exit status, standard error) of a run that was at work when a signal came."""
    with subprocess.Popen([SIM, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=no_core) as process:
        assert until(lambda: process.poll() is not None or at_work(process.pid, number), 60) and process.poll() is None
        process.send_signal(number)
        return process.wait(60), process.stderr.read()


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL])
def test_a_crash_in_a_campaign_is_told_with_its_seed(number):
    status, said = killed(number, "--scenario", "campaign", "--seed", "70", "--count", "1000000", "--seconds", "60")
    assert status == -number
    command, seed = re.search(rf"^to replay: ({SIM} --scenario campaign --seed (\d+))$", said, re.MULTILINE).groups()
    assert int(seed) > 70
    done = subprocess.run(command.split(), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and f"seed {seed}:" in done.stderr and '"seeds": 1,' in done.stdout


def test_a_crash_in_another_scenario_is_told_with_its_settings(tmp_path):
    trace = tmp_path / "it's a trace.csv"
    status, said = killed(signal.SIGSEGV, "--seconds", "100000", "--loss", "0.25", "--seed", "9", "--trace", str(trace))
    quoted = str(trace).replace("'", "'\\''")
    assert status == -signal.SIGSEGV
    assert f"to replay: {SIM} --scenario bulk --seed 9 --seconds 100000 --loss 0.25 --trace '{quoted}'\n" in said, said
    status, said = killed(signal.SIGABRT, "--scenario", "hosts", "--hosts", "5000", "--seed", "3")
    assert status == -signal.SIGABRT and f"to replay: {SIM} --scenario hosts --seed 3 --hosts 5000\n" in said, said


def test_hosts_that_fail_are_told_with_their_replay():
    done = subprocess.run([SIM, "--scenario", "hosts", "--hosts", "60", "--loss", "100"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and f"to replay: {SIM} --scenario hosts --seed 1 --loss 100 --hosts 60\n" in done.stderr, done.stderr


# --- tools/sim.py with a program that ends as the test likes ---------------------------------------------------------------------------

COUNTED = '{"seeds": 400, "failed": %d, "events": 1, "virtual_s": 1, "bytes": 1}'


def campaign(monkeypatch, capsys, folder, body, variants="host"):
    """(exit status, what was printed) of a short campaign with a shell script for weir-sim."""
    for variant in variants.split(","):
        stub = folder / variant
        stub.write_text(f"#!/bin/sh\n{body}\n")
        stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(front, "program", lambda variant="host": folder / variant)
    status = front.campaign(type("options", (), {"seconds": 0.3, "seed": 7, "variants": variants}))
    return status, capsys.readouterr().out


def test_a_campaign_that_passes(monkeypatch, capsys, tmp_path):
    status, said = campaign(monkeypatch, capsys, tmp_path, f"sleep 0.1; echo campaign: 400 seeds >&2; echo '{COUNTED % 0}'")
    assert status == 0 and re.fullmatch(r"host: [\d,]+00 seeds, 0 failed, .*\n", said), said


@pytest.mark.parametrize("variants", ["host", "asan", "host,asan"])
def test_a_crash_that_says_nothing_fails_the_campaign(monkeypatch, capsys, tmp_path, variants):
    status, said = campaign(monkeypatch, capsys, tmp_path, "kill -SEGV $$", variants)
    assert status == 1
    for variant in variants.split(","):
        assert f"[{variant}] ended by SIGSEGV" in said, said
    assert re.search(rf"\[{variants[:4]}\]   to replay: {tmp_path}/{variants[:4]} --scenario campaign --seed 7 --count \d+ --seconds 1$", said, re.MULTILINE), said


def test_what_a_program_says_of_its_crash_is_shown(monkeypatch, capsys, tmp_path):
    status, said = campaign(monkeypatch, capsys, tmp_path, "echo 'ERROR: AddressSanitizer: some' >&2; echo 'to replay: weir-sim --seed 77' >&2; exit 1", "asan")
    assert status == 1 and "[asan] ERROR: AddressSanitizer: some\n[asan] to replay: weir-sim --seed 77\n" in said and "--seed 7 " not in said, said


@pytest.mark.parametrize("body", [f"echo '{COUNTED % 2}'; exit 1", f"echo '{COUNTED % 0}'; exit 23", f"echo '{COUNTED % 1}'", "exit 0", "exit 2"])
def test_no_other_end_is_a_good_one(monkeypatch, capsys, tmp_path, body):
    status, said = campaign(monkeypatch, capsys, tmp_path, body)
    assert status == 1 and "to replay: " in said and "host: 0 seeds, 0 failed" not in said and " 0 failed" not in said, said


def test_a_seed_that_never_ends_is_ended(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(front, "STUCK", 0)
    status, said = campaign(monkeypatch, capsys, tmp_path, "exec sleep 60")
    assert status == 1 and "ended by SIGABRT" in said and "to replay: " in said, said


def test_a_program_that_is_not_built_is_no_success(monkeypatch, tmp_path):
    monkeypatch.setattr(front, "program", lambda variant="host": tmp_path / variant)
    with pytest.raises(front.Failed, match="is not there"):
        front.campaign(type("options", (), {"seconds": 0.3, "seed": 7, "variants": "host"}))


@pytest.mark.parametrize("name,value", [("loss", "200"), ("burst_end", "100.1"), ("rate", "fast"), ("seconds", "-1"), ("flows", "2x")])
def test_a_value_that_cannot_be_is_said(name, value):
    done = subprocess.run([SIM, f"--{name}", value], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and done.stderr == f"weir-sim: {name} cannot be {value}\n"


def test_a_file_that_is_not_there_is_said():
    for words in (["sim/script/run.py", "nowhere.pkt"], ["tools/sim.py", "plot", "nowhere.csv"]):
        done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert done.returncode != 0 and done.stderr.startswith(f"there is no file {words[-1]}"), done.stderr
