#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation to build/docs/html, in Chinese to its folder zh-CN, and looks at every link.
#
#   scripts/site/docs.sh [--update]   --update: bring the Chinese catalogues up to date with the pages
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly environment=build/docs/environment

stamp=$(sha256sum <docs/site/requirements.txt)
if [[ $(cat $environment/stamp 2>/dev/null) != "$stamp" ]]; then
  .venv/bin/python -m venv --clear $environment
  $environment/bin/python -m pip --disable-pip-version-check --quiet install --no-deps \
    -r docs/site/requirements.txt
  echo "$stamp" >$environment/stamp
fi
rm -rf build/docs/pages build/docs/zh_CN
.venv/bin/python scripts/site/generate_site.py build/docs/pages
readonly sphinx=("$environment/bin/sphinx-build" -q -c docs/site)
# The texts of the pages that have catalogues: reading all would cost as much as a build, and of
# these alone links to others lead nowhere, which is no news here.
"${sphinx[@]}" -b gettext \
  -D include_patterns="README*.md,$(python3 scripts/site/check_catalogues.py --pages)" \
  . build/docs/texts 2>build/docs/texts.log || { cat build/docs/texts.log >&2 && exit 1; }
$environment/bin/python scripts/site/check_catalogues.py build/docs/texts "$@"
"${sphinx[@]}" -W --keep-going . build/docs/html
"${sphinx[@]}" -W --keep-going -D language=zh_CN . build/docs/html/zh-CN
.venv/bin/python scripts/site/check_site.py build/docs/html
echo "the site is at build/docs/html/index.html"
