# SPDX-License-Identifier: BSD-2-Clause
"""What the guides name exists: Weir's names in a header, files in the tree, the works' names in the porting guide."""
import json
import pathlib
import re
import subprocess
import textwrap
import tomllib

import pytest

from building import build, host_flags

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDES = ("porting", "flock", "lyraos", "romantiki", "tls", "lwip", "slow", "counters", "limits")
OPTIONS = tomllib.loads((ROOT / "config/options.toml").read_text())
HEADERS = "\n".join(path.read_text() for folder in ("include", "api", "kernel", "ports", "boards", "apps", "drivers") for path in (ROOT / folder).rglob("*.h"))
WORKS_NAMES = ("kmem_alloc kmem_free interrupt_mask interrupt_unmask process_sleep process_wakeup thread_sleep thread_wakeup self_thread_id schedule add_timer "
               "sock_wake_async NO_PREEMPT PREEMPT_OK").split()


def text(guide):
    return (ROOT / f"docs/{guide}.md").read_text()


@pytest.mark.parametrize("guide", GUIDES)
def test_names_exist(guide):
    named = set(re.findall(r"\b(?:weir|bsd|preempt_port|flock|lyraos|romantiki|timeout|wait_queue)_[a-z0-9_]+\b(?!\.)|\bWEIR_[A-Z0-9_]+\b", " ".join(re.findall(r"`[^`]+`|^    .*$", text(guide), re.MULTILINE))))
    images = {"romantiki_echo", "romantiki_sessions", "romantiki_respond", "flock_clients"}
    metrics = {name for name in named if name.endswith("_total")}   # of /metrics, whose names are made
    named = {name.removeprefix("WEIR_COUNT_") for name in named - images - metrics}
    assert not {name for name in named if not re.search(rf"\b{name}\b", HEADERS)}


@pytest.mark.parametrize("guide", GUIDES)
def test_files_exist(guide):
    paths = re.findall(r"`((?:api|boards|docs|drivers|examples|include|kernel|ports|tests)/[\w./-]+)`", text(guide))
    links = [f"docs/{target}" for target in re.findall(r"\]\(([^)#]+)\)", text(guide)) if not target.startswith("http")]
    assert not [path for path in paths + links if not (ROOT / path).exists()]


def test_the_congestion_control_that_is_shown_is_the_example():
    page, example = text("congestion-control"), (ROOT / "examples/congestion_control.c").read_text()
    shown = [textwrap.dedent(block) for block in re.findall(r"(?:^(?:    .*)?\n)+", page, re.MULTILINE) if block.strip()]
    parts = ["struct scalable {" + example.partition("struct scalable {")[2].partition("int main")[0], "int main" + example.partition("int main")[2]]
    for part in parts:
        assert any(part.strip() in block for block in shown), part
    assert not [path for path in re.findall(r"`((?:src|examples|include|sim|tests|config)/[\w./-]+)`", page)
                if not (ROOT / path).exists() and path != "src/cc/scalable.c"]


def test_what_takes_the_place_of_a_call_of_lwip_exists():
    """The right-hand columns of docs/lwip.md: each name is a function, a field, an option or a type of a header."""
    rows = [line.split(" | ") for line in text("lwip").split("\n") if line.startswith("| ") and "---" not in line]
    named = {name for _, ours in rows for name in re.findall(r"`(?:struct )?(\w+)`", ours)}
    assert len(rows) > 80 and {"dhcp_start", "tx", "weir_frame"} < named
    assert not {name for name in named if not re.search(rf"\b{name}\b", HEADERS)}


