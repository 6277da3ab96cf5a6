"""Follows every link and picture of the built site: files that are missing, and anchors that no page has.

python docs/check_links.py docs/_build/html

Addresses on other hosts are counted, not followed: `sphinx-build -b linkcheck` does that where there is a network.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Links and anchors of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect."""
        for name, value in attributes:
            if name in ("href", "src") and value and tag != "link":
                self.links.append(value)
            if name in ("id", "name") and value:
                self.anchors.add(value)


def broken_links(site: Path) -> tuple[list[str], int, int]:
    """Give broken links as sentences, and the numbers of links within the site and to other hosts."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html")}
    broken, inner, outer = [], 0, 0
    for path, page in pages.items():
        for link in page.links:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                outer += address.scheme in ("http", "https")
                continue
            inner += 1
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            if not target.exists():
                broken.append(f"{path.relative_to(site.resolve())}: there is no {link}")
            elif address.fragment and target in pages and unquote(address.fragment) not in pages[target].anchors:
                broken.append(f"{path.relative_to(site.resolve())}: {link} has no such anchor")
    return broken, inner, outer


if __name__ == "__main__":
    found, inside, outside = broken_links(Path(sys.argv[1]))
    print(*found, f"{inside} links within the site, {len(found)} broken; {outside} to other hosts", sep="\n")
    sys.exit(bool(found))
