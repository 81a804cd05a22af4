# SPDX-License-Identifier: BSD-2-Clause
"""pair.json: two instances of a stack back to back in memory, one thread, virtual time. Instructions are callgrind's, counted inside
the functions measured_… only; nanoseconds are the median of ROUNDS runs, Weir and its peers taking turns."""
import re

import common

ROUNDS = 7
WARM_UP = {"bulk": 2000, "copy": 2000, "echo": 100, "connect": 100}   # units each program runs, in measured_…, before those it reports
COUNTED = {"bulk": 6000, "copy": 6000, "echo": 3000, "connect": 1000}  # units under callgrind
TIMED = {"bulk": 200000, "copy": 200000, "echo": 100000, "connect": 2000}
FEW, MANY, MILLION = 1000, 100000, 1000000   # connections open
IDLE = 2000
GOALS = {
    "insn_per_segment": ("<=", 1500), "insn_per_segment_copying": ("<=", 1750), "frames_per_segment": (">=", 1.3), "ns_ratio": ("<=", 0.6),
    "insn_per_echo": ("<=", 2400), "insn_per_connection": ("<=", 10500), "connection_cost_growth": ("<=", 1.1), "max_ns_per_call": None, "slowest_call_ns": ("<=", 200000),
    "bytes_per_idle_connection": ("<=", 320), "recovery_cost": ("<=", 1.12),
    "cost_per_segment_v6": ("<=", 1.08), "cost_per_echo_v6": ("<=", 1.1), "cost_per_connection_v6": ("<=", 1.1),
    "cost_per_segment_dual": ("<=", 1.03), "cost_per_echo_dual": ("<=", 1.04), "cost_per_connection_dual": ("<=", 1.04),
    "bytes_per_idle_connection_dual": ("<=", 352), "hostile_cost_worst": ("<=", 2),
}
HOSTILE = ("ns", "na", "ra", "redirect", "query", "fragment", "extension")
HOSTILE_PACKETS = {"empty": 20, "full": 400}
# A build with both families: IPv4 in it beside the build of IPv4 alone, and IPv6 beside IPv4 in it.
FAMILIES = {"dual": [common.OUT / "weir_pair_dual"], "v6": [common.OUT / "weir_pair_dual", "-6"]}
FAMILY_TESTS = {"segment": ("bulk", 0), "echo": ("echo", 0), "connection": ("connect", FEW)}   # by the names of the figures
CALLGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measured_*"]
BATCHES = (2, 64)   # of frames, beside the three that all stacks take before a poll: what bulk costs Weir then
STACKS = {   # name: what comes before the count
    "weir": lambda test: [common.OUT / "weir_pair", test],
    "lwip": lambda test: [common.OUT / "lwip_pair", test],
    "smoltcp_64k": lambda test: [common.OUT / "smoltcp-bench", test, 65536],
    "smoltcp_1m": lambda test: [common.OUT / "smoltcp-bench", test, 1048576],
}


def counted_command(stack, test, opened=0):
    return [*CALLGRIND, *STACKS[stack](test), COUNTED[test], *([opened] if opened else [])]


def timed_command(stack, test, opened=0):
    return [*STACKS[stack](test), TIMED[test], *([opened] if opened else [])]


def batch_command(frames):
    return [*CALLGRIND, common.OUT / f"weir_pair_batch{frames}", "bulk", COUNTED["bulk"]]


def plain_command():
    return [*CALLGRIND, common.OUT / "weir_pair_plain", "bulk", COUNTED["bulk"]]


def family_command(family, name):
    test, opened = FAMILY_TESTS[name]
    return [*CALLGRIND, *FAMILIES[family], test, COUNTED[test], *([opened] if opened else [])]


def collected(command, test):
    """Instructions for one unit of the test, both ends together."""
    return round(collected_in_all(command) / (COUNTED[test] + WARM_UP[test]), 1)


def collected_in_all(command):
    _, said = common.run(command, 1800)
    return int(re.search(r"Collected : (\d+)", said).group(1))


def hostile_command(kind, tables, count):
    return [*CALLGRIND[:-1], "--toggle-collect=measured", common.OUT / "weir_hostile", kind, tables, count]


