#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/clients/torch-VERSION, a Python environment with torch and the torch-npu wheel of PyPI.
#
#   tests/clients/setup.sh VERSION TORCH_NPU_VERSION
#
# A call that finds everything in place needs no network. On x86-64 PyPI's torch is the CUDA build;
# cuda_stand_ins.py stands in for the CUDA libraries, which nothing here calls.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly version=$1 npu_version=$2
readonly folder=build/clients/torch-$version
readonly others=(filelock typing_extensions sympy networkx jinja2 fsspec mpmath 'numpy<2.3' pyyaml
  setuptools pytest matplotlib ml_dtypes rich typer)

fail() {
  printf 'test-clients: %s\n' "$@" >&2
  exit 1
}

stamp="$npu_version ${others[*]} $(sha256sum <tests/clients/cuda_stand_ins.py)"
if [[ $(cat "$folder/stamp" 2>/dev/null) == "$stamp" ]]; then exit 0; fi

python=$(command -v python3.11 || command -v python3)
echo "test-clients: making $folder with $python"
"$python" -m venv --clear "$folder"
pip=("$folder/bin/python" -m pip --disable-pip-version-check --quiet)
# Their metadata names a torch that PyPI does not have, and CUDA wheels that nothing needs.
"${pip[@]}" install --no-deps "torch==$version" ||
  fail "torch $version cannot be had from the package index: nothing was tested"
"${pip[@]}" install "${others[@]}" 2>/dev/null ||
  fail "what torch needs cannot be had from the package index: nothing was tested"
"${pip[@]}" install --no-deps "torch-npu==$npu_version" ||
  fail "torch-npu $npu_version cannot be had from the package index: nothing was tested"
if [[ $(uname -m) == x86_64 ]]; then
  "$folder/bin/python" tests/clients/cuda_stand_ins.py \
    "$(echo "$folder"/lib/python3*/site-packages/torch)" >/dev/null
fi
echo "$stamp" >"$folder/stamp"
