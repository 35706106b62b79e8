#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the C example of README.md against an installation and compares what it prints.
#
#   readme_example.sh PREFIX README WORK_DIR
set -euo pipefail
prefix=$1 readme=$2 work=$3

# The fenced block that follows a marker such as <!-- example.c -->.
block() {
  awk -v marker="<!-- $1 -->" '
    $0 == marker { found = 1; next }
    found && /^```/ { if (inside) exit; inside = 1; next }
    inside' "$readme"
}

mkdir -p "$work"
block example.c >"$work/example.c"
block example.out >"$work/expected"
[[ -s $work/example.c && -s $work/expected ]]

. "$prefix/set_env.sh"
"${CC:-gcc}" -std=c99 -Wall -Wextra -Werror "$work/example.c" -I"$ASCEND_HOME_PATH/include" \
  -L"$ASCEND_HOME_PATH/lib64" -lopapi -lnnopbase -lascendcl -o "$work/example"
"$work/example" >"$work/printed"
diff "$work/expected" "$work/printed"
