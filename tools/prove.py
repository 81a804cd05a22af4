#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make prove: no run-time error, and the contracts, of what reads and writes headers, for all inputs; and more (docs/proof.md).

Two ways, both Frama-C's. WP takes a function with its contract (the comments that begin with an @) and shows, with z3, that every
access is within what the contract allows, that loops end, and that callers keep what is asked of them. Eva runs a driver of proof/
on sets of values in place of values; an alarm is what it cannot exclude.

usage: tools/prove.py [--control] [PATTERN …]    exit status 1: something is not proven
--control: proves wrong versions, one planted fault each; each must fail"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/proof"
GOAL_SECONDS = int(os.environ.get('GOAL_SECONDS', '120'))   # of z3, for one goal; nearly all take less than one
FLAGS = "-Iproof -Iinclude -Isrc -DWEIR_CFG_IP6=1"
# The way bytes are put one by one, as on a big-endian machine: WP has no memory in which a word is four bytes. Eva proves the other.
BYTEWISE = "-U__BYTE_ORDER__"
# Sequence numbers go round: WP says nothing of that to z3 by itself.
ROUND = ["-cpp-extra-args=-include proof/wrap.h"]

# What other builds have: the log without SACK, the ring of those without an allocator.
TINY = ["-cpp-extra-args=-DWEIR_PROFILE=tiny -UWEIR_CFG_IP6"]
STATIC = ["-cpp-extra-args=-DWEIR_CFG_ALLOCATOR=0"]

