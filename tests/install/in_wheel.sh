#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What wheel.sh runs in the other distribution: the C example of README.md, from the wheel alone.
set -euo pipefail
cd /srv

fail() {
  echo "wheel: $*" >&2
  exit 1
}
block() {  # the fenced block of README.md after a marker
  awk -v marker="<!-- $1 -->" '
    $0 == marker { found = 1; next }
    found && /^```/ { if (inside) exit; inside = 1; next }
    inside' README.md
}

python3 -m venv venv
. venv/bin/activate
# The library part needs NumPy alone.
pip --quiet install --no-index --find-links . numpy
pip --quiet install --no-index --find-links . --no-deps openaclnn
python -c 'import openaclnn, numpy
print(openaclnn.embedding(numpy.eye(3, dtype=numpy.float32), [2, 0]).tolist())'
pip --quiet install --no-index --find-links . openaclnn
pip check

openaclnn --version
[[ -f venv/share/man/man1/openaclnn.1 ]] || fail "no manual page"
python -m openaclnn doctor
[[ $(openaclnn list aclnnAdd) == *aclnnAdd* ]] || fail "list lacks aclnnAdd"
openaclnn check embedding_dense_backward --text alice29.txt --width 64
openaclnn demo | tail -n 1 | grep -x '\([0-9]*\) of \1 within the bound'

# A C program, with what the wheel brings.
eval "$(openaclnn env)"
block example.c >example.c
gcc example.c -I"$ASCEND_HOME_PATH/share/openaclnn/examples" -I"$ASCEND_HOME_PATH/include" \
  -L"$ASCEND_HOME_PATH/lib64" -lopapi -lnnopbase -lascendcl -o example
block example.out | diff - <(openaclnn run -- ./example) || fail "the C example prints something else"
[[ $(npu-smi info -t board -i 0 -c 0) == *910B1* ]] || fail "npu-smi does not name the product"
[[ $(python3 -c 'import acl; print(acl.init(), acl.get_soc_name())') == "0 Ascend910B1" ]] || fail "no module acl"
[[ -f $ASCEND_HOME_PATH/lib64/cmake/openaclnn/openaclnn-config.cmake ]] || fail "no CMake package"
echo "wheel: installed and run on $(. /etc/os-release && echo "$PRETTY_NAME")"
