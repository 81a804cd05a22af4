#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes from config/options.toml: include/weir/options.h, configuration.h and cc_list.h, packaging/sources.h, docs/options.md, what
other builds read (tools/metadata.py), and of config/parts.toml's headers include/weir/linkage (tools/linkage.py). --check only compares.

A configuration is a profile, --config HEADER and NAME=VALUE words; one that is wrong is told in a sentence, with exit status 2.
    options.py --sources small SOCKETS=4               the files of src/ to compile
    options.py --sources small --config my_config.h    (the compiler reads the header: --cc arm-none-eabi-gcc for another)
    options.py --left-out small SOCKETS=4              the other files of src/
    options.py --values full                           every option with its value
    options.py --commands build/compile_commands.json  what is misspelt among the -D of any build
    cc -dM -E FLAGS main.c | options.py --macros -     what is misspelt in the flags, the headers and the text of a file: no build system is needed"""
import argparse
import hashlib
import pathlib
import sys
import textwrap

import linkage
import metadata
from configuration import PROFILES, ROOT, Configuration, Wrong, check_profile, conditions, in_commands, in_macros, left_out, overrides, part_files, parts, table

LICENCE = "// SPDX-License-Identifier: BSD-2-Clause"
MADE = "Made by tools/options.py from config/options.toml: change that file, then run `make options`."
CONFIGURATION_BITS = 24

CHOICE = """\
// The configuration: what is built in, and how large. Choose a profile with -DWEIR_PROFILE=tiny, small or full (as
// well: -DWEIR_PROFILE_TINY and so on); the default is full. Change options in a header of your own, which
// -DWEIR_CONFIG_FILE='"my_config.h"' names (it may choose the profile, too), or one by one with -DWEIR_CFG_NAME=value.
// What contradicts itself or lies out of range stops the build. A name that does not exist is beyond the compiler:
// CMake, Meson, make and `tools/options.py --sources` (or --commands, --macros) find it.
#ifndef WEIR_OPTIONS_H
#define WEIR_OPTIONS_H

#ifdef WEIR_CONFIG_FILE
#include WEIR_CONFIG_FILE
#endif

#define WEIR_PROFILE_IS_tiny 1
#define WEIR_PROFILE_IS_small 2
#define WEIR_PROFILE_IS_full 3
#define WEIR_PROFILE_JOIN(a, b) a##b
#define WEIR_PROFILE_IS(name) WEIR_PROFILE_JOIN(WEIR_PROFILE_IS_, name)
#ifdef WEIR_PROFILE
#if WEIR_PROFILE_IS(WEIR_PROFILE) == 0
#error "WEIR_PROFILE must be tiny, small or full"
#endif
#if WEIR_PROFILE_IS(WEIR_PROFILE) == 1 && !defined(WEIR_PROFILE_TINY)
#define WEIR_PROFILE_TINY 1
#elif WEIR_PROFILE_IS(WEIR_PROFILE) == 2 && !defined(WEIR_PROFILE_SMALL)
#define WEIR_PROFILE_SMALL 1
#elif WEIR_PROFILE_IS(WEIR_PROFILE) == 3 && !defined(WEIR_PROFILE_FULL)
#define WEIR_PROFILE_FULL 1
#endif
#endif
#if (defined(WEIR_PROFILE_TINY) && defined(WEIR_PROFILE_SMALL)) || \\
    (defined(WEIR_PROFILE_FULL) && (defined(WEIR_PROFILE_TINY) || defined(WEIR_PROFILE_SMALL)))
#error "two profiles are chosen: WEIR_PROFILE must be one of tiny, small and full"
#endif
"""


def comment(text):
    return textwrap.wrap(text, 117, initial_indent="// ", subsequent_indent="// ", break_long_words=False, break_on_hyphens=False)


def error(text):
    """#error, on as many lines as it takes: the preprocessor puts a line that ends with a backslash and the next together."""
    lines = textwrap.wrap(f'#error "{text}"', 118, break_long_words=False, break_on_hyphens=False)
    return [("" if index == 0 else " ") + line + ("\\" if index < len(lines) - 1 else "") for index, line in enumerate(lines)]


