#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make arduino: a library for the Arduino IDE and PlatformIO, out of the two files, since both compile every source that they find.
    folder.py TWO OUT [URL]    TWO: the folder of weir.c and weir.h; OUT: the library's; URL: who gives it away, for a registry"""
import json
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from configuration import version  # noqa: E402

SENTENCE = "TCP/IP stack for embedded systems."
PARAGRAPH = "IPv4 and IPv6, TCP with SACK and RACK, UDP, without globals or threads. The port and the driver are the sketch's."
MAINTAINERS = "Weir maintainers"


README = f"""\
# Weir

{SENTENCE} {PARAGRAPH}

This folder is a library for the Arduino IDE and for PlatformIO: `src/weir.c` and `src/weir.h` are the stack with one
configuration, which was fixed when they were made. `examples/Start` is a sketch to begin with.
"""


def properties(url):
    fields = {"name": "Weir", "version": version(), "author": MAINTAINERS, "maintainer": MAINTAINERS, "sentence": SENTENCE, "paragraph": PARAGRAPH,
              "category": "Communication", **({"url": url} if url else {}), "architectures": "*", "includes": "weir.h", "license": "BSD-2-Clause"}
    return "".join(f"{key}={value}\n" for key, value in fields.items())


def manifest(url):
    fields = {"name": "Weir", "version": version(), "description": SENTENCE, "keywords": ["tcp", "ip", "network"], "authors": [{"name": MAINTAINERS, "maintainer": True}],
              "license": "BSD-2-Clause", **({"homepage": url} if url else {}), "headers": "weir.h", "frameworks": "*", "platforms": "*", "build": {"flags": ["-std=gnu11"]}}
    return json.dumps(fields, indent=2) + "\n"


def main():
    two, out = (pathlib.Path(word) for word in sys.argv[1:3])
    url = sys.argv[3] if len(sys.argv) > 3 else ""
    if url and not re.fullmatch(r"https?://[^\s/]+(/\S*)?", url):
        sys.exit(f"URL: `{url}` is none: it begins with https:// or http://, and goes on with a host")
    shutil.rmtree(out, ignore_errors=True)
    for folder in ("src", "examples/Start"):
        (out / folder).mkdir(parents=True)
    for name in ("weir.c", "weir.h"):
        shutil.copyfile(two / name, out / "src" / name)
    shutil.copyfile(HERE / "Start.ino", out / "examples/Start/Start.ino")
    shutil.copyfile(ROOT / "LICENSE", out / "LICENSE")
    (out / "README.md").write_text(README)
    (out / "library.properties").write_text(properties(url))
    (out / "library.json").write_text(manifest(url))


main()
