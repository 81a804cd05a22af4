# SPDX-License-Identifier: BSD-2-Clause
"""MkDocs' hooks for the site (mkdocs.yml): README.md and its kin become pages of it, the public headers its reference of the
interface, and links that lead to files which are no pages become their names."""
import os
import pathlib
import re
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from configuration import ROOT, part_files, parts   # noqa: E402

BESIDE = {"README.md": "index.md", "ARCHITECTURE.md": "ARCHITECTURE.md", "CHANGELOG.md": "CHANGELOG.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "SECURITY.md": "SECURITY.md"}
MADE = {"options.h", "configuration.h", "cc_list.h"}   # by tools/options.py: docs/options.md says what they say
LINK = re.compile(r"\[([^\]\n]+(?:\n[^\]\n]+)?)\]\(([^)\s]+)\)")
OF_SITE = re.compile(r"\b((?:weir|bsd|WEIR|BSD)_[A-Za-z0-9_*…]+)")


# --- headers ------------------------------------------------------------------------------------------------------------------

def groups():
    """What a user includes: (name, about, headers)."""
    stack = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "include/weir").glob("*.h")) if path.name not in MADE]
    yield "weir", "the stack", stack
    for name, part in parts().items():
        yield name, part["about"], part_files(part, "headers")
    yield "tls", "TLS on streams and descriptors", ["api/tls/weir_tls.h", "api/tls/weir_tls_sockets.h"]


def chunks(text):
    """(is it a comment, its lines): comments that stand alone, and the declarations between them."""
    found = []
    for line in text.splitlines():
        comment = line.startswith("//")
        if not found or found[-1][0] != comment:
            found.append((comment, []))
        found[-1][1].append(line)
    return found


def prose(lines):
    """Comments as Markdown: a title where one is ruled, the examples in them as they stand, names as names."""
    out = []
    for line in lines:
        text = line[2:].removeprefix(" ")
        if text.startswith("SPDX"):
            continue
        ruled = re.fullmatch(r"-{3,} (.*?) -{3,}", text)
        if ruled:
            out += ["", f"## {ruled[1][0].upper()}{ruled[1][1:]}", ""]
        elif text.startswith("    "):
            out += ([""] if out and out[-1] and not out[-1].startswith("    ") else []) + [text]
        else:
            text = re.sub(r"([*<\[|`])", r"\\\1", text)
            out += ([""] if out and out[-1].startswith("    ") else []) + [OF_SITE.sub(lambda m: f"`{m[1]}`".replace("\\", ""), text)]
    return out


def code(lines):
    """Declarations, without what makes a header one: guards, includes, the brackets of C++."""
    kept = [line for line in lines if not re.match(r"#(ifndef|define|include|endif).*_H\b|#include|#endif$|WEIR_(BEGIN|END)_DECLS", line)]
    text = "\n".join(kept).strip("\n")
    return ["", "```c", text, "```", ""] if text.strip() else [""]


def header_page(path):
    out = [f"# {path.split('include/', 1)[-1]}", ""]
    for comment, lines in chunks((ROOT / path).read_text()):
        out += prose(lines) if comment else code(lines)
    return "\n".join(out) + "\n"


def index_page():
    out = ["# The interface", "", "Made of the public headers, which say what each call asks for, answers, and may be called from. Options are in",
           "[options.md](../options.md).", ""]
    for name, about, headers in groups():
        out += [f"## {name}", "", f"{about[0].upper()}{about[1:]}.", ""] + [f"- [{path}]({os.path.relpath(page_of(path), 'api')})" for path in headers] + [""]
    return "\n".join(out)


def page_of(header):
    return f"api/{header.removesuffix('.h')}.md"


# --- MkDocs calls these -------------------------------------------------------------------------------------------------------

def on_config(config):
    for part in config.nav:
        if "Reference" in part:
            at = part["Reference"].index("api/index.md")
            part["Reference"][at] = {"The interface": ["api/index.md", *(page_of(path) for _, _, headers in groups() for path in headers)]}
    return config


def on_files(files, config):
    for path, page in BESIDE.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text()))
    files.append(File.generated(config, "api/index.md", content=index_page()))
    for _, _, headers in groups():
        for path in headers:
            files.append(File.generated(config, page_of(path), content=header_page(path)))
    return files


def pages():
    """Path in the tree → page of the site."""
    found = {str(path.relative_to(ROOT)): str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    return found | BESIDE | {path: page_of(path) for _, _, headers in groups() for path in headers}


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri
    if here.startswith("api/"):
        return markdown
    known = pages()
    folder = os.path.dirname(next(path for path, uri in known.items() if uri == here))

    def linked(match):
        text, target = match[1], match[2]
        path, _, anchor = target.partition("#")
        if "://" in target or not path:
            return match[0]
        path = os.path.normpath(os.path.join(folder, path))
        if path not in known:
            return text
        return f"[{text}]({os.path.relpath(known[path], os.path.dirname(here) or '.')}{'#' + anchor if anchor else ''})"
    # Lists may follow their paragraph at once, here as elsewhere.
    markdown = re.sub(r"^((?!\s*[-*|>#]|\s*\d+\.|\s{4}|\s*$).*)\n(?=- )", r"\1\n\n", markdown, flags=re.MULTILINE)
    return LINK.sub(linked, markdown)
