"""Every page of the built book in a real browser without a network: nothing missing, nothing wide.

It needs the book in _build/html and Chromium or Chrome on the machine, and is skipped without.
"""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from cases import EXECUTABLE
from playwright.sync_api import Browser, BrowserType, Page, Route, sync_playwright

ROOT = Path(__file__).parents[1]
BOOK = ROOT / "_build" / "html"
MADE_BY_SPHINX = ("genindex", "prf-prf", "py-modindex", "search")
PAGES = sorted(
    page.relative_to(BOOK).as_posix()
    for page in [*BOOK.glob("*.html"), *BOOK.glob("book/**/*.html"), *BOOK.glob("notebooks/*.html")]
    if page.parent != BOOK or page.stem in MADE_BY_SPHINX
)
ONE_OF_EACH_KIND = ["book/api/survey.html", "book/welcome.html", "notebooks/attributes.html"]
WIDTHS = {"desktop": 1280, "phone": 390}
NARROWEST = 320
MOST_OFF = 12  # pixels between the room that is kept for a live part and its height
LARGEST_SHIFT = 0.1  # what is called good by those who defined it
SCRIPTS_COME = 0.3  # seconds after they are asked for
LOWEST_FIRST_PICTURE = 520  # pixels on a desktop
PAPER = 784  # 166 mm between the margins of A4, at the scale of tools/print_book.py

pytestmark = pytest.mark.skipif(not PAGES, reason="the book is not built")

DEFECTS = """
() => {
  const width = document.documentElement.clientWidth;
  const scrolls = (element) => {
    for (let e = element.parentElement; e && e !== document.body; e = e.parentElement)
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowX)) return true;
    return false;
  };
  const shown = (e) => e.tagName + " " + e.textContent.trim().slice(0, 60);
  const all = (selector) => [...document.querySelectorAll(selector)];
  return {
    "math not typeset": all(".math").filter((e) => !e.querySelector("mjx-container")).map(shown),
    "wrong math": all("mjx-merror").map(shown),
    "ids that are there twice": all("[id]").map((e) => e.id)
      .filter((id, i, ids) => ids.indexOf(id) < i),
    "missing images": all("img").filter((i) => !i.naturalWidth).map((i) => i.src),
    "images without alt text": all("img, svg.drawing")
      .filter((i) => !/\\p{L}/u.test(i.alt ?? i.ariaLabel)).map((i) => i.outerHTML.slice(0, 60)),
    "wider than the page": all("article :not(mjx-container *)")
      .filter((e) => e.getBoundingClientRect().right > width + 1 && !scrolls(e)).map(shown),
  };
}
"""

CUT_ON_PAPER = """
() => {
  const width = document.documentElement.clientWidth;
  const cut = (e) => e.getBoundingClientRect().right > width + 1
    || (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible");
  return [...document.querySelectorAll("article :not(mjx-container *)")]
    .filter((e) => e.clientWidth && !e.closest("span.math, mjx-assistive-mml") && cut(e))
    .map((e) => e.tagName + " " + e.textContent.trim().slice(0, 60));
}
"""

SCROLLING_TABLES = """
() => [...document.querySelectorAll(".pst-scrollable-table-container")]
  .filter((e) => e.scrollWidth > e.clientWidth)
  .map((e) => e.textContent.trim().slice(0, 60))
"""

SHAPE = """
() => {
  const below = (e) => Math.round(e.getBoundingClientRect().top + scrollY);
  const picture = [...document.querySelectorAll("article figure :is(img, svg.drawing, div.live)")]
    .find((e) => e.checkVisibility());
  return {
    picture: picture ? below(picture) : Infinity,
    before: [...document.querySelectorAll("article :is(details, pre, table)")]
      .filter((e) => picture && e.checkVisibility() && below(e) < below(picture))
      .map((e) => e.textContent.trim().slice(0, 60)),
  };
}
"""