def header(options):
    out = [LICENCE, f"// {MADE}", CHOICE]
    for index, profile in enumerate(PROFILES):
        condition = f"defined(WEIR_PROFILE_{profile.upper()})"
        out.append(f"#if {condition}" if index == 0 else f"#elif {condition}" if index == 1 else "#else")
        out += [f"#define WEIR_DEFAULT_{name} {option[profile]}" for name, option in options.items()]
    out += ["#endif", ""]
    for name, option in options.items():
        out += [*comment(option["doc"]), f"#ifndef WEIR_CFG_{name}", f"#define WEIR_CFG_{name} WEIR_DEFAULT_{name}", "#endif",
                f"#if WEIR_CFG_{name} < {option['min']} || WEIR_CFG_{name} > {option['max']}",
                *error(f"WEIR_CFG_{name} must be {option['min']} to {option['max']}: {option['doc']}"), "#endif"]
    for name, option in options.items():
        for other in option.get("needs", []):
            out += [f"#if WEIR_CFG_{name} && !WEIR_CFG_{other} && !WEIR_CFG_COMPACT", f'#error "WEIR_CFG_{name} needs WEIR_CFG_{other}"', "#endif"]
        other = option.get("or_else")
        if other:
            out += [f"#if !WEIR_CFG_{name} && !WEIR_CFG_{other}", f'#error "WEIR_CFG_{name} and WEIR_CFG_{other} are both 0: one of them must be built"', "#endif"]
    return "\n".join(out + ["", "#endif", ""])


def weight(name):
    """An odd number of 64 bits that belongs to the name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") | 1


def fingerprint(options):
    """include/weir/configuration.h: the preprocessor adds up all values, each times a number of its own, and spells the sum's upper bits."""
    out = [LICENCE, f"// {MADE}", """\
// Which configuration this is, as a part of the names of two functions: a program or a driver that was compiled with
// other options than the library finds no weir_create or weir_netif_init in it, and does not link. It costs nothing.
// (With -DWEIR_CONFIGURATION=name for all of them the names carry that instead: for objects that serve several builds,
// whose builder answers for it.)
#ifndef WEIR_CONFIGURATION_H
#define WEIR_CONFIGURATION_H

#include "weir/options.h"

#ifndef WEIR_CONFIGURATION"""]
    out.append("#define WEIR_CONFIGURATION_SUM \\\n    (" + " + \\\n     ".join(f"(WEIR_CFG_{name}) * {weight(name):#x}u" for name in options) + ")")
    for bit in range(CONFIGURATION_BITS):
        out += [f"#if WEIR_CONFIGURATION_SUM >> {63 - bit} & 1", f"#define WEIR_CONFIGURATION_{bit} 1", "#else", f"#define WEIR_CONFIGURATION_{bit} 0", "#endif"]
    out += [f"#define WEIR_CONFIGURATION_{value:04b} {value:x}" for value in range(16)]
    bits = [f"WEIR_CONFIGURATION_{bit}" for bit in range(CONFIGURATION_BITS)]
    digits = [f"WEIR_CONFIGURATION_DIGIT({', '.join(bits[at:at + 2])}, \\\n                                 {', '.join(bits[at + 2:at + 4])})"
              for at in range(0, CONFIGURATION_BITS, 4)]
    out += ["#define WEIR_CONFIGURATION_JOIN4(a, b, c, d) WEIR_CONFIGURATION_##a##b##c##d", "#define WEIR_CONFIGURATION_DIGIT(a, b, c, d) WEIR_CONFIGURATION_JOIN4(a, b, c, d)",
            "#define WEIR_CONFIGURATION_JOIN6(a, b, c, d, e, f) a##b##c##d##e##f", "#define WEIR_CONFIGURATION_WORD(a, b, c, d, e, f) WEIR_CONFIGURATION_JOIN6(a, b, c, d, e, f)",
            "#define WEIR_CONFIGURATION \\\n    WEIR_CONFIGURATION_WORD( \\\n        " + ", \\\n        ".join(digits) + ")", "#endif", "",
            "// Each value is a number: a word in its place, which is 0 to the preprocessor, stops the build here.",
            "enum {\n    WEIR_CONFIGURATION_NUMBERS =\n        " + " +\n        ".join(f"(WEIR_CFG_{name}) * 0" for name in options) + "\n};", ""]
    out += ["#define WEIR_CONFIGURED_JOIN(name, configuration) name##_configuration_##configuration",
            "#define WEIR_CONFIGURED_NAME(name, configuration) WEIR_CONFIGURED_JOIN(name, configuration)"]
    for name in ("weir_create", "weir_netif_init"):
        out += [f"#ifndef {name}", f"#define {name} WEIR_CONFIGURED_NAME({name}, WEIR_CONFIGURATION)", "#endif"]
    return "\n".join(out + ["", "#endif", ""])


