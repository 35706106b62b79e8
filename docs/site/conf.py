# SPDX-License-Identifier: Apache-2.0
"""Sphinx: the pages where they lie in the tree, and what scripts/site/generate_site.py makes."""

import re
import sys
from pathlib import Path

from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))

project = "openaclnn"
author = "The openaclnn authors"
copyright = "The openaclnn authors, Apache-2.0"
version = release = re.search(
    r'__version__ = "(.*)"', (ROOT / "python/openaclnn/__init__.py").read_text()
)[1]

extensions = [
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "breaks",
    "formulas",
    "languages",
    "searching",
]
root_doc = "docs/index"
include_patterns = [
    "README*.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CONFORMANCE.md", "CHANGELOG.md", "SECURITY.md",
    "docs/**", "src/opapi/**", "build/docs/pages/**",
]  # fmt: skip
exclude_patterns = [".venv", "build/[!d]*", "build/docs/[!p]*", "**/operators.toml"]

myst_enable_extensions = ["colon_fence", "tasklist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# What a program printed (a block of text) is no command; prompts are not copied with one.
copybutton_selector = "div:not(.highlight-text) > div.highlight > pre"
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

smartquotes_action = "qe"  # two hyphens begin an option and are no dash

html_theme = "furo"
html_math_renderer = "mathml"
html_favicon = "static/icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/language.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_title = f"openaclnn {release}"
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "native"

language = "en"
locale_dirs = ["docs/site/locale"]
gettext_compact = False
gettext_location = False


def lead_to_notebook(app, docname, source):
    """The notebook is the page that scripts/site/generate_site.py makes of it."""
    if docname == "docs/usage":
        page = "](/build/docs/pages/gradients.md)"
        source[0] = source[0].replace("](../examples/gradients.ipynb)", page)


def leave_files(app, doctree):
    """A link to what is no page of the site (a folder, a program) becomes its name."""
    from sphinx import addnodes

    folder = (ROOT / app.env.docname).parent
    for link in list(doctree.findall(addnodes.download_reference)) + list(
        doctree.findall(addnodes.pending_xref)
    ):
        target = link.get("reftarget", "").partition("#")[0]
        path = (ROOT / target if target.startswith("/") else folder / target).resolve()
        if target and path.exists() and path.suffix != ".md":
            words = nodes.inline("", "", *link.children)
            link.replace_self(words)


def setup(app):
    app.connect("source-read", lead_to_notebook)
    app.connect("doctree-read", leave_files)
