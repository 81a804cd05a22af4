#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# aptsource.sh PACKAGE DIR [RELEASE]: unpacks Debian's source package into DIR. Needs no root and changes nothing of the system's: apt works
# on lists of our own under build/apt, made from the Debian archives this machine already uses, with their deb-src counterpart; with a RELEASE
# (trixie) that one's in place of this machine's.
set -eu
package=$1 target=$2 release=${3:-}
apt=$(pwd)/build/apt${release:+-$release}
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/source" "$apt/parts" "$(dirname "$target")"

if [ ! -s "$apt/sources.list" ]; then
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u |
        sed -n '/debian/s/^/deb-src /p' >"$apt/sources.list"
    [ -z "$release" ] || sed -i -E "s/^(deb-src [^ ]+ )[a-z]+/\\1$release/" "$apt/sources.list"
    [ -s "$apt/sources.list" ] || { echo "aptsource.sh: this machine's apt names no Debian archive" >&2; exit 1; }
fi
set -- -o "Dir::Etc::SourceList=$apt/sources.list" -o "Dir::Etc::SourceParts=$apt/parts" -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" \
    -o APT::Sandbox::User= -o Debug::NoLocking=1 -o APT::Get::List-Cleanup=0
[ -n "$(find "$apt/lists" -name '*_source_Sources*' -print -quit)" ] || apt-get "$@" update
rm -rf "$apt/source/$package" "$target"
mkdir -p "$apt/source/$package"
cd "$apt/source/$package"
apt-get "$@" source "$package"
cd - >/dev/null
# The one directory that dpkg-source made.
mv "$apt/source/$package"/*/ "$target"
