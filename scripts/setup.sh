#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what a step of the Makefile needs: Debian packages, then the Python environment .venv.
#
#   scripts/setup.sh [packages|run|site|test|ci|cross|fuzz|wheel]
#
# Each of run, test and ci holds the one before it; site and wheel hold run; cross and fuzz hold test.
# `packages` is run without .venv.
# A call that finds everything in place needs no network.
#   PYTHON                        the Python >= 3.11 that .venv is made from (default: /usr/bin/python3 first)
#   OPENACLNN_SKIP_PACKAGES=1     trust the tools on PATH, ask dpkg nothing
set -euo pipefail
cd "$(dirname "$0")/.."

# libucx-dev brings libucx0, which libhccl.so opens between processes.
readonly run_packages=(g++ cmake ninja-build ccache pkg-config python3-venv nlohmann-json3-dev libucx-dev)
# A browser, what drives it, and letters for the Chinese pages.
readonly site_packages=(chromium chromium-driver fonts-wqy-microhei)
readonly test_packages=(libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev)
readonly ci_packages=(clang-format-14 clang-tidy-14 valgrind)
readonly cross_packages=(g++-aarch64-linux-gnu qemu-user)
readonly fuzz_packages=(clang-14 libclang-rt-14-dev)

fail() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      printf '%s\n' "$package"
  done
}

install_packages() {
  local missing as_root=()
  if [[ -n ${OPENACLNN_SKIP_PACKAGES:-} ]]; then return; fi
  command -v dpkg-query >/dev/null || {
    echo "setup: no dpkg here, so nothing is installed; needed (Debian 12 names): $*"
    return
  }
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then return; fi

  if ((EUID != 0)); then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    else
      fail "these packages are missing, and installing them needs root: ${missing[*]}" \
        "run this, then repeat:" \
        "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" \
        "or, if other builds of them are on PATH, repeat with OPENACLNN_SKIP_PACKAGES=1"
    fi
  fi
  echo "setup: installing ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
  # One unreachable third-party source must not stop an install that the others can serve.
  "${apt[@]}" update || echo "setup: apt-get update reported errors; going on"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null ||
    fail "apt-get could not install: ${missing[*]}"
}

find_python() {
  local candidate
  for candidate in ${PYTHON:-/usr/bin/python3 python3 python3.13 python3.12 python3.11}; do
    if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  fail "no Python >= 3.11 with the venv module (tried ${PYTHON:-/usr/bin/python3 and python3* on PATH})"
}

# The stamp is the hash of all that decides what .venv holds; it is written last.
make_venv() {
  local python stamp
  python=$(find_python)
  stamp=$({ "$python" -VV && pwd && echo "$python" &&
    cat requirements.txt requirements-dev.txt pyproject.toml; } | sha256sum | cut -d' ' -f1)
  if [[ $(cat .venv/stamp 2>/dev/null) == "$stamp" ]]; then return; fi

  echo "setup: making .venv with $python"
  "$python" -m venv --clear .venv
  # Every dependency is pinned, indirect ones too, so pip resolves nothing; `pip check` proves it.
  local pip=(.venv/bin/python -m pip --disable-pip-version-check --quiet)
  "${pip[@]}" install --no-deps -r requirements.txt -r requirements-dev.txt
  "${pip[@]}" install --no-deps --no-build-isolation --config-settings wheel.cmake=false -e .
  "${pip[@]}" check
  echo "$stamp" >.venv/stamp
}

# auditwheel and twine need other versions of what .venv has.
make_tools() {
  local stamp tools=build/wheel.parts/tools
  stamp=$({ .venv/bin/python -VV && pwd && cat requirements-release.txt; } | sha256sum | cut -d' ' -f1)
  if [[ $(cat $tools/stamp 2>/dev/null) == "$stamp" ]]; then return; fi
  .venv/bin/python -m venv --clear $tools
  $tools/bin/python -m pip --disable-pip-version-check --quiet install --no-deps -r requirements-release.txt
  $tools/bin/python -m pip --disable-pip-version-check --quiet check
  echo "$stamp" >$tools/stamp
}

case ${1:-test} in
  packages) install_packages "${run_packages[@]}" && exit 0 ;;
  run | wheel) install_packages "${run_packages[@]}" ;;
  site) install_packages "${run_packages[@]}" "${site_packages[@]}" ;;
  test) install_packages "${run_packages[@]}" "${test_packages[@]}" ;;
  ci) install_packages "${run_packages[@]}" "${test_packages[@]}" "${ci_packages[@]}" ;;
  cross) install_packages "${run_packages[@]}" "${test_packages[@]}" "${cross_packages[@]}" ;;
  fuzz) install_packages "${run_packages[@]}" "${test_packages[@]}" "${fuzz_packages[@]}" ;;
  *) fail "unknown level '$1', expected packages, run, site, test, ci, cross, fuzz or wheel" ;;
esac
make_venv
if [[ ${1:-} == fuzz ]]; then
  .venv/bin/python -m pip --disable-pip-version-check --quiet install --no-deps -r requirements-fuzz.txt
fi
if [[ ${1:-} == wheel ]]; then make_tools; fi
