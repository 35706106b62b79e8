#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reads an installation the way clients of the vendor's toolkit do.
#
#   layout.sh PREFIX SOURCE_DIR PYTHON
set -euo pipefail
prefix=$1 source=$2 python=$3
failed=0

# same WHAT EXPECTED GOT
same() {
  [[ $2 == "$3" ]] && return
  printf '%s: expected\n%s\ngot\n%s\n' "$1" "$2" "$3" >&2
  failed=1
}
files() { (cd "$1" && find . \( -type f -o -type l \) -printf '%P\n' | LC_ALL=C sort); }
value() { sed -n "s/^$1=//p" "$2"; }

arch=$(uname -m)
info=$prefix/$arch-linux/ascend_toolkit_install.info
for part in runtime compiler opp; do
  same "$part: the release by name" 8.2.RC1 "$(value version_dir "$prefix/$part/version.info")"
  same "$part: its first three numbers" Version=8.2.0 \
    "$(grep -oE 'Version=[0-9]+\.[0-9]+\.[0-9]+' "$prefix/$part/version.info")"
done
same "toolkit: version" 8.2.RC1 "$(value version "$info")"
same "toolkit: the first line that says version" version=8.2.RC1 "$(grep -m1 version "$info")"
same "toolkit: arch" "$arch" "$(value arch "$prefix/ascend_toolkit_install.info")"

headers=$( (files "$source/include" && "$python" -B "$source/scripts/operators/operator_headers.py") |
  LC_ALL=C sort)
same "headers" "$headers" "$(files "$prefix/include" | grep -v /level2/)"
same "level2" "$(sed -n 's|^aclnnop/||p' <<<"$headers")" \
  "$(files "$prefix/include/aclnnop/level2")"
same "$arch-linux/include" "$(files "$prefix/include")" "$(files "$prefix/$arch-linux/include/.")"
same "$arch-linux/lib64" "$(files "$prefix/lib64")" "$(files "$prefix/$arch-linux/lib64/.")"

same "runtime/include" "$(files "$prefix/include")" "$(files "$prefix/runtime/include/.")"
same "runtime/lib64/stub" "$(files "$prefix/lib64")" "$(files "$prefix/runtime/lib64/stub/.")"

same "manifest" "$(files "$prefix")" "$(cat "$prefix/lib64/openaclnn/manifest.txt")"
same "text that names a place" "" "$(grep -rIlF -e "$prefix" -e "$source" "$prefix")"
exit "$failed"
