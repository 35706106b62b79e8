#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles each public header alone, and all of them in both orders, as C99, C++11 and C++20.
set -eu

if [ $# -ne 1 ] || [ ! -d "$1" ]; then
  echo "usage: $0 INCLUDE_DIR" >&2
  exit 2
fi
include=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
warnings="-pedantic -Wall -Wextra -Wundef -Werror"
failed=0

# build COMPILER STANDARD SOURCE
build() {
  # shellcheck disable=SC2086
  $1 "-std=$2" $warnings "-I$include" -c "$3" -o "$work/unit.o"
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

(cd "$include" && find . -name '*.h' | sed 's|^\./||' | LC_ALL=C sort) >"$work/list"
if [ ! -s "$work/list" ]; then
  echo "no headers in $include" >&2
  exit 1
fi

while read -r header; do
  echo "#include \"$header\"" >"$work/headers.inc"
  compile "$header"
done <"$work/list"

sed 's|.*|#include "&"|' "$work/list" >"$work/headers.inc"
compile "all headers"
LC_ALL=C sort -r "$work/list" | sed 's|.*|#include "&"|' >"$work/headers.inc"
compile "all headers, in reverse order"

exit $failed
