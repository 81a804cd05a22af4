#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make bench-metal: every figure on the metal, part by part, into build/bench/metal.json; then tables, metal.png and metal.html there.

    bench/metal/run.py [--fresh] [PART…]     without a part: all of them. Parts: echo boot startup6 micro component lyra thesis api latency rates portux far buffers loss zynq

What a part measured stays in metal.json when the next part ends badly or the run is interrupted; the next run without parts goes on with those that are
missing, if their images are still the same bytes. After a run that measured everything the next one begins anew, as with --fresh. Exit status: 0 when
every figure has been measured (whether or not it reached its goal)."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/metal")]
import common  # noqa: E402
import metal_report  # noqa: E402

RESULT, STATE = ROOT / "build/bench/metal.json", ROOT / "build/bench/metal-run.json"
ECHO_IMAGES = [f"build/metal/{image}_bench_{length}.elf" for image in ("tiny_echo", "tiny6_echo", "lwip_raw", "lwip_raw_lto") for length in (1, 512)] + \
              ["build/metal/small_echo_bench_1.elf", "build/metal/lwip_raw.elf", "build/metal/lwip_raw_lto.elf"]
GUESTS = "bench/metal/guests.py"
LINK = "build/host/weir-link"
MODEL = ["build/host/weir-machine-peer", "build/host/instruction_count.so"]   # what the model of tools/machines needs in its own time


class Part:
    def __init__(self, about, images, command, keys):
        self.about, self.images, self.command, self.keys = about, images, command, keys


PARTS = {
    "echo": Part("instructions an echo", ECHO_IMAGES, ["bench/metal/echo.py"],
                 ["tiny_echo.insn_1", "tiny_echo.insn_512", "tiny6_echo.insn_1", "tiny6_echo.insn_512", "small_echo.insn_1", "lwip_raw.insn_1", "lwip_raw.insn_512"]),
    "boot": Part("reset to the first ping", ["build/boards/lm3s6965evb/echo.elf"], ["bench/metal/boot.py"], ["boot_ms"]),
    "startup6": Part("link up to the first byte of HTTP over IPv6", ["build/boards/malta/startup6.elf"], ["bench/metal/startup6.py"],
                     ["startup6.dad_ms", "startup6.alone_ms", "startup6.optimistic_ms"]),
    "micro": Part("the microkernel beside the monolithic form", ["build/boards/mps2-an385-micro/echo.elf", "build/boards/mps2-an385/bulk_echo.elf"],
                  ["tools/micro_bench.py"], ["microkernel_ratio"]),
    "component": Part("LyraOS's benchmark with its component beside Linux", ["build/boards/pc/lyraos.elf", "build/boards/pc-ne2k/lyraos.elf"], [GUESTS, "component"],
                      [f"lyra.component.{card}.{way}" for card in ("virtio", "ne2k") for way in ("send", "receive")]),
    "lyra": Part("LyraOS's benchmark without a kernel beside Linux", ["build/boards/pc/transfer.elf"], [GUESTS, "lyra"], ["lyra.ratio_send", "lyra.ratio_receive", "lyra.ratio_min"]),
    "thesis": Part("the thesis's 5 MB beside Linux", ["build/boards/arm-virt/transfer.elf"], [GUESTS, "thesis"], ["thesis.ratio_min"]),
    "api": Part("the thesis's own calls beside the program without processes", [f"build/boards/{board}/{program}.elf" for board in ("mps2-an385", "arm-virt")
                for program in ("transfer", "flock_transfer")], ["bench/metal/api.py"], ["thesis.api_ratio"]),
    "latency": Part("the thesis's round trips, by its own calls and without processes", [f"build/boards/{board}/{program}.elf" for board in ("mps2-an385", "arm-virt")
                    for program in ("echo", "flock_echo")], ["bench/metal/latency.py"], ["thesis.latency"]),
    "rates": Part("the thesis's 5 MB, the processor's rate doubled and an eighth", [f"build/boards/{board}/{program}.elf" for board in ("mps2-an385", "arm-virt")
                  for program in ("transfer", "flock_transfer")] + [LINK], ["bench/metal/rates.py"], ["thesis.rates"]),
    "portux": Part("the thesis's 5 MB on its own machine, the processor's rate doubled and a tenth", [f"build/boards/portux920t/{program}.elf" for program in
                   ("transfer", "flock_transfer", "flock_transfer_sends_reno", "flock_transfer_sends_bbr")] + MODEL, ["bench/metal/portux.py"], ["thesis.portux"]),
    "far": Part("270 MB as from a remote host, by the thesis's own calls", ["build/boards/mps2-an385/flock_far.elf", "build/boards/arm-virt/flock_transfer.elf", LINK],
                ["bench/metal/far.py"], ["thesis.far"]),
    "buffers": Part("the thesis's 5 MB by its own calls, with its receive and send buffers", [f"build/boards/{board}/flock_transfer{name}.elf" for board, names in
                    (("mps2-an385", ("", "_reno", "_cubic", "_send_5")), ("arm-virt", ("_reno", "_cubic", "_bbr", "_send_1", "_send_5"))) for name in names] + [LINK],
                    ["bench/metal/buffers.py"], ["thesis.buffers"]),
    "loss": Part("the same with 15 % loss", ["build/boards/arm-virt/transfer.elf", LINK], [GUESTS, "loss"], ["thesis_loss.ratio_min"]),
    "zynq": Part("the same on Zynq, alone", ["build/boards/xilinx-zynq-a9/transfer.elf", LINK], [GUESTS, "zynq"], ["thesis_zynq.receive_15_s"]),
}
SIZE_GOALS = ["size-tiny-echo", "size-small-echo"]


