"""How declump was installed, so that a hint to install more fits."""

from __future__ import annotations

import json
from importlib import metadata
from urllib.parse import unquote, urlparse


def how_to_install(extra: str) -> str:
    """Give the command that adds an extra, from the checkout if declump was installed from one."""
    flag, place = _find_origin()
    return f'pip install "declump[{extra}]"' if place is None else f'pip install {flag}"{place}[{extra}]"'


def how_to_install_paper() -> str:
    """Give the command that adds the paper's package, from the checkout if declump was installed from one."""
    flag, place = _find_origin()
    return "pip install declump-paper" if place is None else f'pip install {flag}"{place}/paper"'


def _find_origin() -> tuple[str, str | None]:
    """Give the option of an editable installation, and the checkout that declump was installed from, if any."""
    try:
        record = json.loads(metadata.distribution("declump").read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        record = {}
    url = str(record.get("url", ""))
    if "dir_info" not in record or not url.startswith("file:"):
        return "", None
    return "-e " if record["dir_info"].get("editable", False) else "", unquote(urlparse(url).path)
