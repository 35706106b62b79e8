#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the image of Containerfile and uses it as its user: `openaclnn doctor`, and pytest with the
# checks on a test that is mounted there.
#
#   image.sh [WHEEL]      what is installed in it: a wheel below this folder, else the source tree
#
# Needs podman or buildah, else it says LEFT OUT. Where buildah cannot pull the base image, debootstrap
# makes one like it, for which root is needed.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly wheel=${1:-} parts=build/image.parts image=localhost/openaclnn
readonly mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
# Within another container there may be no overlay file system and no namespaces to be had.
export BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot} STORAGE_DRIVER=${STORAGE_DRIVER:-vfs}

left_out() {
  echo "test-image: LEFT OUT, $*"
  exit 0
}
fail() {
  echo "test-image: $*" >&2
  exit 1
}
base=$(sed -n 's/^FROM \(\S*\) AS build$/\1/p' Containerfile)
builder=$(command -v podman || command -v buildah) || left_out "there is neither podman nor buildah"
readonly base builder=${builder##*/}

make_base() {
  [[ $builder == buildah ]] && ((EUID == 0)) && command -v debootstrap >/dev/null ||
    left_out "$base cannot be pulled, nor made: that needs buildah, debootstrap and root"
  local root=$parts/base container
  rm -rf "$root"
  debootstrap --variant=minbase bookworm "$root" "$mirror" >$parts/debootstrap.log 2>&1 ||
    left_out "debootstrap failed: $parts/debootstrap.log"
  cp -r /usr/local/share/ca-certificates "$root/usr/local/share"  # whom this machine trusts
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$root" / >/dev/null
  buildah commit --quiet --rm "$container" "$base" >/dev/null
  rm -rf "$root"
}
mkdir -p $parts/work
$builder inspect --type image "$base" >/dev/null 2>&1 || $builder pull --quiet "$base" 2>$parts/pull.log ||
  make_base

$builder build --pull=false --tag $image --file Containerfile ${wheel:+--build-arg PACKAGE=/source/$wheel} .

cat >$parts/work/test_it.py <<'EOF'
import ctypes
import os
import pytest

@pytest.mark.npu(torch=False)
def test_it():
    assert os.geteuid() != 0 and ctypes.CDLL("libascendcl.so").aclInit(None) == 0
EOF
chmod -R a+rwX $parts/work
readonly place=$PWD/$parts/work:/tests
if [[ $builder == podman ]]; then
  within() { podman run --rm --volume "$place" $image "$@"; }
else
  container=$(buildah from $image)
  trap 'buildah rm "$container" >/dev/null' EXIT
  within() { buildah run --volume "$place" "$container" -- "$@"; }
fi
within openaclnn doctor
within python -m pytest -q -p no:cacheprovider --npu-required --npu-check full /tests/test_it.py
if within bash -c 'command -v cc gcc g++ cmake' >/dev/null 2>&1; then fail "the image holds a compiler"; fi
echo "test-image: built by $builder, used as $(within id -un)"
