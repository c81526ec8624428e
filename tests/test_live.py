"""The parts of the book that move, in a browser without a network, against the package.

All stand on one page that is opened from a file, as a reader opens the book: each in the place of
a figure, with the address that makes it show what a test asks for.
"""

import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright
from test_book import extension
from test_pages import EXECUTABLE

import uldp

ROOT = Path(__file__).parents[1]
MOST_BYTES = 150_000
live = extension("live")
PLACE = re.compile(r"^```\{live\} (\S+)\n:figure: (\S+)\n```$", re.M)


def pages() -> dict[str, str]:
    """The text of each page of the book, with the names of the figures that its cells draw."""
    found = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*.md")}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        names = [c.metadata.get("mystnb", {}).get("figure", {}).get("name", "") for c in cells]
        text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        found[path.stem] = text + "".join(f"\n:name: {name}\n" for name in names if name)
    return found


def places() -> dict[str, str]:
    """The name of the figure in whose place each part stands."""
    return {part: figure for text in pages().values() for part, figure in PLACE.findall(text)}


# --- files ---------------------------------------------------------------------------------------


def test_the_script_is_small_fetches_nothing_and_comes_once() -> None:
    script = live.script()
    assert len(script.encode()) <= MOST_BYTES
    assert not re.search(
        r"^(import|export)\b|\bfetch\(|import\(|https?://(?!www\.w3\.org/)", script, re.M
    )
    assert "Math.random" not in script
    assert all(script.count(live.own_text(path)) == 1 for path in live.SHARED)


def test_each_part_has_one_place_which_is_a_figure_of_its_page() -> None:
    found = [
        (part, f":name: {figure}\n" in text)
        for text in pages().values()
        for part, figure in PLACE.findall(text)
    ]
    assert sorted(part for part, _ in found) == live.names()
    assert all(is_there for _, is_there in found)


