"""The page with sliders: its table against `uldp.compare`, and itself in a real browser."""

import csv
import importlib.util
import itertools
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, sync_playwright
from test_pages import BOOK, EXECUTABLE

import uldp

ROOT = Path(__file__).parents[1]
SLIDERS = {"epsilon": "ε", "values": "Possible", "sensitive": "Sensitive", "users": "People"}


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = load("tools/explorer_table.py")


def table() -> list[dict[str, str]]:
    lines = tool.TABLE.read_text(encoding="utf-8").splitlines()
    assert lines[0] == tool.COMMAND.strip()
    return list(csv.DictReader(lines[1:]))


def page_of_a_new_process(seed: str) -> str:
    code = "import sys, explorer; sys.stdout.buffer.write(explorer.page().encode())"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "book/_ext")}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True
    )
    return run.stdout.decode()


@pytest.fixture(scope="module")
def html() -> str:
    return page_of_a_new_process("1")


def test_the_table_has_a_row_for_every_position_of_the_sliders() -> None:
    domains = [(k, s) for k in tool.VALUES for s in tool.SENSITIVE if s <= k]
    expected = itertools.product(domains, tool.EPSILONS)
    keys = [(int(r["values"]), int(r["sensitive"]), float(r["epsilon"])) for r in table()]
    assert keys == [(k, s, epsilon) for (k, s), epsilon in expected]
    assert set(tool.VALUES) <= set(tool.SENSITIVE), "all of the answers can be sensitive"
    assert tool.TABLE.stat().st_size < 400_000


def test_random_rows_of_the_table_are_what_the_tool_writes() -> None:
    rows = table()
    for index in np.random.default_rng(11).choice(len(rows), 40, replace=False):
        row = rows[index]
        k, s, epsilon = int(row["values"]), int(row["sensitive"]), float(row["epsilon"])
        assert list(row.values()) == tool.row(k, s, epsilon)


def test_a_row_holds_the_losses_of_one_user() -> None:
    row = dict(zip(tool.HEADER, tool.row(400, 76, 1.0), strict=True))
    domain = uldp.Domain(400, sensitive=range(76))
    for name, forecast in uldp.compare(domain, 1.0, 1).items():
        assert float(row[f"TV {name}"]) == pytest.approx(forecast.tv, rel=1e-5)
        assert float(row[f"MSE {name}"]) == pytest.approx(forecast.mse, rel=1e-5)
    assert float(row["MSE limit"]) == pytest.approx(uldp.fundamental_limit(domain, 1.0), rel=1e-5)
    assert row["MSE no privacy"] == "0.9975"
    assert float(row["TV no privacy"]) == pytest.approx(math.sqrt(399 / (2 * math.pi)), rel=1e-5)


def test_the_page_is_small_and_the_same_each_time(html: str) -> None:
    assert page_of_a_new_process("2") == html
    assert len(html.encode()) < 5_000_000
    assert not load("book/_ext/offline.py").fetched_urls(html)


@pytest.mark.skipif(not (BOOK / "explorer.html").exists(), reason="the book is not built")
def test_the_book_holds_the_page(html: str) -> None:
    assert (BOOK / "explorer.html").read_text(encoding="utf-8") == html


