#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles each public header alone, and all of them in both orders, as C99, C++11 and C++20.
set -eu

if [ $# -lt 1 ] || [ ! -d "$1" ]; then
  echo "usage: $0 INCLUDE_DIR [HEADER...]" >&2
  exit 2
fi
include=$(cd "$1" && pwd)
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
warnings="-pedantic -Wall -Wextra -Wundef -Werror"
failed=0

# build COMPILER STANDARD SOURCE
build() {
  # shellcheck disable=SC2086
  $1 "-std=$2" $warnings "-I$include" -fsyntax-only "$3"
}

# compile LABEL: the source is $work/headers.inc, a list of #include lines.
compile() {
  # A file without any declaration is not C; each header twice tests its guard.
  { cat "$work/headers.inc" "$work/headers.inc"; echo "extern int not_empty;"; } >"$work/unit.c"
  cp "$work/unit.c" "$work/unit.cc"
  result=
  build "${CC:-gcc}" c99 "$work/unit.c" || result="$result C99"
  build "${CXX:-g++}" c++11 "$work/unit.cc" || result="$result C++11"
  build "${CXX:-g++}" c++20 "$work/unit.cc" || result="$result C++20"
  if [ -z "$result" ]; then
    echo "ok      $1"
  else
    echo "FAILED  $1:$result"
    failed=1
  fi
}

# Headers that are named are all that this run looks at.
for header in "$@"; do
  echo "#include \"$header\"" >"$work/headers.inc"
  compile "$header"
done
if [ $# -gt 0 ]; then exit $failed; fi

(cd "$include" && find . -name '*.h' | sed 's|^\./||' | LC_ALL=C sort) >"$work/list"
if [ ! -s "$work/list" ]; then
  echo "no headers in $include" >&2
  exit 1
fi

xargs -P "$(nproc)" -n 16 "$0" "$include" <"$work/list" || failed=1

sed 's|.*|#include "&"|' "$work/list" >"$work/headers.inc"
compile "all headers"
LC_ALL=C sort -r "$work/list" | sed 's|.*|#include "&"|' >"$work/headers.inc"
compile "all headers, in reverse order"

exit $failed
