from collections.abc import Iterator
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pytest
from cases import EXECUTABLE, MECHANISMS
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

settings.load_profile("ci")  # the same examples every time, no deadline
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(params=MECHANISMS.values(), ids=MECHANISMS.keys())
def make(request: pytest.FixtureRequest) -> Any:
    """Each mechanism by which a test makes its own."""
    return request.param


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium or Chrome, which reaches this machine and no other."""
    if EXECUTABLE is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        chrome = playwright.chromium.launch(executable_path=EXECUTABLE, args=arguments)
        yield chrome
        chrome.close()
