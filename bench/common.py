# SPDX-License-Identifier: BSD-2-Clause
"""What both parts share: running a program for its one line of JSON, progress, medians, the machine."""
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build/bench"


class Failed(Exception):
    pass


def environment():
    """Ours without what the make that started us left for its own children."""
    return {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}


def shown(command):
    """The command as a person would type it in the project's folder."""
    return " ".join(str(word).replace(str(ROOT) + "/", "") for word in command)


def run(command, seconds=600):
    """Runs to the end; its standard output and error. Failed, with what it said, when it did not end well."""
    try:
        done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"no end after {seconds} s: {shown(command)}") from late
    if done.returncode:
        raise Failed(f"{shown(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def line(command, seconds=600):
    out, _ = run(command, seconds)
    return json.loads(out)


def median(values):
    return statistics.median(values)


class Progress:
    """One line that says how far we are; on anything but a terminal a line for each label."""

    def __init__(self, title, steps):
        self.title, self.steps, self.done, self.began, self.label = title, steps, 0, time.monotonic(), None

    def step(self, label):
        self.done += 1
        text = f"{self.title}: {self.done}/{self.steps} ({time.monotonic() - self.began:.0f} s) {label}"
        if sys.stderr.isatty():
            print(f"\r{text[:110]:<110}", end="\n" if self.done == self.steps else "", file=sys.stderr, flush=True)
        elif label != self.label:
            print(text, file=sys.stderr, flush=True)
        self.label = label


def machine():
    """What the figures depend on."""
    def first(command):
        try:
            return subprocess.run(command, capture_output=True, text=True).stdout.split("\n")[0]
        except OSError:
            return "none"
    cpu = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    clock = re.search(r"cpu MHz\s*:\s*(\d+)", pathlib.Path("/proc/cpuinfo").read_text())
    lwip = re.search(r"^\(STABLE-([\d.]+)\)", (OUT / "lwip/CHANGELOG").read_text(), re.M) if (OUT / "lwip/CHANGELOG").exists() else None
    debian = OUT / "lwip/debian/changelog"
    return {
        "cpu": cpu.group(1) if cpu else platform.processor(),
        "cpus": os.cpu_count(),
        "mhz": int(clock.group(1)) if clock else 0,
        "virtual": first(["systemd-detect-virt"]) if pathlib.Path("/usr/bin/systemd-detect-virt").exists() else
        ("yes" if re.search(r"\bhypervisor\b", pathlib.Path("/proc/cpuinfo").read_text()) else "no"),
        "kernel": platform.release(),
        "compiler": first(["cc", "--version"]),
        "rust": first(["rustc", "--version"]),
        "lwip": re.search(r"\((.*?)\)", debian.read_text()).group(1) if debian.exists() else lwip and lwip.group(1),
        "smoltcp": re.search(r'name = "smoltcp"\nversion = "([\d.]+)"', (ROOT / "bench/peers/smoltcp/Cargo.lock").read_text()).group(1),
        "flags": (OUT / "flags").read_text().strip() if (OUT / "flags").exists() else "",
        "date": time.strftime("%Y-%m-%d %H:%M"),
    }


def load():
    """Runnable tasks besides us, averaged over the last minute: figures with the clock are to be read with it."""
    return round(os.getloadavg()[0], 2)
