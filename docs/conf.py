"""The site: `make docs`. Sphinx reads the pages of this folder; pages of the reference are made from the package."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE)]

import api_pages  # noqa: E402
import notebook_files  # noqa: E402

import metricdp  # noqa: E402

api_pages.write(HERE / "api")
notebook_files.write_pages(HERE / "story_pages")

project = "metricdp"
author = "The metricdp authors"
copyright = "the metricdp authors, Apache-2.0"
version = release = metricdp.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "stories"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # blocks that show TOML of which parts are left out

default_role = "literal"
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "show-inheritance": False}
autodoc_inherit_docstrings = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False  # their types stand in the signature
napoleon_custom_sections = [("Guarantee", "notes_style"), ("References", "notes_style")]

html_theme = "furo"
html_title = "metricdp"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
