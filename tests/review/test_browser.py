"""The page of a review, opened and used in a browser: by mouse, by keyboard alone, in two tabs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import pytest
import tifffile

import declump
from support.reviews import ReviewServer, found_smear, open_review
from support.waiting import wait_until

pytest.importorskip("starlette", reason="the page needs the extra review: pip install 'declump[review]'")
pytest.importorskip("selenium", reason="selenium drives the browser: pip install 'declump[test]'")

from selenium.webdriver import ActionChains, Keys


class ReviewPage:
    """A tab with the review."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser = browser
        browser.get("about:blank")
        browser.get(address)
        self.wait("window.declump && declump.begun && declump.page.image && declump.cells.columns.length", "the page")

    def run(self, script: str) -> Any:
        return self.browser.execute_script(f"return {script}")

    def wait(self, condition: str, what: str) -> None:
        wait_until(lambda: self.run(f"!!({condition})"), what, limit=25)

    def press(self, *keys: str) -> None:
        for key in keys:
            ActionChains(self.browser, duration=0).send_keys(key).perform()

    def press_with_shift(self, key: str) -> None:
        ActionChains(self.browser, duration=0).key_down(Keys.SHIFT).send_keys(key).key_up(Keys.SHIFT).perform()

    def evolved(self) -> None:
        """Wait for the outlines of all edits."""
        self.wait("declumpTimes.every((t) => t.revision !== null) && declump.page.busy === 0", "new outlines")

    @property
    def cells(self) -> list[int]:
        return list(self.run("[...declump.cells.shapes.keys()]"))

    def place_of(self, cell: int) -> tuple[int, int]:
        """Where the seed of a cell is on the screen."""
        script = (
            f"(() => {{ const s = declump.cells.shapes.get({cell}), p = declump.view.toScreen(...s.seed);"
            " const r = document.getElementById('view').getBoundingClientRect();"
            " return [p.x + r.left, p.y + r.top]; })()"
        )
        column, row = self.run(script)
        return round(column), round(row)

    def drag(self, *points: tuple[int, int]) -> None:
        chain = ActionChains(self.browser, duration=20)
        pointer = chain.w3c_actions.pointer_action
        pointer.move_to_location(*points[0])
        pointer.pointer_down()
        for point in points[1:]:
            pointer.move_to_location(*point)
        pointer.pointer_up()
        chain.perform()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewServer]:
    folder = tmp_path_factory.mktemp("browser")
    image, _ = found_smear()
    (folder / "smears").mkdir()
    iio.imwrite(folder / "smears" / "one.png", image)
    iio.imwrite(folder / "smears" / "two.png", image[::-1])
    with open_review(folder / "smears", "-o", folder / "out") as running:
        running.log_in()
        running.wait_for_images()
        yield running


@pytest.fixture
def page(browser: Any, server: ReviewServer) -> Iterator[ReviewPage]:
    browser.get_log("browser")
    opened = ReviewPage(browser, server.address)
    yield opened
    while not opened.run("document.getElementById('undo').disabled"):
        before = opened.run("declump.page.facts.revision")
        opened.run("document.getElementById('undo').click()")
        opened.wait(f"declump.page.facts.revision > {before}", "an undo")
    opened.evolved()
    said = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert [entry for entry in said if "409" not in entry["message"]] == []


def test_the_token_leaves_the_address_and_images_are_listed(page: ReviewPage) -> None:
    assert "token" not in page.browser.current_url
    names = page.run("[...document.querySelectorAll('#image-list .name')].map((e) => e.textContent)")
    assert sorted(names) == ["one", "two"]
    page.wait("[...document.querySelectorAll('#image-list img')].every((i) => i.naturalWidth > 0)", "thumbnails")
    order = page.run("declump.images.sorted.map((i) => i.confidence)")
    assert order == sorted(order)


def test_outlines_are_drawn_over_the_image(page: ReviewPage) -> None:
    script = (
        "(() => { const c = document.getElementById('overlay');"
        " const seen = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        " return seen.filter((v, k) => k % 4 === 3 && v).length; })()"
    )
    drawn = page.run(script)
    page.press("h")
    page.run("document.getElementById('show-nuclei').click()")
    wait_until(lambda: page.run(script) < drawn / 3, "outlines that are hidden", limit=30)
    page.press("h")
    page.run("document.getElementById('show-nuclei').click()")
    wait_until(lambda: page.run(script) == drawn, "outlines that are back", limit=30)


def test_deleting_adding_and_undoing_by_mouse(page: ReviewPage) -> None:
    cells = page.cells
    place = page.place_of(cells[0])
    page.drag(place, place)
    page.wait(f"declump.view.chosen === {cells[0]}", "a chosen cell")
    page.run("document.querySelector('[data-name=delete]').click()")
    page.evolved()
    assert cells[0] not in page.cells
    page.run("document.querySelector('[data-name=add]').click()")
    page.drag(place, place)
    page.wait(f"declump.cells.shapes.size === {len(cells)}", "a new cell")
    page.evolved()
    for _ in range(2):
        page.press("u")
        page.evolved()
    page.wait(f"declump.cells.shapes.has({cells[0]})", "the first cell again")
    assert sorted(page.cells) == sorted(cells)


