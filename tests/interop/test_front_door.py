# SPDX-License-Identifier: BSD-2-Clause
"""The front door: `make run` as root and as an ordinary user, and what is said where packages are missing."""
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
USER = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]   # nobody in particular, in a user namespace
STEPS = ("ping", "curl, the status page", "iperf3 TCP, Linux to Weir", "iperf3 TCP, Weir to Linux", "iperf3 UDP, Linux to Weir",
         "an IPv6 address by itself", "ping over IPv6", "curl over IPv6", "iperf3 TCP over IPv6, to Weir", "iperf3 TCP over IPv6, from Weir",
         "a DHCP lease from dnsmasq", "a name resolved by dnsmasq", "a DHCPv6 address from dnsmasq", "a name over IPv6",
         "a page by name, one family broken", "the time from chrony")
STEPS6 = ("an IPv6 address by itself", "ping over IPv6", "curl over IPv6", "iperf3 TCP over IPv6, to Weir", "iperf3 TCP over IPv6, from Weir",
          "a DHCPv6 address from dnsmasq", "a name over IPv6", "the time from chrony")


@pytest.fixture
def packages(tmp_path):
    """Instead of Debian's: curl and chrony are missing, and what would install them does as it is told."""
    def program(name, text):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    program("dpkg-query", 'case "$*" in *curl*|*chrony*) exit 1 ;; esac; echo "install ok installed"')

    def run(*words, installs="true", goal="run"):
        program("apt-get", f'echo "$*" >>{tmp_path}/asked; {installs}')
        done = subprocess.run([*words, ROOT / "tools/need.sh", goal], capture_output=True, text=True, cwd=tmp_path,
                              env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
        return done, (tmp_path / "asked").read_text().splitlines() if (tmp_path / "asked").exists() else []
    return run


def test_missing_packages_are_named_to_who_is_not_root(packages):
    done, asked = packages(*USER)
    assert done.returncode == 2 and not done.stdout and not asked
    assert done.stderr == "missing packages; as root:  apt-get update && apt-get install -y --no-install-recommends curl chrony\n"


def test_missing_packages_are_installed_by_root(packages):
    done, asked = packages()
    assert done.returncode == 0, done.stderr
    assert asked == ["update", "install -y --no-install-recommends curl chrony"]


def test_what_cannot_be_installed_is_shown(packages):
    done, asked = packages(installs='echo "no such package" >&2; exit 100')
    assert done.returncode == 2 and "no such package" in done.stderr and asked == ["update"]


def test_nothing_is_asked_where_nothing_is_missing(packages):
    assert packages(*USER, goal="sim")[0].returncode == 0


def demonstrate(*words, steps=STEPS, **variables):
    done = subprocess.run([*words, sys.executable, ROOT / "tools/run.py", "--once"], capture_output=True, text=True, timeout=220,
                          env={**os.environ, "WEIR_HTTP_PORT": "0", **variables})
    assert done.returncode == 0 and "every step worked" in done.stdout, done.stdout + done.stderr
    assert [step for step in steps if f"  ok    {step}" not in done.stdout] == [], done.stdout
    return done.stdout


def test_the_demonstration_as_root():
    assert "(--tap weir0)" in demonstrate()


def test_the_demonstration_as_an_ordinary_user_without_tap():
    assert "(--packet eth0)" in demonstrate(*USER, WEIR_RUN_LINK="packet")


def test_the_demonstration_of_ip6_alone():
    assert "IPv6 alone" in demonstrate(steps=STEPS6, FAMILY="6")
