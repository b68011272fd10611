"""Drives a report's page in Chromium; see `cargo xtask browser-test`."""

import os
import pathlib
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

MOST_BYTES = 5_000_000
# How much of a scoreboard its picture shows.
BOARD_PIXELS = 1400
VIEWS = [("dark", 1280, 900, "dark"), ("light", 1280, 900, "light"), ("phone", 390, 844, "dark")]


def main(page_path: pathlib.Path, images: pathlib.Path | None) -> None:
    assert page_path.stat().st_size < MOST_BYTES, f"{page_path} has {page_path.stat().st_size} bytes"
    url = page_path.resolve().as_uri()
    with sync_playwright() as playwright:
        # The sandbox cannot be had by root in a container; the page is our own.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=arguments)
        for name, width, height, scheme in VIEWS:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                permissions=["clipboard-read", "clipboard-write"],
            )
            page = context.new_page()
            complaints: list[str] = []
            page.on("console", lambda message: complaints.append(f"console: {message.text}"))
            page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
            page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
            page.on("request", lambda request: request.url == url or complaints.append(f"request: {request.url}"))
            page.goto(url)
            fits = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert fits, f"{name}: the page is wider than the screen"
            if images:
                images.mkdir(parents=True, exist_ok=True)
                page.screenshot(path=images / f"report-{name}.png")
                board = page.locator("#scoreboard").bounding_box()
                top = {**board, "height": min(board["height"], BOARD_PIXELS)}
                page.screenshot(path=images / f"scoreboard-{name}.png", full_page=True, clip=top)
            drive(page, images and images / f"finding-{name}.png")
            accessible(page, name)
            assert not complaints, f"{name}: {complaints}"
            context.close()
        browser.close()
    print(f"passed: {len(VIEWS)} views, {page_path.stat().st_size} bytes, no complaint, no request")


def accessible(page, name) -> None:
    """What axe says of the page with its findings open: nothing serious or moderate."""
    page.evaluate("for (const finding of [...document.querySelectorAll('.finding')].slice(0, 20)) finding.open = true")
    found = Axe().run(page).response["violations"]
    bad = [f"{v['id']} ({v['impact']}): {v['nodes'][0]['html'][:200]}" for v in found if v["impact"] != "minor"]
    assert not bad, f"{name}: axe: {bad}"


def drive(page, image) -> None:
    findings = page.locator(".finding")
    total = findings.count()
    assert total > 0, "a page without findings tests nothing"
    shown = lambda: page.locator(".finding:visible").count()
    assert shown() == total

    # The filter, from the keyboard: by the class of the last finding, and by words of its title.
    last = findings.last
    title, of_class = last.locator(".title").inner_text(), last.get_attribute("data-class")
    page.keyboard.press("/")
    expect(page.locator("#filter-text")).to_be_focused()
    page.keyboard.type(title)
    assert 0 < shown() < max(total, 2), f"the filter shows {shown()} of {total}"
    all_of_them = page.locator("#shown").get_attribute("data-total")
    matching = shown() + page.locator("#matches .brief").count()
    expect(page.locator("#shown")).to_have_text(f"{matching:,} of {all_of_them} shown")
    page.keyboard.press("Escape")
    assert shown() == total
    page.locator("#filter-class").select_option(of_class)
    assert all(f.get_attribute("data-class") == of_class for f in page.locator(".finding:visible").all())
    page.locator("#filter-text").fill("nothing is like this")
    assert shown() == 0 and page.locator("#nothing").is_visible()
    page.locator("#clear").click()
    for status in ["new", "gone", "known"]:
        page.locator("#filter-status").select_option(status)
        assert shown() == page.locator(f".finding[data-status={status}]").count()
    page.locator("#filter-status").select_option("")
    subject = page.locator("#filter-subject option").nth(1).inner_text()
    page.locator("#filter-subject").select_option(subject)
    assert shown() <= total
    page.locator("#filter-subject").select_option("")

    # A finding, opened by keyboard, and its command, copied.
    first = findings.first
    first.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert first.evaluate("finding => finding.open")
    command = first.locator(".copy").last  # before it, where there are, the commands that need no ptxsmith
    command.click()
    expect(page.locator("#said")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == command.get_attribute("data-copy") and copied.startswith("ptxsmith ")
    if image:
        # One whose answers show byte by byte makes the better picture.
        with_bytes = page.locator(".finding:has(table.bytes)")
        pictured = with_bytes.first if with_bytes.count() else first
        pictured.evaluate("finding => { finding.open = true; finding.scrollIntoView(); }")
        expect(page.locator("#said")).to_have_text("", timeout=5_000)
        page.wait_for_timeout(700)  # scrolling is smooth
        page.screenshot(path=image)
        pictured.evaluate("finding => { finding.open = false; }")

    # The scoreboard, by keyboard: one stop, arrows, Enter, and from there to the finding.
    cell = page.locator("#board button[tabindex='0']")
    if cell.count():
        cell.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        expect(cell).to_be_focused()
    # A large page has cells whose finding is in report.json only.
    on_page = "button => document.getElementById(button.dataset.finding) && button.offsetParent"
    number = page.evaluate(f"[...document.querySelectorAll('#board button[data-finding]')].findIndex({on_page})")
    if number >= 0:
        target = page.locator("#board button[data-finding]").nth(number)
        target.focus()
        page.keyboard.press("Enter")
        dialog = page.locator("#cell")
        expect(dialog).to_be_visible()
        assert ": " in page.locator("#cell-title").inner_text()
        program = page.locator("#cell-program").inner_text()
        page.locator("#cell-link").click()
        expect(dialog).to_be_hidden()
        opened = page.locator("#" + target.get_attribute("data-finding"))
        assert opened.evaluate("finding => finding.open")
        assert opened.locator(".program").inner_text().strip() == program.strip()

    # The other theme, whichever this one is.
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.locator("#theme").click()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None)