def test_the_lines_of_the_scripts_fit() -> None:
    for path in live.PARTS.glob("*.mjs"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert max(map(len, lines)) <= 100, path.name


def test_the_colours_are_those_of_the_figures_and_seen_in_the_dark() -> None:
    style = live.style()
    for name, look in uldp.figures.STYLES.items():
        assert f"--live-{live.slug(name)}: {look['color']};" in style
        dark = live.on_dark(look["color"])
        assert f"--live-{live.slug(name)}: {dark};" in style
        channels = [int(dark[i : i + 2], 16) for i in (1, 3, 5)]
        assert (live.luminance(channels) + 0.05) / (live.luminance(live.DARK) + 0.05) >= 5.9


# --- a browser -----------------------------------------------------------------------------------

PAGE = """<!doctype html><html lang="en" data-theme="{scheme}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>live</title>
<style>{style} body {{ margin: 8px; font: 16px sans-serif }} figure {{ margin: 0 }}
html[data-theme="dark"] {{ --pst-color-text-base: #ddd; --pst-color-surface: #222;
  --pst-color-background: #121212; background: #121212; color: #ddd }}</style>
<main><h1>Live</h1>{figures}</main><script defer src="live.js"></script></html>"""
FIGURE = (
    '<div class="live" data-part="{part}" data-figure="{figure}"></div>'
    '<figure id="{figure}"><img alt="{figure}"><figcaption>{figure}</figcaption></figure>'
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if EXECUTABLE is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND"]
        chrome = playwright.chromium.launch(executable_path=EXECUTABLE, args=arguments)
        yield chrome
        chrome.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page, without what stands before a scheme's name in its file's name."""
    folder = tmp_path_factory.mktemp("live")
    figures = "".join(FIGURE.format(part=p, figure=f) for p, f in in_order(places()))
    for scheme in ("light", "dark"):
        html = PAGE.format(scheme=scheme, style=live.style(), figures=figures)
        (folder / f"{scheme}.html").write_text(html, encoding="utf-8")
    (folder / "live.js").write_text(live.script(), encoding="utf-8")
    return folder.as_uri()


def in_order(found: dict[str, str]) -> list[tuple[str, str]]:
    """Those first that others follow."""
    return sorted(found.items(), key=lambda item: (item[0] != "respondent", item))


@pytest.fixture(scope="module")
def opened(browser: Browser, address: str) -> Iterator[tuple[Page, list[str]]]:
    tab, complaints = browser.new_page(viewport={"width": 800, "height": 900}), []
    tab.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda r: None if r.url.startswith("file:") else complaints.append(r.url))
    tab.goto(f"{address}/light.html")
    settle(tab)
    yield tab, complaints
    tab.close()


def settle(tab: Page) -> None:
    tab.wait_for_function("!document.querySelector('div.live:is([aria-busy], :empty)')")


def show(tab: Page, part: str, **state: Any) -> tuple[Any, str]:
    """Go to the address of a state; return the numbers behind what a part shows, and its text."""
    text = "&".join(f"{key.replace('_', '.', 1)}={value}" for key, value in state.items())
    text = "&".join(
        item if "." in item.split("=")[0] else f"{part}.{item}" for item in text.split("&") if item
    )
    tab.evaluate("text => { location.hash = text }", text)
    tab.wait_for_timeout(1)
    settle(tab)
    return behind(tab, part)


def behind(tab: Page, part: str) -> tuple[Any, str]:
    host = tab.locator(f"div.live[data-part={part}]")
    return host.evaluate("host => host.shown"), host.locator(".live-said").inner_text()


def numbers(text: str) -> list[float]:
    """The numbers of a text: shares as they are, thousands without their commas."""
    found = re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?%?", text)
    return [float(n[:-1]) / 100 if n.endswith("%") else float(n.replace(",", "")) for n in found]


def assert_written(text: str, value: float) -> None:
    """A number as the kit writes it: right to half a unit of its last digit."""
    (number,) = numbers(text)
    digits = re.sub(r"e.*|%", "", text.replace(",", ""))
    unit = 10.0 ** -len(digits.partition(".")[2])
    if "e" in text:
        unit *= 10.0 ** int(text.split("e")[1].strip("%"))
    elif "." not in digits and abs(value) >= 100:
        unit = max(unit, 10.0 ** (math.floor(math.log10(abs(value))) - 2)) if value < 1000 else 1
    if "%" in text:
        unit /= 100
    assert abs(number - value) <= 0.501 * unit, (text, value)


def test_every_control_moves_by_keys_and_the_address_brings_it_back(opened: Any) -> None:
    tab, complaints = opened
    tab.goto(tab.url.split("#")[0])
    settle(tab)
    moved = 0
    for host in tab.locator("div.live").all():
        part = host.get_attribute("data-part")
        for control in host.locator(".live-control > :is(input, select, button)").all():
            before, _ = behind(tab, part)
            control.focus()
            assert (
                tab.evaluate("() => getComputedStyle(document.activeElement).outlineWidth") != "0px"
            )
            kind = control.evaluate("e => e.type")
            if kind == "button":
                tab.keyboard.press("Enter")
            elif kind == "number":
                assert control.get_attribute("min")
                control.fill(str(int(control.input_value()) - 1))
                tab.keyboard.press("Tab")
            else:
                at_end = control.evaluate("e => e.value == (e.max ?? e.lastElementChild.value)")
                tab.keyboard.press("ArrowLeft" if at_end else "ArrowRight")
            settle(tab)
            after, said = behind(tab, part)
            assert after != before, (part, control.get_attribute("id"))
            assert said
            moved += 1
    assert moved >= 2 * len(places())
    states = {part: behind(tab, part) for part in places()}
    url = tab.url
    tab.reload()
    settle(tab)
    assert tab.url == url
    assert {part: behind(tab, part) for part in places()} == states
    assert not complaints


def test_a_wrong_address_shows_what_can_be_shown(opened: Any) -> None:
    tab, complaints = opened
    shown, _ = show(tab, "belief")
    assert show(tab, "belief", epsilon="nothing", before="7", other="1")[0]["before"] == 0.99
    assert show(tab, "belief", epsilon="nothing")[0] == shown
    assert not complaints


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_parts_fit_a_phone_and_are_accessible(
    browser: Browser, address: str, scheme: str
) -> None:
    tab = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    tab.goto(f"{address}/{scheme}.html")
    settle(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert not tab.locator("figure > img:visible").count()
    results = Axe().run(tab, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert results.violations_count == 0, results.generate_report()
    tab.emulate_media(media="print")
    assert tab.locator("figure > img:visible").count() == len(places())
    assert not tab.locator("div.live:visible").count()
    tab.close()


def test_without_scripts_the_pictures_stand(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}/light.html")
    assert tab.locator("figure > img:visible").count() == len(places())
    assert not tab.locator("div.live:visible").count()
    context.close()


def test_the_belief_is_that_of_bayes(opened: Any) -> None:
    """By the rule itself: a report that is e^ε times as likely, or that much less."""
    tab, _ = opened
    for epsilon, before in itertools.product((0.1, 1, 10), (0.01, 0.5, 0.99)):
        shown, said = show(tab, "belief", epsilon=epsilon, before=before)
        for name, chance in (("most", math.exp(epsilon)), ("least", math.exp(-epsilon))):
            after = before * chance / (before * chance + 1 - before)
            assert shown[name] == pytest.approx(after, rel=1e-12)
            grid = np.arange(1, 100) / 100
            curve = grid * chance / (grid * chance + 1 - grid)
            np.testing.assert_allclose(shown["curves"][name], curve, rtol=1e-12)
            text = said.split(f" at {name}")[0].split()[-1]
            assert_written(text, after)
