#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs torch and torch-npu of the package index, with what torch needs, for a Python.
#
#   scripts/packaging/install_torch.sh PYTHON TORCH TORCH_NPU      (say, python3 2.8.0 2.8.0.post5)
#
# On x86-64 PyPI's torch is the CUDA build; tests/clients/cuda_stand_ins.py stands in for the CUDA
# libraries, which nothing here calls.
set -euo pipefail
readonly python=$1 torch=$2 torch_npu=$3
readonly needed=(filelock typing_extensions sympy networkx jinja2 fsspec mpmath 'numpy<2.3' pyyaml
  setuptools)
root=$(realpath "$(dirname "$0")/../..")

fail() {
  printf 'install_torch: %s cannot be had from the package index\n' "$1" >&2
  exit 1
}

pip=("$python" -m pip --disable-pip-version-check --quiet)
# Their metadata names a torch that PyPI does not have, and CUDA wheels that nothing needs.
"${pip[@]}" install --no-deps "torch==$torch" || fail "torch $torch"
"${pip[@]}" install "${needed[@]}" 2>/dev/null || fail "what torch needs"
"${pip[@]}" install --no-deps "torch-npu==$torch_npu" || fail "torch-npu $torch_npu"
if [[ $(uname -m) == x86_64 ]]; then
  where=$("$python" -c 'from importlib.util import find_spec; print(find_spec("torch").submodule_search_locations[0])')
  "$python" "$root/tests/clients/cuda_stand_ins.py" "$where" >/dev/null
fi
