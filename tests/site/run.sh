#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Uses the site in build/docs/html as a reader does; what its first pages look like is left in
# build/docs/screenshots. Needs what `scripts/setup.sh site` installs.
#
#   tests/site/run.sh [OPTION OF pytest...]
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly environment=build/docs/browser

stamp=$(sha256sum <tests/site/requirements.txt)
if [[ $(cat $environment/stamp 2>/dev/null) != "$stamp" ]]; then
  .venv/bin/python -m venv --clear $environment
  $environment/bin/python -m pip --disable-pip-version-check --quiet install --no-deps \
    -r tests/site/requirements.txt
  echo "$stamp" >$environment/stamp
fi
$environment/bin/python -m pytest -q -p no:cacheprovider tests/site "$@"
