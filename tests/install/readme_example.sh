#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the C example of README.md by the lines of README.md, and by its CMakeLists.txt, against an
# installation, and compares what it prints.
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

rm -rf "$work"
mkdir -p "$work/cmake"
ln -s "$(readlink -f "$prefix")" "$work/openaclnn"  # what `make install` has put there
block example.c >"$work/example.c"
block example.out >"$work/expected"
block CMakeLists.txt >"$work/CMakeLists.txt"
sed -n '/^    make install PREFIX=/,/^$/p' "$readme" | sed '1d; /^$/d' >"$work/commands"
[[ -s $work/example.c && -s $work/expected && -s $work/CMakeLists.txt ]]
[[ $(wc -l <"$work/commands") == 3 ]]

export HOME=$work
cd "$work"
bash -euo pipefail commands >printed
diff expected printed

"${CC:-gcc}" -std=c99 -Wall -Wextra -Werror -fsyntax-only example.c "-I$prefix/include"
. "$prefix/set_env.sh"
cmake -S . -B cmake >/dev/null
cmake --build cmake >/dev/null
cmake/example >printed
diff expected printed
