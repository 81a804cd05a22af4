#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# private_names.sh NM OBJCOPY LIBRARY: gives every global of the library that is not public a name that no other library has
# (tcp_close becomes weir_private_tcp_close), so that it can be linked beside anything. Each object stays an object of its own: a program takes
# what it needs. Public names begin with weir_, bsd_ or WEIR_; those of the libraries beside the stack by include/weir/linkage.
# (packaging/cmake/private_names.cmake does the same without a shell.)
set -eu
names=$3.names
"$1" --defined-only --extern-only --format=posix "$3" |
    awk -v public="^(weir_|bsd_|WEIR_|__)" 'NF >= 3 && $1 !~ public { print $1, "weir_private_" $1 }' | sort -u >"$names"
"$2" --redefine-syms="$names" "$3"
rm -f "$names"
