# SPDX-License-Identifier: BSD-2-Clause
"""A wrong option value fails at build time, with the sentence that config/options.toml has for it; and whatever can be left out of a profile can be left
out of it alone: the library compiles without a warning, and asks for nothing that is not there."""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from amalgamate import unit  # noqa: E402
from configuration import all_sources, left_out, table  # noqa: E402

OPTIONS = table()


def build(*flags, text="#include <weir/options.h>\nint weir;\n"):
    """Compiles a file that only includes the options; returns (exit status, messages)."""
    done = subprocess.run(["cc", "-std=c11", "-fsyntax-only", "-fno-diagnostics-show-caret", f"-I{ROOT}/include", *flags, "-x", "c", "-"], input=text,
                          capture_output=True, text=True)
    return done.returncode, done.stderr


def judge(cases):
    """What the compiler says of the options with each of these settings, where it says anything: it reads the header again for each, in one run."""
    lines = []
    for number, settings in enumerate(cases):
        lines += [f'# 1 "case {number}"', *(f"#define {setting.removeprefix('-D').replace('=', ' ')}" for setting in settings), "#include <weir/options.h>",
                  "#undef WEIR_OPTIONS_H", *(f"#undef WEIR_CFG_{name}" for name in OPTIONS)]
    status, messages = build(text="\n".join([*lines, "int weir;\n"]))
    before, *told = re.split(r"^(?:In file included from )?case (\d+):.*\n", messages, flags=re.M)
    assert before == "" and (status != 0) == (" error: " in messages)
    found = {}
    for number, text in zip(told[::2], told[1::2]):
        found[cases[int(number)]] = found.get(cases[int(number)], "") + text
    return found


@pytest.mark.parametrize("profile", ["TINY", "SMALL", "FULL"])
def test_the_profiles_build(profile):
    assert build(f"-DWEIR_PROFILE_{profile}") == (0, "")


def outside(name):
    return [(f"-DWEIR_CFG_{name}={value}",) for value in (OPTIONS[name]["min"] - 1, OPTIONS[name]["max"] + 1)]


@pytest.mark.parametrize("name", OPTIONS)
def test_values_outside_the_range_stop_the_build_with_a_sentence(name):
    option = OPTIONS[name]
    for settings in outside(name):
        messages = judgement()[settings]
        assert " error: " in messages
        assert f"WEIR_CFG_{name} must be {option['min']} to {option['max']}: {option['doc']}" in messages


def needing(name):
    """The options that do not build without this one."""
    found = [other for other, option in OPTIONS.items() if name in option.get("needs", [])]
    return found + [further for other in found for further in needing(other)]


def without(name):
    """The settings of a build that leaves the option out, and with it those that need it."""
    return [f"-DWEIR_CFG_{other}=0" for other in [name, *needing(name)]]


def with_needed(name):
    """The settings that turn on what the option needs and the full profile has not."""
    missing = [other for other in OPTIONS[name].get("needs", []) if not OPTIONS[other]["full"]]
    return [word for other in missing for word in [f"-DWEIR_CFG_{other}=1", *with_needed(other)]]


def instead_of(name):
    """The settings that turn on what must be there where the option is 0."""
    other = OPTIONS[name].get("or_else")
    return [f"-DWEIR_CFG_{other}=1", *with_needed(other)] if other else []


def ends(name):
    option = OPTIONS[name]
    return [(f"-DWEIR_CFG_{name}={option['max']}", *with_needed(name)),
            (*instead_of(name), *(without(name) if option["min"] == 0 else [f"-DWEIR_CFG_{name}={option['min']}"]))]


@pytest.mark.parametrize("name", OPTIONS)
def test_the_ends_of_the_range_are_taken(name):
    for settings in ends(name):
        assert settings not in judgement(), judgement()[settings]


MISSING = {(name, other): (f"-DWEIR_CFG_{name}={option['full'] or option['max']}", f"-DWEIR_CFG_{other}=0")
           for name, option in OPTIONS.items() for other in option.get("needs", [])}


@pytest.mark.parametrize("name,other", MISSING)
def test_an_option_that_misses_another_stops_the_build_with_a_sentence(name, other):
    messages = judgement()[MISSING[name, other]]
    assert " error: " in messages
    assert f"WEIR_CFG_{name} needs WEIR_CFG_{other}" in messages


