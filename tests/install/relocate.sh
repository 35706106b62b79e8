#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Moves an installation: programs built before still run, and new ones build against the new place.
#
#   relocate.sh PREFIX WORK_DIR WAY...     (ways of consumers.sh)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
prefix=$1 work=$2
shift 2

rm -rf "$work"
mkdir -p "$work/built"
cp -a "$prefix" "$work/first place"
"$here/consumers.sh" "$work/first place" "$work/built" plain
mv "$work/first place" "$work/second place"
if "$work/built/plain/context" 2>/dev/null; then
  echo "the programs do not use the installation under test" >&2
  exit 1
fi
(
  . "$work/second place/set_env.sh"
  for program in "$work"/built/plain/*; do "$program"; done
)
"$here/consumers.sh" "$work/second place" "$work/new" "$@"
