# SPDX-License-Identifier: BSD-2-Clause
"""A configuration: a profile, a user's header (WEIR_CONFIG_FILE) and single options, judged against config/options.toml. What is wrong is told in a
sentence (class Wrong). A header is read by the compiler's preprocessor, so that it may include, compute and decide like any other."""
import ast
import difflib
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROFILES = ("tiny", "small", "full")
SAID = re.compile(r"#error\s+\"?(.*?)\"?$", re.M)
OPTION_LINE = re.compile(r'^weir_option "(\w+)" ?(.*)$', re.M)
TWICE = re.compile(r"['\"](WEIR_\w+)['\"] (?:macro )?redefined")
TWO_PROFILES = "two profiles are chosen: WEIR_PROFILE must be one of tiny, small and full"
PROBE = "#ifdef WEIR_CONFIG_FILE\n#include WEIR_CONFIG_FILE\n#endif\n"
MISSPELT = re.compile(r"WEIR_(?:CONF|CONFIG|OPT|OPTION|OPTIONS)_(?!H_*$)(\w+)")  # packaging/cmake/weir.cmake knows the same
SOURCE_LINE = re.compile(r'^weir_source "(.+)"$', re.M)


class Wrong(Exception):
    """A configuration that does not build, with the sentence that says why."""


def table():
    return tomllib.loads((ROOT / "config/options.toml").read_text())


def parts():
    return tomllib.loads((ROOT / "config/parts.toml").read_text())


def version(text=None):
    """Weir's, which the four macros of include/weir/version.h (or of its text at another commit) agree on."""
    text = text or (ROOT / "include/weir/version.h").read_text()
    numbers = ".".join(re.search(rf"WEIR_VERSION_{part} (\d+)$", text, re.M).group(1) for part in ("MAJOR", "MINOR", "PATCH"))
    spelt = re.search(r'WEIR_VERSION_STRING "(.*)"', text).group(1)
    if spelt != numbers:
        raise Wrong(f"include/weir/version.h contradicts itself: {spelt} and {numbers}")
    return spelt


def nearest(word, words):
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""


@functools.cache
def public_names():
    """Every WEIR_ name in the sources: macros of headers, and those that a build may set."""
    folders = ("include", "api", "apps", "boards", "drivers", "kernel", "ports", "src")
    files = [path for name in folders for path in (ROOT / name).rglob("*.[ch]")]
    return {word for path in files for word in re.findall(r"\bWEIR_\w+", path.read_text(errors="replace"))}


def prefix_wrong(name, options):
    """The option's name that a macro ends with, where what stands before is not WEIR_CFG_."""
    words = name.split("_")[1:]
    tails = ["_".join(words[at:]) for at in range(len(words))]
    return next((tail for tail in tails if tail in options), None) if name.startswith("WEIR_") and name not in public_names() else None


def foreign(macros, options):
    """A sentence for each of the macros of a configuration's header, by name with its text, that is behind a misspelt prefix and ends with no option's
    name. One without a value may guard the header; other names are the user's."""
    for name, text in macros.items():
        found = MISSPELT.fullmatch(name)
        if found and text and not prefix_wrong(name, options) and name not in public_names():
            near = nearest(found.group(1), options).replace("mean ", "mean WEIR_CFG_")
            yield f"there is no option {name}{near} (docs/options.md lists them)"


def unknown(macros, options):
    """A sentence for each of the macros that looks like an option and is none."""
    known = {"WEIR_PROFILE"} | {f"WEIR_PROFILE_{profile.upper()}" for profile in PROFILES} | {f"WEIR_CFG_{name}" for name in options}
    for name in macros:
        if name.startswith("WEIR_PROFILE_") and name not in known:
            yield f"there is no profile {name.removeprefix('WEIR_PROFILE_').lower()}: there are {', '.join(PROFILES)}"
        elif name.startswith(("WEIR_CFG", "WEIR_PROFILE")) and name not in known:
            yield f"there is no option {name}{nearest(name, known)} (docs/options.md lists them)"
        elif name not in known and prefix_wrong(name, options):
            yield f"there is no option {name}; did you mean WEIR_CFG_{prefix_wrong(name, options)}? (docs/options.md lists them)"


