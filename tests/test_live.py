"""The parts of the book that move, in a browser without a network, against the package.

All stand on one page that is opened from a file, as a reader opens the book: each in the place of
a figure, with the address that makes it show what a test asks for.
"""

import itertools
import json
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page
from scipy import stats
from test_book import extension
from test_pages import BOOK

import uldp
from uldp.paper.figures import STYLES
from uldp.survey import wire
from uldp.survey.surveys import Survey, Tallies

ROOT = Path(__file__).parents[1]
MOST_BYTES = 150_000
live = extension("live")
_FONTS, TOKENS = (
    (ROOT / "book" / "_static" / "tokens.css").read_text(encoding="utf-8").split("/* Colours.")
)
READABLE = re.compile(r"^[-+−]?\d[\d,.]*%?$|^\d\.?\d*e-?\d+$|^10⁻?[⁰-⁹¹²³]{1,2}$|[A-Zb-df-zε]")
PLACE = re.compile(r'^<div class="live" data-part="([\w-]+)" data-figure="([\w-]+)"></div>$', re.M)
PARTS = sorted(
    name
    for path in live.files()
    for name in re.findall(r'^part\("([\w-]+)"', path.read_text(encoding="utf-8"), re.M)
)


@cache
def cells_of(notebook: str) -> list[dict[str, Any]]:
    path = ROOT / "notebooks" / f"{notebook}.ipynb"
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


@cache
def pages() -> dict[str, str]:
    """The text of each page of the book, with the names of the figures that its cells draw."""
    found = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*.md")}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = cells_of(path.stem)
        names = [c["metadata"].get("mystnb", {}).get("figure", {}).get("name", "") for c in cells]
        text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        found[path.stem] = text + "".join(f"\n:name: {name}\n" for name in names if name)
    return found


@cache
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


def test_each_part_has_a_place_which_is_a_figure_of_its_page() -> None:
    """One on a page, since its state is in the address by its name."""
    for text in pages().values():
        here = [part for part, _ in PLACE.findall(text)]
        assert len(here) == len(set(here))
    found = [
        (part, f":name: {figure}\n" in text)
        for text in pages().values()
        for part, figure in PLACE.findall(text)
    ]
    assert sorted({part for part, _ in found}) == PARTS
    assert all(is_there for _, is_there in found)


@pytest.mark.skipif(not BOOK.exists(), reason="the book is not built")
def test_pages_with_a_part_and_no_others_load_the_script() -> None:
    """That the parts come to life there is seen by tests/test_pages.py: they would complain."""
    found = []
    for page in BOOK.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        here = re.findall(r'<div class="live" data-part="([\w-]+)" data-figure="([\w-]+)">', html)
        assert all(f'id="{figure}"' in html for _, figure in here)
        assert ("_static/live.js" in html) == ("_static/live.css" in html) == bool(here), page
        found += [part for part, _ in here]
    assert sorted(set(found)) == PARTS


def test_the_colours_are_those_of_the_figures() -> None:
    """A mechanism has a token of `tokens.css`, which the dark changes."""
    for name, look in STYLES.items():
        color = re.search(rf'"{name}":{{"color":"var\(--([\w-]+)\)"', live.data())
        assert color
        light, dark = re.findall(rf"^  --{color[1]}: (#\w+);", TOKENS, re.M)
        assert light == look["color"].lower() != dark


# --- a browser -----------------------------------------------------------------------------------

PAGE = """<!doctype html><html lang="en" data-theme="{scheme}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>live</title>
<style>* {{ box-sizing: border-box }} {style} figure, fieldset {{ margin: 0 }}
body {{ margin: 8px; font: 16px sans-serif }} fieldset {{ padding: 0; border: 0 }}
html {{ background: var(--page); color: var(--ink) }} td .label {{ display: none }}</style>
<main><h1>Live</h1>{figures}</main><script defer src="live.js"></script></html>"""
FIGURE = (
    '<div class="live" data-part="{part}" data-figure="{figure}"></div>'
    '<figure id="{figure}"><img alt="{figure}"><figcaption>{figure}</figcaption></figure>'
)


FEW_PEOPLE = "#neighbours.people=300"
"""A start that does not take long."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page, without what stands before a scheme's name in its file's name."""
    folder = tmp_path_factory.mktemp("live")
    figures = "".join(FIGURE.format(part=p, figure=f) for p, f in in_order(places()))
    style = "/* " + TOKENS + (live.PARTS / "live.css").read_text(encoding="utf-8")
    for scheme in ("light", "dark"):
        html = PAGE.format(scheme=scheme, style=style, figures=figures)
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
    tab.goto(f"{address}/light.html{FEW_PEOPLE}")
    settle(tab)
    unfold(tab)
    yield tab, complaints
    tab.close()


def settle(tab: Page) -> None:
    tab.wait_for_function("!document.querySelector('div.live:is([aria-busy], :empty)')")


def unfold(tab: Page) -> None:
    """Open what a click opens, and wait for what it shows."""
    tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    tab.wait_for_function("!document.querySelector('.live-fold:empty')")


GO = """(text) => new Promise((arrived) => {
  const before = location.href;
  addEventListener("hashchange", arrived, { once: true });
  location.hash = text;
  if (location.href === before) arrived();
})"""


def show(tab: Page, part: str, **state: Any) -> tuple[Any, str]:
    """Go to the address of a state; return the numbers behind what a part shows, and its text."""
    text = "&".join(f"{key.replace('_', '.', 1)}={value}" for key, value in state.items())
    text = "&".join(
        item if "." in item.split("=")[0] else f"{part}.{item}" for item in text.split("&") if item
    )
    tab.evaluate(GO, text)
    settle(tab)
    return behind(tab, part)


def behind(tab: Page, part: str) -> tuple[Any, str]:
    host = tab.locator(f"div.live[data-part={part}]")
    shown = host.evaluate("({ shown }) => typeof shown === 'function' ? shown() : shown")
    return shown, host.locator(".live-said").inner_text()


def numbers(text: str) -> list[float]:
    """The numbers of a text: shares as they are, thousands without their commas."""
    found = re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?%?", text)
    return [float(n[:-1]) / 100 if n.endswith("%") else float(n.replace(",", "")) for n in found]


def assert_written(text: str, value: float) -> None:
    """A number as the kit writes it: right to half a unit of its last digit."""
    if text in ("<0.01%", ">99.99%"):
        assert 0 <= min(value, 1 - value) < 1e-4
        return
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


PAIR = "RR", "uRR"
ASKED = {"target": "users", "people": "exact", "belief": "private"}
"""Which question of the explorer has a control that not all have."""


