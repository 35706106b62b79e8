# SPDX-License-Identifier: Apache-2.0
"""`python -m openaclnn`: the command-line tool."""

import sys


def main() -> None:
    """Runs the tool; an interrupt while its modules are imported ends it quietly too."""
    try:
        from . import cli

        cli.main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
