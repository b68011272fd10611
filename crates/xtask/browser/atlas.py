"""Looks at the pages of an atlas in Chromium; see `cargo xtask browser-test`.

Every link of the atlas to itself leads to a page and a place that are there, every page has its JSON, and of each kind of page
the largest is opened at two widths, light and dark: nothing is wider than the screen, nothing complains, and axe finds nothing
serious or moderate.
"""

import html.parser
import json
import os
import pathlib
import sys
import urllib.parse

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

MOST_BYTES = 5_000_000
VIEWS = [(f"{scheme}-{width}", width, height, scheme) for scheme in ["light", "dark"] for width, height in [(1280, 900), (390, 844)]]


class Page(html.parser.HTMLParser):
    """The ids and the links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name == "href" and tag in ("a", "link"):
                self.links.append(value)


def whole(atlas: pathlib.Path) -> list[pathlib.Path]:
    """The pages, after all that can be seen without a browser."""
    pages = sorted(atlas.rglob("*.html"))
    size = sum(page.stat().st_size for page in pages)
    assert size < MOST_BYTES, f"the pages have {size} bytes"
    read = {page: Page(page.read_text(encoding="utf-8")) for page in pages}
    links = 0
    for page, seen in read.items():
        doubled = {name for name in seen.ids if seen.ids.count(name) > 1} if len(seen.ids) < 2000 else set()
        assert not doubled, f"{page}: two places named {doubled}"
        assert json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))["schema"] == "ptxsmith.atlas/1", page
        for link in seen.links:
            if link.startswith("https://"):
                continue
            path, _, place = link.partition("#")
            target = (page.parent / path).resolve() if path else page.resolve()
            assert target.is_file(), f"{page}: {link} leads nowhere"
            if place and target.suffix == ".html":
                assert urllib.parse.unquote(place) in read[atlas / target.relative_to(atlas.resolve())].ids, f"{page}: {link} is no place"
            links += 1
    assert links > 100, f"{links} links test nothing"
    print(f"{len(pages)} pages, {size} bytes, {links} links")
    return pages


def main(atlas: pathlib.Path, images: pathlib.Path | None) -> None:
    pages = whole(atlas)
    # Of each kind the largest.
    kinds = {}
    for page in sorted(pages, key=lambda page: page.stat().st_size):
        kinds[page.parent.name if page.parent != atlas else "index"] = page
    assert len(kinds) == 4, f"only {sorted(kinds)} are there"
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=arguments)
        for view, width, height, scheme in VIEWS:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            for kind, path in kinds.items():
                page = context.new_page()
                complaints: list[str] = []
                page.on("console", lambda message: complaints.append(f"console: {message.text}"))
                page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
                page.on("request", lambda request: request.url.startswith("file:") or complaints.append(f"request: {request.url}"))
                page.goto(path.resolve().as_uri())
                styled = page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth")
                assert styled == "1180px", f"{kind}, {view}: the style is not there"
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{kind}, {view}: wider than the screen"
                if images:
                    images.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=images / f"atlas-{kind}-{view}.png")
                # axe would read the style again, which the pages forbid.
                found = Axe().run(page, options={"preload": False}).response["violations"]
                bad = [f"{v['id']} ({v['impact']}): {v['nodes'][0]['html'][:200]}" for v in found if v["impact"] != "minor"]
                assert not bad, f"{kind}, {view}: axe: {bad}"
                assert not complaints, f"{kind}, {view}: {complaints}"
                page.close()
            # From the board to a cell, and the address is that of the cell.
            page = context.new_page()
            page.goto((atlas / "index.html").resolve().as_uri())
            cell = page.locator(".matrix td a").first
            address = cell.get_attribute("href")
            cell.click()
            assert page.url.endswith(address), f"{page.url} is not {address}"
            assert page.locator(":target").count() == 1, f"{address}: no such place"
            context.close()
        browser.close()
    print(f"passed: {len(kinds)} kinds of pages, {len(VIEWS)} views, no complaint, no request elsewhere")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None)
