#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Objects of one instruction set share no inline function with the others: the linker would keep one
# copy for all, perhaps one that the machine cannot run.
#
#   kernel_symbols.sh TARGET OBJECT...
set -euo pipefail
target=$1
shift

# The demangler leaves names with some lambdas in them as they are.
mangled="_ZN9openaclnn(10supporting)?${#target}$target"
shared=$(nm --demangle --defined-only "$@" | grep -E ' [WVu] ' |
  grep -Ev "::$target::| $mangled" || true)
if [[ -n $shared ]]; then
  echo "defined in the kernels of $target, and not in its namespace:"
  echo "$shared"
  exit 1
fi