def test_the_rates_of_the_page_on_slow_transfers():
    """What its simulated path carries with each setting, to a third: the numbers move with the stack, the lesson does not."""
    build("build/host/weir-sim")
    common, rows = re.search(r"^\| `(build/host/weir-sim [^`]+)` \| Mbit/s \|\n\|[ |-]+\n((?:\|.*\n)+)", text("slow"), re.MULTILINE).groups()
    rates = re.findall(r"^\| (?:as it is|`([^`]+)`) \| ([\d.]+) \|$", rows, re.MULTILINE)
    assert len(rates) == 6
    for words, mbit in rates:
        done = subprocess.run([*common.split(), *words.split()], cwd=ROOT, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["mbit"] == pytest.approx(float(mbit), rel=1 / 3), words


def test_counters_have_an_entry_each_with_the_headers_words():
    """Of docs/counters.md: what the header says that it counts, and then what that means."""
    header = (ROOT / "include/weir/stats.h").read_text()
    counted = {name: words for name, words in re.findall(r'X\((\w+),[\s\\]*"([^"]+)"\)', header)}
    page = re.sub(r"\n  (?=\S)", " ", text("counters"))
    entries = re.findall(r"^- \*\*(\w+)\*\*: (.*)$", page, re.MULTILINE)
    assert len(counted) > 80 and sorted(name for name, _ in entries) == sorted(counted)
    for name, words in entries:
        assert words.startswith(counted[name] + ". ") and words.endswith("."), name
    assert set(re.findall(r"WEIR_CFG_(\w+)", page)) <= set(OPTIONS)
    fields = re.findall(r"\b[rt]x_\w+", (ROOT / "include/weir/netif.h").read_text().partition("struct weir_netif_stats {")[2].partition("};")[0])
    assert len(fields) > 8 and sorted(re.findall(r"\b[rt]x_\w+", page.partition("| field |")[2].partition("\n\n")[0])) == sorted(fields)


def test_the_tracer_of_the_page_prints_events(tmp_path):
    """The block of docs/seeing.md that makes a log is compiled as it stands, and run."""
    page = text("seeing").partition("## As a log")[2].partition("\n## ")[0]
    tracer, printed = (textwrap.dedent(block) for block in re.findall(r"(?:^    .*\n)+", page, re.MULTILINE)[:2])
    (tmp_path / "log.c").write_text(f"""#include <stdio.h>
#include "apps/trace_text.h"
{tracer}
int main(void)
{{
    struct weir_trace_event event = {{.what = "ESTABLISHED", .now_us = 12345678, .cwnd = 14480}};
    event.local = (struct weir_endpoint){{.addr = weir_ip4(10, 0, 0, 2), .port = 7}};
    event.peer = (struct weir_endpoint){{.addr = weir_ip4(10, 0, 0, 1), .port = 4711}};
    tracer.context = stdout;
    tracer.event(&tracer, &event);
    event = (struct weir_trace_event){{.kind = WEIR_TRACE_CONGESTION, .what = "loss", .now_us = 12871002, .local = event.local, .peer = event.peer, .cwnd = 28960}};
    tracer.event(&tracer, &event);
}}
""")
    build("build/host/liball.a", "build/host/libapps.a")
    subprocess.run(["cc", "-Wall", "-Werror", *host_flags(), "-Iinclude", "-I.", "-Iapps", tmp_path / "log.c", "build/host/libapps.a", "build/host/liball.a",
                    "-pthread", "-lm", "-o", tmp_path / "log"], cwd=ROOT, check=True)
    assert subprocess.run([tmp_path / "log"], capture_output=True, text=True, check=True).stdout == printed


NO_LIMITS = {"TRACE", "TCP_ECN_MODE", "TCP_PACING"}   # numbers, but choices


def limits(option, part, compact):
    """What docs/limits.md has to say of an option in each profile. –: the profile's stack has no use for it."""
    for profile in ("tiny", "small", "full"):
        unused = profile == "tiny" and not re.search(rf"\bWEIR_CFG_{option}\b", compact)
        yield "–" if unused or (part and not OPTIONS[part][profile]) else f"{OPTIONS[option][profile]:,}"


def test_limits_that_options_set_are_those_of_the_profiles():
    rows = re.findall(r"^\| [^|]+ \| ([A-Z0-9_]+)(?: \((\w+)\))? \| (\S+) \| (\S+) \| (\S+) \|$", text("limits"), re.MULTILINE)
    numbers = {name for name, option in OPTIONS.items() if option["max"] > 1}
    assert sorted(row[0] for row in rows) == sorted(numbers - NO_LIMITS)
    compact = "".join(path.read_text() for path in (ROOT / "src/compact").rglob("*.[ch]"))
    for option, part, *values in rows:
        assert values == list(limits(option, part, compact)), option


def fixed(name, value):
    """The numbers of a constant, in seconds or in what it counts."""
    unit = next((unit for end, unit in (("_US", 10**6), ("_MS", 10**3)) if name.endswith(end)), 1)
    return [int(number) / unit for number in re.findall(r"\b(\d+)u?\b", value)]


def test_limits_that_are_fixed_are_those_of_the_source():
    found = {}
    for path in (path for folder in ("src", "apps", "api", "include") for path in (ROOT / folder).rglob("*.[ch]")):
        for guard, name, value in re.findall(r"^(?:#ifndef (\w+)\n)?#define (\w+) (.*?)(?: *//.*)?$", path.read_text(), re.MULTILINE):
            found.setdefault(name, set()).add((value, guard == name))
    rows = re.findall(r"^\| [^|]+ \| ([^|]+) \| `(\w+)`(, -D)? \|$", text("limits"), re.MULTILINE)
    assert len(rows) > 70 and len({name for _, name, _ in rows}) == len(rows)
    for limit, name, loose in rows:
        (value, may_be_defined), = found[name]
        assert [float(number.replace(",", "")) for number in re.findall(r"[\d,]+", limit)] == fixed(name, value), name
        assert bool(loose) == may_be_defined, name
        assert limit.endswith(" s") == name.endswith(("_S", "_US", "_MS")), name


def test_the_works_names_are_mapped():
    table = text("porting")
    assert not [name for name in WORKS_NAMES if f"`{name}`" not in table]
    assert "docs/porting.md" in (ROOT / "README.md").read_text()


def test_the_server_of_the_tls_page_is_the_example():
    """Its first two blocks of C are lines of examples/tls/secure_echo.c, which is compiled and run by tests/interop/test_tls.py."""
    page = text("tls").partition("## A server")[2].partition("## A client")[0]
    example = [line.strip() for line in (ROOT / "examples/tls/secure_echo.c").read_text().split("\n")]
    lines = re.findall(r"^    (.*)$", page, re.MULTILINE)
    assert len(lines) >= 9 and not [line for line in lines if line.strip() not in example]
    assert "docs/tls.md" in (ROOT / "README.md").read_text()
