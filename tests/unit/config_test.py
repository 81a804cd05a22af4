# SPDX-License-Identifier: BSD-2-Clause
"""A wrong option value fails at build time, with the sentence that config/options.toml has for it; and whatever can be left out of a profile can be left
out of it alone: the library compiles without a warning, and asks for nothing that is not there."""
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = tomllib.loads((ROOT / "config/options.toml").read_text())


def build(*flags):
    """Compiles a file that only includes the options; returns (exit status, messages)."""
    done = subprocess.run(["cc", "-std=c11", "-fsyntax-only", f"-I{ROOT}/include", *flags, "-x", "c", "-"], input="#include <weir/options.h>\nint weir;\n",
                          capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize("profile", ["TINY", "SMALL", "FULL"])
def test_the_profiles_build(profile):
    assert build(f"-DWEIR_PROFILE_{profile}") == (0, "")


@pytest.mark.parametrize("name", OPTIONS)
def test_values_outside_the_range_stop_the_build_with_a_sentence(name):
    option = OPTIONS[name]
    for value in (option["min"] - 1, option["max"] + 1):
        status, messages = build(f"-DWEIR_CFG_{name}={value}")
        assert status != 0
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


@pytest.mark.parametrize("name", OPTIONS)
def test_the_ends_of_the_range_are_taken(name):
    option = OPTIONS[name]
    assert build(f"-DWEIR_CFG_{name}={option['max']}", *with_needed(name)) == (0, "")
    assert build(*instead_of(name), *without(name) if option["min"] == 0 else [f"-DWEIR_CFG_{name}={option['min']}"]) == (0, "")


@pytest.mark.parametrize("name,other", [(name, other) for name, option in OPTIONS.items() for other in option.get("needs", [])])
def test_an_option_that_misses_another_stops_the_build_with_a_sentence(name, other):
    status, messages = build(f"-DWEIR_CFG_{name}={OPTIONS[name]['full'] or OPTIONS[name]['max']}", f"-DWEIR_CFG_{other}=0")
    assert status != 0
    assert f"WEIR_CFG_{name} needs WEIR_CFG_{other}" in messages


@pytest.mark.parametrize("name", [name for name, option in OPTIONS.items() if "or_else" in option])
def test_one_of_two_must_be_built(name):
    other = OPTIONS[name]["or_else"]
    status, messages = build(f"-DWEIR_CFG_{name}=0", f"-DWEIR_CFG_{other}=0")
    assert status != 0
    assert f"WEIR_CFG_{name} and WEIR_CFG_{other} are both 0: one of them must be built" in messages


def features(profile):
    """What is in a profile and can be left out of it: neither a number nor the choice of another stack."""
    return [name for name, option in OPTIONS.items() if option["min"] == 0 and option[profile] and (option["max"] == 1 or "files" in option) and name not in ("COMPACT", "IP4")]


def sources(profile, flags):
    overrides = dict.fromkeys(flag.removeprefix("-DWEIR_CFG_") for flag in flags)   # each once
    words = [sys.executable, "tools/options.py", "--left-out", profile, *overrides]
    left_out = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return sorted({str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.c")} - set(left_out))


def one_unit(folder, profile, flags, files):
    """What the compiler says of the library as one file, and what the object asks of others. -flto: the compiler has left out what constants guard, and
    makes no machine code of the rest, which takes a third of the time."""
    subprocess.run([sys.executable, "tools/amalgamate.py", folder / "unit.c", *files], cwd=ROOT, check=True)
    words = ["gcc", "-std=c11", "-O1", "-flto", "-Wall", "-Wextra", "-Wshadow", "-Wundef", "-Iinclude", "-Isrc", f"-DWEIR_PROFILE_{profile.upper()}", *flags]
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
