# SPDX-License-Identifier: BSD-2-Clause
"""What other builds read of Weir, made from config/options.toml, config/parts.toml and the version: Kconfig for Zephyr and ESP-IDF, the header that
turns its answers into options, and the manifest of ESP-IDF's component registry."""
import re
import textwrap

from configuration import PROFILES, parts, version

COMPONENT_FILES = ["CMakeLists.txt", "idf_component.yml", "LICENSE", "README.md", "tools/*.py",
                   *(f"{folder}/**/*" for folder in ("include", "src", "api", "apps", "drivers", "ports", "packaging"))]


def condition(text, options):
    """An expression of the preprocessor as Kconfig has it: what is no bool is compared."""
    def spell(match):
        name = match.group(2)
        number = not is_switch(options[name])
        return f"WEIR_CFG_{name} {'=' if match.group(1) else '!='} 0" if number else f"{match.group(1)}WEIR_CFG_{name}"
    return re.sub(r"(!?)WEIR_CFG_(\w+)", spell, text)


def is_switch(option):
    return (option["min"], option["max"]) == (0, 1)


def help_lines(text):
    return ["\thelp"] + [f"\t  {line}" for line in textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)]


def option_lines(name, option, options):
    spell = (lambda value: "y" if value else "n") if is_switch(option) else str
    out = ["", f"config WEIR_CFG_{name}", f'\t{"bool" if is_switch(option) else "int"} "{name}"']
    if not is_switch(option):
        out.append(f"\trange {option['min']} {option['max']}")
    out += [f"\tdepends on {condition(f'WEIR_CFG_{other} || WEIR_CFG_COMPACT', options)}" for other in option.get("needs", [])]
    out += [f"\tdefault {spell(option[profile])} if WEIR_PROFILE_{profile.upper()}" for profile in PROFILES]
    return out + help_lines(f"WEIR_CFG_{name}: {option['doc']}. Cost: {option['cost']}.")


def part_lines(name, part, options):
    out = ["", f"config WEIR_PART_{name.upper()}", f'\tbool "{name}"']
    if "when" in part:
        out.append(f"\tdepends on {condition(part['when'], options)}")
    return out + [f"\tselect WEIR_PART_{other.upper()}" for other in part.get("uses", [])] + help_lines(part["about"] + ".")


def kconfig(options, made):
    out = ["# SPDX-License-Identifier: BSD-2-Clause", f"# {made}", "", "choice WEIR_PROFILE", '\tprompt "Profile"', "\tdefault WEIR_PROFILE_SMALL", "\thelp",
           "\t  Where each option begins. What is changed below differs from it.", ""]
    for profile in PROFILES:
        out += [f"config WEIR_PROFILE_{profile.upper()}", f'\tbool "{profile}"', ""]
    out += ["endchoice", "", 'menu "Options"']
    for name, option in options.items():
        out += option_lines(name, option, options)
    out += ["", "endmenu", "", 'menu "Libraries beside the stack"']
    for name, part in parts().items():
        if part.get("only") != "hosted":
            out += part_lines(name, part, options)
    return "\n".join(out + ["", "endmenu", ""])


def kconfig_header(options, made):
    """packaging/kconfig.h: behind the header of answers that a build includes first. What was not asked is off."""
    out = ["// SPDX-License-Identifier: BSD-2-Clause", f"// {made}", "// A WEIR_CONFIG_FILE out of Kconfig's answers (CONFIG_WEIR_…): packaging/cmake/kconfig.cmake writes the",
           "// header that includes those and this.", "#ifndef WEIR_KCONFIG_H", "#define WEIR_KCONFIG_H", ""]
    for index, profile in enumerate(PROFILES):
        out += [f"#{'elif' if index else 'if'} defined(CONFIG_WEIR_PROFILE_{profile.upper()})", f"#define WEIR_PROFILE_{profile.upper()} 1"]
    out += ["#else", '#error "Kconfig gave no profile"', "#endif"]
    for name in options:
        out += [f"#ifdef CONFIG_WEIR_CFG_{name}", f"#define WEIR_CFG_{name} CONFIG_WEIR_CFG_{name}", "#else", f"#define WEIR_CFG_{name} 0", "#endif"]
    return "\n".join(out + ["", "#endif", ""])


def idf_component(made):
    return f"""\
# SPDX-License-Identifier: BSD-2-Clause
# {made}
# A component of ESP-IDF; CMakeLists.txt hands over to packaging/esp-idf/component.cmake there.
version: "{version()}"
description: TCP/IP stack for embedded systems
license: BSD-2-Clause
dependencies:
  idf: ">=5.0"
# What the component registry packs: what a build needs, not this project's tests.
files:
  exclude: ["**/*"]
  include: [{', '.join(f'"{path}"' for path in COMPONENT_FILES)}]
"""
