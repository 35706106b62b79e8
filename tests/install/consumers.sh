#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the sample programs against an installation in one way or more, and runs them.
#
#   consumers.sh PREFIX WORK_DIR plain|split|pkg_config|cmake...
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
prefix=$1 work=$2
shift 2
. "$prefix/set_env.sh"

# build NAME FLAGS...: each sample to $work/NAME/, C as C99 and C++ as C++11.
build() {
  local way=$1 source compiler
  shift
  for source in "$here"/samples/*.c "$here"/samples/*.cc; do
    case $source in
      *.c) compiler=("${CC:-gcc}" -std=c99) ;;
      *) compiler=("${CXX:-g++}" -std=c++11) ;;
    esac
    "${compiler[@]}" -Wall -Wextra -Werror -pthread "$source" "$@" \
      -o "$work/$way/$(basename "${source%.*}")"
  done
}

for way in "$@"; do
  rm -rf "${work:?}/$way"
  mkdir -p "$work/$way"
  paths=("-I$ASCEND_HOME_PATH/include" "-L$ASCEND_HOME_PATH/lib64")
  case $way in
    plain) build plain "${paths[@]}" -lascendcl -lnnopbase -lopapi ;;
    split) build split "${paths[@]}" -lascendcl -lnnopbase -lopapi_math -lopapi_nn -lopapi_transformer ;;
    pkg_config)
      # shellcheck disable=SC2046  # a path with a space comes with a backslash
      eval "build pkg_config $(pkg-config --cflags --libs openaclnn)"
      ;;
    cmake)
      version=$(pkg-config --modversion openaclnn)
      cmake -S "$here/consumer" -B "$work/cmake" -Dversion="$version" >/dev/null
      cmake --build "$work/cmake" >/dev/null
      ;;
    *) echo "consumers.sh: no way '$way'" >&2 && exit 2 ;;
  esac
  ran=0
  for source in "$here"/samples/*.c "$here"/samples/*.cc; do
    program=$work/$way/$(basename "${source%.*}")
    "$program" || { echo "$way: $(basename "$program") failed" >&2 && exit 1; }
    ran=$((ran + 1))
  done
  echo "$way: $ran programs built and run"
  # Whatever name it was linked by, a program asks for libopapi.so, once.
  needed=$(readelf -d "$work/$way/context" | sed -nE 's/.*NEEDED.*\[(libopapi[^]]*)\]/\1/p')
  [[ $needed == libopapi.so ]] || { echo "$way: needs '$needed'" >&2 && exit 1; }
done
