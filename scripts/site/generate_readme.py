# SPDX-License-Identifier: Apache-2.0
"""Writes the table of operators of README.md and its translation from their Python modules.

python3 scripts/site/generate_readme.py [--check]: needs .venv, no library. --check changes nothing and
fails where the table is not current.
"""

import sys
from pathlib import Path

from openaclnn.operators import VERSIONS

ROOT = Path(__file__).resolve().parents[2]
HEADS = {
    "README.md": "| gradient | forward |\n|---|---|\n",
    "README.zh-CN.md": "| 梯度 | 前向 |\n|---|---|\n",
}
ALSO = {"README.md": ", and its {}", "README.zh-CN.md": " 及其 {}"}
ROOMS = ROOT / "src/opapi"
BEGIN = "<!-- Written by scripts/site/generate_readme.py: from here -->\n"
END = "<!-- to here -->\n"


def title(readme):
    """The title that a page gives itself."""
    return readme.read_text().partition("\n")[0].removeprefix("# ")


def pages():
    """The rooms' pages by their titles, which are the names of the C functions without aclnn."""
    return {title(each): each for each in sorted(ROOMS.glob("*/*/README.md"))}


def cell(versions, page, language):
    first, *later = (each.function.api.removeprefix("aclnn") for each in versions)
    also = "".join(ALSO[language].format(name.removeprefix(first)) for name in later)
    return f"[{first}]({page.relative_to(ROOT)}){also}"


def table(language):
    """A row for each family, in the order of the operators' names."""
    found, rows = pages(), {}
    for versions in VERSIONS.values():
        name = versions[0].function.api.removeprefix("aclnn")
        if name not in found:
            sys.exit(f"generate_readme: no {ROOMS.name}/*/*/README.md has the title {name}")
        page = found.pop(name)
        column = 0 if versions[0].derivative is not None else 1
        rows.setdefault(page.parents[1], ["", ""])[column] = cell(versions, page, language)
    for name, page in found.items():
        sys.exit(
            f"generate_readme: {page} is of {name}, which has no module in openaclnn.operators"
        )
    return "".join(f"| {' | '.join(row)} |\n" for row in sorted(rows.values(), key="".join))


def main(arguments):
    for name, head in HEADS.items():
        page = ROOT / name
        text = page.read_text("utf-8")
        before, begin, rest = text.partition(BEGIN)
        _, end, after = rest.partition(END)
        if not begin or not end:
            lacking = (END if begin else BEGIN).strip()
            sys.exit(f"generate_readme: {name} lacks the line {lacking}")
        wanted = f"{before}{BEGIN}\n{head}{table(name)}\n{END}{after}"
        if "--check" not in arguments:
            page.write_text(wanted, "utf-8")
        elif text != wanted:
            sys.exit(f"generate_readme: {name} is not current, run scripts/site/generate_readme.py")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