NEITHER = {name: (f"-DWEIR_CFG_{name}=0", f"-DWEIR_CFG_{option['or_else']}=0") for name, option in OPTIONS.items() if "or_else" in option}


@pytest.mark.parametrize("name", NEITHER)
def test_one_of_two_must_be_built(name):
    messages = judgement()[NEITHER[name]]
    assert " error: " in messages
    assert f"WEIR_CFG_{name} and WEIR_CFG_{OPTIONS[name]['or_else']} are both 0: one of them must be built" in messages


@functools.cache
def judgement():
    """Of all that is asked above."""
    return judge([*MISSING.values(), *NEITHER.values(), *(settings for name in OPTIONS for settings in [*outside(name), *ends(name)])])


def test_a_command_says_what_a_judgement_does():
    for settings in (*outside("SOCKETS"), *ends("SOCKETS"), next(iter(MISSING.values())), next(iter(NEITHER.values()))):
        status, messages = build(*settings)
        assert (status != 0) == (settings in judgement()) and messages.partition(" error: ")[2] == judgement().get(settings, "").partition(" error: ")[2]


def features(profile):
    """What is in a profile and can be left out of it: neither a number nor the choice of another stack."""
    return [name for name, option in OPTIONS.items() if option["min"] == 0 and option[profile] and (option["max"] == 1 or "files" in option) and name not in ("COMPACT", "IP4")]


EVERYTHING = set(all_sources())


def sources(profile, flags):
    changed = {name.removeprefix("-DWEIR_CFG_"): int(value) for name, value in (flag.split("=") for flag in flags)}
    return sorted(EVERYTHING - set(left_out(OPTIONS, profile, changed)))


