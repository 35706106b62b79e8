#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sources set_env.sh in each shell that the machine has and compares the environment after it.
#
#   environment.sh PREFIX WORK_DIR
set -euo pipefail
work=$2
# A place with a space, reached by a link: what is exported is the place itself.
rm -rf "$work"
mkdir -p "$work/a place"
cp -a "$1" "$work/a place/toolkit"
ln -s "a place/toolkit" "$work/link"
home=$(readlink -f "$work/a place/toolkit")

expected="ASCEND_HOME_PATH=$home
ASCEND_OPP_PATH=$home/opp
ASCEND_TOOLKIT_HOME=$home
CMAKE_PREFIX_PATH=$home/lib64/cmake
LD_LIBRARY_PATH=$home/lib64/openaclnn/cann/lib64:/one:/two
PKG_CONFIG_PATH=$home/lib64/pkgconfig:/three
PYTHONPATH=$home/python/site-packages:/four"

# environment SHELL FILE: sources FILE twice, prints what it exports and any name it leaves behind.
environment() {
  # shellcheck disable=SC2016,SC2086  # the shell under test expands; it may be two words
  env -i PATH="$PATH" LD_LIBRARY_PATH="/one:$home/lib64/openaclnn/cann/lib64:/two" PKG_CONFIG_PATH=/three \
    PYTHONPATH=/four \
    $1 -euc '. "'"$2"'"; . "'"$2"'"; env; set' |
    sed -nE '/^(ASCEND_|CMAKE_PREFIX|LD_LIBRARY|PKG_CONFIG|PYTHON)[A-Z_]*=[^'\'']*$/p; /^_openaclnn/p' |
    LC_ALL=C sort -u
}

cd "$work"
for shell in bash "bash --posix" dash zsh "busybox sh" ksh; do
  if ! command -v "${shell%% *}" >/dev/null; then
    echo "$shell: not on this machine"
    continue
  fi
  for file in "$home/set_env.sh" ./link/set_env.sh; do
    got=$(environment "$shell" "$file")
    [[ $got == "$expected" ]] ||
      { printf '%s, %s: expected\n%s\ngot\n%s\n' "$shell" "$file" "$expected" "$got" >&2 && exit 1; }
  done
  echo "$shell: ok"
done

# Where nothing tells the place, it says so instead of exporting a guess.
cd "$home"
if message=$(dash 2>&1 < <(cat set_env.sh)); then exit 1; fi
[[ $message == *"source it with bash"* ]]
