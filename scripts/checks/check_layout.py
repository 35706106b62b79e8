# SPDX-License-Identifier: Apache-2.0
"""Checks sizes, names, include directions and the rooms of operators, and prints what it measured.

.venv/bin/python scripts/checks/check_layout.py [ROOT]: one `path:line: message` for each violation, exit code 1.
"""

import sys
from pathlib import Path

from layout import duplicates, includes, libraries, operators, products, rooms, sizes, words
from layout.source import read_tree

# Each takes all sources and yields violations.
RULES = (
    *sizes.RULES,
    *words.RULES,
    *includes.RULES,
    *libraries.RULES,
    *rooms.RULES,
    *products.RULES,
    *duplicates.RULES,
    *operators.RULES,
)
FIGURES = (sizes.figures, includes.figures, duplicates.figures, operators.figures)


def main(arguments):
    root = Path(arguments[0] if arguments else Path(__file__).parents[2]).resolve()
    sources = read_tree(root)
    for measure in FIGURES:
        for figure in measure(sources):
            line = f"{figure.name:<32}{figure.value:>8}  {figure.limit:<8}{figure.where}"
            print(line.rstrip())
    violations = sorted(v for rule in RULES for v in rule(sources))
    for violation in violations:
        print(violation)
    print(f"layout: {len(violations)} violations" if violations else "layout: ok")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