def test_every_control_moves_by_keys_and_the_address_brings_it_back(opened: Any) -> None:
    tab, complaints = opened
    moved = 0
    for host in tab.locator("div.live").all():
        part = host.get_attribute("data-part")
        for control in host.locator(".live-control > input, fieldset, .live-first").all():
            key = control.get_attribute("id").removeprefix(f"live-{part}-")
            if part == "explorer" and key in ASKED:
                show(tab, part, ask=ASKED[key])
            before, _ = behind(tab, part)
            kind = control.evaluate("e => e.type")
            focused = control.locator("input:checked") if kind == "fieldset" else control
            focused.focus()
            ring = focused.locator("+ span") if kind == "fieldset" else focused
            assert ring.evaluate("e => getComputedStyle(e).outlineWidth") != "0px"
            if kind == "submit" or kind == "button":
                tab.keyboard.press("Enter")
            elif kind == "number":
                assert control.get_attribute("min")
                control.fill(str(int(control.input_value()) - 1))
                tab.keyboard.press("Tab")
            else:
                at_end = control.evaluate("e => e.type === 'range' && e.value === e.max")
                tab.keyboard.press("ArrowLeft" if at_end else "ArrowRight")
            settle(tab)
            after, said = behind(tab, part)
            assert after != before, (part, control.get_attribute("id"))
            ticks = host.locator("svg.live-panel > text").all_text_contents()
            assert all(READABLE.search(tick) for tick in ticks), ticks
            assert said
            moved += 1
    assert moved >= 2 * len(places())
    states = {part: behind(tab, part) for part in places()}
    url = tab.url
    tab.reload()
    settle(tab)
    unfold(tab)
    assert tab.url == url
    assert {part: behind(tab, part) for part in places()} == states
    assert not complaints


DRAG = """async (input) => {
  const host = input.closest("div.live");
  const axes = () => [...host.querySelectorAll("svg.live-panel > text:not(.live-quiet)")]
    .map((text) => [text.textContent, text.getAttribute("x"), text.getAttribute("y")].join(" "));
  const drawing = host.querySelector(".live-drawing");
  const frame = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
  await frame(); // what came before is drawn
  await frame();
  const before = axes();
  const drafts = [];
  const seen = new Set([drawing.innerHTML]);
  const watch = new MutationObserver(() => {
    seen.add(drawing.innerHTML);
    const said = host.querySelector(".live-said").innerText;
    if (host.hasAttribute("aria-busy")) drafts.push({ axes: axes(), said, at: input.value });
  });
  watch.observe(drawing, { childList: true, subtree: true });
  const move = () => input.dispatchEvent(new Event("input", { bubbles: true }));
  const isFirst = Number(input.value) === 0;
  const later = window.setTimeout; // a frame may be late, but the hand does not rest between two
  window.setTimeout = (act, wait) => wait ? undefined : later(act);
  for (const value of isFirst ? [1, 2, 3] : [0, 1, 2]) {
    input.value = value;
    move();
    await frame();
  }
  watch.disconnect();
  window.setTimeout = later;
  move();
  return { seen: seen.size, before, drafts, at: input.value };
}"""


def test_a_drag_draws_before_the_hand_rests_and_axes_stand_still(opened: Any) -> None:
    """What is said meanwhile is what is said at rest, but of people who are drawn anew."""
    tab, complaints = opened
    dragged = 0
    for ask in ("users", "exact", "private"):
        show(tab, "explorer", **{"explorer_ask": ask, "neighbours_people": 300})
        for slider in tab.locator("div.live input[type=range]:visible").all():
            name = slider.get_attribute("id")
            part = next(p for p in places() if name.startswith(f"live-{p}-"))
            if ask != "users" and part != "explorer":
                continue
            found = slider.evaluate(DRAG)
            assert found["seen"] >= 3, name
            assert found["drafts"], name
            assert all(draft["axes"] == found["before"] for draft in found["drafts"]), name
            settle(tab)
            last = found["drafts"][-1]
            if part != "neighbours" and last["at"] == found["at"]:
                assert behind(tab, part)[1] == last["said"], name
            dragged += 1
    assert dragged > 20
    assert not complaints


def test_values_are_read_with_the_pointer_and_by_keys(opened: Any) -> None:
    tab, complaints = opened
    read = 0
    for part in places():
        show(tab, part)
        host = tab.locator(f"div.live[data-part={part}]")
        for plot in host.locator(".live-plot").all():
            assert plot.get_attribute("role") == "slider"
            assert plot.get_attribute("aria-label")
            plot.focus()
            tab.keyboard.press("Home")
            settle(tab)
            first = plot.get_attribute("aria-valuetext")
            tab.keyboard.press("ArrowRight")
            settle(tab)
            second = plot.get_attribute("aria-valuetext")
            assert first != second
            assert host.locator(".live-readout").inner_text() == second
            assert tab.evaluate("document.activeElement.className") == "live-plot"
            plot.hover()
            assert host.locator(".live-readout").inner_text() not in (first, second)
            read += 1
    assert read >= len(places()) - 2
    show(tab, "explorer")
    plot = tab.locator("div.live[data-part=explorer] .live-plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 200)
    assert re.match(
        r"ε = [\d.]+: RR .*, no privacy 25,402\.$",
        tab.locator("div.live[data-part=explorer] .live-readout").inner_text(),
    )
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] - 12, box["y"] + 200, steps=3)
    tab.mouse.up()
    settle(tab)
    assert "explorer.epsilon=10" in tab.url
    assert not complaints


def test_a_finger_that_scrolls_moves_nothing(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True)
    tab = context.new_page()
    tab.goto(f"{address}/light.html{FEW_PEOPLE}")
    settle(tab)
    plot = tab.locator("div.live[data-part=explorer] .live-plot")
    slider = tab.locator("#live-explorer-epsilon")
    screen = context.new_cdp_session(tab)

    def swipe(on: Locator, across: int, down: int) -> str | None:
        on.evaluate("e => e.scrollIntoView({ block: 'center' })")
        box = on.bounding_box()
        x, y = box["x"] + box["width"] / 4, box["y"] + box["height"] / 2
        for i in range(11):
            kind = "touchMove" if i else "touchStart"
            point = {"x": x + across * i / 10, "y": y + down * i / 10}
            screen.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
        screen.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        tab.wait_for_timeout(50)
        settle(tab)
        return slider.get_attribute("aria-valuetext")

    first = slider.get_attribute("aria-valuetext")
    for on in (plot, slider):
        before = tab.evaluate("scrollY")
        assert swipe(on, 0, -150) == first
        assert tab.evaluate("scrollY") != before
    swipe(plot, 150, 0)
    tab.wait_for_function(
        "first => ![first, null].includes("
        "document.querySelector('#live-explorer-epsilon').getAttribute('aria-valuetext'))",
        arg=first,
    )
    context.close()


