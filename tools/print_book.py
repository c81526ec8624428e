"""Print the book's single page, _build/singlehtml, to _build/uldp.pdf with Chromium or Chrome."""

import io
import sys
from pathlib import Path

from browsers import EXECUTABLE, NAMES
from pikepdf import ObjectStreamMode, Page, Pdf
from playwright.sync_api import Page as Tab, sync_playwright

BUILD = Path(__file__).parents[1] / "_build"
LONGEST_WAIT = 600_000  # ms: the formulas of the whole book take a busy machine a minute

NUMBERED = "#jb-print-toc a, #the-paper-s-statements-and-figures td:last-child a"
"""Links that show the page they lead to: the contents, and the index of the paper's statements."""

PREPARE = """
async (numbered) => {
  await MathJax.startup.promise
  for (const link of document.querySelectorAll("a[href]:not([href^=https])"))
    link.hash ? link.setAttribute("href", link.hash) : link.removeAttribute("href")
  for (const link of document.querySelectorAll(numbered)) link.dataset.page = "000"
  const style = document.head.appendChild(document.createElement("style"))
  const chapters = [...document.querySelectorAll("#jb-print-toc a")]
  style.textContent = chapters.map((chapter, i) => {
    const start = `[id="${chapter.hash.slice(1)}"]`
    return `${start}, ${start} + section { page: chapter-${i} }
      @page chapter-${i} { @bottom-left { content: ${JSON.stringify(chapter.textContent)} } }`
  }).join("\\n")
}
"""
"""Lead all links into the page or to the web; room for page numbers; titles at the foot."""

NUMBER = """
([numbered, pages]) => {
  for (const link of document.querySelectorAll(numbered))
    link.dataset.page = pages[decodeURIComponent(link.hash.slice(1))]
}
"""


def printed(tab: Tab, **options: bool) -> Pdf:
    """Return the page in its print style, which names the paper, as a PDF."""
    pdf = tab.pdf(scale=0.8, prefer_css_page_size=True, **options)
    return Pdf.open(io.BytesIO(pdf))


def page_numbers(pdf: Pdf) -> dict[str, int]:
    """Return the page, counted from 1, of each place that a link of the PDF leads to."""
    places = pdf.Root.Dests.items()
    return {name.removeprefix("/"): Page(place[0]).index + 1 for name, place in places}


def main() -> int:
    """Print once for the page numbers and once with them; return 1 without a browser."""
    if EXECUTABLE is None:
        print(f"a browser is needed, one of {', '.join(NAMES)}", file=sys.stderr)
        return 1
    single = BUILD / "singlehtml"
    page = (single / "book" / "welcome.html").read_text(encoding="utf-8")
    source = single / "print.html"
    source.write_text(page.replace('"../_static', '"_static'), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.set_default_timeout(LONGEST_WAIT)
        tab.goto(source.as_uri())
        tab.wait_for_function("window.MathJax?.startup?.promise")
        tab.evaluate(PREPARE, NUMBERED)
        tab.evaluate(NUMBER, [NUMBERED, page_numbers(printed(tab))])
        pdf = printed(tab, outline=True, tagged=True)
        browser.close()
    pdf.save(BUILD / "uldp.pdf", object_stream_mode=ObjectStreamMode.generate)
    print(BUILD / "uldp.pdf")
    return 0


if __name__ == "__main__":
    sys.exit(main())
