# SPDX-License-Identifier: Apache-2.0
"""Faults of texts: licences, first sentences, names, paths."""

from layout_faults.tree import CC, PY, SPDX

PLANTED = {
    "check_licence": [
        ({"src/ascendcl/stream/event.cc": "// Says what the file is.\n"}, "event.cc:1: no SPDX"),
        ({"python/openaclnn/__init__.py": ""}, "python/openaclnn/__init__.py:1: no SPDX"),
        ({"Makefile": "all:\n"}, "Makefile:1: no SPDX"),
    ],
    "check_first_sentence": [
        ({"scripts/a.sh": f"#!/bin/sh\n# {SPDX}\nset -e\n"}, "scripts/a.sh:3: no sentence"),
        ({"src/ascendcl/stream/event.cc": f"// {SPDX}\n#include <a>\n"}, "event.cc:2: no sentence"),
        ({"python/openaclnn/a.py": f"# {SPDX}\nimport os\n"}, "openaclnn/a.py:2: no sentence"),
    ],
    "check_words": [
        (
            {"src/ascendcl/stream/event.cc": CC + "class EventHelper {};\n"},
            "event.cc:3: EventHelper: 'Helper' says nothing",
        ),
        ({"python/openaclnn/cli.py": PY + "golden_rows = 1\n"}, "cli.py:3: golden_rows: 'golden'"),
        ({"src/kernels/rows/row_utils.h": CC}, "rows/row_utils.h:1: src/kernels/rows/row_utils.h"),
    ],
    "check_comment_openings": [
        (
            {"src/ascendcl/stream/event.cc": CC + f"\n{mark} {opening} a stream.\nint x;\n"},
            f"event.cc:4: a comment begins with '{opening}': begin with a verb",
        )
        for opening in ("Of", "What", "Who", "Whose", "But for", "The same")
        for mark in ("//", "  ///")
    ]
    + [
        (
            {"src/ascendcl/stream/event.cc": CC + "int x;  // Of a stream.\n"},
            "event.cc:3: a comment begins with 'Of'",
        ),
        (
            {"src/ascendcl/stream/event.cc": f"// {SPDX}\n// What a stream is.\n"},
            "event.cc:2: a comment begins with 'What'",
        ),
        ({"scripts/a.py": PY + "# Of a stream.\nx = 1\n"}, "a.py:3: a comment begins with 'Of'"),
        (
            {"scripts/a.py": PY + 'def f():\n    """What a stream is."""\n'},
            "a.py:4: a comment begins with 'What'",
        ),
    ],
    "check_local_paths": [
        ({"docs/a.md": "see /" + "work/x\n"}, "work/' is a path of one machine")
    ],
    "check_last_line": [({"docs/a.md": "no newline"}, "docs/a.md:1: no newline at the end")],
}

ALLOWED = [
    {"scripts/a.py": PY + '# A stream.\n# What follows is more.\nx = "# Of"\n'},
    {"src/ascendcl/stream/event.cc": CC + '// A stream.\n// What follows is more.\nf("// Of");\n'},
    {"src/ascendcl/stream/event.cc": CC + "// Offers whatever it has.\nint x;  // of a stream\n"},
    {"src/ascendcl/stream/event.cc": CC + '// A helper\nauto s = "golden"; /* naive */ int util;\n'},
    {"docs/a.md": "$HOME/home/ https://a.b/home/ my/work/x ../shared/x\n"},
    {"data/text.txt": "no newline"},
]
