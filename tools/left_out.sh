#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# left_out.sh FILE COMMAND …: keeps what the command prints in the file, on one line, which is there whole or not at all. (tools/left_out.mk)
set -e
file=$1
shift
mkdir -p "${file%/*}"
"$@" >"$file.$$" || { rm -f "$file.$$"; exit 2; }
tr '\n' ' ' <"$file.$$" >"$file.$$.line"
rm -f "$file.$$"
mv "$file.$$.line" "$file"
