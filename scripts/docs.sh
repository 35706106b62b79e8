#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation to build/docs/html, in Chinese to its folder zh-CN, and looks at every link.
#
#   scripts/docs.sh [--update]   --update: bring the Chinese catalogues up to date with the pages
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
readonly sphinx=("$environment/bin/sphinx-build" -q -c docs/site)
"${sphinx[@]}" -W --keep-going -d build/docs/trees . build/docs/html
# The texts come from the pages as they have just been read: that costs no second reading.
"${sphinx[@]}" -d build/docs/trees -b gettext . build/docs/texts
$environment/bin/python scripts/check_catalogues.py build/docs/texts "$@"
"${sphinx[@]}" -W --keep-going -D language=zh_CN . build/docs/html/zh-CN
.venv/bin/python scripts/check_site.py build/docs/html
echo "the site is at build/docs/html/index.html"
