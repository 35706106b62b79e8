#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/bench/venv, the Python environment of `make bench`: the peers, and what draws plots.
#
#   bench/setup.sh
#
# PyTorch is that of tests/clients/setup.sh, seen through a .pth file; JAX and what models are made of
# (bench/requirements.txt) come from the package index. What cannot be had is said and left out: the
# benchmark names it as missing and runs.
set -uo pipefail
cd "$(dirname "$0")/.."

readonly torch=2.8.0 torch_npu=2.8.0.post5 jax=0.7.2
readonly clients=build/clients/torch-$torch
readonly folder=build/bench/venv

stamp="$PWD $torch $torch_npu $jax $(sha256sum <bench/requirements.txt)"
if [[ $(cat "$folder/stamp" 2>/dev/null) == "$stamp" ]]; then exit 0; fi

tests/clients/setup.sh "$torch" "$torch_npu" || {
  echo "bench: PyTorch cannot be had, so there is no $folder: no peer is measured"
  exit 0
}
echo "bench: making $folder"
"$clients/bin/python" -m venv --clear "$folder" || exit 1
site=$(echo "$folder"/lib/python3*/site-packages)
realpath "$clients"/lib/python3*/site-packages >"$site/clients.pth"
pip=("$folder/bin/python" -m pip --disable-pip-version-check --quiet install)
had=yes # without a stamp the next call tries again
# numpy as PyTorch's environment has it: two in one process would not do.
"${pip[@]}" "jax==$jax" 'numpy<2.3' || {
  echo "bench: JAX cannot be had: it is named as missing"
  had=
}
# torchvision's metadata names CUDA's packages, which nothing here needs.
"${pip[@]}" --no-deps -r bench/requirements.txt || {
  echo "bench: what models are made of cannot be had: it is named as missing"
  had=
}
if [[ $had ]]; then echo "$stamp" >"$folder/stamp"; fi