def hostile_costs():
    """Of each kind of hostile packet: instructions beside empty tables, and how many times as many beside full ones."""
    filling = {tables: collected_in_all(hostile_command(HOSTILE[0], tables, 0)) for tables in HOSTILE_PACKETS}   # the same for every kind
    costs = {}
    for kind in HOSTILE:
        empty, full = ((collected_in_all(hostile_command(kind, tables, count)) - filling[tables]) / count
                       for tables, count in HOSTILE_PACKETS.items())
        costs[kind] = {"insn": round(empty), "cost": round(full / empty, 2)}
    return costs


# How many connections are open beside the one that comes and goes. lwIP has 16,384 ports of its own, so 10,000 is its many;
# smoltcp looks at every socket in every poll.
OPEN = {"weir": (FEW, MANY), "lwip": (FEW, 10000), "smoltcp_64k": (0, FEW), "smoltcp_1m": (0,)}


def cases():
    for stack in STACKS:
        for test in ("bulk", "copy", "echo"):
            yield stack, test, 0
        for opened in OPEN[stack]:
            yield stack, "connect", opened


def case_name(test, opened):
    return f"connect_{opened}" if test == "connect" else test


def measure():
    every = list(cases())
    progress = common.Progress("pair", len(every) * (1 + ROUNDS) + len(BATCHES) + 2 + 3 + len(FAMILY_TESTS) * len(FAMILIES) + 1 + len(STACKS) + 1)
    figures = {stack: {} for stack in STACKS}
    machine, load_before = common.machine(), common.load()
    for stack, test, opened in every:
        progress.step(f"instructions of {stack} {case_name(test, opened)}")
        figures[stack][f"insn_{case_name(test, opened)}"] = collected(counted_command(stack, test, opened), test)
    for frames in BATCHES:
        progress.step(f"instructions of weir in batches of {frames}")
        figures["weir"][f"insn_bulk_batch{frames}"] = collected(batch_command(frames), "bulk")
    progress.step("instructions of weir without its loss recovery")
    figures["weir"]["insn_bulk_plain"] = collected(plain_command(), "bulk")
    families = {}
    for family in FAMILIES:
        for name, (test, _) in FAMILY_TESTS.items():
            progress.step(f"instructions of weir {family} {test}")
            families[family, name] = collected(family_command(family, name), test)
    progress.step("instructions of hostile packets")
    hostile = hostile_costs()
    families["idle"] = common.line([*FAMILIES["dual"], "idle", IDLE])["bytes"]
    times, frames = {}, {}
    for _ in range(ROUNDS):
        for test in ("bulk", "copy", "echo", "connect"):   # the stacks take turns
            for case in (case for case in every if case[1] == test):
                progress.step("nanoseconds, the stacks taking turns")
                said = common.line(timed_command(*case))
                times.setdefault(case, []).append(said["ns"] / said["units"])
                frames[case] = said["frames"] / said["units"]
    for (stack, test, opened), values in times.items():
        figures[stack][f"ns_{case_name(test, opened)}"] = round(common.median(values), 1)
        figures[stack][f"ns_{case_name(test, opened)}_all"] = [round(value, 1) for value in values]
        figures[stack][f"frames_{case_name(test, opened)}"] = round(frames[stack, test, opened], 3)
    for stack in STACKS:
        progress.step(f"memory of idle connections of {stack}")
        idle = common.line([*STACKS[stack]("idle"), IDLE])
        figures[stack]["bytes_idle"] = idle["bytes"]
        if "bytes_without_buffers" in idle:
            figures[stack]["bytes_idle_without_buffers"] = idle["bytes_without_buffers"]
    inserted = []
    for _ in range(3):   # a call may be interrupted by the system; what it takes every time is the stack's
        progress.step("a million connections")
        inserted.append(common.line([*STACKS["weir"]("insert"), MILLION], 1800))
    progress.step("each call beside a million connections")
    calls = common.line([*STACKS["weir"]("calls"), MILLION], 1800)
    progress.step("done")
    return {**summary(figures, inserted, machine, load_before), **of_calls(calls), **of_families(families, figures["weir"]), "hostile": hostile,
            "hostile_cost_worst": max(each["cost"] for each in hostile.values())}


def of_calls(calls):
    took = {name: ns for name, ns in calls.items() if name.endswith("_ns")}
    return {"slowest_call_ns": max(took.values()), "slowest_call_ns_by_kind": took}


