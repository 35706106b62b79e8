#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the targets of libFuzzer (FUZZ_TARGETS: some) for FUZZ_SECONDS each, FUZZ_JOBS at once, from
# their corpora in the repository; readers.py has those that are Python.
#
#   FUZZ_SECONDS=60 tests/fuzz/run.sh BUILD_DIR [--keep]
#
# What stops a target is left in BUILD_DIR/fuzz and named; --keep writes the smallest inputs that reach
# what was reached to the corpora.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly build=$1 keep=${2:-} seconds=${FUZZ_SECONDS:-60} seed=${FUZZ_SEED:-$RANDOM}
readonly jobs=${FUZZ_JOBS:-$(nproc)}
export ASCEND_GLOBAL_LOG_LEVEL=4
export UBSAN_OPTIONS=print_stacktrace=1

readonly native=(config sequence kernels ranks) readers=(npy safetensors trace capture)

# TARGET OPTION...
fuzz() {
  local target=$1
  shift
  if [[ " ${readers[*]} " == *" $target "* ]]; then
    .venv/bin/python tests/fuzz/readers.py "$target" -max_len=4000 "$@"
  else
    "$build/tests/fuzz/fuzz_$target" -max_len=400 "$@"
  fi
}

# FOLDER CORPUS: a file for each line, and the other way round, at most 150 of all sizes.
unpack() {
  mkdir -p "$1"
  python3 - "$@" <<'PYTHON'
import sys
from hashlib import sha1
from pathlib import Path
for line in Path(sys.argv[2]).read_text().split():
    data = bytes.fromhex(line)
    Path(sys.argv[1], sha1(data).hexdigest()).write_bytes(data)
PYTHON
}
pack() {
  python3 - "$@" <<'PYTHON'
import sys
from pathlib import Path
inputs = sorted({each.read_bytes() for each in Path(sys.argv[1]).iterdir()}, key=lambda b: (len(b), b))
kept = inputs[:: max(1, -(-len(inputs) // 150))]
Path(sys.argv[2]).write_text("".join(f"{each.hex()}\n" for each in kept if each))
PYTHON
}

# TARGET: returns whether nothing stopped it.
try() {
  local target=$1 folder=$build/fuzz/$1 corpus=tests/fuzz/corpus/$1.txt stopped=
  mkdir -p "$folder/corpus"
  [[ ! -f $corpus ]] || unpack "$folder/corpus" "$corpus"
  fuzz "$target" -max_total_time="$seconds" -timeout=20 \
    -seed="$seed" -print_final_stats=1 -artifact_prefix="$folder/" "$folder/corpus" \
    >"$folder/log" 2>&1 || stopped=yes
  local said
  if [[ -n $stopped ]]; then
    said=$(tail -n 40 "$folder/log")
  else
    said=$(grep -aE 'cov: .* exec/s|number_of_executed_units' "$folder/log" | tail -n 2) || true
  fi
  # By one write, as another target's words may come at the same time.
  cat <<<"== $target: $seconds s, seed $seed${stopped:+: STOPPED}"$'\n'"$said"
  if [[ $keep == --keep ]]; then
    rm -rf "$folder/small" && mkdir "$folder/small"
    if ! fuzz "$target" -merge=1 "$folder/small" "$folder/corpus" >"$folder/merge" 2>&1 ||
      [[ -z $(ls -A "$folder/small") ]]; then
      tail -n 20 "$folder/merge"
      return 1
    fi
    pack "$folder/small" "$corpus"
  fi
  [[ -z $stopped ]]
}

set -m  # each with all that it starts in a group, which is ended as a whole
declare -A running=()
end() {
  local group
  for group in "${!running[@]}"; do kill -- "-$group" 2>/dev/null || true; done  # it may have ended
  exit 130
}
trap end INT TERM
failed=()
await() { # one of them, whichever ends first
  local ended
  wait -n -p ended || failed+=("${running[$ended]}")
  unset "running[$ended]"
}
for target in ${FUZZ_TARGETS:-${native[*]} ${readers[*]}}; do
  ((${#running[@]} < jobs)) || await
  try "$target" &
  running[$!]=$target
done
while ((${#running[@]})); do await; done
if ((${#failed[@]})); then
  printf 'fuzz: stopped: %s; the inputs are in %s/fuzz\n' "${failed[*]}" "$build"
  exit 1
fi
