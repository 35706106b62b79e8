# SPDX-License-Identifier: Apache-2.0
"""A notebook as a page of the documentation, with what its cells leave when they are run."""

import base64
import posixpath
import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

_SHARP = '%config InlineBackend.figure_formats = ["retina"]'
_BLOCK = re.compile(r"^\$\$\n(.*?)^\$\$$", re.M | re.S)
_INLINE = re.compile(r"\$([^$\n]+)\$")
_LINK = re.compile(r"\]\((?!\w+:)([^)]+)\)")


def run(path: Path):
    """The notebook with its outputs; the folder of the notebook is the current one."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_SHARP))
    place = {"metadata": {"path": str(path.parent)}}
    quiet = ["--log-level=ERROR"]  # it warns of its sockets, which are of this machine alone
    NotebookClient(notebook, timeout=120, resources=place, extra_arguments=quiet).execute()
    del notebook.cells[0]
    return notebook


def _from_root(folder: str, link: str) -> str:
    return f"]({posixpath.normpath(posixpath.join('/', folder, link))})"


def _prose(text: str, folder: str) -> str:
    """Markdown of MyST: formulas as its directive and role, links from the root of the tree."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    for i in range(0, len(parts), 2):
        blocks = _BLOCK.sub(r"```{math}\n\1```", parts[i])
        inline = _INLINE.sub(r"{math}`\1`", blocks)
        parts[i] = _LINK.sub(lambda link: _from_root(folder, link[1]), inline)
    return "".join(parts) + "\n"


def _shown(output, file: Path, title: str) -> str:
    """Text as it is; a picture as a file, named in words by the section that it is in."""
    if output.output_type == "stream":
        return f"```text\n{output.text}```\n"
    file.write_bytes(base64.b64decode(output.data["image/png"]))
    return f"![{title}]({file.name})\n"


def page(notebook, source: Path, root: Path, folder: Path) -> str:
    """The notebook that lies at `source` as Markdown; its pictures are files in `folder`."""
    name, parts, title, count = source.stem, [], "", 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            title = (re.findall(r"^#+ (.*)", cell.source, re.M) or [title])[-1]
            parts.append(_prose(cell.source, source.parent.relative_to(root).as_posix()))
            continue
        parts.append(f"```python\n{cell.source}\n```\n")
        for output in cell.outputs:
            count += output.output_type != "stream"
            parts.append(_shown(output, folder / f"{name}_{count}.png", title))
    return "\n".join(parts)