def of_families(families, weir):
    found = {"bytes_per_idle_connection_dual": families["idle"]}
    for name, case in FAMILY_TESTS.items():
        alone, dual, v6 = weir[f"insn_{case_name(*case)}"], families["dual", name], families["v6", name]
        found |= {f"insn_per_{name}_dual": dual, f"insn_per_{name}_v6": v6,
                  f"cost_per_{name}_dual": round(dual / alone, 3), f"cost_per_{name}_v6": round(v6 / dual, 3)}
    return found


def summary(figures, inserted, machine, load_before):
    weir = figures["weir"]
    best = min(("smoltcp_64k", "smoltcp_1m"), key=lambda stack: figures[stack]["ns_bulk"])
    connect = ("weir", "connect", MANY)
    return {
        "insn_per_segment": weir["insn_bulk"],
        "insn_per_segment_by_batch": {2: weir["insn_bulk_batch2"], 3: weir["insn_bulk"], 64: weir["insn_bulk_batch64"]},
        "insn_per_segment_plain": weir["insn_bulk_plain"],
        "recovery_cost": round(weir["insn_bulk"] / weir["insn_bulk_plain"], 3),
        "insn_per_segment_copying": weir["insn_copy"],
        "frames_per_segment": weir["frames_bulk"],
        "ns_ratio": round(weir["ns_bulk"] / figures[best]["ns_bulk"], 3),
        "insn_per_echo": weir["insn_echo"],
        "insn_per_connection": weir[f"insn_connect_{FEW}"],
        "connection_cost_growth": round(weir[f"insn_connect_{MANY}"] / weir[f"insn_connect_{FEW}"], 3),
        "connection_ns_growth": round(weir[f"ns_connect_{MANY}"] / weir[f"ns_connect_{FEW}"], 3),
        "max_ns_per_call": min(one["max_ns"] for one in inserted),
        "max_ns_per_call_all": [one["max_ns"] for one in inserted],
        "insert_ns_mean": round(common.median([one["ns"] for one in inserted]) / MILLION),
        "bytes_per_idle_connection": weir["bytes_idle"],
        "smoltcp_best": best,
        "weir": weir,
        "peers": {stack: figures[stack] for stack in figures if stack != "weir"},
        "goals": {key: " ".join(map(str, goal)) for key, goal in GOALS.items() if goal},
        "commands": {
            "insn_per_segment": common.shown(counted_command("weir", "bulk")),
            "insn_per_segment_by_batch": common.shown(batch_command(BATCHES[0])),
            "insn_per_segment_plain": common.shown(plain_command()),
            "insn_per_segment_copying": common.shown(counted_command("weir", "copy")),
            **{f"insn_per_{name}_{family}": common.shown(family_command(family, name)) for family in FAMILIES for name in FAMILY_TESTS},
            "hostile": common.shown(hostile_command("ns", "full", HOSTILE_PACKETS["full"])),
            "bytes_per_idle_connection_dual": common.shown([*FAMILIES["dual"], "idle", IDLE]),
            "frames_per_segment": common.shown(timed_command("weir", "bulk")),
            "ns_ratio": f'{common.shown(timed_command("weir", "bulk"))}; {common.shown(timed_command(best, "bulk"))}',
            "insn_per_echo": common.shown(counted_command("weir", "echo")),
            "insn_per_connection": common.shown(counted_command("weir", "connect", FEW)),
            "connection_cost_growth": common.shown(counted_command(*connect)),
            "connection_ns_growth": common.shown(timed_command(*connect)),
            "max_ns_per_call": common.shown([*STACKS["weir"]("insert"), MILLION]),
            "slowest_call_ns": common.shown([*STACKS["weir"]("calls"), MILLION]),
            "bytes_per_idle_connection": common.shown([*STACKS["weir"]("idle"), IDLE]),
        },
        "note": "Callgrind's number is divided by the units it saw: " + ", ".join(f"{COUNTED[t]} + {WARM_UP[t]} for {t}" for t in COUNTED) +
                ". A segment is a full frame: 1448 bytes and timestamps with Weir, 1460 bytes without options with the others.",
        "rounds": ROUNDS,
        "load": [load_before, common.load()],
        "machine": machine,
    }
