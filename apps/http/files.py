#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""files.py FOLDER NAME >files.c: the files below FOLDER as `const struct http_files NAME` (http/files.h), each plain, and with gzip where that saves
a tenth. index.html is also the folder's own path. Entity tags are of the bytes: what has not changed keeps its tag."""
import gzip
import hashlib
import mimetypes
import pathlib
import sys

TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json", ".wasm": "application/wasm", ".woff2": "font/woff2"}


def content_type(path):
    found = TYPES.get(path.suffix) or mimetypes.guess_type(path.name, strict=False)[0] or "application/octet-stream"
    return found + "; charset=utf-8" if found.startswith("text/") else found


def rows(name, data):
    lines = [", ".join(map(str, data[at:at + 24])) for at in range(0, len(data), 24)]
    return f"static const uint8_t {name}[] = {{\n    " + ",\n    ".join(lines or ["0"]) + "};\n"


def tag(data):
    return f'"\\"{hashlib.sha256(data).hexdigest()[:16]}\\""'


def main():
    if len(sys.argv) != 3 or not pathlib.Path(sys.argv[1]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    folder, name, table = pathlib.Path(sys.argv[1]), sys.argv[2], []
    print('// Made by files.py: change the files.\n#include "http/files.h"\n')
    for number, path in enumerate(sorted(p for p in folder.rglob("*") if p.is_file())):
        data = path.read_bytes()
        packed = gzip.compress(data, 9, mtime=0)
        print(rows(f"data_{number}", data))
        entry = f'.type = "{content_type(path)}", .etag = {tag(data)}, .data = data_{number}, .length = {len(data)}'
        if len(packed) < len(data) * 9 // 10:
            print(rows(f"gzip_{number}", packed))
            entry += f", .gzip_etag = {tag(packed)}, .gzip = gzip_{number}, .gzip_length = {len(packed)}"
        served = "/" + path.relative_to(folder).as_posix()
        for at in [served] + ([served[:-len("index.html")]] if path.name == "index.html" else []):
            table.append(f'    {{.path = "{at}", {entry}}},\n')
    print(f"static const struct http_file files[] = {{\n{''.join(table)}}};")
    print(f"const struct http_files {name} = {{files, {len(table)}}};")
    return 0


sys.exit(main())
