#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A short form of the native tests under valgrind's memcheck: no error, no definite leak.
#
#   valgrind.sh BUILD_DIR [PROGRAM OPTION]
#
# All of them, as many at a time as there are processors; or one of them.
# Valgrind has no AVX-512, so that kernels run as AVX2; device memory counts as initialised.
set -euo pipefail
tests=$1/tests
export RC_PARAMS="seed=1 max_success=3"
check=(valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite
  --fair-sched=yes)

run() { # run PROGRAM [OPTION...]
  local from=$SECONDS result=ok report=$tests/$1.valgrind
  local command=("${check[@]}" "$tests/$1" "${@:2}")
  if ! "${command[@]}" >"$report" 2>&1; then
    # It lacks one way to write vmovq between registers, which an assembler may choose.
    if grep -q 'Illegal opcode' "$report" && OPENACLNN_SIMD=baseline "${command[@]}" >"$report" 2>&1; then
      result='ok without AVX2, of which valgrind lacks an instruction,'
    else
      cat "$report"
      result=FAILED
    fi
  fi
  grep -Eq '\[  PASSED  \] [1-9][0-9]* test' "$report" || result=FAILED
  printf '%-40s %s in %d s\n' "$1" "$result" $((SECONDS - from))
  [[ $result != FAILED ]]
}

if (($# > 1)); then
  run "${@:2}"
  exit
fi

pairs() { # a line with a program, and one with its option
  # Valgrind has no flush to zero, and puts memory of its own where a test has unmapped some.
  printf '%s\n' runtime_api '--gtest_filter=-*FlushToZero*:*AddressesWithoutMemory*'
  printf '%s\n' meta_api '--gtest_filter=*'
  local program filter
  local short='*WorkedExample*:*Random*:*Executor*:*Misuse*:*Arguments*:*Empty*'
  for program in "$tests"/*_test; do
    # Those of a topic or of the whole library are short as they are. Valgrind has no float
    # environment, and computes long double, the reference of functions of doubles, in double.
    filter='-FloatEnvironment*:*FunctionsOfDoubles*'
    if "$program" --gtest_list_tests "--gtest_filter=$short" | grep '^ ' >/dev/null; then filter=$short; fi
    printf '%s\n' "$(basename "$program")" "--gtest_filter=$filter"
  done
}
pairs | xargs -d '\n' -n 2 -P "$(nproc)" "$0" "$1"
