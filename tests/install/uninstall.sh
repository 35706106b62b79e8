#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs over an older installation and uninstalls: nothing of ours stays, nothing else goes.
#
#   uninstall.sh SOURCE_DIR BUILD_DIR WORK_DIR
set -euo pipefail
source=$1 build=$2 prefix="$3/a prefix"

fail() {
  echo "uninstall: $*" >&2
  exit 1
}
install_toolkit() { cmake --install "$build" --prefix "$prefix" >/dev/null; }
uninstall() { make -s -C "$source" uninstall PREFIX="$prefix"; }

rm -rf "$3"
install_toolkit
# An older release had a library more and another header; the user keeps a file beside ours.
mkdir "$prefix/lib64/old"
touch "$prefix/lib64/old/libold.so" "$prefix/lib64/theirs.so"
echo lib64/old/libold.so >>"$prefix/lib64/openaclnn/manifest.txt"
echo "older" >"$prefix/include/acl/acl.h"
install_toolkit
[[ ! -e $prefix/lib64/old ]] || fail "a file of the older installation is left"
cmp "$source/include/acl/acl.h" "$prefix/include/acl/acl.h"

uninstall
left=$(cd "$prefix" && find . ! -type d)
[[ $left == ./lib64/theirs.so ]] || fail "expected their file only, found: $left"
rm -r "$prefix"

install_toolkit
uninstall
[[ -z $(ls -A "$prefix") ]] || fail "the prefix is not empty: $(ls -A "$prefix")"
if message=$(uninstall 2>&1); then fail "a second time succeeded"; fi
[[ $message == *"nothing to uninstall"* ]] || fail "a second time said: $message"
