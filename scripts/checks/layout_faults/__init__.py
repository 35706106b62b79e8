# SPDX-License-Identifier: Apache-2.0
"""For each rule of scripts/checks/layout/ faults that it alone finds, and what no rule may find.

A module has PLANTED, {rule: [(files in a good tree, what is said)]}, and ALLOWED, such files.
"""

from layout_faults import (
    duplicates,
    includes,
    libraries,
    operators,
    products,
    rooms,
    sizes,
    words,
)

MODULES = (sizes, words, includes, libraries, rooms, products, duplicates, operators)
PLANTED = {rule: faults for module in MODULES for rule, faults in module.PLANTED.items()}
ALLOWED = [files for module in MODULES for files in module.ALLOWED]