def test_what_stands_below_a_part_stays_where_it_is(opened: Any) -> None:
    """Whatever is chosen, and whatever its text is."""
    tab, _ = opened
    choices: list[tuple[str, list[dict[str, Any]]]] = [
        ("explorer", [{"ask": ask} for ask in ("users", "exact", "private")]),
        (
            "front",
            [{"pair": pair, "sensitive": s} for pair in ("RAPPOR", "RR") for s in (1, 76, 400)],
        ),
    ]
    answers = "married", "divorced", "never%20married"
    for mechanism in ("uRR", "uRAP", "RR", "RAPPOR"):
        states = [{"mechanism": mechanism, "answer": answer} for answer in answers]
        choices.append(("respondent", states))
    tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = false")
    for part, states in choices:
        host = tab.locator(f"div.live[data-part={part}]")
        heights = set()
        for state in states:
            show(tab, part, **state)
            heights.add(host.bounding_box()["height"])
        assert len(heights) == 1, (part, heights)
    unfold(tab)


def test_a_part_is_set_back_and_its_link_is_copied(opened: Any) -> None:
    tab, complaints = opened
    first = show(tab, "belief")
    assert show(tab, "belief", epsilon=2, before=0.2) != first
    host = tab.locator("div.live[data-part=belief]")
    host.get_by_role("button", name="Copy link").click()
    host.get_by_role("button", name="Copied").wait_for()
    host.get_by_role("button", name="Reset").click()
    settle(tab)
    assert behind(tab, "belief") == first
    assert "belief" not in tab.url
    assert not complaints


def test_a_wrong_address_shows_what_can_be_shown(opened: Any) -> None:
    tab, complaints = opened
    shown, _ = show(tab, "belief")
    assert show(tab, "belief", epsilon="nothing", before="7", other="1")[0]["before"] == 0.99
    note = tab.locator("#live-belief-before-note")
    assert note.inner_text() == "7 is not possible here; shown is 99%."
    assert show(tab, "belief", epsilon="nothing")[0] == shown
    assert not note.inner_text()
    assert not complaints


def test_an_address_that_cannot_be_decoded_does_not_part_the_text_from_its_controls(
    opened: Any,
) -> None:
    tab, _ = opened
    _, first = show(tab, "belief")
    show(tab, "belief", **{"belief_x": "%"})
    tab.locator("#live-belief-epsilon").press("End")
    settle(tab)
    _, text = behind(tab, "belief")
    assert text != first
    tab.locator("#live-belief-epsilon").press("Home")
    settle(tab)
    assert behind(tab, "belief")[1] not in (first, text)


