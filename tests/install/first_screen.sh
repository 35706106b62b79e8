#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What wheel.sh runs in a Debian 12 that has Python and nothing else: the wheel's lines of usage.md as
# they are typed there, within two minutes, and a test through torch-npu where that was brought.
set -euo pipefail
cd /srv
readonly most=120

fail() {
  echo "first screen: $*" >&2
  exit 1
}
for each in cc gcc g++ make cmake; do
  if command -v $each >/dev/null; then fail "there is $each, expected no compiler"; fi
done

# There is no network, so packages lie beside this.
export PIP_NO_INDEX=1 PIP_FIND_LINKS=/srv PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
from=$SECONDS
lines=$(awk '/^    python3 -m venv/ { found = 1 } found && /^$/ { exit } found' usage.md)
(($(wc -l <<<"$lines") >= 4)) || fail "usage.md has $lines, expected an environment, pip and more"
bash -euxc "$lines" >said 2>commands || { cat said commands >&2 && fail "a line failed"; }
grep -E '^\+ (python3?|pip|openaclnn) ' commands
tail -n 3 said
took=$((SECONDS - from))
((took < most)) || fail "it took $took s, expected less than $most"
grep -qx '\([0-9]*\) of \1 within the bound' said || fail "the demonstration says otherwise"
echo "first screen: $took s on $(. /etc/os-release && echo "$PRETTY_NAME"), $(nproc) processors"

[[ -d torch ]] || { echo "first screen: torch-npu LEFT OUT, tests/clients/setup.sh has not run" && exit 0; }
. venv/bin/activate
pip install pytest
export PYTHONPATH=/srv/torch
openaclnn run -- python -W ignore -c 'import torch, torch_npu
x = torch.ones(3, device="npu", requires_grad=True)
(x * x).sum().backward()
print("torch-npu", torch_npu.__version__, x.grad.cpu().tolist())'
python -m pytest -q -p no:cacheprovider --npu-required --npu-check full test_npu.py