def one_unit(folder, profile, flags, files):
    """What the compiler says of the library as one file, and what the object asks of others. -flto: the compiler makes no machine code, which takes most
    of the time; what constants guard it leaves out without -O, too."""
    (folder / "unit.c").write_text(unit(files))
    words = ["gcc", "-std=c11", "-O0", "-flto", "-Wall", "-Wextra", "-Wshadow", "-Wundef", "-Iinclude", "-Isrc", f"-DWEIR_PROFILE_{profile.upper()}", *flags]
    done = subprocess.run([*words, "-c", folder / "unit.c", "-o", folder / "unit.o"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        return done.stderr, set()
    asked = subprocess.run(["gcc-nm", "-u", folder / "unit.o"], capture_output=True, text=True, check=True).stdout.split()
    return done.stderr, {name for name in asked if name not in ("U", "memcpy", "memmove", "memset", "memcmp") and not name.startswith("_")}


@pytest.mark.parametrize("profile,name", [(profile, name) for profile in ("small", "full") for name in features(profile)])
def test_each_feature_can_be_left_out_alone(tmp_path, profile, name):
    flags = without(name)
    assert one_unit(tmp_path, profile, flags, sources(profile, flags)) == ("", set())


def test_the_compact_stack_speaks_ip6_in_place_of_ip4(tmp_path):
    flags = ["-DWEIR_CFG_IP4=0", "-DWEIR_CFG_IP6=1"]
    assert one_unit(tmp_path, "tiny", flags, sources("tiny", flags)) == ("", set())


IP6_ALONE = ["-DWEIR_CFG_IP4=0", "-DWEIR_CFG_IP6=1"]
MORE_OF_IP6 = [f"-DWEIR_CFG_{name}={option['max']}" for name, option in OPTIONS.items() if "IP6" in option.get("needs", [])]


@pytest.mark.parametrize("profile,more", [("small", ["-DWEIR_CFG_ADDRESSES=4"]), ("small", ["-DWEIR_CFG_ADDRESSES=4", "-DWEIR_CFG_IGMP=1"]), ("full", []),
                                          ("full", [*MORE_OF_IP6, "-DWEIR_CFG_MULTICAST_SOURCES=16", "-DWEIR_CFG_DPLPMTUD=1", "-DWEIR_CFG_TCP_BLACK_HOLE=1"])])
def test_ip6_is_built_alone(tmp_path, profile, more):
    flags = [*IP6_ALONE, *more]
    assert one_unit(tmp_path, profile, flags, sources(profile, flags)) == ("", set())


# Every third of them; all with CAMPAIGN=1.
@pytest.mark.parametrize("name", [name for name in features("full") if "IP6" not in needing(name)][::1 if os.environ.get("CAMPAIGN") else 3])
def test_each_feature_can_be_left_out_where_ip6_is_alone(tmp_path, name):
    flags = [*IP6_ALONE, *without(name)]
    assert one_unit(tmp_path, "full", flags, sources("full", flags)) == ("", set())


def test_a_file_that_is_missing_is_noticed(tmp_path):
    files = sources("small", [])
    files.remove("src/tcp/tlp.c")
    _, asked = one_unit(tmp_path, "small", [], files)
    assert asked and all(name.startswith("tcp_tlp") for name in asked)


ROW = """
[CC_SCALABLE]
tiny = 0
small = 0
full = 1
min = 0
max = 1
cost = "100 bytes of code"
doc = "congestion control scalable: Scalable TCP (Kelly 2003)"
congestion_control = "scalable"
state_bytes = 8
files = ["src/cc/scalable.c"]
"""
SHOW = """
#include <stdio.h>
#include "weir/cc.h"
int main(void)
{
    for (const struct weir_cc *const *cc = weir_cc_list; *cc; cc++)
        printf("%s ", (*cc)->name);
    printf("%d %d", WEIR_CC_COUNT, WEIR_CC_STATE_MAX);
}
"""


def test_a_congestion_control_more_is_a_file_and_a_row(tmp_path):
    """What examples/congestion_control.c registers, built in."""
    for folder in ("api", "apps", "config", "docs", "drivers", "include", "packaging", "ports", "src", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    example = (ROOT / "examples/congestion_control.c").read_text().partition("int main")[0]
    (tmp_path / "src/cc/scalable.c").write_text(example.replace("static const struct weir_cc scalable", "const struct weir_cc weir_cc_scalable").replace('"sim/scenario.h"', '"weir/cc.h"'))
    with open(tmp_path / "config/options.toml", "a") as table:
        table.write(ROW)
    subprocess.run([sys.executable, "tools/options.py"], cwd=tmp_path, check=True)
    (tmp_path / "show.c").write_text(SHOW)

    def shown(*words):
        listed = subprocess.run([sys.executable, "tools/options.py", "--sources", *words], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
        files = [path for path in listed if path.startswith("src/cc/")]
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Iinclude", "-Isrc", *(f"-DWEIR_CFG_{word}" for word in words[1:]), "show.c", *files, "-o", "show"], cwd=tmp_path, check=True)
        return subprocess.run(["./show"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()

    names = [option["congestion_control"] for option in OPTIONS.values() if "congestion_control" in option]
    assert shown("full") == [*names, "scalable", str(len(names) + 1), "152"]
    assert shown("full", "CC_SCALABLE=0") == [*names, str(len(names)), "152"]
    alone = [f"{name}=0" for name in OPTIONS if name.startswith("CC_")]
    assert shown("full", *alone) == ["scalable", "1", "8"]


ASKED = "B := build\nPYTHON := python3\ninclude tools/left_out.mk\nasked:\n\t@echo $(call left_out,$(CONFIGURATION))\n"


def test_make_keeps_what_a_configuration_leaves_out_until_it_is_another(tmp_path):
    for folder in ("config", "src", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))

    def asked(*words):
        done = subprocess.run(["make", "-s", "-f", "-", "asked", f"CONFIGURATION={' '.join(words)}"], cwd=tmp_path, input=ASKED, capture_output=True, text=True)
        return done.stdout.split() if done.returncode == 0 else done.stderr

    def told(*words):
        return subprocess.run([sys.executable, "tools/options.py", "--left-out", *words], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()

    first = asked("small", "UDP=0")
    assert first == told("small", "UDP=0") != asked("small")
    (kept,) = (tmp_path / "build/left_out").glob("*/small/UDP=0/files")
    kept.write_text("kept.c \n")
    assert asked("small", "UDP=0") == ["kept.c"]
    (tmp_path / "src/udp/more.c").touch()   # it may be of a folder that an option lists
    assert asked("small", "UDP=0") == first
    table = tmp_path / "config/options.toml"
    table.write_text(table.read_text().replace('"src/udp/udp.c"', '"src/udp/udp.c", "src/udp/more.c"', 1))
    assert asked("small", "UDP=0") == told("small", "UDP=0") and set(asked("small", "UDP=0")) == {*first, "src/udp/more.c"}
    for _ in range(2):   # what went wrong is not kept
        assert "no such configuration" in asked("small", "UPD=0")
