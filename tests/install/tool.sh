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

"$source/.venv/bin/python" "$source/scripts/install_requirements.py" \
  "$home/lib64/openaclnn/python"
[[ $(bare "$home/bin/openaclnn" --version) == [0-9]* ]] || fail "no version"
[[ -f "$home/share/man/man1/openaclnn.1" ]] || fail "no manual page"
ln -s "a place/bin/openaclnn" "$work/link"
[[ $(bare "$work/link" list --operator aclnnAdd) == *aclnnAdd* ]] || fail "no list by a link"
used=$(bare "$home/bin/openaclnn" run -- sh -c 'echo "$ASCEND_HOME_PATH"')
[[ $used == "$home" ]] || fail "run uses $used"
# The packages beside the tool are the tool's alone.
bare "$home/bin/openaclnn" run -- /usr/bin/python3 -c 'import typer' 2>/dev/null &&
  [[ ! -d /usr/lib/python3/dist-packages/typer ]] && fail "programs see the tool's packages"
cmake -DPREFIX="$home" -P "$source/cmake/uninstall.cmake"
[[ -z $(ls -A "$home") ]] || fail "uninstalling left: $(find "$home" | head)"