def in_commands(path):
    """What is unknown among the -D of a build's compile_commands.json (https://clang.llvm.org/docs/JSONCompilationDatabase.html): sentences with the file
    that each was for, of the first file that has it."""
    try:
        entries = json.loads(pathlib.Path(path).read_text())
        commands = [(entry["file"], entry.get("arguments") or shlex.split(entry["command"])) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError) as wrong:
        raise Wrong(f"{path} is no compile_commands.json: {wrong}") from None
    said = {}
    for file, words in commands:
        defined = [word[2:] or following for word, following in zip(words, [*words[1:], ""]) if word.startswith("-D")]
        for sentence in unknown([word.partition("=")[0] for word in defined], table()):
            said.setdefault(sentence, file)
    return [f"{sentence}; it is set for {file}" for sentence, file in said.items()]


def in_macros(text, name):
    """What is unknown among the macros that a compiler lists (cc -dM -E), from wherever they are: the command, a header, the file itself."""
    defined = re.findall(r"^#define (\w+)", text, re.M)
    if not defined:
        raise Wrong(f"{'the standard input' if name == '-' else name} has no #define in it: it is to be what `cc -dM -E` prints with a build's flags")
    ours = {word for path in (ROOT / "include/weir").glob("*.h") for word in re.findall(r"^#define (\w+)", path.read_text(), re.M)}
    return list(unknown([word for word in defined if word not in ours], table()))


def check_profile(profile):
    if profile.removeprefix("WEIR_CFG_") in table():
        raise Wrong(f"{profile} is an option: it is written {profile}=VALUE")
    if profile not in PROFILES:
        raise Wrong(f"there is no profile {profile}: there are {', '.join(PROFILES)}")


def check_value(name, value, option):
    if not option["min"] <= value <= option["max"]:
        raise Wrong(f"WEIR_CFG_{name} is {value}: it must be {option['min']} to {option['max']}: {option['doc']}")


def overrides(words, options):
    """NAME=VALUE words as a dict; each name is an option's, each value a number in its range."""
    values = {}
    for word in words:
        name, equals, text = word.partition("=")
        name = name.removeprefix("WEIR_CFG_")
        if name not in options:
            raise Wrong(f"there is no option WEIR_CFG_{name}{nearest(name, options)} (docs/options.md lists them)")
        if name in values:
            raise Wrong(f"WEIR_CFG_{name} is set twice")
        values[name] = number(name, text if equals else "1")
        check_value(name, values[name], options[name])
    return values


def number(name, text):
    """The value of an integer constant expression of C."""
    plain = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text.strip())
    plain = re.sub(r"\b0+(\d)", r"0o\1", plain) if re.search(r"\b0\d", plain) else plain
    if not plain or not re.fullmatch(r"[\s0-9a-fA-FxXo()+\-*/%<>&|^~!=?:]+", plain):
        raise Wrong(f"WEIR_CFG_{name} is `{text.strip()}`: it must be a whole number")
    try:
        value = eval(compile(ast.parse(plain.replace("/", "//"), mode="eval"), "value", "eval"), {"__builtins__": {}})
    except (SyntaxError, TypeError, ZeroDivisionError, ValueError, NameError):
        raise Wrong(f"WEIR_CFG_{name} is `{text.strip()}`: it must be a whole number") from None
    return int(value)


def left_out(options, profile, changed):
    """The src/ files that a profile leaves out; a name with a slash at its end means the C files of that folder. A file that several
    features share is in as soon as one of them is."""
    on = {name: changed.get(name, option[profile]) for name, option in options.items()}
    shared = {path for name, option in options.items() if on[name] for path in option.get("files", [])}
    for name, option in options.items():
        for path in option.get("files_when_zero" if on[name] else "files", []):
            if on[name] or path not in shared:
                yield from folder(path)
        yield from option.get("files_too", []) if not on[name] else []


def folder(path, pattern="*.c"):
    """What an entry of `files` stands for."""
    return [str(file.relative_to(ROOT)) for file in sorted((ROOT / path).glob(pattern))] if path.endswith("/") else [path]


