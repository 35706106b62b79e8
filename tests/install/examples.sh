#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the examples against an installation and compares what they print.
#
#   examples.sh PREFIX EXAMPLES WORK_DIR
set -euo pipefail
prefix=$1 examples=$2 work=$3
mkdir -p "$work"
. "$prefix/set_env.sh"
count=0
for source in "$examples"/*.c; do
  program=$work/$(basename "${source%.c}")
  "${CC:-gcc}" -std=c99 -Wall -Wextra -Werror "$source" -I"$ASCEND_HOME_PATH/include" \
    -L"$ASCEND_HOME_PATH/lib64" -lascendcl -lnnopbase -lopapi -o "$program"
  "$program" >"$program.printed"
  diff "${source%.c}.out" "$program.printed"
  count=$((count + 1))
done
# One for each operator with a gradient.
[[ $count -ge 5 ]] || { echo "examples: only $count" >&2 && exit 1; }
echo "examples: $count programs built and run"
