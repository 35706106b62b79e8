#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares what each library exports with its exports.map, libopapi.so's operators with the public
# headers; its soname, the libraries that it may need and the oldest C library that has what it
# needs, and that it is hardened: its tables of addresses are sealed, and nothing runs that can be
# written.
set -eu

if [ $# -ne 3 ] || [ ! -d "$1" ] || [ ! -f "$2" ] || [ ! -d "$3" ]; then
  echo "usage: $0 SOURCE_DIR DECLARED_OPERATORS LIBRARY_DIR" >&2
  exit 2
fi
source=$1
declared=$2
libraries=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# The libraries of the system that everything may need; sanitizers bring their own.
system="ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 libc.so.6 libgcc_s.so.1 libm.so.6 libstdc++.so.6
  libasan.so.8 libtsan.so.2 libubsan.so.1"

expect() { # what expected got
  if [ "$2" = "$3" ]; then
    echo "ok      $1"
  else
    printf 'FAILED  %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
    failed=1
  fi
}

dynamic() { # library tag
  readelf -d "$1" | sed -n "s/.*($2).*\[\(.*\)\]/\1/p"
}

hardened() { # library
  readelf -dW "$1" | grep -ow -m1 BIND_NOW || true
  readelf -lW "$1" | grep -ow -m1 GNU_RELRO || true
  # Code that is written to: text relocations, segments of both kinds, a stack that may run.
  readelf -dW "$1" | grep -ow -m1 TEXTREL || true
  readelf -lW "$1" | awk '/ RWE / { print $1 "_RWE" }'
  readelf -lW "$1" | grep -q 'GNU_STACK .* RW ' && echo STACK_RW
}

listed() { # exports.map; the patterns of libopapi.so's stand for what the headers declare
  {
    sed -n 's/^ *\([A-Za-z_][A-Za-z0-9_]*\);$/\1/p' "$1"
    case $1 in */opapi/exports.map) cat "$declared" ;; esac
  } | LC_ALL=C sort
}

for map in "$source"/*/exports.map "$source"/companions/*/exports.map; do
  name=$(basename "$(dirname "$map")")
  library=$libraries/lib$name.so
  listed "$map" >"$work/expected"
  nm -D --defined-only "$library" | awk '{ print $3 }' | LC_ALL=C sort >"$work/got"
  if [ "$name" = openaclnn_capture ]; then
    # Its map has patterns: it stands before all operators, and before nothing that is not there.
    for other in ascendcl nnopbase opapi; do listed "$source/$other/exports.map"; done |
      LC_ALL=C sort >"$work/all"
    sed -n 's/^\(aclnn.*\)GetWorkspaceSize$/&\n\1/p' "$work/all" >"$work/operators"
    { listed "$map" && cat "$work/operators" &&
      comm -12 "$work/all" "$work/got" | grep -v '^aclnn'; } | LC_ALL=C sort >"$work/expected"
  fi
  if diff "$work/expected" "$work/got" >"$work/diff"; then
    echo "ok      lib$name.so exports $(wc -l <"$work/got") symbols"
  else
    echo "FAILED  lib$name.so: exports differ from exports.map (<: expected, >: got)"
    cat "$work/diff"
    failed=1
  fi

  expect "soname of lib$name.so" "lib$name.so" "$(dynamic "$library" SONAME)"

  own=
  for needed in $(dynamic "$library" NEEDED); do
    case " $(echo $system) " in
      *" $needed "*) ;;
      *) own="$own $needed" ;;
    esac
  done
  case $name in
    ascendcl) expect "libascendcl.so needs" "" "$own" ;;
    nnopbase) expect "libnnopbase.so needs" " libascendcl.so" "$own" ;;
    opapi) expect "libopapi.so needs" " libnnopbase.so libascendcl.so" "$own" ;;
    acl_op_compiler)
      expect "libacl_op_compiler.so needs" " libopapi.so libnnopbase.so libascendcl.so" "$own"
      ;;
    hcomm) expect "libhcomm.so needs" " libhccl.so" "$own" ;;
    c_sec | openaclnn_* | platform) expect "lib$name.so needs" "" "$own" ;;
    *) expect "lib$name.so needs" " libascendcl.so" "$own" ;;
  esac

  # A version node would bind clients to this implementation of the interface.
  expect "version nodes of lib$name.so" "" "$(readelf -V "$library" | grep -c 'Version definition' |
    sed 's/^0$//')"
done

# Of the C library, whose version 2.34 is enough; a loader refuses the whole library for one newer
# name, weak or not.
for library in $(find "$libraries" -name 'lib*.so' | LC_ALL=C sort); do
  expect "C library of $(basename "$library")" "2.34" "$({
    echo 2.34
    readelf -VW "$library" | sed -n 's/.*Name: GLIBC_\([0-9.]*\) .*/\1/p'
  } | sort -V | tail -n 1)"
done

# What is found is found while loading, and cannot be written to afterwards.
for library in $(find "$libraries" -name 'lib*.so' | LC_ALL=C sort); do
  expect "hardening of $(basename "$library")" "BIND_NOW GNU_RELRO STACK_RW" "$(echo $(hardened "$library"))"
done

exit $failed