# name: (file, functions). Functions of a file together, since they call each other.
WP = {
    "tcp options": ("src/wire/tcp.c", "tcp_wire_take_sack tcp_wire_take_timestamps tcp_wire_take_accecn tcp_wire_take_option "
                    "tcp_wire_options_parse tcp_wire_aligned_syn min_u32"),
    "ip4 options": ("src/wire/ip4.c", "ip4_options_acceptable"),
    "ip6 chain": ("src/wire/ip6.c", "chain_answer chain_option chain_options chain_routing chain_fragment chain_end chain_step "
                  "ip6_chain_continue ip6_first_fragment_whole"),
    "nd messages": ("src/wire/nd.c", "fixed_bytes option_pass options_sound option_present router_advertisement check_solicitation "
                    "check_advertisement check_redirect check_addresses take_link_and_nonce take_fixed nd_parse"),
    "nd options": ("src/wire/nd.c", "take_link take_data take_prefix take_prefix_information take_route take_servers nd_domain take_domains "
                   "take_option nd_option_next"),
    "sack validation": ("src/tcp/sack.c", "tcp_sack_input", ROUND, ["-wp-prop", "outstanding"]),
    "dsack": ("src/tcp/dsack.c", "tcp_dsack_reported tcp_sack_sane", ROUND),
    "flight simple": ("src/tcp/flight_simple.c", "flight_sent flight_found flight_acked flight_lose flight_lose_first flight_lose_all "
                      "flight_next_lost flight_resent", ROUND, TINY),
    "stream ring": ("src/base/stream_flat.c", "stream_flat_spans stream_flat_drop stream_set_limit stream_commit stream_ensure "
                    "stream_stretch stream_skip stream_trim", STATIC, ["-wp-split"]),
    "checksum length": ("src/base/checksum.c", "checksum_last_word sum_bytes copy_sum_bytes"),
    "sequence order": ("src/base/intervals.c", "seq_lt seq_le seq_in seq_max seq_min max_u32 min_u32", ROUND),
    "intervals": ("src/base/intervals.c", "intervals_init intervals_find intervals_replace intervals_remember count_total intervals_add "
                  "intervals_hole intervals_covers intervals_at intervals_advance", ROUND, ["-instantiate", "-wp-split"]),
}
# name: (driver, sources, functions that stand for their contracts)
EVA = {
    "nd prefixes": ("proof/nd.c", "nd icmp6 ip6", "nd_domain take_domains"),
    "checksums": ("proof/checksum.c", "", ""),
    "headers": ("proof/headers.c", "ethernet arp ip4 ip6 tcp udp icmp4 icmp6 igmp mld", "tcp_wire_options_parse"),
}
# what is changed, the file, from, to, and which proof must fail
FAULTS = [
    ("an option may be one byte longer than what is left", "src/wire/tcp.c", "size > length - at ||", "size > length - at + 1 ||", "tcp options"),
    ("a SACK option may have any number of blocks", "src/wire/tcp.c", "length < 10 || length % 8 != 2", "length < 10", "tcp options"),
    ("an option of no length is stepped over", "src/wire/ip4.c", "options[at + 1] < 2 ||", "", "ip4 options"),
    ("the total length is not compared with what is there", "src/wire/ip4.c", " || total_length > length", "", "headers"),
    ("an extension header may reach beyond the room", "src/wire/ip6.c", "return length <= room - start ?", "return length <= room ?", "ip6 chain"),
    ("an option may be longer than what is left", "src/wire/nd.c", "if (bytes > options->left)", "if (bytes > options->left + 8)", "nd messages"),
    ("a prefix may be longer than its option", "src/wire/nd.c", "bits > bytes * 8", "bits > bytes * 16", "nd options"),
    ("a checksum takes three bytes for a word", "src/base/checksum.c", "bytes >= 4; bytes -= 4, p += 4)", "bytes >= 3; bytes -= 4, p += 4)",
     "checksums"),
    ("a copy takes three bytes for a word", "src/base/checksum.c", "bytes >= 4; bytes -= 4, p += 4, q += 4)",
     "bytes >= 3; bytes -= 4, p += 4, q += 4)", "checksum length"),
    ("a ring's room may be larger than its limit", "src/base/stream_flat.h", "min_u32(end, stream->limit)", "end", "stream ring"),
    ("a span may go on beyond the ring's end", "src/base/stream_flat.c", "min_u32(length, stream->size - at)", "length", "stream ring"),
    ("more is found again than was lost", "src/tcp/flight_simple.c", "min_u32(f->lost, end - f->lost_from)", "end - f->lost_from",
     "flight simple"),
    ("what was sent again may end beyond what was sent", "src/tcp/flight_simple.c", "start + 1, f->end + 1)", "start + 1, f->end + 2)",
     "flight simple"),
    ("a list takes an interval more than it has room for", "src/base/intervals.c", "list->count >= list->capacity", "list->count > list->capacity",
     "intervals"),
    ("the newest interval may lie behind the list", "src/base/intervals.c", "list->recent > gone && list->count ? list->recent - gone : 0",
     "list->recent - gone", "intervals"),
    ("a SACK block may reach beyond what was sent", "src/tcp/sack.c", "c->snd.nxt + 1))", "c->snd.nxt + 2))", "sack validation"),
    ("a SACK block may be as long as half of all numbers", "src/tcp/dsack.h", "block->left + TCP_WINDOW_MOST + 1", "block->left + 0x80000000u", "dsack"),
    ("of two numbers the one that is 2^31 away counts as before and behind", "src/base/bytes.h", "return x - lo < hi - lo;",
     "return seq_le(lo, x) && seq_lt(x, hi);", "sequence order"),
    ("a tag is read that is not there", "src/wire/ethernet.c", "length < ETHERNET_BYTES + VLAN_BYTES", "length < ETHERNET_BYTES", "headers"),
]


def frama_c(name, tree, arguments, defines=""):
    """The output of one run."""
    log = BUILD / (name.replace(" ", "-") + ".log")
    command = ["frama-c", "-c11", "-machdep", "gcc_x86_64", f"-cpp-extra-args={FLAGS} {defines}", *arguments]
    there = {**os.environ, "PWD": str(tree)}   # Frama-C looks for files where that says
    done = subprocess.run(command, cwd=tree, env=there, capture_output=True, text=True, check=False)
    log.write_text(done.stdout + done.stderr)
    return done.returncode, done.stdout + done.stderr


