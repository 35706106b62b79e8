# SPDX-License-Identifier: Apache-2.0
"""Tests of notebook_page.py."""

import base64
from pathlib import Path

import notebook_page
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, writes

TEXT = """\
## Sums

Of $n$ terms, see [README](../README.md) and [elsewhere](https://example.org):

$$
s = a + b
$$

```c
  f("$a$ [b](c)");
```"""
WANTED = """\
## Sums

Of {math}`n` terms, see [README](/README.md) and [elsewhere](https://example.org):

```{math}
s = a + b
```

```c
  f("$a$ [b](c)");
```

```python
1 + 1
```

```text
2
```

![Sums](n_1.png)
"""


def test_prose_code_and_what_it_left(tmp_path):
    picture = base64.b64encode(b"a picture").decode()
    outputs = [
        new_output("stream", name="stdout", text="2\n"),
        new_output("display_data", data={"image/png": picture, "text/plain": "<Figure>"}),
    ]
    notebook = new_notebook(cells=[new_markdown_cell(TEXT), new_code_cell("1 + 1", outputs=outputs)])
    source = Path("/tree/examples/n.ipynb")
    assert notebook_page.page(notebook, source, Path("/tree"), tmp_path) == WANTED
    assert (tmp_path / "n_1.png").read_bytes() == b"a picture"


def test_cells_are_run_in_the_folder_of_the_notebook(tmp_path):
    (tmp_path / "word.txt").write_text("found")
    cells = [new_code_cell("word = open('word.txt').read()"), new_code_cell("print(word)")]
    path = tmp_path / "n.ipynb"
    path.write_text(writes(new_notebook(cells=cells)))
    ran = notebook_page.run(path)
    assert [each.source for each in ran.cells] == [each.source for each in cells]
    assert [each.text for each in ran.cells[1].outputs] == ["found\n"]
