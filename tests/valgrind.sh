#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A short form of the native tests under valgrind's memcheck: no error, no definite leak.
#
#   valgrind.sh BUILD_DIR
#
# Valgrind has no AVX-512, so that kernels run as AVX2; device memory counts as initialised.
set -euo pipefail
tests=$1/tests
export RC_PARAMS=max_success=3
check=(valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite
  --fair-sched=yes)
failed=0

run() { # run PROGRAM [OPTION...]
  local from=$SECONDS result=ok report=$tests/$1.valgrind
  local command=("${check[@]}" "$tests/$1" "${@:2}")
  if ! "${command[@]}" >"$report" 2>&1; then
    # It lacks one way to write vmovq between registers, which an assembler may choose.
    if grep -q 'Illegal opcode' "$report" && OPENACLNN_SIMD=baseline "${command[@]}" >"$report" 2>&1; then
      result='ok without AVX2, of which valgrind lacks an instruction,'
    else
      cat "$report"
      result=FAILED failed=1
    fi
  fi
  grep -Eq '\[  PASSED  \] [1-9][0-9]* test' "$report" || result=FAILED failed=1
  printf '%-40s %s in %d s\n' "$1" "$result" $((SECONDS - from))
}

# Valgrind has no flush to zero, and puts memory of its own where a test has unmapped some.
run runtime_api '--gtest_filter=-*FlushToZero*:*AddressesWithoutMemory*'
run meta_api
short='*WorkedExample*:*Random*:*Executor*:*Misuse*:*Arguments*:*Empty*'
for program in "$tests"/*_test; do
  # Those of a topic or of the whole library are short as they are. Valgrind has no float environment,
  # and computes long double, the reference of functions of doubles, in double.
  filter='-FloatEnvironment*:*FunctionsOfDoubles*'
  if "$program" --gtest_list_tests "--gtest_filter=$short" | grep '^ ' >/dev/null; then filter=$short; fi
  run "$(basename "$program")" "--gtest_filter=$filter"
done
exit $failed
