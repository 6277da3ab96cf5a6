"""How declump was installed, so that a hint to install more fits."""

from __future__ import annotations

import json
from importlib import metadata
from urllib.parse import unquote, urlparse


def how_to_install(extra: str) -> str:
    """Give the command that adds an extra, from the checkout if declump was installed from one."""
    try:
        record = json.loads(metadata.distribution("declump").read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        record = {}
    url, editable = str(record.get("url", "")), record.get("dir_info", {}).get("editable", False)
    if "dir_info" not in record or not url.startswith("file:"):
        return f'pip install "declump[{extra}]"'
    return f'pip install {"-e " if editable else ""}"{unquote(urlparse(url).path)}[{extra}]"'
