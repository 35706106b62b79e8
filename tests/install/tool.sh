#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tool of an installation that was moved, with the system's Python and nothing in the
# environment: what `make install` leaves in PREFIX/bin.
#
#   tool.sh PREFIX SOURCE_DIR WORK_DIR
set -euo pipefail
source=$2 work=$3
home="$work/a place"

fail() {
  echo "tool: $*" >&2
  exit 1
}
bare() { env -i PATH=/usr/bin:/bin HOME="$work" "$@"; }

rm -rf "$work"
mkdir -p "$work"
cp -a "$1" "$home"
said=$(bare OPENACLNN_PYTHON=/usr/bin/python3 "$home/bin/openaclnn" list 2>&1) && code=0 || code=$?
if ((code != 0)); then  # Debian's own packages might do
  [[ $said == *"expected one with numpy ml_dtypes rich typer"* ]] || fail "without packages: $said"
fi

# In the source tree, where `make build` puts it, it takes the Python of the tree; programs that have
# sourced set_env.sh import the package, also from a folder where another has that name.
mkdir -p "$work/tree/build"
cp -a "$1" "$work/tree/build/install"
ln -s "$source/.venv" "$work/tree/.venv"
in_place() {
  bare bash -c '. "$0/tree/build/install/set_env.sh" && "$@"' "$work" "$@"
}
[[ $(in_place openaclnn list aclnnAdd) == *aclnnAdd* ]] || fail "no list in the source tree"
said=$(cd "$home/share" && in_place /usr/bin/python3 -c 'import openaclnn; print(openaclnn.__file__, openaclnn.__version__)')
[[ $said == "$work/tree/build/install/"*/openaclnn/__init__.py\ [0-9]* ]] || fail "import openaclnn: $said"

"$source/.venv/bin/python" "$source/scripts/packaging/install_requirements.py" \
  "$home/lib64/openaclnn/requirements"
[[ $(bare "$home/bin/openaclnn" --version) == [0-9]* ]] || fail "no version"
[[ -f "$home/share/man/man1/openaclnn.1" ]] || fail "no manual page"
ln -s "a place/bin/openaclnn" "$work/link"
[[ $(bare "$work/link" list aclnnAdd) == *aclnnAdd* ]] || fail "no list by a link"
used=$(bare "$home/bin/openaclnn" run -- sh -c 'echo "$ASCEND_HOME_PATH"')
[[ $used == "$home" ]] || fail "run uses $used"
bare "$home/bin/openaclnn" bench --all --quick --operator embedding --threads 1 >/dev/null ||
  fail "bench --all does not run"
# The packages beside the tool are the tool's alone.
bare "$home/bin/openaclnn" run -- /usr/bin/python3 -c 'import typer' 2>/dev/null &&
  [[ ! -d /usr/lib/python3/dist-packages/typer ]] && fail "programs see the tool's packages"
cmake -DPREFIX="$home" -P "$source/cmake/uninstall.cmake"
[[ -z $(ls -A "$home") ]] || fail "uninstalling left: $(find "$home" | head)"
