"""The report, opened and used in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
import pytest

from declump.report import write_report
from support.report_samples import smear, write_results, write_run
from support.waiting import wait_until

pytest.importorskip("selenium", reason="selenium drives the browser: pip install 'declump[test]'")

from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.select import Select


class Page:
    """A report in the browser."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self.browser = browser
        browser.get_log("browser")
        browser.get(write_report(folder).as_uri())
        wait_until(lambda: browser.execute_script("return document.readyState") == "complete", "the whole page")

    def one(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return list(self.browser.find_elements("css selector", selector))

    def column(self, name: str) -> list[str]:
        """What stands in a column of the table, from its first row to its last."""
        heads = [head.text for head in self.all("#cells thead th")]
        texts = "return [...document.querySelectorAll(`#cells td:nth-child(${arguments[0]})`)].map((e) => e.innerText)"
        return list(self.browser.execute_script(texts, heads.index(name) + 1))

    def sort(self, name: str) -> str:
        """Click on the head of a column; give its order after that."""
        next(head for head in self.all("#cells thead th button") if head.text.startswith(name)).click()
        return str(self.one("#cells th:not([aria-sort=none])").get_attribute("aria-sort"))

    def hover(self, element: Any, x: int = 0, y: int = 0) -> None:
        ActionChains(self.browser, duration=0).move_to_element_with_offset(element, x, y).perform()

    def lit(self, what: str) -> list[int]:
        """Numbers of the cells that are lit up, among the rows ("tr") or the outlines ("g")."""
        return [int(element.get_attribute("data-cell")) for element in self.all(f"{what}.lit")]

    def style(self, selector: str, name: str) -> str:
        return str(self.one(selector).value_of_css_property(name))

    def press(self, key: str) -> None:
        ActionChains(self.browser, duration=0).send_keys(key).perform()


@pytest.fixture
def page(browser: Any, results: Path) -> Any:
    opened = Page(browser, results)
    yield opened
    assert browser.get_log("browser") == []


def test_sorting_by_mouse(page: Page) -> None:
    assert page.column("cell") == ["1", "2", "3", "1", "2", "3"]
    assert page.sort("area") == "ascending" and page.column("cell") == ["1", "1", "2", "2", "3", "3"]
    assert page.sort("area") == "descending" and page.column("cell") == ["3", "3", "2", "2", "1", "1"]
    assert page.sort("image") == "ascending" and page.column("image") == ["one"] * 3 + ["two"] * 3


def test_any_measurement_can_be_a_column_and_be_sorted_by(page: Page) -> None:
    page.one("#columns summary").click()
    next(label for label in page.all("#columns label") if label.text == "perimeter (px)").click()
    assert page.sort("perimeter") == "ascending"
    values = [float(value) for value in page.column("perimeter (px)")]
    assert values == sorted(values) and values[0] < values[-1]


def test_any_measurement_can_be_filtered_by(page: Page) -> None:
    areas = [float(value) for value in page.column("area (px²)")]
    middle = sorted(areas)[len(areas) // 2] - 1  # the table rounds
    Select(page.one("#filter")).select_by_visible_text("area (px²)")
    page.one("#least").send_keys(str(middle))
    kept = sum(area >= middle for area in areas)
    assert len(page.column("cell")) == kept < len(areas)
    assert page.one("#cells caption").text.startswith(f"{kept} of {len(areas)} cells")
    shown = [group for group in page.all("g.cell") if group.is_displayed()]
    assert len(shown) < len(page.all("g.cell"))
    page.one("#least").clear()
    assert len(page.column("cell")) == len(areas)


def test_a_row_and_its_cell_light_up_together(page: Page) -> None:
    page.hover(page.one('tr[data-cell="1"]'))
    assert page.lit("tr") == page.lit("g") == [1]
    assert not page.one("#tip").is_displayed()
    # The left end of the first cell lies in no other one.
    page.hover(page.one('g[data-cell="0"] .seed'), -10)
    assert page.lit("tr") == page.lit("g") == [0]
    assert page.one("#tip").text.startswith("one, cell 1") and "confidence" in page.one("#tip").text
    page.hover(page.one("h1"))
    assert page.lit("tr") == page.lit("g") == [] and not page.one("#tip").is_displayed()


def test_where_cells_overlap_the_nearest_seed_is_meant(page: Page) -> None:
    for cell in (0, 1, 2):
        page.hover(page.one(f'g[data-cell="{cell}"] .seed'), 4, 4)
        assert page.lit("g") == [cell]


def test_keyboard(page: Page) -> None:
    """Tab to a head, sort, go on to the rows, walk through them, open the picture of one."""
    page.browser.execute_script("document.querySelector('#cells th button').focus()")
    page.press(Keys.TAB)
    page.press(Keys.TAB)
    assert page.browser.switch_to.active_element.text.startswith("area")
    page.press(Keys.ENTER)
    page.press(Keys.ENTER)
    assert page.column("cell")[0] == "3"
    assert page.browser.switch_to.active_element.text.startswith("area")
    for _ in range(9):
        if page.lit("tr"):
            break
        page.press(Keys.TAB)
    assert page.lit("tr") == [2]
    page.press(Keys.ARROW_DOWN)
    assert page.lit("tr") == [5]
    page.press(Keys.ENTER)
    assert page.one('.image[data-image="1"]').get_attribute("open") and page.lit("g") == [5]
    page.press(Keys.END)
    assert page.lit("tr") == [3]


def test_pictures_are_drawn_when_they_are_opened(page: Page) -> None:
    assert [len(place.find_elements("css selector", "svg")) for place in page.all(".picture")] == [1, 0]
    page.all(".image > summary")[1].click()
    wait_until(lambda: len(page.all(".picture svg")) == 2, "the picture that was opened")
    page.one('tr[data-cell="4"]').click()
    assert page.lit("g") == [4]
    ActionChains(page.browser).move_to_element_with_offset(page.one('g[data-cell="3"] .seed'), -8, 0).click().perform()
    assert page.browser.switch_to.active_element.get_attribute("data-cell") == "3"
    page.hover(page.one("h2"))
    assert page.lit("tr") == page.lit("g") == [3]
    page.press(Keys.ESCAPE)
    assert page.lit("tr") == page.lit("g") == []


def test_hidden_parts_are_dashed_and_nuclei_are_drawn(page: Page) -> None:
    assert page.style(".line.hidden", "stroke-dasharray") == "6px, 5px"
    assert page.style(".line.open", "stroke-dasharray") == "none"
    assert len(page.all("svg .nucleus")) == 3


def test_colour_by_a_measurement(page: Page) -> None:
    before = page.style('g[data-cell="0"] .line', "stroke")
    assert not page.one("#legend").is_displayed()
    Select(page.one("#colour")).select_by_visible_text("area (px²)")
    assert page.style('g[data-cell="0"] .line', "stroke") == "rgb(68, 1, 84)"
    assert page.style('g[data-cell="2"] .line', "stroke") == "rgb(253, 231, 37)"
    assert page.one("#low").text == "1256" and page.one("#legend").is_displayed()
    Select(page.one("#colour")).select_by_visible_text("cell optical density")
    assert page.one("#legend").is_displayed()
    Select(page.one("#colour")).select_by_visible_text("cell")
    assert page.style('g[data-cell="0"] .line', "stroke") == before


def test_outlines_and_numbers_can_be_switched_off(page: Page) -> None:
    for name, selector in (("outlines", ".line"), ("numbers", ".cell text")):
        box = page.one(f'input[data-class="{name}"]')
        assert page.style(selector, "visibility") == "visible"
        box.click()
        assert page.style(selector, "visibility") == "hidden"


def test_burnt_in_outlines_are_not_drawn_twice(browser: Any, tmp_path: Path) -> None:
    write_results(tmp_path / "results", ["one"], smear(), originals=None)
    page = Page(browser, tmp_path / "results")
    assert page.style('g[data-cell="0"] .line', "visibility") == "hidden"
    page.hover(page.one('tr[data-cell="0"]'))
    assert page.style('g[data-cell="0"] .line', "visibility") == "visible"
    assert page.style('g[data-cell="1"] .line', "visibility") == "hidden"
    Select(page.one("#colour")).select_by_visible_text("confidence")
    assert page.style('g[data-cell="1"] .line', "visibility") == "visible"


def test_hostile_names_do_nothing(browser: Any, tmp_path: Path) -> None:
    names = ["<img src=x onerror=window.hacked=1>", "quote\"'&amp;"]
    write_results(tmp_path / "results", names, smear(), originals=None)
    failed = {"name": "x", "status": "failed", "reason": "</script><script>window.hacked=1</script>"}
    write_run(tmp_path / "results", [failed], command="<svg onload=window.hacked=1>")
    page = Page(browser, tmp_path / "results")
    page.hover(page.one('g[data-cell="0"] .seed'), -10)
    assert page.one("#tip").text.startswith(f"{names[0]}, cell 1")
    assert page.column("image") == [name for name in names for _ in range(3)]
    assert browser.execute_script("return window.hacked") is None
    assert browser.get_log("browser") == []


def test_what_is_not_known_stands_last_either_way(browser: Any, tmp_path: Path) -> None:
    cells = smear()
    assert cells.nuclei is not None
    without = replace(cells, nuclei=np.where(cells.nuclei == 2, 0, cells.nuclei))
    write_results(tmp_path / "results", ["one"], without, originals=None)
    page = Page(browser, tmp_path / "results")
    assert page.sort("N/C") == "ascending" and page.column("cell") == ["3", "1", "2"]
    assert page.sort("N/C") == "descending" and page.column("cell") == ["1", "3", "2"]
    assert page.column("N/C ratio")[-1] == "\u2013"
    Select(page.one("#colour")).select_by_visible_text("N/C ratio")
    assert page.style('g[data-cell="1"]', "color") == "rgba(150, 150, 150, 1)"


def test_no_cell(browser: Any, tmp_path: Path) -> None:
    write_results(tmp_path / "results", ["one"], smear(0), originals=None)
    page = Page(browser, tmp_path / "results")
    Select(page.one("#colour")).select_by_visible_text("confidence")
    assert page.one("#low").text == "no value" and page.one("#cells caption").text.startswith("0 cells")
    (tmp_path / "failed").mkdir()
    write_run(tmp_path / "failed", [{"name": "x", "status": "failed"}])
    assert "not known why" in Page(browser, tmp_path / "failed").one("#failures").text
    assert browser.get_log("browser") == []


def test_many_images_stay_usable(browser: Any, tmp_path: Path) -> None:
    write_results(tmp_path / "results", [f"image {number:03}" for number in range(120)], smear(4), originals=None)
    write_report(tmp_path / "results")
    page = Page(browser, tmp_path / "results")
    wait_until(lambda: len(page.all("#cells tbody tr")) == 300, "the first rows of the table")
    assert len(page.all(".picture svg")) == 1
    # Its row is not among the first ones, but comes when it is asked for.
    page.browser.execute_script("document.querySelector('.image[data-image=\"119\"]').open = true")
    wait_until(lambda: page.all('g[data-cell="476"]'), "the picture that was opened")
    ActionChains(browser).move_to_element_with_offset(page.one('g[data-cell="476"] .seed'), -8, 0).click().perform()
    assert page.lit("tr") == [476]
    page.sort("confidence")


def test_it_looks_like_something(page: Page, tmp_path: Path) -> None:
    page.hover(page.one('g[data-cell="0"] .seed'), -10)
    page.browser.save_screenshot(str(tmp_path / "report.png"))
    shown = iio.imread(tmp_path / "report.png")[..., :3]
    # The photograph, its outlines, the bars and the marked row are all on it.
    for colour in ((200, 210, 225), (0, 114, 178), (255, 243, 196)):
        assert (np.abs(shown.astype(int) - colour).max(axis=2) <= 3).sum() > 200


def test_a_few_extreme_cells_do_not_spoil_the_colours(browser: Any, tmp_path: Path) -> None:
    cells = smear(3)
    write_results(tmp_path / "results", [f"image {number:02}" for number in range(10)], cells, originals=None)
    huge = replace(cells, radii=np.vstack([np.full((1, 90), 2000.0), cells.radii[1:]]))
    write_results(tmp_path / "results", ["last"], huge, originals=None)
    page = Page(browser, tmp_path / "results")
    Select(page.one("#colour")).select_by_visible_text("area (px²)")
    assert page.one("#low").text == "1256" and page.one("#high").text == "≥ 2825"
    assert page.style('g[data-cell="2"] .line', "stroke") == "rgb(253, 231, 37)"
