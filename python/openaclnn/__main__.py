# SPDX-License-Identifier: Apache-2.0
"""`python -m openaclnn`: the command-line tool."""

import sys

from . import __version__


def main() -> None:
    """Runs the tool; an interrupt while its modules are imported ends it quietly too."""
    if sys.argv[1:] == ["--version"]:  # what scripts ask often needs none of the tool's modules
        print(__version__)
        return
    try:
        from .tool import cli

        cli.main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
