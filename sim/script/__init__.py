# SPDX-License-Identifier: BSD-2-Clause
"""Conversation scripts in packetdrill's language, played against Weir in virtual time. docs/scripts.md tells the language."""


class ScriptError(Exception):
    """What is wrong with a script, or with Weir: one or more lines, the first without place."""

    def __init__(self, text, line=None):
        super().__init__(text)
        self.text, self.line = text, line


class OtherVersion(ScriptError):
    """The script's head asks for another version of IP than the command line: it is left out."""


class Skip(ScriptError):
    """The script asks for what Weir has not, or what is not TCP's."""
