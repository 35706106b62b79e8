#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches packages for aarch64, the test libraries where none is named, and unpacks them; nothing is
# installed, no root is needed.
#
#   aarch64_packages.sh DIR [PACKAGE...]
#
# With a package index of its own, so that the machine's knows of no second architecture.
set -euo pipefail
mkdir -p "$1"
root=$(cd "$1" && pwd)
shift
packages=("$@")
(($#)) || packages=(libgtest-dev libgmock-dev librapidcheck-dev)
[[ -e $root/complete ]] && exit

apt=$root/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/state"
: >"$apt/status"
options=(-qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=
  -o "Dir::State=$apt/state" -o "Dir::State::lists=$apt/lists" -o "Dir::State::status=$apt/status"
  -o "Dir::Cache=$apt/cache")
apt-get "${options[@]}" update
(cd "$apt" && apt-get "${options[@]}" download "${packages[@]/%/:arm64}")
for package in "$apt"/*.deb; do dpkg -x "$package" "$root"; done
touch "$root/complete"