def controls(options):
    """include/weir/cc_list.h: the congestion controls, the room for their state, and src/cc/list.c's list."""
    rows = {name: option for name, option in options.items() if "congestion_control" in option}
    states = {name: option["state_bytes"] for name, option in options.items() if "state_bytes" in option}
    out = [LICENCE, f"// {MADE}", """\
// The congestion controls: a row of that file and a file of src/cc each (docs/congestion-control.md).
#ifndef WEIR_CC_LIST_H
#define WEIR_CC_LIST_H

#include "weir/language.h"
#include "weir/options.h"

WEIR_BEGIN_DECLS

struct weir_cc;
"""]
    for option in rows.values():
        doc = option["doc"].removeprefix(f"congestion control {option['congestion_control']}: ")
        out += [*comment(doc), f"extern const struct weir_cc weir_cc_{option['congestion_control']};"]
    out += ["", "// So many are built in.", "#define WEIR_CC_COUNT \\\n    (" + " + \\\n     ".join(f"WEIR_CFG_{name}" for name in rows) + ")", "",
           "// Bytes of a connection that hold the state of each, and of any of this build."]
    out += [f"#define WEIR_CC_STATE_{option['congestion_control'].upper()} {option['state_bytes']}" for option in rows.values()]
    for index, state in enumerate(sorted(set(states.values()), reverse=True)):
        named = " || ".join(f"WEIR_CFG_{name}" for name, other in states.items() if other == state)
        out += [f"#{'elif' if index else 'if'} {named}", f"#define WEIR_CC_STATE_MAX {state}"]
    out += ["#else", "#define WEIR_CC_STATE_MAX 8", "#endif", "", "// The elements of weir_cc_list."]
    for name, option in rows.items():
        control = option["congestion_control"]
        out += [f"#if WEIR_CFG_{name}", f"#define WEIR_CC_ROW_{control.upper()} &weir_cc_{control},", "#else", f"#define WEIR_CC_ROW_{control.upper()}", "#endif"]
    out += ["#define WEIR_CC_ROWS \\\n    " + " \\\n    ".join(f"WEIR_CC_ROW_{option['congestion_control'].upper()}" for option in rows.values()),
            "", "WEIR_END_DECLS", "", "#endif", ""]
    return "\n".join(out)