CLIPPED = """() => [...document.querySelectorAll("svg.live-panel text")].filter((text) => {
  const inner = text.getBoundingClientRect();
  const outer = text.closest("svg.live-panel").getBoundingClientRect();
  return inner.left < outer.left - 0.5 || inner.right > outer.right + 0.5 ||
    inner.top < outer.top - 0.5 || inner.bottom > outer.bottom + 0.5;
}).map((text) => text.textContent)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_parts_fit_a_phone_and_are_accessible(
    browser: Browser, address: str, scheme: str
) -> None:
    tab = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    tab.goto(f"{address}/{scheme}.html{FEW_PEOPLE}")
    settle(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert not tab.locator("figure > img:visible").count()
    assert tab.evaluate(CLIPPED) == []
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


# --- the front page ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pair", "epsilon", "sensitive"),
    [("RAPPOR", 1, 76), ("RR", 0.2, 1), ("RR", 5, 400), ("RAPPOR", 10, 1)],
)
def test_the_front_page_draws_what_the_package_forecasts(
    opened: Any, pair: str, epsilon: float, sensitive: int
) -> None:
    """Fixed seeds; entries within seven of their standard deviations, a false alarm of 1e-8."""
    tab, _ = opened
    shown, said = show(tab, "front", pair=pair, epsilon=epsilon, sensitive=sensitive)
    census = uldp.datasets.census()
    p, people = census.frequencies, int(census.counts.sum())
    rest = np.setdiff1d(np.arange(400), census.domain.sensitive)
    chosen = np.sort(np.append(census.domain.sensitive, rest)[:sensitive])
    assert shown["protectedValues"] == chosen.tolist()
    domain = uldp.Domain(400, chosen)
    assert sum(shown["holders"]) == people
    off = (np.array(shown["holders"]) - people * p) / np.sqrt(people * p + 1e-300)
    assert np.abs(off[people * p > 30]).max() < 7
    assert not np.array(shown["holders"])[p == 0].any()
    mse = {}
    for name, found in shown["found"].items():
        law = uldp.mechanisms.PAPER[name](domain, epsilon)
        mse[name] = law.l2_loss(p, people)
        assert found["mse"] == pytest.approx(mse[name], rel=1e-9)
        assert found["typical"] == pytest.approx(math.sqrt(mse[name] / 400), rel=1e-9)
        if "estimate" not in found:
            continue
        deviations = np.sqrt(law.decoder.variances(p) / people + 1e-300)
        z = (np.array(found["estimate"]) - p) / deviations
        assert np.abs(z[p * people > 30]).max() < 7
        squares = ((np.array(found["estimate"]) - p) ** 2).sum()
        assert sensitive < 76 or 0.4 < squares / mse[name] < 2.5
    other = {"RR": "uRR", "RAPPOR": "uRAP"}[pair]
    drawn = {name for name, found in shown["found"].items() if "estimate" in found}
    assert drawn == {pair, other}
    assert shown["ratio"] == pytest.approx(mse[pair] / mse[other], rel=1e-9)
    assert shown["kinds"] == pytest.approx(mse["RAPPOR"] / mse["uRR"], rel=1e-9)
    alone = uldp.Domain(400, census.domain.sensitive[:1])
    one = {name: uldp.mechanisms.PAPER[name](alone, epsilon).l2_loss(p, people) for name in PAIR}
    assert shown["most"] == pytest.approx(one["RR"] / one["uRR"], rel=1e-9)
    host = tab.locator("div.live[data-part=front]")
    more, fewer = sorted(["RAPPOR", "uRR"], key=mse.__getitem__, reverse=True)
    remark = host.locator(".live-remark").inner_text().replace("plain ", "")
    assert f"as many people as {fewer}" in remark
    for text, ratio in (
        (host.locator(".live-number").inner_text(), mse[pair] / mse[other]),
        (remark.split(f"here {more} needs ")[1], mse[more] / mse[fewer]),
    ):
        assert numbers(text)[0] == round(ratio, 1 if ratio < 9.95 else 0)
    for name, title in zip(
        (pair, other), host.locator(".live-title + .live-quiet").all(), strict=True
    ):
        assert_written(title.text_content().split("± ")[1], 100 * math.sqrt(mse[name] / 400))
    assert ("same mechanism" in said) == (sensitive == 400)


def test_with_one_sensitive_answer_the_front_page_shows_the_largest_factor(opened: Any) -> None:
    tab, _ = opened
    assert show(tab, "front", pair="RR", sensitive=1)[1].startswith("25,583×")
    show(tab, "front")
    remark = tab.locator("div.live[data-part=front] .live-remark").inner_text()
    assert remark.endswith("with one of 400, RR needs 25,583 times as many people as uRR.")


def test_the_front_page_draws_what_is_beyond_its_axis_at_the_edge(opened: Any) -> None:
    """And the axis stays where it is, whatever the privacy."""
    tab, _ = opened
    host = tab.locator("div.live[data-part=front]")
    axes = []
    for epsilon in (0.1, 1, 10):
        shown, _ = show(tab, "front", pair="RR", epsilon=epsilon)
        texts = host.locator("svg.live-panel > text:not(.live-title, .live-quiet)")
        axes.append(texts.all_text_contents())
        paths = "".join(
            path.get_attribute("d")
            for path in host.locator(".live-marks").nth(0).locator("path").all()
        )
        arrows = paths.count("l4 8h-8z") + paths.count("l4 -8h-8z")
        off = np.array(shown["found"]["RR"]["estimate"]) - uldp.datasets.census().frequencies
        assert arrows == (np.abs(off) > 0.02).sum()
        assert epsilon > 1 or arrows
    assert axes[0] == axes[1] == axes[2]


def test_the_front_page_and_its_picture_say_the_same(opened: Any) -> None:
    tab, _ = opened
    front = (ROOT / "book" / "welcome.md").read_text(encoding="utf-8")
    for times in re.findall(r"\*\*([\d.]+) times\*\*", front):
        pair = "RR" if float(times) > 10 else "RAPPOR"
        assert show(tab, "front", pair=pair)[1].startswith(f"{times}×")


# --- in the chapters -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "loss", "s", "epsilon", "mass"),
    [("uRR", "l1", 4, 3.5, 0.6), ("uRAP", "l1", 1, 6, 0.0), ("uRR", "l2", 9, 10, 1.0)],
)
def test_the_worst_case_is_that_of_the_package(
    opened: Any, mechanism: str, loss: Any, s: int, epsilon: float, mass: float
) -> None:
    tab, _ = opened
    state = {"mechanism": mechanism, "loss": loss, "sensitive": s, "epsilon": epsilon}
    shown, said = show(tab, "worst-case", **state, mass=mass)
    law = uldp.mechanisms.PAPER[mechanism](uldp.Domain(10, range(s)), epsilon)
    expected = law.l1_loss if loss == "l1" else law.l2_loss

    def at(mass: float) -> float:
        p = np.append(np.full(s, mass / s), np.full(10 - s, (1 - mass) / (10 - s)))
        return expected(p / p.sum(), 1)

    worst = law.worst_case(loss)[:s].sum()
    assert shown["worst"] == pytest.approx(worst, abs=1e-12)
    assert shown["most"] == pytest.approx(at(worst) / at(0), rel=1e-9)
    curve = [at(m) / at(0) for m in np.linspace(0, 1, 101)]
    np.testing.assert_allclose(shown["curve"], curve, rtol=1e-9)
    decoder = law.decoder
    for x, share, one in ((0, mass / s, 0), (-1, (1 - mass) / (10 - s), 1)):
        level = decoder.false_support[x] + decoder.gain[x] * share
        assert shown["supports"][one]["level"] == pytest.approx(level, rel=1e-12)
        words = (
            said.removesuffix(".").split("with probability ")[1].split(", and another one with ")
        )
        assert_written(words[one], level)
    share, place = re.findall(r" is ([\d.]+)% of the largest, which is at ([\d.]+)%", said)[0]
    assert_written(share, 100 * at(mass) / at(worst))
    assert_written(place, 100 * worst)


def test_the_worst_case_and_its_picture_show_the_same(opened: Any) -> None:
    tab, _ = opened
    shown, _ = show(tab, "worst-case", epsilon=3.5)
    top = f"that of 3.50 rises to a dot at {shown['worst']:.2f} "
    assert top in alt("l1_worst_case", "fig-l1-level")


@pytest.mark.parametrize(("value", "epsilon"), [("x4", 1), ("x1", 0.1), ("x5", 10)])
def test_reports_have_the_matrices_of_their_picture(
    opened: Any, value: str, epsilon: float
) -> None:
    """The picture draws these matrices at ε = 1; the bits are sums of its columns."""
    tab, _ = opened
    five = uldp.Domain([f"x{i}" for i in range(1, 6)], ["x1", "x2"])
    urr, urap = (uldp.mechanisms.PAPER[name](five, epsilon) for name in ("uRR", "uRAP"))
    supports = urap.decoder.true_support, urap.decoder.false_support
    bits = np.where(np.eye(5, dtype=bool), *supports)
    for throws in range(3):
        shown, said = show(tab, "reports", value=value, epsilon=epsilon, throws=throws)
        np.testing.assert_allclose(shown["matrix"], urr.transition_matrix(), rtol=1e-12, atol=0)
        np.testing.assert_allclose(shown["bits"], bits, rtol=1e-12, atol=0)
        texts = tab.locator("div.live[data-part=reports] td:not(:empty)").all_inner_texts()
        entries = [*urr.transition_matrix().ravel(), *bits.ravel()]
        assert texts == [f"{entry:.2f}" for entry in entries if entry]
        shares = [law.revealed_share for law in (urr, urap)]
        assert shown["revealed"] == pytest.approx(shares, rel=1e-12)
        if value not in ("x1", "x2"):
            found = re.findall(r"[\d.<>]+%", said)
            for text, share in zip(found, shares, strict=True):
                assert_written(text, share)
        x = int(value[1]) - 1
        assert urr.transition_matrix()[x, shown["report"]] > 0
        assert all(bits[x][j] > 0 for j, bit in enumerate(shown["sent"]) if bit)
        sent = "".join(map(str, shown["sent"]))
        assert said.endswith(
            f"sends x{shown['report'] + 1}, and uRAP the bits {sent[0]} {sent[1]} | "
            f"{sent[2]} {sent[3]} {sent[4]}."
        )


def alt(notebook: str, figure: str) -> str:
    """How a picture is told to who cannot see it."""
    about = [cell["metadata"].get("mystnb", {}) for cell in cells_of(notebook)]
    (found,) = (one for one in about if one.get("figure", {}).get("name") == figure)
    return found["image"]["alt"]


def test_pictures_in_chapters_show_the_numbers_of_their_parts(opened: Any) -> None:
    tab, _ = opened
    belief, _ = show(tab, "belief")
    told = alt("uldp", "fig-uldp-suspicion")
    assert f"from 0.5 the suspicion moves to {belief['most']:.2f} at most and to" in told
    assert f"to {belief['least']:.2f} at least" in told
    reports, _ = show(tab, "reports")
    entries = [f"{entry:.2f}" for entry in np.unique(np.round(reports["matrix"], 9)) if entry]
    told = alt("mechanisms", "fig-matrices")
    assert set(entries) == set(re.findall(r"0\.\d\d", told))


# --- be the respondent ---------------------------------------------------------------------------

STATUS = uldp.Domain(
    ["married", "widowed", "divorced", "separated", "never married"], ["divorced", "separated"]
)
QUESTION = "marital status"


def shares_of_answers() -> np.ndarray:
    labels = uldp.paper.datasets.census().domain.labels
    counts = np.zeros(5)
    for label, count in zip(labels, uldp.paper.datasets.census().counts, strict=True):
        age, _, status, _ = label.split(", ")
        if age not in ("under 1", "1-12"):
            counts[STATUS.labels.index(status)] += count
    return counts / counts.sum()


def prior_of(own: int, before: float) -> np.ndarray:
    shares = shares_of_answers()
    prior = (1 - before) * shares / (1 - shares[own])
    prior[own] = before
    return prior


def column(mechanism: uldp.Mechanism, report: bytes) -> np.ndarray:
    """The probabilities of a report, given each value."""
    rows = [row.tobytes() for row in wire.wire_rows(mechanism, mechanism.outputs)]
    return mechanism.transition_matrix()[:, rows.index(report)]


def stored(notebook: str, cell: str) -> list[list[str]]:
    """The rows of the table that a cell of a notebook shows, without its head."""
    (found,) = (one for one in cells_of(notebook) if one["id"] == cell)
    html = next("".join(o["data"]["text/html"]) for o in found["outputs"] if "data" in o)
    rows = re.findall(r"<tr>(.*?)</tr>", html.split("<tbody>")[1], re.S)
    return [[re.sub(r"<.*?>", "", one).strip() for one in row.split("</td>")[:-1]] for row in rows]


@pytest.mark.parametrize(
    ("answer", "mechanism", "epsilon", "before"),
    [
        ("divorced", "uRR", 1, 0.1),
        ("married", "uRR", 3, 0.5),
        ("separated", "uRAP", 1, 0.01),
        ("widowed", "uRAP", 5, 0.99),
        ("married", "RR", 0.5, 0.3),
        ("never married", "RAPPOR", 2, 0.6),
    ],
)
def test_a_respondent_sends_what_a_survey_takes_and_tells_what_the_matrix_says(
    opened: Any, answer: str, mechanism: str, epsilon: float, before: float
) -> None:
    tab, _ = opened
    own = STATUS.labels.index(answer)
    law = uldp.mechanisms.PAPER[mechanism](STATUS, epsilon)
    state = {"answer": answer, "mechanism": mechanism, "epsilon": epsilon, "before": before}
    host = tab.locator("div.live[data-part=respondent]")
    for throws in range(3):
        shown, said = show(tab, "respondent", **state, throws=throws)
        survey = Survey.from_json(shown["survey"])
        assert survey.questions == {QUESTION: law}
        message = bytes(shown["message"])
        reading = survey.read([message])
        assert (reading.messages, reading.refused) == (1, {})
        pairs = host.locator(".live-bytes dd").all_inner_texts()
        assert bytes.fromhex("".join(pairs)) == message
        chances = column(law, message[48:-4])
        prior = prior_of(own, before)
        after = prior * chances / (prior @ chances)
        for name, expected in (("prior", prior), ("chances", chances), ("after", after)):
            np.testing.assert_allclose(shown[name], expected, rtol=1e-12)
        if after[own] < 1:
            odds = after[own] / (1 - after[own]) / before * (1 - before)
            assert shown["odds"] == pytest.approx(odds, rel=1e-9)
            assert odds <= math.exp(epsilon) * (1 + 1e-9)
            factor, most = re.findall(
                r"factor of ([\d.e-]+); the largest factor of .*report is ([\d.]+)\.", said
            )[0]
            assert_written(factor, odds)
            assert_written(most, math.exp(epsilon))
        else:
            assert "proves it" in said
        rows = host.locator("tbody tr").all()
        for x, row in enumerate(rows):
            texts = row.locator("td").all_inner_texts()
            for text, value in zip(texts, (prior[x], chances[x], after[x]), strict=True):
                assert_written(text, value)
        believed = host.locator("tbody td").nth(3 * own + 2).inner_text()
        assert f"now gives it {believed}" in said
        bars = host.locator("svg.live-marks text").all_text_contents()
        assert bars[own].endswith(f"→ {believed}")
        assert_coins(shown["notes"], host.locator("ol li").all())
        if mechanism in ("RR", "uRR"):
            drawn, replaced = (note["made"] for note in shown["notes"])
            assert message[48] == (law.sensitive[drawn] if replaced else own)


def assert_coins(notes: list[dict[str, Any]], steps: list[Locator]) -> None:
    """Each decision is what its number and its probability say, and is shown so."""
    for note, item in zip(notes, steps, strict=True):
        if "p" not in note:
            continue
        step = item.text_content() or ""
        number = note["word"] / 2**32
        assert note["least"] == pytest.approx(min(note["p"], 1 - note["p"]), rel=1e-9)
        assert note["below"] == (number < note["least"])
        assert note["made"] == (note["below"] == (note["p"] <= 0.5))
        answer = ["no", "yes"]
        assert step.endswith(answer[note["made"]])
        below = answer[note["made"] == note["below"]]
        assert f"({below} if below {note['least']:.4f})" in step
        digits, shown = re.search(r"0\.([01]+)… = (0\.\d+)", step).groups()
        assert int(digits, 2) == note["word"] >> 32 - len(digits)
        coins = item.locator(".live-coin").all()
        ends = [i for i, coin in enumerate(coins) if "decides" in coin.get_attribute("class")]
        threshold = f"{math.floor(note['least'] * 2**32):032b}"
        assert ends == [
            [a == b for a, b in zip(f"{note['word']:032b}", threshold, strict=True)].index(False)
        ]
        assert abs(float(shown) - number) <= 0.501e-4


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "people"), [("uRR", 1, 10_000), ("uRAP", 3, 3000), ("RR", 1, 300)]
)
def test_neighbours_are_counted_as_the_package_counts_them(
    opened: Any, mechanism: str, epsilon: float, people: int
) -> None:
    """Estimates may be six of their standard errors off: a false alarm of 1e-7 for all."""
    tab, _ = opened
    state = {"respondent.mechanism": mechanism, "respondent.epsilon": epsilon, "people": people}
    shown, _ = show(tab, "neighbours", **state)
    shares = shares_of_answers()
    np.testing.assert_allclose(shown["shares"], shares, rtol=1e-12)
    assert set(shown["found"]) == {mechanism, "RR"}
    cells = iter(tab.locator("div.live[data-part=neighbours] tbody td").all_inner_texts())
    for name, found in shown["found"].items():
        law = uldp.mechanisms.PAPER[name](STATUS, epsilon)
        tallies = Tallies.from_json(found["file"])
        tally = tallies[QUESTION]
        assert tallies.survey.questions == {QUESTION: law}
        assert tally.n == people
        expected = np.sqrt(law.decoder.variances(shares) / people)
        np.testing.assert_allclose(found["expected"], expected, rtol=1e-12)
        np.testing.assert_allclose(found["estimate"], law.estimate(tally), rtol=0, atol=1e-12)
        errors = uldp.inference.standard_errors(tally, "empirical")
        np.testing.assert_allclose(found["errors"], errors, rtol=1e-9)
        assert np.abs((law.estimate(tally) - shares) / expected).max() < 6
    names = list(shown["found"])
    for x, share in enumerate(shares):
        assert_written(next(cells), share)
        for name in names:
            estimate, error = next(cells).split(" ± ")
            assert_written(f"{estimate}%", shown["found"][name]["estimate"][x])
            assert_written(error, 2 * shown["found"][name]["errors"][x])


def test_the_pictures_of_the_respondent_show_the_same_numbers(opened: Any) -> None:
    tab, _ = opened
    after = show(tab, "respondent", throws=1)[0]["after"][STATUS.labels.index("divorced")]
    assert f"{after:.1%}" == stored("respondent", "respondent-check")[1][1]
    found = show(tab, "neighbours")[0]["found"]
    errors = [
        [f"{200 * found[name]['expected'][x]:.2f}" for name in ("uRR", "RR")] for x in range(5)
    ]
    assert [row[2:] for row in stored("respondent", "respondent-errors")] == errors


@pytest.mark.parametrize(("answer", "mechanism"), [("divorced", "uRR"), ("widowed", "uRAP")])
def test_what_repeating_gives_away_is_that_of_bayes_day_by_day(
    opened: Any, answer: str, mechanism: str
) -> None:
    tab, _ = opened
    state = {"respondent.answer": answer, "respondent.mechanism": mechanism, "days": 14}
    shown, said = show(tab, "tomorrow", **state)
    own = STATUS.labels.index(answer)
    law = uldp.mechanisms.PAPER[mechanism](STATUS, 1.0)
    belief, path = prior_of(own, 0.1), [0.1]
    for report in shown["reports"]:
        belief = belief * column(law, bytes(report))
        belief /= belief.sum()
        path.append(belief[own])
    assert len(path) == 15
    np.testing.assert_allclose(shown["path"], path, rtol=1e-9)
    assert shown["kept"] == pytest.approx([path[0]] + [path[1]] * 14)
    most = 1 / (1 + 9 * np.exp(-np.arange(15.0)))
    np.testing.assert_allclose(shown["most"], most, rtol=1e-12)
    if answer == "divorced":
        assert (np.array(path) <= most + 1e-12).all()
    assert numbers(said)[0] == 14


# --- the explorer --------------------------------------------------------------------------------

SUFFIXES = {"million": 1e6, "billion": 1e9, "trillion": 1e12}
SHARE = 0.01
STATES: list[dict[str, Any]] = [
    {},
    {"epsilon": 0.1, "people": 1000, "ask": "exact"},
    {"k": 2, "s": 1, "epsilon": 10, "target": 0.001},
    {"k": 2, "s": 2, "epsilon": 0.5, "ask": "private", "belief": 0.3},
    {"k": 12, "s": 8, "epsilon": 2, "ask": "private", "belief": 0.99},
    {"k": 30, "s": 29, "epsilon": 3, "ask": "exact", "people": 200_000_000},
    {"k": 625, "s": 15, "epsilon": 6, "target": 0.2},
    {"k": 1000, "s": 1, "epsilon": 0.3, "ask": "private", "belief": 0.5},
]
AT_FIRST = {
    "k": 400, "s": 76, "epsilon": 1, "people": 100_000, "target": 0.05, "belief": 0.1,
    "ask": "users",
}  # fmt: skip
DRAWN = {"users": "users", "exact": "tv", "private": "suspected"}
COLUMNS = ("tv", "mse", "excess", "users"), ("own", "other", "all", "revealed", "suspected")


def forecasts(epsilon: float, **at: Any) -> tuple[float, dict[str, dict[str, float]]]:
    """What the explorer shows of each mechanism, by the package alone."""
    k, s, people = at["k"], at["s"], at["people"]
    domain = uldp.Domain(k, range(s))
    limit = uldp.fundamental_limit(domain, epsilon) / people
    compared = dict(uldp.compare(domain, epsilon, people))
    compared = {name: one for name, one in compared.items() if name in STYLES}
    compared["no privacy"] = uldp.compare(uldp.Domain(k), epsilon, people)["uRR"]
    found = {}
    for name, forecast in compared.items():
        law, errors = forecast.mechanism, []
        for value in (0, k - 1):
            p = np.full(k, (1 - SHARE) / (k - 1))
            p[value] = SHARE
            errors.append(math.sqrt(law.decoder.variances(p)[value] / people))
        revealed = forecast.revealed_share if s < k else math.nan
        in_S = (np.arange(k) < s) * 1.0
        together = uldp.losses.total_variance(law, in_S, method="adjusted")
        hidden = math.nan if name == "no privacy" else 1 - revealed
        found[name] = {
            "users": uldp.survey.choosing.users_needed(law, "l1", 2 * at["target"]),
            "tv": forecast.tv,
            "mse": forecast.mse,
            "excess": forecast.mse / limit,
            "own": errors[0],
            "other": errors[1] if s < k else math.nan,
            "all": math.sqrt(together / people) if s < k else math.nan,
            "revealed": revealed,
            "suspected": at["belief"] / (at["belief"] + (1 - at["belief"]) * hidden),
        }
    return limit, found


def assert_cell(text: str, value: float) -> None:
    if math.isnan(value):
        assert text == "–"
    elif text.split()[-1] in SUFFIXES:
        digits, suffix = text.split()
        assert float(digits) == pytest.approx(value / SUFFIXES[suffix], rel=5.1e-3)
    else:
        assert_written(text, value)


def assert_wrongly(text: str, value: float) -> None:
    """A total variation: nothing is worse than all."""
    if value >= 1:
        assert text == "100% or more"
    else:
        assert_written(text, value)


@pytest.mark.parametrize("state", STATES, ids=str)
def test_the_explorer_shows_what_the_package_forecasts(opened: Any, state: dict[str, Any]) -> None:
    tab, complaints = opened
    at = AT_FIRST | state
    shown, said = show(tab, "explorer", **state)
    limit, expected = forecasts(**at)
    assert list(shown["found"]) == list(expected)
    assert shown["limit"] == pytest.approx(limit, rel=1e-9)
    host = tab.locator("div.live[data-part=explorer]")
    tables = host.locator("table").all()
    for columns, found in zip(COLUMNS, tables, strict=True):
        cells = iter(found.locator("tbody td").all_inner_texts())
        for name, row in expected.items():
            for column in columns:
                value = shown["found"][name][column]
                rounding = {"abs": 1} if column == "users" else {"abs": 0}
                assert value == pytest.approx(row[column], rel=1e-7, nan_ok=True, **rounding)
                assert_cell(next(cells), value)
    drawn = DRAWN[at["ask"]]
    for i in (0, 12, 25):
        _, there = forecasts(**{**at, "epsilon": shown["epsilons"][i]})
        for name, curve in shown["curves"].items():
            rounding = {"abs": 1} if drawn == "users" else {"abs": 0}
            exact = there[name][drawn]
            assert curve[i] == pytest.approx(exact, rel=1e-7, nan_ok=True, **rounding)
    after = 1 / (1 + (1 / at["belief"] - 1) * math.exp(-at["epsilon"]))
    assert shown["after"] == pytest.approx(after, rel=1e-12)
    assert shown["best"] in said or at["ask"] == "private"
    if at["ask"] == "users":
        for text, name in (
            (said.split()[1:3], shown["best"]),
            (said.split("RAPPOR ")[1].split()[:2], "RAPPOR"),
        ):
            words = text if text[1].strip(".") in SUFFIXES else text[:1]
            assert_cell(" ".join(words).strip("."), expected[name]["users"])
    elif at["ask"] == "exact":
        assert_wrongly(
            said.split(" wrongly")[0].split("estimates ")[1], expected[shown["best"]]["tv"]
        )
    else:
        assert_written(said.split(" at most")[0].split()[-1], after)
    fewest = min(one["users"] for name, one in expected.items() if name != "no privacy")
    assert expected[shown["best"]]["users"] == fewest
    assert not complaints


def test_a_number_that_is_not_possible_is_said_and_changes_nothing(opened: Any) -> None:
    tab, complaints = opened
    first, said = show(tab, "regimes", k=400, s=300)
    for key, typed, most in (("k", "5001", "5,000"), ("k", "1.5", "5,000"), ("s", "0", "400")):
        field, note = (tab.locator(f"#live-regimes-{key}{end}") for end in ("", "-note"))
        field.fill(typed)
        tab.keyboard.press("Enter")
        settle(tab)
        assert field.input_value() == typed
        assert field.get_attribute("aria-invalid") == "true"
        assert f" to {most}. Shown is still " in note.inner_text()
        assert behind(tab, "regimes") == (first, said)
    tab.locator("#live-regimes-k").fill("120")
    tab.keyboard.press("Enter")
    settle(tab)
    assert not tab.locator("#live-regimes-k-note").inner_text()
    assert tab.locator("#live-regimes-s").input_value() == "120"
    assert tab.locator("#live-regimes-s-note").inner_text() == (
        "300 is not possible here; shown is 120."
    )
    assert tab.locator("#live-regimes-s").get_attribute("max") == "120"
    assert not tab.locator("div.live[data-part=regimes] [aria-invalid]").count()
    assert "regimes.k=120&regimes.s=120" in tab.url
    assert not complaints


def test_the_lines_of_python_forecast_what_the_explorer_shows(opened: Any) -> None:
    tab, _ = opened
    shown, _ = show(tab, "explorer", k=12, s=5, epsilon=2, people=2000)
    lines = tab.locator("div.live[data-part=explorer] pre").inner_text().splitlines()
    names: dict[str, Any] = {}
    exec("\n".join([*lines[:-1], f"found = {lines[-1]}"]), names)
    for name, forecast in names["found"].items():
        assert shown["found"][name]["tv"] == pytest.approx(forecast.tv, rel=1e-7)


def test_a_link_to_the_explorer_keeps_any_number_of_sensitive_answers(opened: Any) -> None:
    tab, _ = opened
    show(tab, "explorer", s=123)
    slider = tab.locator("#live-explorer-s")
    assert slider.get_attribute("aria-valuetext") == "123 of 400"
    show(tab, "explorer", s=999)
    assert slider.get_attribute("aria-valuetext") == "400 of 400"
    assert "999 is not possible here" in tab.locator("#live-explorer-s-note").inner_text()


def test_the_picture_of_the_explorer_shows_the_same_numbers(opened: Any) -> None:
    tab, _ = opened
    found = show(tab, "explorer")[0]["found"]
    for name, needed, own, other, together, suspicion in stored("explorer", "explorer-check"):
        forecast = found[name]
        assert needed == f"{forecast['users']:,}"
        errors = tuple(f"{forecast[key]:.2%}" for key in ("own", "other", "all"))
        assert (own, other, together) == errors
        assert suspicion == ("–" if name == "no privacy" else f"{forecast['suspected']:.1%}")


# --- regimes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "s", "loss", "epsilon"),
    [
        (625, 15, "l1", 0.1),
        (400, 76, "l2", 0.001),
        (4, 4, "l1", 3),
        (2, 1, "l2", 10),
        (100, 1, "l1", 0.02),
        (5000, 600, "l2", 0.5),
    ],
)
def test_the_regimes_are_those_of_the_package(
    opened: Any, k: int, s: int, loss: str, epsilon: float
) -> None:
    tab, complaints = opened
    shown, said = show(tab, "regimes", k=k, s=s, loss=loss, epsilon=epsilon)
    cells = iter(tab.locator("div.live[data-part=regimes] tbody td").all_inner_texts())
    columns = {
        "at": uldp.paper.regimes.compare(loss, s, k, epsilon),
        "low": uldp.paper.regimes.compare(loss, s, k),
    }
    for name in uldp.mechanisms.PAPER:
        for where, column in columns.items():
            printed, exact = np.array(column[name]) / column["no privacy"].exact
            assert shown[where][name] == pytest.approx([exact, printed], rel=1e-7)
            assert_written(next(cells), shown[where][name][0])
            assert_written(next(cells), shown[where][name][1])
    for i in (0, 20, 36, 48):
        there = uldp.paper.regimes.compare(loss, s, k, shown["grid"][i])
        for name in uldp.mechanisms.PAPER:
            pair = [shown["exact"][name][i], shown["small"][name][i]]
            printed, exact = np.array(there[name]) / there["no privacy"].exact
            assert pair == pytest.approx([exact, printed], rel=1e-7)
        if loss == "l2":
            limit = uldp.beyond.limits.saddle(s, k - s, shown["grid"][i]).value / (1 - 1 / k)
            assert shown["limit"][i] == pytest.approx(limit, rel=1e-9)
    assert (loss == "l1") == (shown["limit"] is False)
    assert_written(said.split("→ 0 is ")[1].split()[0], columns["at"]["uRR"].share)
    assert_written(said.split(", and ")[1].split()[0], columns["at"]["uRAP"].share)
    assert not complaints


def test_the_picture_of_the_regimes_shows_the_same_numbers(opened: Any) -> None:
    tab, _ = opened
    rows = [[*map(int, numbers(row[0])), *row[1:]] for row in stored("regimes", "reg-sol-1-code")]
    states = list(itertools.product(("l1", "l2"), (0.001, 0.01, 0.1, 1)))
    for s, k in {(s, k) for s, k, *_ in rows}:
        found = [
            show(tab, "regimes", k=k, s=s, loss=loss, epsilon=epsilon)[0]["at"]
            for loss, epsilon in states
        ]
        for _, _, name, *ratios in (row for row in rows if (*row[:2],) == (s, k)):
            assert [f"{at[name][1] / at[name][0]:.3f}" for at in found] == ratios


# --- few users, and people who are drawn once ----------------------------------------------------


@pytest.mark.parametrize(
    ("users", "expected"), [(1, 0.5), (20, 0.5), (7, 3), (1000, 0.001), (1_000_000, 1000)]
)
def test_the_exact_error_is_that_of_a_binomial_number(
    opened: Any, users: int, expected: float
) -> None:
    """By its definition, the sum over all numbers that have a chance."""
    tab, _ = opened
    shown, said = show(tab, "finite", users=users, expected=expected)
    reports = np.arange(min(users, 10_000) + 1)
    chances = stats.binom.pmf(reports, users, expected / users)
    exact = float(chances @ np.abs(reports - expected))
    limit = math.sqrt(2 / math.pi * expected * (1 - expected / users))
    assert shown["exact"] == pytest.approx(exact, rel=1e-9)
    assert shown["limit"] == pytest.approx(limit, rel=1e-12)
    assert_written(said.split("off by ")[1].split()[0], exact)
    assert_written(said.split("would be ")[1].split()[0].rstrip("."), limit)
    assert_written(said.split("error is ")[1].split()[0], exact / limit)


def test_no_more_reports_are_expected_than_people_can_send(opened: Any) -> None:
    tab, _ = opened
    show(tab, "finite", users=20, expected=10)
    slider = tab.locator("#live-finite-expected")
    assert slider.get_attribute("aria-valuetext") == "10"
    tab.locator("#live-finite-users").press("Home")
    settle(tab)
    assert slider.get_attribute("aria-valuetext") == "0.5"
    assert "10 is not possible here" in tab.locator("#live-finite-expected-note").inner_text()


def test_the_picture_of_few_users_shows_the_same_numbers(opened: Any) -> None:
    tab, _ = opened
    points = (0.001, 0.01, 0.1, 0.5, 1, 2, 10, 1000)
    for label, *ratios in stored("l1_proofs", "l1-60"):
        users = {"n = 10⁹": 1_000_000_000}.get(label) or int(label.removeprefix("n = "))
        for expected, ratio in zip(points, ratios, strict=True):
            if ratio:
                shown, _ = show(tab, "finite", users=users, expected=expected)
                assert f"{shown['exact'] / shown['limit']:.3f}" == ratio


@pytest.mark.parametrize(("share", "epsilon"), [(0.5, 5), (0.01, 0.1), (0.9, 10), (1, 2)])
def test_people_who_are_drawn_once_lose_less(opened: Any, share: float, epsilon: float) -> None:
    tab, _ = opened
    shown, said = show(tab, "halves", share=share, epsilon=epsilon)
    census = uldp.paper.datasets.census()
    p, people = census.frequencies, int(census.counts.sum())
    n = math.ceil(share * people)
    assert (shown["n"], shown["people"]) == (n, people)
    assert numbers(said)[:2] == [n, people]
    sampling = (1 - p @ p) / n
    assert shown["level"] == pytest.approx((people - n) / (people - 1), abs=1e-12)
    at = {name: make(census.domain, epsilon) for name, make in uldp.mechanisms.PAPER.items()}
    at["no privacy"] = uldp.UtilityOptimizedRR(uldp.Domain(p.size), 1.0)
    rows = tab.locator("div.live[data-part=halves] tbody tr").all()
    for row, name in zip(rows, at, strict=True):
        independent = at[name].l2_loss(p, n)
        given_data = independent - sampling
        once = given_data + (people - n) / (people - 1) * sampling
        assert shown["found"][name] == pytest.approx([independent, once], rel=1e-9, abs=1e-17)
        texts = row.locator("td").all_inner_texts()
        for text, value in zip(texts[:2], shown["found"][name], strict=True):
            assert_written(text, value)
        if name != "no privacy":
            i = shown["epsilons"].index(epsilon)
            assert shown["curves"][name][i] == pytest.approx(once / independent, rel=1e-9)


def test_the_picture_of_halves_shows_the_same_numbers(opened: Any) -> None:
    tab, _ = opened
    found = show(tab, "halves", epsilon=0.1)[0]["found"]
    unit = found["no privacy"][0]
    compared = 0
    for label, independent, once in stored("finite_populations", "experiments-09b"):
        name, _, level = label.replace("&nbsp;", " ").partition(", ε = ")
        if level in ("", "0.1"):
            for text, value in zip((independent, once), found[name], strict=True):
                digits = len(text.partition(".")[2])
                assert f"{value / unit:,.{digits}f}" == text
                compared += 1
    assert compared == 10
