#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation to build/docs/html and looks at every link in it.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly environment=build/docs/environment

stamp=$(sha256sum <docs/site/requirements.txt)
if [[ $(cat $environment/stamp 2>/dev/null) != "$stamp" ]]; then
  .venv/bin/python -m venv --clear $environment
  $environment/bin/python -m pip --disable-pip-version-check --quiet install --no-deps \
    -r docs/site/requirements.txt
  echo "$stamp" >$environment/stamp
fi
rm -rf build/docs/pages
.venv/bin/python scripts/generate_site.py build/docs/pages
$environment/bin/sphinx-build -q -W --keep-going -c docs/site . build/docs/html
.venv/bin/python scripts/check_site.py build/docs/html
echo "the site is at build/docs/html/index.html"