def sources(options):
    """packaging/sources.h: the same table once more, for whoever has a compiler and no Python."""
    out = [LICENCE, f"// {MADE}", """\
// What a configuration comes to, told by any compiler's preprocessor:
//     cc -E -P -Iinclude -DWEIR_PROFILE=small -DWEIR_CONFIG_FILE='"my_config.h"' packaging/sources.h
// prints a line weir_option "NAME" value for each option, weir_source "path" for each file to compile, and for each
// library beside the stack
//     weir_part "name" "folder of includes" "hosted, or nothing" "parts it uses" "libraries of the system"
// and its weir_part_sources and weir_part_headers.
#include "weir/options.h"
"""]
    for index, profile in enumerate(PROFILES):
        out += [f"#{'if' if index == 0 else 'elif'} defined(WEIR_PROFILE_{profile.upper()})" if profile != "full" else "#else", f'weir_profile "{profile}"']
    out += ["#endif", ""]
    out += [f'weir_option "{name}" WEIR_CFG_{name}' for name in options] + [""]
    last = ""
    for path, condition in conditions(options):
        if condition != last:
            out += ["#endif"] * bool(last) + [f"#if {condition}"] * bool(condition)
            last = condition
        out.append(f'weir_source "{path}"')
    out += ["#endif"] * bool(last) + ["", "// The libraries beside it (config/parts.toml)."]
    for name, part in parts().items():
        when = part.get("when")
        out += [f"#if {when}"] * bool(when)
        out.append(f'weir_part "{name}" "{part["include"]}" "{part.get("only", "")}" "{" ".join(part.get("uses", []))}" "{" ".join(part.get("libraries", []))}"')
        out.append(f'weir_part_about "{name}" "{part["about"]}"')
        for kind in ("sources", "headers"):
            out += [f'weir_part_{kind} "{name}" "{path}"' for path in part_files(part, kind)]
        out += ["#endif"] * bool(when)
    return "\n".join(out + [""])


def fixed(found):
    """weir/options.h of a library that is built: its configuration, which a program may repeat but not change."""
    out = [LICENCE, f"// The configuration of this library: the profile {found.profile}, with what was changed. It was fixed when the library was built.",
           "#ifndef WEIR_OPTIONS_H", "#define WEIR_OPTIONS_H", ""]
    for profile in PROFILES:
        if profile != found.profile:
            out += [f"#ifdef WEIR_PROFILE_{profile.upper()}", f'#error "this library was built with the profile {found.profile}"', "#endif"]
    for name, value in found.values.items():
        out += [f"#ifndef WEIR_CFG_{name}", f"#define WEIR_CFG_{name} {value}", f"#elif WEIR_CFG_{name} != {value}",
                f'#error "this library was built with WEIR_CFG_{name} {value}"', "#endif"]
    return "\n".join(out + ["", "#endif", ""])


def stage(folder_name, found):
    """Writes FOLDER/include/weir/options.h and FOLDER/configuration.mk (for packaging/library.mk), if they changed."""
    lines = ["# Made by tools/options.py --stage.", f"PROFILE_BUILT := {found.profile}", f"SOURCES := {' '.join(found.sources)}",
             f"PARTS_THERE := {' '.join(found.parts)}"]
    for name in found.parts:
        part = parts()[name]
        for kind in ("sources", "headers"):
            lines.append(f"{kind.upper()}_{name} := {' '.join(part_files(part, kind))}")
        lines += [f"{key.upper()}_{name} := {' '.join(part.get(key, []))}" for key in ("uses", "libraries")]
        lines += [f"INCLUDE_{name} := {part['include']}", f"ONLY_{name} := {part.get('only', '')}", f"ABOUT_{name} := {part['about']}"]
    for path, text in (("include/weir/options.h", fixed(found)), ("configuration.mk", "\n".join(lines) + "\n")):
        path = pathlib.Path(folder_name) / path
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def needs(option):
    others, instead = option.get("needs", []), option.get("or_else")
    return (f"; needs {' and '.join('WEIR_CFG_' + other for other in others)}" if others else "") + (f"; 0 needs WEIR_CFG_{instead}" if instead else "")