def test_an_outline_is_dragged_and_the_clump_painted(page: ReviewPage) -> None:
    cell = page.cells[0]
    column, row = page.place_of(cell)
    page.drag((column, row), (column, row))
    page.press("d")
    before = page.run(f"[...declump.cells.shapes.get({cell}).radii]")
    page.drag((column + 20, row), (column + 40, row), (column + 70, row))
    page.evolved()
    after = page.run(f"[...declump.cells.shapes.get({cell}).radii]")
    assert before != after
    page.press("b")
    left, width = page.run("[(r) => [r.left, r.width]][0](document.getElementById('view').getBoundingClientRect())")
    middle = int(left + width / 2)
    page.drag((column, row), (middle, row), (2 * middle - column, row))  # to the other side, over background
    page.evolved()
    assert page.run("declump.page.facts.undo") == 2
    page.wait("declumpTimes.every((t) => t.final !== null)", "outlines on the screen")
    steps = page.run("declumpTimes.map((t) => [t.first - t.sent, t.final - t.sent])")
    assert all(0 < first <= final for first, final in steps)


def test_keyboard_alone(page: ReviewPage) -> None:
    """Choose the most doubtful cell, accept it, label it, pull it, add a cell, save: without a pointer."""
    page.press(".")
    cell = page.run("declump.view.chosen")
    least = page.run("Math.min(...declump.cells.shapes.keys().map((n) => declump.cells.confidence(n)))")
    assert page.run(f"declump.cells.confidence({cell})") == least
    page.press("y")
    page.wait(f"declump.cells.shapes.get({cell}).verdict === 'accepted'", "a verdict")
    page.press("t")
    page.press(*"LSIL", Keys.ENTER)
    page.wait(f"declump.cells.shapes.get({cell}).label === 'LSIL'", "a label")
    page.press("d", *[Keys.ARROW_RIGHT] * 12, Keys.ENTER)
    page.wait("declump.page.facts.undo === 3", "a pulled outline")
    page.evolved()
    page.press("]", "x")
    page.wait("declump.page.facts.undo === 4", "a deleted cell")
    page.press("u")
    page.wait("declump.page.facts.undo === 3", "an undo")
    page.press_with_shift("u")
    page.wait("declump.page.facts.undo === 4", "a redo")
    page.press("e")
    page.press_with_shift(Keys.ARROW_LEFT)
    page.press(Keys.ENTER)
    page.press(Keys.ESCAPE, "r")
    page.wait("declump.page.facts.finished", "a reviewed image")
    page.evolved()
    page.press("s")
    page.wait("declump.page.facts.saved === declump.page.facts.edits", "saved results")
    listed = "declump.images.images.get(declump.page.id)"
    page.wait(f"{listed}.cells === {len(page.cells)} && !{listed}.unsaved", "the list to tell of the saved cells")
    page.press("g")
    page.wait("!document.getElementById('grid').hidden", "the grid")
    assert page.run("document.querySelectorAll('#grid button').length") == len(page.cells)
    page.press(Keys.ESCAPE)
    first = page.run("declump.page.id")
    page.press(Keys.PAGE_DOWN)
    page.wait(f"declump.page.id !== '{first}' && declump.page.image", "the next image")
    page.press(Keys.PAGE_UP)
    page.wait(f"declump.page.id === '{first}' && declump.page.image", "the first image")


def test_two_tabs_show_the_same(page: ReviewPage, server: ReviewServer) -> None:
    browser, first = page.browser, page.browser.current_window_handle
    cells, image = page.cells, page.run("declump.page.id")
    browser.switch_to.new_window("tab")
    other = ReviewPage(browser, server.address)
    try:
        other.run(f"declump.images.list.querySelector('[data-id=\"{image}\"]').click()")
        other.wait(f"declump.page.id === '{image}' && declump.page.image", "the same image")
        server.edit(image, {"edit": "delete cell", "cell": cells[0]})
        other.wait(f"!declump.cells.shapes.has({cells[0]})", "an edit from elsewhere")
        server.edit(image, {"edit": "label cell", "cell": cells[1], "label": "both"})
        other.wait(f"declump.cells.shapes.get({cells[1]}).label === 'both'", "a label from elsewhere")
        browser.close()
    finally:
        browser.switch_to.window(first)
    page.wait(f"!declump.cells.shapes.has({cells[0]})", "the edit in the first tab, too")
    assert page.run(f"declump.cells.shapes.get({cells[1]}).label") == "both"


