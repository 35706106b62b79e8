#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel of an architecture for old systems, and names it by what it needs.
#
#   scripts/packaging/wheel.sh [FOLDER] [ARCHITECTURE]      (default: dist, this machine's)
#
# aarch64 elsewhere is cmake/aarch64.cmake's cross compiler (scripts/setup.sh cross). auditwheel is that
# of requirements-release.txt (scripts/setup.sh wheel).
# The compiler is the system's. What is linked asks for glibc 2.27 at most (scripts/packaging/glibc_stubs.py)
# and brings libstdc++; auditwheel says which tag that is.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly folder=${1:-dist} here=$(uname -m) work=build/wheel.parts glibc=2.27
readonly architecture=${2:-$here}

# pip knows no presets, so the compiler, ccache and its settings are named here as the presets name them:
# what `make build` has compiled without tests is taken from the cache.
export CC=cc CXX=c++ CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
options=(--config-settings=cmake.define.OPENACLNN_GLIBC=$glibc)
build=build/wheel
if [[ $architecture != "$here" ]]; then
  build=build/wheel.$architecture
  options+=("--config-settings=cmake.define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/$architecture.cmake")
  export _PYTHON_HOST_PLATFORM=linux-$architecture  # what wheels are named by
fi
rm -rf $work/plain.$architecture
.venv/bin/python -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation \
  --config-settings=build-dir=$build "${options[@]}" \
  --wheel-dir $work/plain.$architecture .
mkdir -p "$folder"
PATH=$PWD/$work/tools/bin:$PATH auditwheel repair --plat auto --wheel-dir "$folder" $work/plain.$architecture/*.whl
ls -l "$folder"/*.whl