def page(options):
    out = ["# Build options", "", "Made by `make options` from config/options.toml. How to set them: [packaging.md](packaging.md).", "",
           "Behind each name: its value in the tiny, the small and the full profile, and its range.", ""]
    for name, o in options.items():
        meaning = f"**WEIR_CFG_{name}** {o['tiny']}, {o['small']}, {o['full']}; {o['min']}–{o['max']}: {o['doc']}{needs(o)}. Cost: {o['cost']}."
        out += textwrap.wrap(meaning, 120, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(out + [""])


def write(options, check):
    """Writes, or with `check` compares, what is made of the table; 1 when something differs."""
    stale = 0
    linked = {linkage.file_of(name): linkage.header(name, part, LICENCE) for name, part in parts().items()}
    for name, text in (*linked.items(), ("include/weir/options.h", header(options)), ("include/weir/configuration.h", fingerprint(options)),
                       ("include/weir/cc_list.h", controls(options)), ("packaging/sources.h", sources(options)), ("docs/options.md", page(options)),
                       ("packaging/Kconfig", metadata.kconfig(options, MADE)), ("packaging/kconfig.h", metadata.kconfig_header(options, MADE)),
                       ("idf_component.yml", metadata.idf_component(MADE))):
        path = ROOT / name
        if text is None:
            continue
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{name} differs from config/options.toml and the files of src/: run `make options`")
            stale = 1
    for name, part in parts().items():
        for path in linkage.unnamed(name, part):
            print(f'{path} declares names of libweir-{name}.a: it includes "weir/linkage/{name}.h"')
            stale = 1
    return stale


def whole(path):
    """The text of a file, or of the standard input (-)."""
    try:
        return sys.stdin.read() if path == "-" else pathlib.Path(path).read_text()
    except (OSError, UnicodeDecodeError) as wrong:
        raise Wrong(f"{path} cannot be read: {wrong}") from None


def tell(arguments):
    """Answers --sources, --left-out, --stage, --values, --commands and --macros."""
    if arguments.commands or arguments.macros:
        wrong = in_commands(arguments.commands) if arguments.commands else in_macros(whole(arguments.macros), arguments.macros)
        if wrong:
            raise Wrong("\n".join(wrong))
        return []
    names = [word for word in arguments.words if "=" not in word]
    changes = [word for word in arguments.words if "=" in word]
    for name in names:
        check_profile(name)
    if len(names) > 1:
        raise Wrong(f"two profiles are chosen: {' and '.join(names)}")
    profile = names[0] if names else ""
    if arguments.left_out:
        check_profile(profile or "full")
        options = table()
        return list(left_out(options, profile or "full", overrides(changes, options)))
    found = Configuration(profile, arguments.config, changes, arguments.cc)
    if arguments.stage:
        stage(arguments.stage, found)
        return []
    return found.sources if arguments.sources else [f"{name}={value}" for name, value in found.values.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="fail when a made file differs from the table")
    what.add_argument("--sources", action="store_true", help="print the files of src/ that the configuration needs")
    what.add_argument("--left-out", action="store_true", help="print the files of src/ that it leaves out (without a header)")
    what.add_argument("--stage", metavar="FOLDER", help="write the configuration into FOLDER, for packaging/library.mk")
    what.add_argument("--values", action="store_true", help="print every option with its value")
    what.add_argument("--commands", metavar="FILE", help="look for unknown options in a build's compile_commands.json")
    what.add_argument("--macros", metavar="FILE", help="look for unknown options among the macros that a compiler lists (cc -dM -E; - is the standard input)")
    parser.add_argument("--config", metavar="HEADER", default="", help="a header as WEIR_CONFIG_FILE names it")
    parser.add_argument("--cc", default="cc", help="the compiler that reads it (default: %(default)s)")
    parser.add_argument("words", nargs="*", metavar="PROFILE, NAME=VALUE", help="a profile (full if none is given, nor chosen by the header), and options that differ from it")
    arguments, unknown = parser.parse_known_intermixed_args()
    try:
        if unknown and unknown[0].startswith("-D"):
            raise Wrong(f"{unknown[0]}: an option is written NAME=VALUE here, as in SOCKETS=4")
        if unknown:
            parser.error(f"what is {' '.join(unknown)}?")
        if not (arguments.sources or arguments.left_out or arguments.stage or arguments.values or arguments.commands or arguments.macros):
            return write(table(), arguments.check)
        print("".join(line + "\n" for line in tell(arguments)), end="")
        return 0
    except Wrong as wrong:
        print(f"the configuration is wrong: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
