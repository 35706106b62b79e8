#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/clients/torch-VERSION, a Python environment with torch and the torch-npu wheel of PyPI.
#
#   tests/clients/setup.sh VERSION TORCH_NPU_VERSION
#
# A call that finds everything in place needs no network.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly version=$1 npu_version=$2
readonly folder=build/clients/torch-$version
readonly others=(pytest matplotlib ml_dtypes rich typer)

fail() {
  printf 'test-clients: %s\n' "$@" >&2
  exit 1
}

stamp="$npu_version ${others[*]} $(cat scripts/packaging/install_torch.sh tests/clients/cuda_stand_ins.py | sha256sum)"
if [[ $(cat "$folder/stamp" 2>/dev/null) == "$stamp" ]]; then exit 0; fi

python=$(command -v python3.11 || command -v python3)
echo "test-clients: making $folder with $python"
"$python" -m venv --clear "$folder"
scripts/packaging/install_torch.sh "$folder/bin/python" "$version" "$npu_version" || fail "nothing was tested"
"$folder/bin/python" -m pip --disable-pip-version-check --quiet install "${others[@]}" 2>/dev/null ||
  fail "what the tests need cannot be had from the package index: nothing was tested"
echo "$stamp" >"$folder/stamp"
