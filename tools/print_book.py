"""Print the book's single page, _build/singlehtml, to _build/uldp.pdf with Chromium or Chrome."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

BUILD = Path(__file__).parents[1] / "_build"
CHROMES = ("chromium", "google-chrome", "google-chrome-stable", "chromium-browser")
FOOTER = """
<div style="width: 100%; text-align: center; font-size: 8px"><span class="pageNumber"></span></div>
"""


def main() -> int:
    """Print; return 1 without a browser."""
    executable = next(filter(None, map(shutil.which, CHROMES)), None)
    if executable is None:
        print(f"a browser is needed, one of {', '.join(CHROMES)}", file=sys.stderr)
        return 1
    single = BUILD / "singlehtml"
    page = (single / "book" / "welcome.html").read_text(encoding="utf-8")
    printed = single / "print.html"
    printed.write_text(page.replace('"../_static', '"_static'), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.goto(printed.as_uri())
        tab.wait_for_function("window.MathJax?.startup?.promise")
        tab.evaluate("MathJax.startup.promise")
        tab.pdf(
            path=BUILD / "uldp.pdf",
            format="A4",
            scale=0.8,
            margin=dict.fromkeys(("top", "bottom", "left", "right"), "18mm"),
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOTER,
            outline=True,
            tagged=True,
        )
        browser.close()
    print(BUILD / "uldp.pdf")
    return 0


if __name__ == "__main__":
    sys.exit(main())