KEYBOARD = """
() => {
  const shown = (e) => e.tagName + " " + e.textContent.trim().slice(0, 60);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const scrolls = (e) =>
    e.scrollWidth > e.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
  const focusVisible = (e) => {
    e.focus();
    const style = getComputedStyle(e);
    return style.opacity === "1"
      && (parseFloat(style.outlineWidth) >= 2 || style.boxShadow !== "none");
  };
  return {
    "scrolls without focus": all("article *")
      .filter((e) => scrolls(e) && e.tabIndex < 0).map(shown),
    "stops without use": all("span.math *").filter((e) => e.tabIndex >= 0).map(shown),
    "focus not visible": all(".bd-main :is(a[href], button, summary, [tabindex='0'])")
      .filter((e) => e.checkVisibility({visibilityProperty: true}) && !focusVisible(e)).map(shown),
  };
}
"""


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    handler = partial(QuietHandler, directory=str(BOOK))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def chromium() -> Iterator[BrowserType]:
    if EXECUTABLE is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        yield playwright.chromium


ARGUMENTS = ("--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")


@pytest.fixture(scope="module")
def browser(chromium: BrowserType) -> Iterator[Browser]:
    """One in which nothing is painted beside what is measured."""
    arguments = [*ARGUMENTS, "--disable-threaded-compositing"]
    with chromium.launch(executable_path=EXECUTABLE, args=arguments) as chrome:
        yield chrome


@pytest.fixture(scope="module")
def painting(chromium: BrowserType) -> Iterator[Browser]:
    """One that paints while it loads, as readers' do: the other has no layout shift to tell of."""
    with chromium.launch(executable_path=EXECUTABLE, args=ARGUMENTS) as chrome:
        yield chrome


def open_page(tab: Page, url: str) -> None:
    """Go to a page and wait until it is typeset and at rest."""
    tab.goto(url)
    if tab.locator(".math").count():
        tab.wait_for_function("window.MathJax?.startup?.promise")
        tab.evaluate("MathJax.startup.promise")
    tab.add_style_tag(content="* { transition: none !important }")


WANTED = {
    "sample size": "choosing",
    "how many people": "choosing",
    "figure 5": "experiment_figures",
    "proposition 17": "l2_losses",
    "equation 22": "personalized",
    "epsilon": "preliminaries",
    "privacy budget": "preliminaries",
    "consent": "privacy_in_practice",
    "missing answers": "as_people_run_them",
    "tick all that apply": "as_people_run_them",
    "standard error": "inference",
    "randomized response": "preliminaries",
    "confidence interval": "inference",
    "delete": "privacy_in_practice",
}


def found(tab: Page, root: str, query: str) -> list[str]:
    """Return the pages that a search finds, in their order."""
    tab.goto(f"{root}/search.html?q={query}")
    tab.locator(".search-summary", has_text="finished").wait_for()
    links = "links => links.map(a => a.getAttribute('href').split('#')[0])"
    return list(dict.fromkeys(tab.locator("ul.search > li > a").evaluate_all(links)))


def test_readers_words_lead_to_their_pages(browser: Browser, address: str) -> None:
    """Among the first three, in the same order from files, with excerpts without code."""
    tab = browser.new_page()
    for query, page in WANTED.items():
        served = found(tab, address, query)
        assert f"notebooks/{page}.html" in served[:3], query
        if query == "sample size":
            excerpts = tab.locator("ul.search p.context").all_inner_texts()
            assert any("..." in excerpt for excerpt in excerpts)
            assert not [excerpt for excerpt in excerpts if "import " in excerpt]
            assert found(tab, BOOK.as_uri(), query) == served
    tab.close()


def test_code_is_copied_without_prompts_and_outputs(browser: Browser, address: str) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    copied = []
    for page in ("book/welcome", "book/api/domain"):
        open_page(tab, f"{address}/{page}.html")
        tab.locator(".highlight-console .copybtn, .highlight-default .copybtn").first.click(
            force=True
        )
        copied.append(tab.evaluate("navigator.clipboard.readText()"))
    context.close()
    assert copied[0] == "make book\nmake test"
    assert copied[1].startswith("Domain([")
    assert ">>>" not in copied[1]


FIRST_USES = """
() => [...document.querySelectorAll("a.term")].map((e) => [
  e.hash,
  Boolean(e.closest("h1, h2, h3, h4, figcaption, table, pre, code, details, .question")),
])
"""


