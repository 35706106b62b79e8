#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the sample programs with nothing but -I, -L and -l, and runs them by `openaclnn run`.
#
#   launch.sh PREFIX WORK_DIR TOOL
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
prefix=$1 work=$2 tool=$3
unset LD_LIBRARY_PATH "${!ASCEND_@}"
rm -rf "$work"
mkdir -p "$work"

ran=0
for source in "$here"/samples/*.c "$here"/samples/*.cc; do
  case $source in
    *.c) compiler=("${CC:-gcc}" -std=c99) ;;
    *) compiler=("${CXX:-g++}" -std=c++11) ;;
  esac
  program=$work/$(basename "${source%.*}")
  "${compiler[@]}" -Wall -Wextra -Werror -pthread "$source" "-I$prefix/include" "-L$prefix/lib64" \
    -lascendcl -lnnopbase -lopapi -o "$program"
  # The program finds the libraries by the tool alone.
  if "$program" 2>/dev/null; then
    echo "$(basename "$program") runs without openaclnn run" >&2
    exit 1
  fi
  (cd "$work" && OPENACLNN_HOME=$prefix "$tool" run -- "./$(basename "$program")") ||
    { echo "openaclnn run -- ./$(basename "$program") failed" >&2 && exit 1; }
  ran=$((ran + 1))
done
echo "openaclnn run: $ran programs built and run"
