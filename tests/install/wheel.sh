#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the wheel of a folder into empty environments of two distributions, and does there what a
# user does first: Debian 12 with Python and nothing else, and Debian 13 with a compiler.
#
#   wheel.sh FOLDER
#
# Needs root and debootstrap, which it installs; where no chroot can be made it says LEFT OUT.
# torch-npu is tested with what tests/clients/setup.sh has installed, if it has.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly folder=$1 parts=build/wheel.parts torch=build/clients/torch-2.8.0/lib/python3.11/site-packages
readonly mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

left_out() {
  echo "test-wheel: LEFT OUT, $*"
  exit 0
}
wheel=$(echo "$folder"/openaclnn-*"$(uname -m)".whl)
[[ -f $wheel ]] || { echo "test-wheel: no wheel of $(uname -m) in $folder" >&2 && exit 1; }
mkdir -p $parts

# A network of its own begins with the loopback down, which `doctor` calls a problem: SIOCSIFFLAGS.
readonly loopback='import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))'

make_root() {  # SUITE PACKAGES
  local root=$parts/$1
  [[ -f $root/done ]] && return
  ((EUID == 0)) || left_out "making a chroot needs root"
  command -v debootstrap >/dev/null || apt-get -qq install -y --no-install-recommends debootstrap ||
    left_out "debootstrap cannot be had"
  rm -rf "$root"
  debootstrap --variant=minbase --include="$2" "$1" "$root" "$mirror" >$parts/debootstrap.log 2>&1 ||
    left_out "debootstrap failed: $parts/debootstrap.log"
  touch "$root/done"
}

# What is installed is fetched here: the chroots have no network.
fetch() {  # SUITE PYTHON PACKAGES
  local house=$parts/$1.house
  rm -rf "$house"
  .venv/bin/python -m pip --disable-pip-version-check --quiet download --only-binary=:all: \
    --python-version "$2" --dest "$house" "${@:3}"
}

within() {  # SUITE SCRIPT
  local root=$parts/$1
  rm -rf "${root:?}/srv"
  mkdir -p "$root/srv/dist"
  cp "$parts/$1.house"/*.whl "$root/srv"
  cp "$wheel" "$root/srv/dist"
  cp "tests/install/$2" README.md docs/usage.md data/alice29.txt tests/install/test_npu.py "$root/srv"
  unshare --net --pid --mount --fork --mount-proc="$root/proc" bash -euc '
    if [[ -d $3 ]]; then mkdir "$1/srv/torch"; mount --bind -o ro "$3" "$1/srv/torch"; fi
    python3 -c "$4"
    exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/bin HOME=/root bash "/srv/$2"' - \
    "$root" "$2" "$torch" "$loopback"
}

make_root bookworm python3,python3-venv
fetch bookworm 3.11 "$wheel" pytest
within bookworm first_screen.sh
make_root trixie python3,python3-venv,gcc,libc6-dev
fetch trixie 3.13 "$wheel"
within trixie in_wheel.sh