def test_the_first_use_of_a_glossary_word_leads_to_it(loaded: tuple[Page, list[str]]) -> None:
    """Once a page, in running text; everyday words are left alone."""
    tab, _ = loaded
    found = tab.evaluate(FIRST_USES)
    words = [word for word, _ in found]
    glossary = (BOOK / "book" / "glossary.html").read_text(encoding="utf-8")
    assert all(f'id="{word[1:]}"' in glossary for word in words)
    assert len(set(words)) == len(words)
    assert not any(is_outside for _, is_outside in found)
    assert not {"#term-level", "#term-pass", "#term-report"} & set(words)
    if tab.url.endswith("/notebooks/uldp.html"):
        assert {"#term-collector", "#term-ULDP"} & set(words)


TOUCH = """(link) => {
  link.dispatchEvent(new PointerEvent("pointerdown", { pointerType: "touch" }));
  link.dispatchEvent(new PointerEvent("click", { pointerType: "touch", cancelable: true }));
}"""


def test_a_citation_shows_its_work_to_pointer_and_finger(browser: Browser, address: str) -> None:
    """To the keys, too, until Escape. The first touch shows it, the second goes there."""
    tab = browser.new_page()
    open_page(tab, f"{address}/book/welcome.html")
    link, work = (tab.locator(f".bibtex-citation {one}").first for one in ("a", ".cited"))
    assert not work.is_visible()
    link.hover(force=True)
    assert work.is_visible()
    tab.mouse.move(0, 0)
    assert not work.is_visible()
    link.focus()
    assert work.is_visible()
    tab.keyboard.press("Escape")
    assert not work.is_visible()
    link.evaluate(TOUCH)
    assert "USENIX" in work.inner_text()
    link.evaluate(TOUCH)
    tab.wait_for_url("**/bibliography.html*")
    assert tab.locator("#cite-murakami2019uldp .label").is_visible()
    tab.close()


def test_one_button_opens_and_hides_all_code(browser: Browser, address: str) -> None:
    tab = browser.new_page()
    open_page(tab, f"{address}/notebooks/l2_losses.html")
    folds, is_open = tab.locator("details.hide"), tab.locator("details.hide[open]")
    for opened in (folds.count(), 0):
        tab.locator(".btn-code-switch").press("Enter")
        assert is_open.count() == opened
    assert folds.count() > 1
    tab.close()


MEASURED = """
() => [...document.querySelectorAll("div.live")].map((e) => [
  e.dataset.part,
  e.offsetHeight,
  parseInt(getComputedStyle(e).getPropertyValue(innerWidth > 600 ? "--wide" : "--narrow")),
])
"""


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS.keys())
def test_a_live_part_takes_the_room_that_was_kept_for_it(
    browser: Browser, address: str, width: int
) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 900})
    found = []
    for page in PAGES:
        if 'class="live"' in (BOOK / page).read_text(encoding="utf-8"):
            open_page(tab, f"{address}/{page}")
            tab.wait_for_function("!document.querySelector('div.live:is([aria-busy], :empty)')")
            tab.evaluate("document.fonts.ready")
            found += tab.evaluate(MEASURED)
    tab.close()
    assert len(found) > 10
    assert not [one for one in found if abs(one[1] - one[2]) > MOST_OFF]


def test_tables_of_a_live_part_stack_on_a_phone(browser: Browser, address: str) -> None:
    """Each cell says its column there, and no table is wider than the page."""
    tab = browser.new_page(viewport={"width": WIDTHS["desktop"], "height": 900})
    open_page(tab, f"{address}/notebooks/explorer.html")
    tab.locator("summary", has_text="All mechanisms in a table").press("Enter")
    cells = tab.locator("table.live-table td:visible")
    cells.first.wait_for()
    assert not tab.locator("table.live-table .label:visible").count()
    tab.set_viewport_size({"width": WIDTHS["phone"], "height": 900})
    row = tab.locator("table.live-table tbody tr").first.locator("td").all()
    assert row[0].inner_text().startswith("TV: ")
    assert row[1].bounding_box()["y"] >= row[0].bounding_box()["y"] + 10
    assert tab.locator("table.live-table .label:visible").count() == cells.count()
    assert tab.evaluate(
        "[...document.querySelectorAll('.live-fold')].every(e => e.scrollWidth <= e.clientWidth)"
    )
    tab.close()


SHIFTS = """
window.moved = 0;
new PerformanceObserver((list) => list.getEntries().forEach((one) => window.moved += one.value))
  .observe({ type: "layout-shift", buffered: true });
"""


