"""Writes src/declump/help/errors.html, the help page that ships with the package, from docs/errors.md.

python docs/help_page.py
"""

from __future__ import annotations

import re
from pathlib import Path

from markdown_it import MarkdownIt

DOCS = Path(__file__).parent
PAGE = DOCS.parent / "src" / "declump" / "help" / "errors.html"
FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>declump: when something goes wrong</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.6 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
pre {{ overflow-x: auto; padding: .8rem; background: #8882; border-radius: .4rem; }}
h2:target {{ background: #fc06; outline: .4rem solid #fc06; border-radius: .1rem; }}
</style>
</head>
<body>
{body}</body>
</html>
"""


def help_page() -> str:
    """Text of the page: labels become anchors, links to other pages are taken out, as these do not ship."""
    text = (DOCS / "errors.md").read_text(encoding="utf-8")
    text = re.sub(r"\[([^\]]+)\]\([\w-]+\.md\)", r"\1", text)
    body = MarkdownIt().render(text)
    body = re.sub(r"<p>\(([\w-]+)\)=</p>\s*<h2>", r'<h2 id="\1">', body)
    return FRAME.format(body=body)


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(help_page(), encoding="utf-8")
