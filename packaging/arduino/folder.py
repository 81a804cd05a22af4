#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make arduino: a library for the Arduino IDE and PlatformIO, out of the two files, since both compile every source that they find.
    folder.py TWO OUT    TWO: the folder of weir.c and weir.h; OUT: the library's"""
import json
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from configuration import version  # noqa: E402

SENTENCE = "TCP/IP stack for embedded systems."
PARAGRAPH = "IPv4 and IPv6, TCP with SACK and RACK, UDP, without globals or threads. The port and the driver are the sketch's."
MAINTAINERS = "Weir maintainers"


def properties():
    fields = {"name": "Weir", "version": version(), "author": MAINTAINERS, "maintainer": MAINTAINERS, "sentence": SENTENCE, "paragraph": PARAGRAPH,
              "category": "Communication", "url": "", "architectures": "*", "includes": "weir.h", "license": "BSD-2-Clause"}
    return "".join(f"{key}={value}\n" for key, value in fields.items())


def manifest():
    fields = {"name": "Weir", "version": version(), "description": SENTENCE, "keywords": ["tcp", "ip", "network"], "authors": [{"name": MAINTAINERS, "maintainer": True}],
              "license": "BSD-2-Clause", "headers": "weir.h", "frameworks": "*", "platforms": "*", "build": {"flags": ["-std=gnu11"]}}
    return json.dumps(fields, indent=2) + "\n"


def main():
    two, out = (pathlib.Path(word) for word in sys.argv[1:])
    shutil.rmtree(out, ignore_errors=True)
    for folder in ("src", "examples/Start"):
        (out / folder).mkdir(parents=True)
    for name in ("weir.c", "weir.h"):
        shutil.copyfile(two / name, out / "src" / name)
    shutil.copyfile(HERE / "Start.ino", out / "examples/Start/Start.ino")
    shutil.copyfile(ROOT / "LICENSE", out / "LICENSE")
    (out / "library.properties").write_text(properties())
    (out / "library.json").write_text(manifest())


main()
