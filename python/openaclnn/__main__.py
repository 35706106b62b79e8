# SPDX-License-Identifier: Apache-2.0
"""`python -m openaclnn`: the command-line tool."""

from .cli import main

main()
