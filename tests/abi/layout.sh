#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares what a program of tests/abi/layout.py prints with the table of the binary interface.
set -eu

if [ $# -ne 2 ] || [ ! -x "$1" ] || [ ! -f "$2" ]; then
  echo "usage: $0 PROGRAM TABLE" >&2
  exit 2
fi
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
"$1" >"$printed"
if ! diff "$2" "$printed"; then
  echo "FAILED  the binary interface differs (<: as it was, >: as it is now)"
  exit 1
fi
echo "ok      $(grep -c . "$printed") lines"
