"""Sphinx configuration of the documentation site: `sphinx-build -W docs site` builds it."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# Sphinx reads its options from the module's names, in the spelling that Sphinx gives them.
project = "undersigned"
project_copyright = "the undersigned authors, under the Apache License 2.0"
release = metadata.version("undersigned")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "site_pages", "site_check"]
root_doc = "index"
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "undersigned"
html_show_sphinx = False
# The search finds names, and the list of all of them is wider than a page.
html_use_index = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"footer_icons": [], "top_of_page_buttons": []}

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
# Docstrings have code in single backticks, as Markdown has. What is a name of the library becomes a link.
default_role = "py:obj"
# Pygments has no lexer for the configuration of some servers, and two packages may have a class of the same name.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
# Without it, a signature has the repr of a whole profile, or the address of a function.
autodoc_preserve_defaults = True
# Without it, a signature lists the 45 reasons.
autodoc_type_aliases = {name: name for name in ("Reason", "Step")}
napoleon_use_ivar = True
napoleon_numpy_docstring = False

# Read the Docs has a network when it builds; a build elsewhere fetches nothing.
if os.environ.get("READTHEDOCS"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "cryptography": ("https://cryptography.io/en/latest", None),
    }
