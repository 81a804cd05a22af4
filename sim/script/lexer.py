# SPDX-License-Identifier: BSD-2-Clause
"""Words of a script: (kind, text, line). Kinds: option, code, command, string, ellipsis, address, float, integer, hex, word, and
punctuation as itself."""
import collections
import re

from . import ScriptError

Token = collections.namedtuple("Token", "kind text line")

RULES = [
    ("space", r"[ \t\r\n]+"),
    ("comment", r"//[^\n]*|\#[^\n]*|/\*.*?\*/"),
    ("code", r"%\{.*?\}%"),
    ("command", r"`(?:\\.|[^`\\])*`"),
    ("string", r'"(?:\\.|[^"\\])*"'),
    ("option", r"--[A-Za-z0-9_]+"),
    ("ellipsis", r"\.\.\."),
    ("address", r"\d+\.\d+\.\d+\.\d+|(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![0-9(])"),
    ("hex", r"0x[0-9a-fA-F]+"),
    ("float", r"-?\d*\.\d+"),
    ("number", r"-\d+"),
    ("word", r"[A-Za-z0-9_]+"),
    ("punctuation", r"."),
]
PATTERN = re.compile("|".join(f"(?P<{name}>{rule})" for name, rule in RULES), re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


def unescape(text):
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m.group(1), m.group(1)), text, flags=re.DOTALL)


def tokens(text):
    found, line = [], 1
    for match in PATTERN.finditer(text):
        kind, word = match.lastgroup, match.group()
        if kind == "word" and word.isdigit() or kind == "number":
            kind = "integer"
        elif kind == "string":
            word = unescape(word[1:-1])
        elif kind == "command":
            word = word[1:-1]
        elif kind == "code":
            word = word[2:-2].strip(" \t")
        elif kind == "option":
            word = word[2:]
        elif kind == "punctuation":
            kind = word
        if kind in ('"', "`", "%"):
            raise ScriptError({'"': "a string", "`": "a command", "%": "a piece of code"}[kind] + " has no end", line)
        if kind not in ("space", "comment"):
            found.append(Token(kind, word, line))
        line += match.group().count("\n")
    found.append(Token("end", "", line))
    return found