def read(path):
    return json.loads(path.read_text()) if path.exists() else {}


def value(figures, key):
    for name in key.split("."):
        figures = figures.get(name) if isinstance(figures, dict) else None
    return figures


def digest(part):
    whole = hashlib.sha256()
    for image in part.images:
        whole.update((ROOT / image).read_bytes())
    return whole.hexdigest()


def make(targets):
    words = ["make", "-s", "--no-print-directory", f"-j{os.cpu_count()}", *targets]
    return subprocess.run(words, cwd=ROOT, env=common.environment()).returncode == 0


def measured(name, state):
    """Whether the run that was interrupted has measured the part, on the images that there are now."""
    found = read(RESULT)
    return state.get(name) == digest(PARTS[name]) and all(value(found, key) is not None for key in PARTS[name].keys)


def measure(names, again, fresh):
    """Names of the parts that could not be measured. `again`: also what was measured already."""
    state = {} if fresh else read(STATE)
    began, failed = time.monotonic(), []
    for number, name in enumerate(names, 1):
        part = PARTS[name]
        print(f"[{number}/{len(names)}, {(time.monotonic() - began) / 60:.0f} min] {name}: {part.about}", flush=True)
        if not make(part.images):
            failed.append(name)
            continue
        if not again and measured(name, state):
            print("  measured already (FRESH=1: from the beginning)", flush=True)
            continue
        load = common.load()
        if subprocess.run([sys.executable, *part.command], cwd=ROOT, env=common.environment()).returncode:
            failed.append(name)
            continue
        state[name] = digest(part)
        STATE.write_text(json.dumps(state, indent=1) + "\n")
        whole = read(RESULT)
        whole.setdefault("parts", {})[name] = {"command": f"make bench-metal T={name}", "date": time.strftime("%Y-%m-%d %H:%M"), "load": [load, common.load()]}
        RESULT.write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n")
    return failed


def sizes():
    """build/size.json's entries of tiny_echo and small_echo; a budget that is exceeded is make size's affair."""
    for goal in SIZE_GOALS:
        make([goal])


def main(words):
    names = [word for word in words if word != "--fresh"]
    if unknown := set(names) - set(PARTS):
        sys.exit(f"there is no part {' '.join(sorted(unknown))}; there are: {' '.join(PARTS)}")
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    failed = measure(names or list(PARTS), bool(names), "--fresh" in words)
    sizes()
    found = read(RESULT)
    found["machine"] = common.machine()
    RESULT.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    missing = metal_report.show({**found, "size": read(ROOT / "build/size.json")})
    if failed:
        print(f"bench-metal: not measured: {', '.join(failed)}", file=sys.stderr)
    elif not names and not missing:
        STATE.unlink(missing_ok=True)
    return 1 if failed or (missing and not names) else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nbench-metal: interrupted; the next `make bench-metal` goes on from here")
