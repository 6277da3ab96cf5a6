"""The documentation site: `make docs`. Sphinx, MyST, furo, numpydoc and sphinx-gallery; warnings are errors."""

from __future__ import annotations

import inspect
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

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
# Parts that benchmarks write begin with headings of the third level.
suppress_warnings = ["config.cache", "myst.header"]

autodoc_typehints = "none"  # the docstrings tell types in words
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["generated/gallery"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "ignore_repr_types": r"matplotlib\.",
    "image_scrapers": ("matplotlib",),
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
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
                lines += inner_module(thing) if name else []
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


def inner_module(module: Any) -> list[str]:
    """Lines that document a public module inside another: its functions that read."""
    read = [name for name in vars(module) if name.startswith("read")]
    own = [name for name in read if getattr(module, name).__module__ == module.__name__]
    lines = [f"## {module.__name__}", "", "```{eval-rst}", f".. module:: {module.__name__}", ""]
    for name in own:
        lines += [*directive(module.__name__, name, getattr(module, name)), ""]
    return [*lines, "```", ""]


def directive(module: str, name: str, thing: object) -> list[str]:
    """Lines that document one public name."""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return [f".. autoexception:: {module}.{name}"]
    if inspect.isclass(thing):
        return [f".. autoclass:: {module}.{name}", "   :members:"]
    if callable(thing):
        return [f".. autofunction:: {module}.{name}"]
    return [f".. autodata:: {module}.{name}", "   :no-value:"]


def resolve_inner_name(_app: Sphinx, _env: object, node: nodes.Element, content: nodes.Element) -> nodes.Element | None:
    """Leave a docstring's reference to an inner name of declump without a link, if there is such a name at all."""
    target = str(node.get("reftarget", ""))
    parts = target.split(".")
    if parts[0] != "declump":
        return None
    for length in range(len(parts), 0, -1):
        try:
            thing: Any = import_module(".".join(parts[:length]))
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("declump"):
                return content  # of an extra that the pages do without
            continue
        for part in parts[length:]:
            thing = getattr(thing, part, None) or getattr(thing, "__dataclass_fields__", {}).get(part)
        return content if thing is not None else None
    return None


def setup(app: Sphinx) -> None:
    """Write the pages of public names, and resolve references to inner ones."""
    write_api_pages()
    app.connect("missing-reference", resolve_inner_name)