def find_prover():
    """Why3 knows of z3 by a file, which a fresh machine has not."""
    config = BUILD / "why3.conf"
    if not config.exists():
        subprocess.run(["why3", "config", "detect", "-C", str(config)], check=True, capture_output=True)
    os.environ["WHY3CONFIG"] = str(config)


def wp(name, tree):
    file, functions, *more = WP[name]
    code, out = frama_c(name, tree, ["-wp", "-wp-rte", "-wp-prover", "z3", "-wp-timeout", str(GOAL_SECONDS), "-wp-par", "1",
                                     "-wp-fct", functions.replace(" ", ","), *sum(more, []), file], BYTEWISE)
    score = re.search(r"Proved goals:\s+(\d+) / (\d+)", out)
    open_goals = re.findall(r"Goal (\S+) : (?!Valid)\w+", out)
    if code or not score or not int(score[2]):
        return "no proof: " + (out.strip().splitlines() or [""])[-1], []
    return f"{score[1]} of {score[2]} goals", (open_goals or ["goals that are not named"]) if score[1] != score[2] else []


def eva(name, tree):
    driver, sources, contracts = EVA[name]
    files = [f"src/wire/{source}.c" for source in sources.split()] + ["src/base/checksum.c"]
    stand_in = ["-eva-use-spec", contracts.replace(" ", ",")] if contracts else []
    code, out = frama_c(name, tree, ["-eva", "-eva-precision", "3", "-eva-auto-loop-unroll", "3000", "-eva-no-show-progress",
                                     "-eva-msg-key=-initial-state,-final-states", *stand_in, driver, *files])
    coverage = re.search(r"(\d+) statements reached \(out of (\d+)\)", out)
    # What a contract says of the result is WP's to show.
    alarms = [alarm for alarm in re.findall(r"\[eva:alarm\] (.*?)(?=\n\[|\Z)", out, flags=re.S) if "postcondition" not in alarm]
    alarms = [" ".join(alarm.split()) for alarm in alarms]
    if code or not coverage or "NON TERMINATING" in out:
        return "no proof: " + (out.strip().splitlines() or [""])[-1], []
    return f"{coverage[1]} of {coverage[2]} statements", alarms


def prove(name, tree=ROOT):
    begun = time.monotonic()
    told, missing = wp(name, tree) if name in WP else eva(name, tree)
    return name, told, missing, time.monotonic() - begun


def planted(fault):
    """A tree with one fault in it, and what came of its proof."""
    _, file, before, after, name = fault
    tree = BUILD / "planted"
    shutil.rmtree(tree, ignore_errors=True)
    for folder in ("include", "src", "proof"):
        shutil.copytree(ROOT / folder, tree / folder)
    text = (tree / file).read_text()
    if text.count(before) < 1:
        raise SystemExit(f"{file}: there is no '{before}'")
    (tree / file).write_text(text.replace(before, after, 1))
    return prove(name, tree)


def control(patterns):
    bad = 0
    for fault in FAULTS:
        if patterns and not any(word in fault[-1] for word in patterns):
            continue
        _, told, missing, seconds = planted(fault)
        bad += not missing
        print(f"  {'ok   caught' if missing else 'BAD  proven'}: {fault[0]} ({told}, {seconds:.0f} s)", flush=True)
    return int(bad > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--control", action="store_true")
    parser.add_argument("pattern", nargs="*")
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    find_prover()
    if options.control:
        return control(options.pattern)
    names = [name for name in [*WP, *EVA] if not options.pattern or any(word in name for word in options.pattern)]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for name, told, missing, seconds in pool.map(prove, names):
            bad += bool(missing) or told.startswith("no proof")
            print(f"  {'BAD' if missing or told.startswith('no proof') else 'ok '}   {name}: {told}, {seconds:.0f} s", flush=True)
            for what in missing:
                print(f"         not proven: {what}")
    print(f"{len(names)} proofs, {bad} not complete")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
