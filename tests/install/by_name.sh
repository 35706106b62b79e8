#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds by_name.c without any of the libraries and gives it every name of the operator library.
#
#   by_name.sh PREFIX WORK_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
prefix=$1 work=$2
mkdir -p "$work"
. "$prefix/set_env.sh"
names=()
for library in "$ASCEND_HOME_PATH"/lib64/libopapi*.so; do names+=("$(basename "$library")"); done

"${CC:-gcc}" -std=c99 -Wall -Wextra -Werror -I"$ASCEND_HOME_PATH/include" "$here/by_name.c" -ldl \
  -o "$work/by_name"
# By name in either order, then by path, as adapters that do not trust the search path load them.
mapfile -t reversed < <(printf '%s\n' "${names[@]}" | tac)
"$work/by_name" "${names[@]}"
"$work/by_name" "${reversed[@]}"
"$work/by_name" "${names[@]}" "${names[@]/#/$ASCEND_HOME_PATH/lib64/}"
echo "by name: ${names[*]}"
