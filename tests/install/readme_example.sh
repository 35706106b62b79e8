#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the C example of README.md by the lines of README.md, and by the CMakeLists.txt of
# docs/usage.md, against an installation, and compares what it prints.
#
#   readme_example.sh PREFIX SOURCE_DIR WORK_DIR
set -euo pipefail
prefix=$1 source=$2 work=$3

# The fenced block of a page that follows a marker such as <!-- example.c -->.
block() {  # PAGE MARKER
  awk -v marker="<!-- $2 -->" '
    $0 == marker { found = 1; next }
    found && /^```/ { if (inside) exit; inside = 1; next }
    inside' "$source/$1"
}

rm -rf "$work"
mkdir -p "$work/cmake"
ln -s "$source/examples" "$work/examples"
block README.md example.c >"$work/example.c"
block README.md example.out >"$work/expected"
block docs/usage.md CMakeLists.txt >"$work/CMakeLists.txt"
sed -n 's/^    //; /^gcc example.c/,/^$/p' "$source/README.md" | sed '/^$/d' >"$work/commands"
[[ -s $work/example.c && -s $work/expected && -s $work/CMakeLists.txt ]]
[[ $(wc -l <"$work/commands") == 2 ]]

. "$prefix/set_env.sh"
cd "$work"
bash -euo pipefail commands >printed
diff expected printed

"${CC:-gcc}" -std=c99 -Wall -Wextra -Werror -fsyntax-only example.c -Iexamples "-I$prefix/include"
cmake -S . -B cmake >/dev/null
cmake --build cmake >/dev/null
cmake/example >printed
diff expected printed
