"""Every link of the built book leads somewhere: to a file, and to a place that it has."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

BOOK = Path(__file__).resolve().parents[1] / "_build" / "html"
PAGES = sorted(
    path.relative_to(BOOK).as_posix()
    for path in BOOK.rglob("*.html")
    if "_static" not in path.relative_to(BOOK).parts
)
HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")


class Anchors(HTMLParser):
    """The links of a page, what else it loads, and the places in it that a link can name."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = {""}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.links += [values[name] for name in ("href", "src") if name in values]
        if tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
            self.links.append(values["content"].partition("url=")[2])
        if "id" in values:
            self.places.add(values["id"])


@cache
def anchors(path: Path) -> Anchors:
    return Anchors(path.read_text(encoding="utf-8"))


def is_dead(link: str, page: Path, book: Path) -> bool:
    """Whether a link of a page leads nowhere, or to another host without https."""
    address = urlsplit(link)
    if address.scheme or address.netloc:
        well_formed = not re.search(r"\s", link) and HOST.fullmatch(address.hostname or "")
        return address.scheme != "https" or not well_formed
    target = (page.parent / unquote(address.path)).resolve() if address.path else page
    if not (target.is_relative_to(book) and target.is_file()):
        return True
    places = anchors(target).places if target.suffix == ".html" else {""}
    return unquote(address.fragment) not in places


@pytest.mark.skipif(not PAGES, reason="the book is not built")
@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    path = BOOK / page
    assert not [link for link in anchors(path).links if is_dead(link, path, BOOK)]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    (tmp_path / "pages").mkdir()
    (tmp_path / "a picture.png").touch()
    (tmp_path / "other.html").write_text('<meta name="no place"><h1 id="café"></h1>', "utf-8")
    path = tmp_path / "pages" / "page.html"
    path.write_text('<p id="here">', "utf-8")
    return path


@pytest.mark.parametrize(
    "link",
    [
        "#",
        "#here",
        "page.html#here",
        "../other.html?digest=1#caf%C3%A9",
        "../a%20picture.png",
        "https://doi.org/10.1000/182#part",
    ],
)
def test_a_live_link(link: str, page: Path) -> None:
    assert not is_dead(link, page, page.parents[1])


@pytest.mark.parametrize(
    "link",
    [
        "#there",
        "other.html",
        "../other.html#here",
        "../other.html#no place",
        "../a%20picture.png#here",
        "../pages",
        "../../",
        "/page.html",
        "http://doi.org/10.1000/182",
        "//doi.org/10.1000/182",
        "https:/doi.org/10.1000/182",
        "https://doi/10.1000/182",
        "https://doi.org/10.1000 182",
        "javascript:void(0)",
    ],
)
def test_a_dead_link(link: str, page: Path) -> None:
    assert is_dead(link, page, page.parents[1])


def test_links_and_places_are_found_wherever_they_stand() -> None:
    html = """<meta http-equiv="Refresh" content="0; url=a"><link href="b"><img src="c"/>
    <script src=d></script><script>"<a href='no'>"</script><svg><a HREF='e&amp;f' ID="x&amp;y">"""
    found = Anchors(html)
    assert found.links == ["a", "b", "c", "d", "e&f"]
    assert found.places == {"", "x&y"}
