#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the wheel for aarch64 of a folder under qemu: a C program that is linked with it, and the tool
# in Debian 12's Python for aarch64.
#
#   wheel_aarch64.sh FOLDER
#
# Needs scripts/setup.sh cross. Packages are fetched and unpacked, none is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly parts=$PWD/build/wheel.parts/aarch64 cross=/usr/aarch64-linux-gnu
readonly system=$parts/system home=$parts/site/openaclnn/cann
readonly packages=(python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1
  libstdc++6 libexpat1 libffi8 zlib1g libbz2-1.0 liblzma5 libuuid1 libssl3)

fail() {
  echo "wheel_aarch64: $*" >&2
  exit 1
}
wheel=$(echo "$1"/openaclnn-*manylinux_2_27_aarch64.whl)
[[ -f $wheel ]] || fail "no wheel for aarch64 and glibc 2.27 in $1: scripts/packaging/wheel.sh $1 aarch64"
mkdir -p "$parts"

# A system to run in.
scripts/packaging/aarch64_packages.sh "$system" "${packages[@]}"
rm -rf "$parts/site"
.venv/bin/python -m pip --disable-pip-version-check --quiet install --target "$parts/site" \
  --python-version 3.11 --platform manylinux_2_27_aarch64 --platform manylinux_2_28_aarch64 \
  --platform manylinux2014_aarch64 --only-binary=:all: "$wheel"

# The C program of README.md, with the cross compiler's newer glibc and the wheel's libraries.
awk '$0 == "<!-- example.c -->" { found = 1; next }
  found && /^```/ { if (inside) exit; inside = 1; next }
  inside' README.md >"$parts/example.c"
aarch64-linux-gnu-gcc "$parts/example.c" -I"$home/share/openaclnn/examples" -I"$home/include" \
  -L"$home/lib64" -lopapi -lnnopbase -lascendcl -o "$parts/example"
printed=$(qemu-aarch64 -L $cross -E LD_LIBRARY_PATH="$home/lib64:$cross/lib" "$parts/example")
[[ $printed == $'gradient\n0 0 0\n1 2 3\n4 5 6\n0 0 0' ]] || fail "the C example prints $printed"

python() {
  qemu-aarch64 -L "$system" -E PYTHONHOME="$system/usr" -E PYTHONPATH="$parts/site" \
    -E OPENBLAS_NUM_THREADS=1 "$system/usr/bin/python3.11" "$@"
}
[[ $(python -c 'import platform; print(platform.machine())') == aarch64 ]] || fail "not for aarch64"
python -m openaclnn --version
python -m openaclnn check scaled_masked_softmax_backward --shape 2,3,8,70 | tail -n 3
python -c 'import openaclnn, numpy
print(openaclnn.ops.matmul(numpy.eye(3, dtype=numpy.float32), numpy.ones((3, 2), numpy.float32), cubeMathType=0).tolist())'
echo "wheel_aarch64: $(basename "$wheel") runs"