@pytest.fixture(scope="module")
def opened(html: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page without a network, and what it asked and complained of."""
    if EXECUTABLE is None:
        pytest.skip("no Chromium on this machine")
    path = tmp_path_factory.mktemp("explorer") / "explorer.html"
    path.write_text(html, encoding="utf-8")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND"]
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=arguments)
        tab = browser.new_page(viewport={"width": 390, "height": 900})
        complaints: list[str] = []
        requests: list[str] = []
        tab.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(path.as_uri())
        tab.get_by_role("table").wait_for()
        yield tab, complaints, requests
        browser.close()


def handle(tab: Page, slider: str) -> Locator:
    return tab.get_by_role("slider", name=SLIDERS[slider])


def positions(tab: Page) -> dict[str, float]:
    texts = {name: handle(tab, name).get_attribute("aria-valuetext") for name in SLIDERS}
    return {name: float((text or "").replace(",", "")) for name, text in texts.items()}


def assert_page_shows_the_forecasts(tab: Page) -> None:
    at = positions(tab)
    k, n = int(at["values"]), int(at["users"])
    s = min(int(at["sensitive"]), k)
    domain = uldp.Domain(k, sensitive=range(s))
    caption = tab.locator("caption").inner_text()
    assert caption.startswith(f"ε = {at['epsilon']:g}, {s} of {k} answers sensitive, {n:,} people.")
    limit = uldp.fundamental_limit(domain, at["epsilon"]) / n
    expected = {
        name: (forecast.tv, forecast.mse, forecast.excess)
        for name, forecast in uldp.compare(domain, at["epsilon"], n).items()
    }
    without = uldp.compare(uldp.Domain(k), 1.0, n)["uRR"]
    expected["no privacy"] = without.tv, without.mse, without.mse / limit
    assert_rounded(caption.split()[-1], limit)
    body = tab.locator("tbody tr")
    assert body.locator("th").all_inner_texts() == list(expected)
    for index, values in enumerate(expected.values()):
        for text, value in zip(
            body.nth(index).locator("td").all_inner_texts(), values, strict=True
        ):
            assert_rounded(text, value)


def assert_rounded(text: str, value: float) -> None:
    """The table has six digits and the page three: at most 0.505 units of the third are off."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    assert abs(float(text) - value) <= 0.506 * unit


def drawn(tab: Page) -> dict[str, list[float]]:
    code = "Object.fromEntries(Object.entries(Bokeh.documents[0].get_model_by_name('shown').data))"
    return tab.evaluate(f"() => {code}")


def test_each_slider_moves_by_keys_and_the_numbers_follow(opened: Any) -> None:
    tab, complaints, requests = opened
    assert_page_shows_the_forecasts(tab)
    for name, keys in (
        ("epsilon", ["ArrowLeft", "PageUp", "End", "Home"]),
        ("users", ["ArrowRight", "Home", "End"]),
        ("sensitive", ["ArrowLeft", "End", "Home"]),
        ("values", ["ArrowRight", "Home", "End", "ArrowLeft"]),
        ("sensitive", ["ArrowRight", "End"]),
    ):
        for key in keys:
            before, curves = positions(tab), drawn(tab)
            handle(tab, name).press(key)
            after = positions(tab)
            assert [slider for slider in SLIDERS if after[slider] != before[slider]] == [name]
            assert_page_shows_the_forecasts(tab)
            assert (drawn(tab) == curves) == (name == "epsilon")
    assert not complaints
    assert all(url.startswith(("file:", "data:", "blob:")) for url in requests)


def test_the_curves_are_rows_of_the_table(opened: Any) -> None:
    tab, _, _ = opened
    at = positions(tab)
    k = int(at["values"])
    s = min(int(at["sensitive"]), k)
    rows = [r for r in table() if (int(r["values"]), int(r["sensitive"])) == (k, s)]
    for name, curve in drawn(tab).items():
        divisor = {"TV": math.sqrt(at["users"]), "MSE": at["users"]}.get(name.split()[0], 1)
        np.testing.assert_allclose(curve, [float(row[name]) / divisor for row in rows], rtol=1e-12)


def test_a_slider_moves_by_mouse(opened: Any) -> None:
    tab, _, _ = opened
    box = handle(tab, "epsilon").locator("xpath=../..").bounding_box()
    assert box
    tab.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + box["height"] / 2)
    assert positions(tab)["epsilon"] == pytest.approx(10**0.5, rel=0.3)
    assert_page_shows_the_forecasts(tab)


def test_the_page_fits_a_phone_and_is_accessible(opened: Any) -> None:
    tab, complaints, _ = opened
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    results = Axe().run(tab, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert results.violations_count == 0, results.generate_report()
    assert not complaints
