#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Objects of one instruction set share no inline function with the others: the linker would keep one
# copy for all, perhaps one that the machine cannot run.
#
#   kernel_symbols.sh TARGET OBJECT...
set -euo pipefail
target=$1
shift

shared=$(nm --demangle --defined-only "$@" | grep -E ' [WVu] ' | grep -v "::$target::" || true)
if [[ -n $shared ]]; then
  echo "defined in the kernels of $target, and not in its namespace:"
  echo "$shared"
  exit 1
fi
