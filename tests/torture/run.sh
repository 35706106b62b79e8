#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The long forms of the tests that attack the libraries, until TORTURE_SECONDS (3600) are over.
#
#   TORTURE_SECONDS=3600 TORTURE_SEED=1 tests/torture/run.sh BUILD_DIR
#
# BUILD_DIR has the tests and build/install the libraries. Turns follow each other with the next
# seed, which is printed; the first that fails is the end.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly build=$1 seconds=${TORTURE_SECONDS:-3600}
seed=${TORTURE_SEED:-$RANDOM}
export OPENACLNN_HOME=$PWD/build/install ASCEND_GLOBAL_LOG_LEVEL=4

# COMMAND…: runs it, says how long it took.
turn() {
  local from=$SECONDS
  printf '== seed %d: %s\n' "$seed" "$*"
  if ! "$@"; then
    printf '== FAILED: TORTURE_SEED=%d: %s\n' "$seed" "$*"
    exit 1
  fi
  printf '== %d s\n' $((SECONDS - from))
}

shortage() {
  .venv/bin/python tests/torture/shortage.py "$build/tests/torture/libshort_memory.so" --seed "$seed" "$@"
}

# Of processes: killed, stopped and late at other points with each seed.
ranks() {
  OPENACLNN_TEST_SEED=$seed OPENACLNN_TEST_KILLS=48 OPENACLNN_TEST_HANGS=48 \
    "$build/tests/ranks_processes" --gtest_brief=1 --gtest_filter='KillTest.*:HangTest.*'
}

# The properties of the operators and the kernels, with more numbers than their tests take.
properties() {
  local program
  for program in "$build"/tests/*_test; do
    RC_PARAMS="seed=$seed max_success=5000" "$program" --gtest_brief=1 || return
  done
}

turn .venv/bin/python tests/torture/long_dimensions.py --cases 24  # the same for all seeds
while ((SECONDS < seconds)); do
  for threads in 1 2 7; do
    export OPENACLNN_NUM_THREADS=$threads
    turn shortage
    turn shortage --large
    ((SECONDS < seconds)) || break
    turn properties
    ((SECONDS < seconds)) || break
    turn ranks
    ((SECONDS < seconds)) || break
    for check in fast full; do
      export OPENACLNN_CHECK=$check
      turn "$build/tests/runtime_stress"
      for what in shapes copies plans; do
        turn env RC_PARAMS="seed=$seed max_success=1000000" "$build/tests/torture/torture_$what"
      done
      unset OPENACLNN_CHECK
      ((SECONDS < seconds)) || break
    done
    ((SECONDS < seconds)) || break
  done
  ((++seed))
done
printf 'torture: nothing found in %d s\n' "$SECONDS"
