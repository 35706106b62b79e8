#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the wheel of a folder into an empty environment of another distribution, Debian 13, and
# does there what a user does first.
#
#   wheel.sh FOLDER
#
# Needs root and debootstrap, which it installs; where no chroot can be made it says LEFT OUT.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly folder=$1 root=build/wheel.parts/trixie house=build/wheel.parts/house python=3.13
readonly mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

left_out() {
  echo "test-wheel: LEFT OUT, $*"
  exit 0
}
wheel=$(echo "$folder"/openaclnn-*"$(uname -m)".whl)
[[ -f $wheel ]] || { echo "test-wheel: no wheel of $(uname -m) in $folder" >&2 && exit 1; }

if [[ ! -f $root/done ]]; then
  ((EUID == 0)) || left_out "making a chroot needs root"
  command -v debootstrap >/dev/null || apt-get -qq install -y --no-install-recommends debootstrap ||
    left_out "debootstrap cannot be had"
  rm -rf $root
  debootstrap --variant=minbase --include=python3,python3-venv,gcc,libc6-dev trixie $root "$mirror" \
    >build/wheel.parts/debootstrap.log 2>&1 || left_out "debootstrap failed: build/wheel.parts/debootstrap.log"
  touch $root/done
fi
# The packages are fetched here: the chroot has no network.
rm -rf $house
.venv/bin/python -m pip --disable-pip-version-check --quiet download --only-binary=:all: \
  --python-version $python --dest $house "$wheel"

rm -rf "${root:?}/srv"
mkdir $root/srv
cp $house/*.whl tests/install/in_wheel.sh README.md data/alice29.txt $root/srv
unshare --net --pid --fork --mount-proc=$root/proc chroot $root env -i PATH=/usr/bin:/bin HOME=/root bash /srv/in_wheel.sh