def test_the_table_is_sorted_filtered_and_linked(page: ReviewPage) -> None:
    order = page.run("declump.table.order")
    values = [page.run(f"declump.cells.confidence({n})") for n in order]
    assert values == sorted(values)
    page.run("document.querySelector('#rows [data-n]').click()")
    assert page.run("declump.view.chosen") == order[0]
    box = page.browser.find_element("id", "filter")
    box.send_keys(f"confidence > {values[2]}")
    page.wait(f"declump.table.order.length === {len([v for v in values if v > values[2]])}", "filtered rows")
    box.clear()
    box.send_keys("x", Keys.BACKSPACE)
    page.wait(f"declump.table.order.length === {len(order)}", "all rows")


@pytest.mark.parametrize(("width", "height"), [(390, 800), (800, 600), (1200, 800)])
def test_all_controls_are_in_reach_beside_a_legend(page: ReviewPage, width: int, height: int) -> None:
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    choose = "const s = document.getElementById('colour'); s.value = '{}'; s.dispatchEvent(new Event('change'));"
    page.browser.execute_script(choose.format("confidence"))
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        page.wait(f"innerWidth === {width}", "a narrow window")
        outside = (
            "[...document.querySelectorAll('#foot input, #foot select, #ramp, header button')].filter((e) => {"
            " const r = e.getBoundingClientRect();"
            " return r.left < 0 || r.right > innerWidth || r.bottom > innerHeight; })"
            ".map((e) => e.id)"
        )
        page.wait(f"!{outside}.length", "controls within the window")
        assert page.run("document.getElementById('view').clientHeight") > 200
        assert page.run("document.getElementById('view').clientWidth") > 300
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.browser.execute_script(choose.format(""))


def test_an_edit_that_cannot_be_made_says_why(page: ReviewPage) -> None:
    page.run("document.querySelector('[data-name=delete]').click()")
    page.wait("document.getElementById('message').textContent.includes('choose a cell')", "a hint")


def test_saved_results_are_what_other_programs_read(page: ReviewPage, server: ReviewServer) -> None:
    record = json.loads((server.out / "one" / "summary.json").read_text(encoding="utf-8"))
    assert len(declump.io.read(server.out / "one")) == record["image"]["cells"]
    assert Path(declump.report.write_report(server.out)).is_file()


def test_a_slide_is_shown_by_windows_and_corrected_in_one_of_its_clumps(browser: Any, slide_results: Path) -> None:
    browser.get_log("browser")
    with open_review(slide_results) as running:
        page = ReviewPage(browser, running.address)
        page.wait("declump.cells.outlined && declump.cells.shapes.size === 14", "all cells")
        assert page.run("document.getElementById('in-view').textContent") == "14 of 14 cells here"
        page.press(".")
        page.wait("declump.view.chosen && !declump.view.osd.isAnimating?.()", "the most doubtful cell")
        cell = page.run("declump.view.chosen")
        assert page.run(f"declump.cells.confidence({cell})") == page.run(
            "Math.min(...declump.cells.values.keys().map((n) => declump.cells.confidence(n)))"
        )
        before = page.run(
            "Object.fromEntries(declump.cells.shapes.values().map((s) => [s.n, [s.clump, [...s.radii].join()]]))"
        )
        page.press("d", *[Keys.ARROW_DOWN] * 15, Keys.ENTER)
        page.wait("declump.page.facts.undo === 1 && declump.page.busy === 0", "a pulled outline")
        after = page.run(
            "Object.fromEntries(declump.cells.shapes.values().map((s) => [s.n, [s.clump, [...s.radii].join()]]))"
        )
        changed = {number for number in after if after[number] != before.get(number)}
        assert str(cell) in changed and {after[number][0] for number in changed} == {after[str(cell)][0]}
        page.press("y", "x")
        page.wait(
            f"declump.page.facts.undo === 3 && declump.page.busy === 0 && !declump.cells.shapes.has({cell})",
            "a deleted cell",
        )
        page.press("0")
        page.wait("declump.cells.shapes.size === 13", "the cells that are left, from afar")
        page.press("u")
        page.wait(
            f"declump.cells.shapes.get({cell})?.verdict === 'accepted' && declump.page.busy === 0", "the cell again"
        )
        page.press("g")
        page.wait("document.querySelectorAll('#grid button').length === 14", "the grid")
        page.press("g", "s")
        page.wait("declump.page.facts.saved === declump.page.facts.edits", "saved results")
        said = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
        browser.get("about:blank")
    assert said == []
    assert (slide_results / "review.csv").read_text().splitlines()[1].endswith(",accepted,")


def test_a_slide_is_seen_while_it_is_segmented(browser: Any, tmp_path: Path) -> None:
    image, _ = found_smear()
    with tifffile.TiffWriter(tmp_path / "smear.ome.tif") as file:
        file.write(image, subifds=1, tile=(128, 128), photometric="rgb")
        file.write(image[::2, ::2], subfiletype=1, tile=(128, 128), photometric="rgb")
    with open_review(tmp_path / "smear.ome.tif") as running:
        browser.get("about:blank")
        browser.get(running.address)
        shown = "return !!(window.declump && declump.view.ready && !declump.page.image)"
        wait_until(lambda: browser.execute_script(shown), "the slide without its cells", limit=25)
        browser.get("about:blank")
