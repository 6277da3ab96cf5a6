"""The documentation site: `make docs`. Sphinx, MyST, furo, numpydoc and sphinx-gallery; warnings are errors."""

from __future__ import annotations

import inspect
import os
import sys
from importlib import import_module
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
os.environ.setdefault("DECLUMP_THREADS", "1")

from reference import MODULES  # noqa: E402

import declump  # noqa: E402

project = "declump"
author = "The declump developers"
project_copyright = author
version = release = declump.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx_design", "sphinx_gallery.gen_gallery"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 4
exclude_patterns = ["_build", "generated/gallery/*.ipynb", "examples/README.txt"]
nitpicky = True
suppress_warnings = ["config.cache"]

autodoc_typehints = "none"  # the docstrings tell types in words
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["generated/gallery"],
    "filename_pattern": r"/plot_",
    "image_scrapers": ("matplotlib",),
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "show_signature": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "nested_sections": False,
}

html_theme = "furo"
html_title = "declump"
html_static_path = ["_static", "pictures/moving.svg"]
html_css_files = ["site.css"]
html_extra_path: list[str] = []
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#0b6e75", "color-brand-content": "#0b6e75"},
    "dark_css_variables": {"color-brand-primary": "#5fd0c5", "color-brand-content": "#5fd0c5"},
}


def write_api_pages() -> None:
    """Write a page for each public module: what stands in its ``__all__``, and nothing else."""
    folder = DOCS / "generated" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    pages, seen = [], {}
    for name in ("", *MODULES):
        full = f"declump.{name}".rstrip(".")
        module = import_module(full)
        lines = [f"# {full}", "", "```{eval-rst}", f".. module:: {full}", "", "```", ""]
        lines += [
            inspect.getdoc(module).split("\n\n")[0].replace("``", "`") if name else "The functions that most need.",
            "",
        ]
        for public in sorted(module.__all__, key=str.lower):
            thing = getattr(module, public)
            if inspect.ismodule(thing):
                continue
            if id(thing) in seen and callable(thing):
                lines += [f"`{full}.{public}` is {{py:obj}}`{seen[id(thing)]}`.", ""]
                continue
            seen[id(thing)] = f"{full}.{public}"
            lines += ["```{eval-rst}", *directive(full, public, thing), "```", ""]
        path = folder / f"{full}.md"
        text = "\n".join(lines)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        pages.append(full)
    index = "# Public names\n\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(pages) + "\n```\n"
    if not (folder / "index.md").exists() or (folder / "index.md").read_text(encoding="utf-8") != index:
        (folder / "index.md").write_text(index, encoding="utf-8")


def directive(module: str, name: str, thing: object) -> list[str]:
    """Lines that document one public name."""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return [f".. autoexception:: {module}.{name}"]
    if inspect.isclass(thing):
        return [f".. autoclass:: {module}.{name}", "   :members:"]
    if callable(thing):
        return [f".. autofunction:: {module}.{name}"]
    return [f".. autodata:: {module}.{name}", "   :no-value:"]


write_api_pages()