def part_files(part, kind):
    """The `sources` or `headers` of a row of parts.toml."""
    listed = [path for entry in part[kind] for path in folder(entry, "*.c" if kind == "sources" else "*.h")]
    return [path for path in listed if path not in part.get("without", [])]


def all_sources():
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.c"))


def conditions(options):
    """Source → the condition under which it is compiled, as the preprocessor writes it ("" always): one of the options that list it, for each way it is
    listed (itself, its folder, `files_too`), and none of those that list it for when they are 0."""
    some, none = {}, {}
    for name, option in options.items():
        for key, found in (("files", some), ("files_too", some), ("files_when_zero", none)):
            for entry in option.get(key, []):
                for file in folder(entry):
                    found.setdefault(file, {}).setdefault(name if key == "files_too" else entry, []).append(f"WEIR_CFG_{name}")
    for path in all_sources():
        groups = [" || ".join(names) for names in some.get(path, {}).values()]
        barred = [f"!{name}" for names in none.get(path, {}).values() for name in names]
        parts = [f"({group})" if "||" in group and len(groups) + len(barred) > 1 else group for group in groups] + barred
        yield path, " && ".join(parts)


class Configuration:
    """What a build is told. `cc` is the compiler, as one would type it; it may be a cross compiler, since nothing is run."""

    def __init__(self, profile="", header="", words=(), cc="cc", flags=()):
        self.options = table()
        if profile:
            check_profile(profile)
        if header and not pathlib.Path(header).is_file():
            raise Wrong(f"there is no file {header} (CONFIG, WEIR_CONFIG_FILE)")
        self.cc = [*shlex.split(cc), *flags]
        self.changed = overrides(words, self.options)
        self.flags = ([f"-DWEIR_PROFILE={profile}"] if profile else []) + [f"-DWEIR_CFG_{name}={value}" for name, value in self.changed.items()]
        if header:
            self.flags.append(f'-DWEIR_CONFIG_FILE="{pathlib.Path(header).resolve()}"')
        self.check_names()
        self.profile, self.parts, self.values, self.sources = self.ask()

    def preprocess(self, *arguments, source):
        done = subprocess.run([*self.cc, *self.flags, f"-I{ROOT}/include", "-E", "-P", *arguments, "-x", "c", source], capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C"})
        if done.returncode:
            said = SAID.findall(done.stderr)
            raise Wrong("\n".join(dict.fromkeys(said)) or done.stderr.strip())
        twice = TWICE.search(done.stderr)
        if twice:
            raise Wrong(TWO_PROFILES if twice.group(1) == "WEIR_PROFILE" else f"{twice.group(1)} is set twice")
        return done.stdout

    def check_names(self):
        """Macros that look like options and are none: what a compiler alone cannot see."""
        with tempfile.NamedTemporaryFile("w", suffix=".h") as probe:
            probe.write(PROBE)
            probe.flush()
            macros = dict(re.findall(r"^#define (WEIR_\w+) ?(.*)$", self.preprocess("-dM", source=probe.name), re.M))
        wrong = [*unknown(macros, self.options), *foreign(macros, self.options)]
        if wrong:
            raise Wrong("\n".join(wrong))
        self.check_numbers([name.removeprefix("WEIR_CFG_") for name in macros if name.startswith("WEIR_CFG_")])

    def check_numbers(self, names):
        """What is set is a number, and in its range. (A word in place of a number is 0 to the preprocessor.)"""
        with tempfile.NamedTemporaryFile("w", suffix=".h") as probe:
            probe.write(PROBE + "".join(f'weir_option "{name}" WEIR_CFG_{name}\n' for name in names))
            probe.flush()
            for name, value in OPTION_LINE.findall(self.preprocess(source=probe.name)):
                check_value(name, number(name, value), self.options[name])

    def ask(self):
        """(profile, parts that there are, values of all options, sources to compile), as the preprocessor tells."""
        text = self.preprocess(source=str(ROOT / "packaging/sources.h"))
        profile = re.search(r'^weir_profile "(\w+)"$', text, re.M).group(1)
        values = {name: number(name, value) for name, value in OPTION_LINE.findall(text)}
        return profile, re.findall(r'^weir_part "(\w+)"', text, re.M), values, SOURCE_LINE.findall(text)