def moved_while_loading(painting: Browser, url: str, width: int) -> float:
    """The layout shift of a cold load whose scripts come when the page has been painted."""
    context = painting.new_context(viewport={"width": width, "height": 800})
    tab = context.new_page()
    tab.add_init_script(SHIFTS)

    def after_painting(route: Route) -> None:
        sleep(SCRIPTS_COME)
        route.continue_()

    tab.route("**/{tex-chtml,live}.js", after_painting)
    open_page(tab, url)
    tab.wait_for_timeout(300)
    moved: float = tab.evaluate("window.moved")
    context.close()
    return moved


@pytest.mark.accessibility
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS.keys())
@pytest.mark.parametrize("page", PAGES)
def test_little_moves_while_a_page_loads(
    painting: Browser, address: str, page: str, width: int
) -> None:
    assert moved_while_loading(painting, f"{address}/{page}", width) <= LARGEST_SHIFT


def test_what_moves_is_seen(painting: Browser, tmp_path: Path) -> None:
    """A page whose script moves its text by half a window, after its first frame."""
    page = tmp_path / "moves.html"
    move = "document.querySelector('p').style.marginTop = '400px'"
    script = f"requestAnimationFrame(() => setTimeout(() => {move}, 20))"  # once it is painted
    page.write_text(f"<p>{'Text. ' * 200}</p><script>{script}</script>", encoding="utf-8")
    assert moved_while_loading(painting, page.as_uri(), WIDTHS["phone"]) > LARGEST_SHIFT


@pytest.fixture(scope="module")
def reader(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """One tab for all pages, which keeps what they share, and what the browser complains about."""
    complaints: list[str] = []
    tab = browser.new_page()
    tab.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("requestfailed", lambda request: complaints.append(f"not found: {request.url}"))
    yield tab, complaints
    tab.close()


@pytest.fixture(scope="module", params=PAGES)
def loaded(
    request: pytest.FixtureRequest, reader: tuple[Page, list[str]], address: str
) -> tuple[Page, list[str]]:
    """Each page, loaded once for all that is looked at in it."""
    tab, complaints = reader
    complaints.clear()
    tab.emulate_media(media="screen")
    tab.set_viewport_size({"width": WIDTHS["desktop"], "height": 900})
    open_page(tab, f"{address}/{request.param}")
    return tab, complaints


def test_a_chapter_shows_before_it_proves(loaded: tuple[Page, list[str]]) -> None:
    """Question, picture, and no code, fold or table between."""
    tab, _ = loaded
    tab.emulate_media(media="screen")
    tab.set_viewport_size({"width": WIDTHS["desktop"], "height": 900})
    shape = tab.evaluate(SHAPE)
    if "/notebooks/" in tab.url:
        assert shape["picture"] <= LOWEST_FIRST_PICTURE
        assert not shape["before"]


def test_the_menu_shows_the_current_chapter(loaded: tuple[Page, list[str]]) -> None:
    """Its part is open, the others are not, and it is in the window."""
    tab, _ = loaded
    tab.emulate_media(media="screen")
    tab.set_viewport_size({"width": WIDTHS["desktop"], "height": 900})
    current = tab.locator(".menu-part a.current")
    if current.count():
        tab.wait_for_timeout(1)
        assert tab.locator(".menu-part[open]").count() == 1
        box = current.bounding_box()
        assert box
        assert 0 < box["y"] < 900 - box["height"]


def test_the_menu_of_a_phone_opens_at_the_current_chapter(browser: Browser, address: str) -> None:
    tab = browser.new_page(viewport={"width": WIDTHS["phone"], "height": 844})
    open_page(tab, f"{address}/notebooks/shuffled.html")
    tab.locator("button.primary-toggle:visible").evaluate("e => e.click()")
    tab.wait_for_timeout(300)
    box = tab.locator("dialog .menu-part a.current").bounding_box()
    tab.close()
    assert box
    assert 200 < box["y"] < 600


def test_nothing_is_wider_than_a_small_phone(loaded: tuple[Page, list[str]]) -> None:
    tab, _ = loaded
    tab.emulate_media(media="screen")
    tab.set_viewport_size({"width": NARROWEST, "height": 900})
    assert tab.evaluate("document.documentElement.scrollWidth") == NARROWEST
    assert not tab.evaluate(DEFECTS)["wider than the page"]
    if "/api/" in tab.url:
        assert not tab.evaluate(SCROLLING_TABLES)


INTEGER_ENDS = """
() => [...document.querySelectorAll(".cell_output table")].flatMap((table) => {
  const rows = [...table.tBodies[0].rows]
  const isNumber = (cell) => /^[-\\d][\\d,]*([.]\\d+)?$/.test(cell.textContent.trim());
  const end = (cell) => {
    const range = document.createRange();
    const text = cell.textContent;
    const point = text.indexOf(".");
    range.setStart(cell.firstChild, 0);
    range.setEnd(cell.firstChild, point < 0 ? text.trimEnd().length : point);
    return Math.round(range.getBoundingClientRect().right);
  };
  return [...rows[0].cells]
    .map((_, column) => rows.map((row) => row.cells[column]))
    .filter((cells) => cells.every(isNumber))
    .map((cells) => [...new Set(cells.map(end))]);
})
"""


def test_numbers_of_a_column_stand_point_below_point(browser: Browser, address: str) -> None:
    """Those that code writes as texts, too; pixels are rounded."""
    tab = browser.new_page(viewport={"width": WIDTHS["desktop"], "height": 900})
    for page in ("attributes", "block_design", "choosing"):
        open_page(tab, f"{address}/notebooks/{page}.html")
        tab.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true })")
        columns = tab.evaluate(INTEGER_ENDS)
        assert len(columns) > 5
        assert all(max(ends) - min(ends) <= 1 for ends in columns)
    tab.close()


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS.keys())
def test_page_is_whole(loaded: tuple[Page, list[str]], width: int) -> None:
    tab, complaints = loaded
    tab.emulate_media(media="screen")
    tab.set_viewport_size({"width": width, "height": 900})
    found = {name: items for name, items in tab.evaluate(DEFECTS).items() if items}
    assert not complaints
    assert not found


def test_nothing_is_cut_on_paper(loaded: tuple[Page, list[str]]) -> None:
    tab, _ = loaded
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": PAPER, "height": 900})
    assert not tab.evaluate(CUT_ON_PAPER)


CONTRAST = """
() => {
  const shown = (color) => color.match(/\\d+/g).slice(0, 3)
    .map((part) => part / 255)
    .map((part) => (part > 0.04045 ? ((part + 0.055) / 1.055) ** 2.4 : part / 12.92));
  const light = (e) => shown(getComputedStyle(e).color)
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  return [...document.querySelectorAll("article :is(p, li, h1, h2, figcaption)")]
    .map((e) => [1.05 / (light(e) + 0.05), e.className, e.textContent.slice(0, 40)]);
}
"""


def test_the_dark_is_printed_as_the_light(browser: Browser, address: str) -> None:
    """Dark letters on white, from the title on, and the screen is dark again."""
    tab = browser.new_page(color_scheme="dark")
    open_page(tab, f"{address}/notebooks/l2_losses.html")
    tab.emulate_media(media="print")
    tab.evaluate(f"addEventListener('beforeprint', () => {{ window.printed = ({CONTRAST})() }})")
    tab.pdf()
    assert not [one for one in tab.evaluate("printed") if one[0] < 7]
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    assert tab.locator("article h1").bounding_box()["y"] < 100
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=() if page in ONE_OF_EACH_KIND else pytest.mark.accessibility)
        for page in PAGES
    ],
)
def test_page_is_accessible(browser: Browser, address: str, page: str, scheme: str) -> None:
    tab = browser.new_page(color_scheme=scheme)
    open_page(tab, f"{address}/{page}")
    results = Axe().run(tab, options={"runOnly": ["wcag2a", "wcag2aa"]})
    tab.close()
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.accessibility
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_page_works_with_the_keyboard(
    browser: Browser, address: str, page: str, scheme: str
) -> None:
    viewport = {"width": WIDTHS["phone"], "height": 900}
    tab = browser.new_page(viewport=viewport, color_scheme=scheme)
    open_page(tab, f"{address}/{page}")
    tab.keyboard.press("Tab")
    assert tab.locator(":focus").inner_text() == "Skip to main content"
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    assert tab.locator("main :focus").count() == 1
    found = {name: items for name, items in tab.evaluate(KEYBOARD).items() if items}
    folded = tab.locator("details.hide")
    if folded.count():
        folded.first.locator("summary").focus()
        tab.keyboard.press("Enter")
        assert folded.first.locator("pre").first.is_visible()
    tab.close()
    assert not found
