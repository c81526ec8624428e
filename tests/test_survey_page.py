"""The pages for participants, in Chromium: what is asked, said, sent, kept and sent again."""

import contextlib
import io
import itertools
import json
import math
import os
import re
import resource
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route
from test_client import KINDS as CLIENT_KINDS, WAYS
from test_surveys import PLACES

import uldp
from uldp import __main__ as command_line
from uldp.survey import wire
from uldp.survey.surveys import Survey

ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "client"
KINDS = {".html": "text/html; charset=utf-8", ".mjs": "text/javascript", ".css": "text/css"}
CUT = 0
"""Instead of a status: the connection ends before the answer."""

MOOD = uldp.Domain(["good", "fair", "bad"], sensitive=["bad"])
SURE = uldp.UtilityOptimizedRR(MOOD, 40.0)
"""Its reports are the answers, but for one of 10^17."""

NOTHING = "Nothing is chosen, and nothing was sent."
SENT = "Sent. Thank you!"
CONSTANTS = {"MOST_EPSILON": "5", "PATIENCE": "20_000", "KNOCK": "5_000"}
SECONDS_TO_STOP = 0.01
ANSWERED = "You have answered. Thank you!"
WAITING = "Not everything was sent."
AGAIN = "You have answered. Nothing new was sent."


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """One that keeps nothing of another."""
    context = browser.new_context()
    context.set_default_timeout(10_000)
    yield context.new_page()
    context.close()


class Service(BaseHTTPRequestHandler):
    """What a survey page needs of a server: files, and a place to send messages to."""

    survey: Survey
    set: dict[str, str]
    statuses: list[int]
    foreign: tuple[int, str, bytes | None] | None = None
    unknown: set[str]
    delay = 0.0
    came: list[bytes]
    taken: list[bytes]
    addresses: list[str]

    def do_GET(self) -> None:
        name = self.path.strip("/").partition("?")[0]
        path = CLIENT / name
        data = path.read_bytes() if path.is_file() else b""
        if name == "survey.json":
            data = self.survey.to_json().encode()
        if name == "example.mjs":
            data = self.with_constants(data.decode()).encode()
        self.send_response(200 if data else 404)
        self.send_header("Content-Type", KINDS.get(path.suffix, "application/json"))
        self.end_headers()
        self.wfile.write(data)

    def with_constants(self, script: str) -> str:
        for name, value in self.set.items():
            line = f"const {name} = {CONSTANTS[name]};"
            assert line in script
            script = script.replace(line, f"const {name} = {value};")
        return script

    def do_POST(self) -> None:
        message = self.rfile.read(int(self.headers["Content-Length"]))
        if not message or self.path in self.unknown:
            self.send_response(403 if self.path in self.unknown else 400)
            self.end_headers()
            return
        self.addresses.append(self.path)
        self.came.append(message)
        status = self.statuses.pop(0) if self.statuses else 200
        time.sleep(self.delay)
        if self.foreign is not None:
            status, location, body = self.foreign
            self.send_response(status)
            self.send_header("Location", location)
            self.end_headers()
            self.wfile.write(message if body is None else body)
            return
        if status in (CUT, 200):
            self.taken.append(message)
        if status == CUT:
            self.close_connection = True
            return
        self.send_response(status)
        self.end_headers()
        if status == 200:
            self.wfile.write(sha256(message).hexdigest().encode())

    def log_message(self, *args: Any) -> None:
        pass

    @classmethod
    def counts(cls) -> dict[str, list[int]]:
        """Tallies of what was taken, each message once."""
        reading = cls.survey.read(dict.fromkeys(cls.taken))
        assert not reading.refused
        return {name: tally.counts.tolist() for name, tally in reading.tallies.items()}


@pytest.fixture
def service() -> Iterator[tuple[str, type[Service]]]:
    """A survey of two questions, on a page that asks any."""
    content: dict[str, Any] = {name: [] for name in ("statuses", "came", "taken", "addresses")}
    content["survey"] = Survey("page", dict.fromkeys(("today", "week"), SURE))
    content["set"] = {"MOST_EPSILON": "1e9"}
    content["unknown"] = set()
    handler = type("Handler", (Service,), content)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, args=(SECONDS_TO_STOP,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", handler
        server.shutdown()


def choose(tab: Page, **answers: str) -> None:
    for question, answer in answers.items():
        group = tab.get_by_role("group", name=question, exact=True)
        group.wait_for()
        menu = group.get_by_role("combobox")
        if menu.count():
            menu.select_option(answer)
        else:
            group.get_by_label(answer, exact=True).check()


def press_send(tab: Page, said: str) -> None:
    tab.get_by_role("status").evaluate("status => status.replaceChildren()")
    tab.get_by_role("button", name="Send").click()
    tab.get_by_text(said).wait_for()


ONLINE = """async () => {
  dispatchEvent(new Event("online"));
  await navigator.locks.request("survey", () => {}); // when all that follows is done
}"""
"""Say that the connection has returned, when requests are answered again."""


def status_of(tab: Page) -> str:
    """What the page says, when it has made up its mind."""
    status = tab.get_by_role("status")
    status.filter(has_not_text="One moment").wait_for(state="attached")
    return status.inner_text()


# --- what is asked -------------------------------------------------------------------------------


def test_it_sends_what_is_answered_once_and_asks_for_the_rest(tab, service):
    address, handler = service
    tab.goto(f"{address}/example.html")
    press_send(tab, NOTHING)
    choose(tab, today="fair")
    press_send(tab, f"{SENT} You may still answer “week”, or leave it out.")
    assert handler.counts() == {"today": [0, 1, 0], "week": [0, 0, 0]}
    tab.reload()
    tab.get_by_text(f"{ANSWERED} You may still answer “week”").wait_for()
    assert tab.get_by_role("group", name="today").get_by_label("good").is_disabled()
    press_send(tab, f"{AGAIN} You may still answer “week”, or leave it out.")
    choose(tab, week="good")
    press_send(tab, SENT)
    assert not tab.get_by_role("button", name="Send").is_visible()
    tab.reload()
    tab.get_by_text(ANSWERED).wait_for()
    assert not tab.get_by_role("button", name="Send").is_visible()
    assert handler.counts() == {"today": [0, 1, 0], "week": [1, 0, 0]}
    assert len(handler.came) == 2


@pytest.mark.parametrize("answers", [{"today": "fair"}, {"today": "fair", "week": "bad"}])
@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_a_double_tap_on_send_sends_once_and_says_so(tab, service, answers, delay):
    """The second tap is no answer of nothing, while the first is under way or later."""
    address, handler = service
    handler.delay = delay
    tab.goto(f"{address}/example.html")
    choose(tab, **answers)
    tab.get_by_role("button", name="Send").dblclick()
    tab.get_by_text(SENT).wait_for()
    tab.evaluate(ONLINE)
    assert status_of(tab).startswith(SENT)
    assert len(handler.came) == len(answers)
    if len(answers) == 1:
        press_send(tab, AGAIN)
    assert len(handler.came) == len(answers)


def test_it_asks_by_text_by_factor_and_for_secrets(tab, service):
    """And from a menu, where there are many answers, or numbers alone."""
    address, handler = service
    cells = uldp.Domain.product(
        age=["young", "old"], drug=["none", "some", "much"], sensitive=["young, much"]
    )
    laws = {
        "mood": MOOD,
        "drugs": cells,
        "place": PLACES,
        "number": uldp.Domain(9, [0]),
    }
    questions = {name: uldp.UtilityOptimizedRR(domain, 40.0) for name, domain in laws.items()}
    handler.survey = Survey("page", questions, texts={"mood": "How are you today?"})
    tab.goto(f"{address}/example.html")
    choose(tab, **{"How are you today?": "bad", "drug": "some", "number": "8"})
    press_send(tab, "Please complete “drugs”. Nothing was sent.")
    choose(tab, age="old")
    label = PLACES.labels[1]
    choose(tab, place=label)
    press_send(tab, "Please complete “place”. Nothing was sent.")
    assert not handler.came
    choose(tab, **{"Is this answer private to you?": f"yes: {PLACES.tags[-1]}"})
    press_send(tab, SENT)
    found = {name: counts.index(1) for name, counts in handler.counts().items()}
    bot = PLACES.size - 1
    assert found == {"mood": 2, "drugs": 4, "place": bot, "number": 8}


def test_an_answer_that_is_not_private_stays(tab, service):
    address, handler = service
    handler.survey = Survey("page", {"place": uldp.UtilityOptimizedRR(PLACES, 40.0)})
    tab.goto(f"{address}/example.html")
    choose(tab, place=PLACES.labels[1])
    choose(tab, **{"Is this answer private to you?": "no"})
    press_send(tab, SENT)
    assert handler.counts()["place"].index(1) == 1


def test_questions_may_have_any_name(tab, service):
    """Such as those of what a form can do, which an input of that name would hide."""
    address, handler = service
    names = ["reset", "addEventListener", "append", "hidden", "elements", "<b>x</b>", "__proto__"]
    handler.survey = Survey("page", dict.fromkeys(names, SURE))
    tab.goto(f"{address}/example.html")
    choose(tab, **dict.fromkeys(names, "good"))
    tab.get_by_role("button", name="Clear").click()
    assert tab.locator("input:checked").count() == 0
    choose(tab, **dict.fromkeys(names, "good"))
    press_send(tab, SENT)
    assert handler.counts() == {name: [1, 0, 0] for name in names}


# --- what is promised ----------------------------------------------------------------------------


def upwards(share: float) -> str:
    return f"{math.ceil(100 * share - 1e-9)}%"


def odds(epsilon: float) -> str:
    digits = 2 - math.floor(epsilon / math.log(10))
    growth = math.ceil(math.exp(epsilon) * 10**digits) / 10**digits
    shown = f"{growth:,.{max(digits, 0)}f}"
    return f"at most {shown.rstrip('0').rstrip('.') if '.' in shown else shown} times as high"


def examples(epsilon: float) -> str:
    low, even = (upwards(1 / (1 + (1 / p - 1) * math.exp(-epsilon))) for p in (0.1, 0.5))
    return f": a guess of 10% becomes {low}, one of 50% becomes {even}, at most."


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_each_question_says_what_it_promises(tab, service, epsilon):
    """Of every mechanism, from its law; and the sum for the person."""
    address, handler = service
    answers = uldp.Domain(["a", "b", "c", "d", "e"], sensitive=["b", "d"])
    questions = {name: uldp.mechanisms.MECHANISMS[name](answers, epsilon) for name in CLIENT_KINDS}
    questions["open"] = uldp.UtilityOptimizedRR(uldp.Domain(3), epsilon)
    questions["place"] = uldp.UtilityOptimizedRappor(PLACES, epsilon)
    many = uldp.Domain(12, range(10))
    questions["many"] = uldp.UtilityOptimizedRR(many, epsilon)
    handler.survey = Survey("page", questions)
    said: dict[str, list[str]] = {}
    for name, mechanism in questions.items():
        kept = f"One message makes the odds of a guess {odds(epsilon)}."
        if not mechanism.nonsensitive.size:
            said[name] = [f"Protected: every answer. {kept}"]
            continue
        listed = {
            "place": ["Protected: any answer that you call private, 1 answer:", "clinic"],
            "many": ["Protected: 10 answers, here the first 8:", *map(str, range(8))],
        }.get(name, ["Protected: 2 answers:", "b", "d"])
        shown = upwards(mechanism.revealed_share)
        others = f"{kept} Any other answer is sent as it is in {shown} of all cases."
        said[name] = [*listed, others]
    said["open"] = ["Not protected: your answer is sent as it is."]
    total = odds(len(questions) * epsilon) + examples(len(questions) * epsilon)
    tab.goto(f"{address}/example.html")
    assert status_of(tab) == ""
    for name, promise in said.items():
        group = tab.get_by_role("group", name=name, exact=True)
        assert group.locator("p, li").all_inner_texts() == promise
    of_person = (
        f"All your messages together make the odds of a guess about what is protected {total}"
    )
    assert tab.locator("form > p").inner_text() == of_person
    tab.goto(f"{address}/notice.html")
    tab.get_by_text(of_person).wait_for()
    told = tab.locator("#questions").locator("p, li").all_inner_texts()
    said["many"] = ["Protected: 10 answers:", *map(str, range(10)), said["many"][-1]]
    assert told == [line for name, promise in said.items() for line in (name, *promise)]
    assert tab.locator("#digest").inner_text() == handler.survey.digest


def test_no_label_passes_for_several_answers_or_for_a_promise(tab, service):
    """A label is an item of its own, on both pages, and the answers are counted."""
    address, handler = service
    label = "yes. One message makes the odds of a guess at most 1 times as high."
    answers = uldp.Domain(["yes", "no", label], sensitive=[label])
    handler.survey = Survey("page", {"q": uldp.UtilityOptimizedRR(answers, 1.0)})
    for page in ("example", "notice"):
        tab.goto(f"{address}/{page}.html")
        item = tab.locator("li")
        item.wait_for()
        assert item.inner_text() == label
        around = item.locator("xpath=..").locator("xpath=preceding-sibling::p[1]")
        assert around.inner_text() == "Protected: 1 answer:"


def test_what_is_not_protected_or_asked_again_is_said(tab, service):
    address, handler = service
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(3), 1.0)
    handler.survey = Survey("open", {"q": mechanism})
    tab.goto(f"{address}/notice.html")
    tab.get_by_text("Nothing in this survey is protected.").wait_for()
    twice = uldp.UtilityOptimizedRR(MOOD, 1.0)
    for way, (said, reports) in {
        "first": ("2 times, and the same messages are sent each time, as long as this", 1),
        "one of two": ("This is asked 2 times, and your device answers 1 of them, as long", 1),
        "both": ("This is asked 2 times, and your device answers 2 of them, as long", 2),
    }.items():
        handler.survey = Survey("again", {"q": twice}, WAYS[way])
        tab.goto(f"{address}/notice.html")
        tab.get_by_text(said).wait_for()
        assert odds(reports) in tab.locator("#total").inner_text()


def test_a_question_that_protects_nothing_adds_nothing_to_the_total(tab, service):
    """With the least ε that a file may have, as the book says."""
    address, handler = service
    said = []
    for questions in ({}, {"ward": uldp.UtilityOptimizedRR(uldp.Domain(4), 1e-9)}):
        mechanism = uldp.UtilityOptimizedRR(MOOD, 1.5)
        handler.survey = Survey(f"page {len(questions)}", questions | {"q": mechanism})
        tab.goto(f"{address}/example.html")
        status_of(tab)
        said.append(tab.locator("form > p").inner_text().partition("odds")[2])
    assert said[0] == said[1]
    assert "4.49 times as high" in said[0]
    promise = tab.get_by_role("group", name="ward").locator("p").inner_text()
    assert promise == "Not protected: your answer is sent as it is."
    choose(tab, ward="3")
    press_send(tab, SENT)
    assert handler.counts()["ward"] == [0, 0, 0, 1]


def test_who_reads_the_notice_comes_back_with_her_own_link(tab, service):
    address, handler = service
    handler.survey = Survey("again", {"q": uldp.UtilityOptimizedRR(MOOD, 1.0)}, WAYS["both"])
    own = "?round=2&token=Kd83hs"
    tab.goto(f"{address}/example.html{own}")
    tab.get_by_role("link").click()
    tab.get_by_text("your device answers 2 of them").wait_for()
    tab.get_by_role("link").click()
    tab.get_by_role("button", name="Send").wait_for()
    assert tab.url == f"{address}/example.html{own}"


@pytest.mark.parametrize("page", ["example.html", "notice.html"])
def test_a_link_to_others_does_not_carry_the_token(tab, service, page):
    address, handler = service
    handler.survey = Survey("again", {"q": uldp.UtilityOptimizedRR(MOOD, 1.0)}, WAYS["both"])
    contact = "https://elsewhere.example/contact"

    def with_contact(route):
        answer = route.fetch()
        body = answer.text().replace("</p>", f'</p><a href="{contact}">Contact</a>', 1)
        route.fulfill(response=answer, body=body)

    tab.route(f"**/{page}*", with_contact)
    tab.goto(f"{address}/{page}?round=2&token=Kd83hs")
    said = "Send" if page == "example.html" else "your device answers 2 of them"
    tab.get_by_text(said).first.wait_for()
    hrefs = tab.evaluate("[...document.links].map(link => link.href)")
    assert contact in hrefs
    assert any(href.endswith("?round=2&token=Kd83hs") for href in hrefs)


def quoted(notebook: str) -> list[str]:
    """What a chapter quotes from the page."""
    cells = json.loads((ROOT / "notebooks" / notebook).read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells)
    return re.findall("^> (?:- )?(.+)", text, re.MULTILINE)


def test_the_book_quotes_what_the_page_says(tab, service):
    address, handler = service
    words = ["married", "widowed", "divorced", "separated", "single"]
    status = uldp.Domain(words, ["divorced", "separated"])
    marital = Survey("status", {"status": uldp.UtilityOptimizedRR(status, 1.0)})
    exhausted = uldp.Domain.product(
        age=["18-29", "30-49", "50+"],
        exhausted=["never", "sometimes", "often"],
        sensitive=lambda age, exhausted: exhausted == "often",
    )
    leaving = uldp.Domain(["no", "yes"], sensitive=["yes"])
    questions = {
        "exhausted": uldp.UtilityOptimizedBlockDesign(exhausted, 1.0),
        "leaving": uldp.UtilityOptimizedRR(leaving, 0.5),
    }
    nurses = Survey("nurses", questions)
    handler.set.clear()
    for survey, notebook in (
        (marital, "privacy_in_practice.ipynb"),
        (nurses, "your_survey.ipynb"),
    ):
        handler.survey = survey
        tab.goto(f"{address}/example.html")
        status_of(tab)
        text = tab.locator("form").evaluate("form => form.textContent")
        lines = quoted(notebook)
        assert len(lines) >= 5
        assert all(line in text for line in lines)


def test_the_book_says_what_the_page_says_when_something_goes_wrong():
    """The rows of its table are in the page, word by word."""
    cells = json.loads((ROOT / "notebooks" / "your_survey.ipynb").read_text(encoding="utf-8"))
    (table,) = (
        "".join(cell["source"])
        for cell in cells["cells"]
        if "tab-your-page" in "".join(cell["source"])
    )
    rows = re.findall(r"^\| (.*) \| (.*) \|$", table, re.MULTILINE)[1:]
    program = "".join((CLIENT / name).read_text() for name in ("example.mjs", "example.html"))
    program = re.sub(r'" \+\s+"', "", program)
    assert len(rows) == 8
    assert program.count("A survey<") == 2  # the title, which stands twice
    for _, said in rows:
        assert said in program


def test_the_book_quotes_what_changes_where_silence_is_protected():
    text = (ROOT / "notebooks" / "as_people_run_them.ipynb").read_text(encoding="utf-8")
    quotes = re.findall("for “([^”]+)” in `([a-z.]+)`", text)
    assert len(quotes) == 2
    for quote, page in quotes:
        assert quote in " ".join((CLIENT / page).read_text(encoding="utf-8").split())


# --- what goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statuses", "arrived"),
    [([500] * 3, 0), ([CUT] * 3, 3), ([200, 500, CUT], 2), ([200, 200, "late"], 3)],
    ids=["the server fails", "its answers are lost", "it dies between two", "one is late"],
)
def test_what_was_not_taken_is_sent_at_the_next_visit(tab, service, statuses, arrived):
    """The same message, and never a second one; with reports that would hardly be the same."""
    address, handler = service
    mechanism = uldp.RandomizedResponse(uldp.Domain(2**7), 0.1)
    handler.survey = Survey("page", dict.fromkeys(("today", "week", "year", "life"), mechanism))
    if "late" in statuses:
        handler.set["PATIENCE"] = "300"
        handler.delay = 0.6
        statuses = []
    handler.statuses = [*statuses]
    tab.goto(f"{address}/example.html")
    choose(tab, today="3", week="5", year="7")
    press_send(tab, WAITING)
    time.sleep(handler.delay)
    first = [*handler.came]
    assert len(set(first)) == 3
    assert len(handler.taken) == arrived
    assert tab.get_by_role("group", name="week").get_by_role("combobox").is_disabled()
    assert tab.get_by_role("group", name="life").get_by_role("combobox").is_enabled()
    handler.delay = 0.0
    tab.reload()
    tab.get_by_text(f"{ANSWERED} You may still answer “life”").wait_for()
    assert set(handler.came) == set(handler.taken) == set(first)
    choose(tab, life="9")
    press_send(tab, SENT)
    assert len(set(handler.taken)) == 4
    assert all(sum(counts) == 1 for counts in handler.counts().values())


SIGN_ON = b"<!doctype html><title>Please sign on</title>"


@pytest.mark.parametrize(
    "foreign",
    [
        *((status, "notice.html", SIGN_ON) for status in (302, 307)),
        (200, "", SIGN_ON),
        (200, "", None),
        (200, "", sha256(b"another message").hexdigest().encode()),
        (204, "", b""),
    ],
    ids=["302", "307", "a sign-on", "an echo", "another digest", "a proxy"],
)
def test_only_the_digest_of_a_message_confirms_it(tab, service, foreign):
    """Not what comes from elsewhere, whatever its status: then the message waits."""
    address, handler = service
    handler.foreign = foreign
    tab.goto(f"{address}/example.html")
    choose(tab, today="fair")
    press_send(tab, WAITING)
    assert handler.came
    assert not handler.taken
    _, page = kept_by(tab)
    assert bytes(page["made"]["1 0"]) == handler.came[0]
    handler.foreign = None
    tab.reload()
    tab.get_by_text(f"{ANSWERED} You may still answer “week”").wait_for()
    assert handler.taken == handler.came[:1]
    assert kept_by(tab)[1]["made"] == {"1 0": "taken"}


def test_what_was_not_taken_is_sent_when_the_connection_returns(tab, service):
    """And by Send, with what is answered by then."""
    address, handler = service
    tab.goto(f"{address}/example.html")
    choose(tab, today="bad")
    tab.route("**/messages*", lambda route: route.abort("internetdisconnected"))
    press_send(tab, WAITING)
    press_send(tab, WAITING)
    assert not handler.came
    tab.unroute_all()
    tab.evaluate(ONLINE)
    tab.get_by_text(SENT).wait_for()
    handler.statuses = [500]
    choose(tab, week="good")
    press_send(tab, WAITING)
    press_send(tab, SENT)
    assert handler.counts() == {"today": [0, 0, 1], "week": [1, 0, 0]}


def test_a_link_that_the_server_does_not_know(tab, service):
    """It is said before anything is asked, so that the right one finds a browser that is free."""
    address, handler = service
    handler.unknown = {"/messages?token=cut"}
    tab.goto(f"{address}/example.html?token=cut")
    assert status_of(tab).startswith("The server does not know this link.")
    assert not tab.get_by_role("button", name="Send").is_visible()
    tab.goto(f"{address}/example.html?token=cutoff")
    choose(tab, today="fair", week="good")
    press_send(tab, SENT)
    assert handler.counts() == {"today": [0, 1, 0], "week": [1, 0, 0]}


def test_a_server_that_does_not_say_whether_it_knows_a_link(tab, service):
    """Such as one that is away for a moment: the page asks, and waits with what it makes."""
    address, handler = service
    handler.set["KNOCK"] = "300"
    tab.route("**/messages*", lambda route: None)
    tab.goto(f"{address}/example.html")
    tab.get_by_role("button", name="Send").wait_for()
    tab.unroute_all(behavior="ignoreErrors")
    choose(tab, today="fair", week="good")
    press_send(tab, SENT)


def test_what_waits_goes_with_its_own_round(tab, service):
    """And with the token of the link, which is the same in all rounds."""
    address, handler = service
    handler.survey = Survey("page", {"q": SURE}, WAYS["both"])
    handler.statuses = [403]
    tab.goto(f"{address}/example.html?round=1&token=anne")
    choose(tab, q="fair")
    press_send(tab, "The server does not know this link.")
    tab.goto(f"{address}/example.html?token=anne&round=2")
    choose(tab, q="bad")
    press_send(tab, SENT)
    rounds = [query.rpartition("round=")[2][0] for query in handler.addresses]
    assert rounds == ["1", "1", "2"]
    assert all("token=anne" in query for query in handler.addresses)
    assert handler.counts() == {"q": [0, 1, 1]}


def test_a_message_that_the_server_does_not_accept(tab, service):
    """As after a change of the file: it waits, in case the change is taken back."""
    address, handler = service
    handler.statuses = [400]
    tab.goto(f"{address}/example.html")
    choose(tab, today="fair")
    press_send(tab, "The server does not accept what was sent: the survey may have changed since.")
    tab.reload()
    tab.get_by_text(f"{ANSWERED} You may still answer “week”").wait_for()
    assert handler.counts()["today"] == [0, 1, 0]


ANOTHER_LINK = (
    "This browser has been used for this survey with another link. If that was your link, please "
    "open it again. If not, please use a device of your own. Nothing was sent."
)


def test_another_link_in_the_same_browser(tab, service):
    """Nothing of the first is shown, and what waits goes with the first link alone."""
    address, handler = service
    anne, bob = (f"{address}/example.html?token={name}" for name in ("anne", "bob"))
    handler.statuses = [500]
    tab.goto(anne)
    choose(tab, today="fair")
    press_send(tab, WAITING)
    tab.goto(bob)
    assert status_of(tab) == ANOTHER_LINK
    assert not tab.locator("form").is_visible()
    assert tab.locator("fieldset").count() == 0
    tab.evaluate(ONLINE)
    tab.goto(f"{address}/example.html")
    assert status_of(tab) == ANOTHER_LINK
    assert len(handler.addresses) == 1
    tab.goto(f"{address}/example.html?from=mail&token=anne&token=bob")
    tab.get_by_text(f"{ANSWERED} You may still answer “week”").wait_for()
    assert handler.addresses == ["/messages?token=anne"] * 2
    kept = tab.evaluate("JSON.stringify(localStorage)")
    assert "anne" not in kept


def test_another_link_in_a_second_tab(tab, service):
    """Both are open before one of them answers: the other one may not any more."""
    address, handler = service
    other = tab.context.new_page()
    for one, token in ((tab, "anne"), (other, "bob")):
        one.goto(f"{address}/example.html?token={token}")
        choose(one, today="fair")
    handler.statuses = [500]
    press_send(tab, WAITING)
    tab.evaluate(ONLINE)
    tab.get_by_text(SENT).wait_for()
    other.evaluate(ONLINE)
    assert status_of(other) == ""
    press_send(other, ANOTHER_LINK)
    assert not other.locator("form").is_visible()
    assert handler.addresses == ["/messages?token=anne"] * 2


def test_another_link_where_the_storage_was_full(tab, service):
    """The client has stored the report of the first link, and the page no message."""
    address, handler = service
    tab.add_init_script(
        """const setItem = Storage.prototype.setItem;
        Storage.prototype.setItem = function (key, text) {
          const isTooMuch = key.startsWith("outbox") && text.includes("1 0");
          if (isTooMuch) throw new DOMException("", "QuotaExceededError");
          setItem.call(this, key, text);
        };"""
    )
    tab.goto(f"{address}/example.html?token=anne")
    choose(tab, today="fair")
    press_send(tab, "its storage is full or blocked")
    tab.goto(f"{address}/example.html?token=bob")
    assert status_of(tab) == ANOTHER_LINK
    assert not handler.came


def test_a_link_that_was_only_looked_at_does_not_bind_the_browser(tab, service):
    address, handler = service
    for token in ("anne", "bob"):
        tab.goto(f"{address}/example.html?token={token}")
        tab.get_by_role("button", name="Send").wait_for()
    choose(tab, today="fair")
    press_send(tab, SENT)
    assert handler.addresses == ["/messages?token=bob"]


# --- what the device keeps -----------------------------------------------------------------------

KEPT = "Object.fromEntries(Object.keys(localStorage).map((key) => [key, localStorage[key]]))"


def kept_by(tab: Page) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the client keeps, and the page."""
    (client,) = (text for key, text in tab.evaluate(KEPT).items() if key.startswith("uldp "))
    (page,) = (text for key, text in tab.evaluate(KEPT).items() if key.startswith("outbox "))
    return json.loads(client), json.loads(page)


def test_what_was_confirmed_is_forgotten(tab, service):
    """Of a question that is not protected the report is the answer; what waits has to be kept."""
    address, handler = service
    open_question = uldp.UtilityOptimizedRR(uldp.Domain(5), 1.0)
    handler.survey = Survey("page", dict.fromkeys(("a", "b"), open_question))
    handler.statuses = [500]
    tab.goto(f"{address}/example.html")
    choose(tab, a="3")
    press_send(tab, WAITING)
    client, page = kept_by(tab)
    assert client["reports"] == {"1 0": [3]}
    assert bytes(page["made"]["1 0"]) == handler.came[0]
    choose(tab, b="4")
    press_send(tab, SENT)
    for _ in range(2):
        client, page = kept_by(tab)
        assert client["reports"] == {"1 0": [], "1 1": []}
        assert page["made"] == {"1 0": "taken", "1 1": "taken"}
        tab.reload()
        tab.get_by_text(ANSWERED).wait_for()


def test_where_a_report_was_forgotten_none_is_made(tab, service):
    """Not by the client either, for a page that has lost its own memory."""
    address, handler = service
    tab.goto(f"{address}/example.html")
    choose(tab, today="fair", week="fair")
    press_send(tab, SENT)
    tab.evaluate("localStorage.removeItem('outbox page')")
    tab.reload()
    choose(tab, today="good")
    press_send(tab, "You cannot answer here. Nothing more was sent. (storage: a report must be")
    assert len(handler.came) == 2


@pytest.mark.parametrize(("way", "after"), [("first", [1, 0]), ("both", [0, 0])])
def test_what_a_later_round_sends_again_is_kept_until_then(tab, service, way, after):
    address, handler = service
    handler.survey = Survey("page", {"q": SURE}, WAYS[way])
    for round, size in zip((1, 2), after, strict=True):
        tab.goto(f"{address}/example.html?round={round}")
        choose(tab, q="fair")
        press_send(tab, SENT)
        client, _ = kept_by(tab)
        assert {len(report) for report in client["reports"].values()} == {size}
    assert len(handler.came) == 2


FILL = """
() => {
  for (let size = 2 ** 23; size; size >>= 1) {
    try { localStorage.setItem(`filler ${size}`, "x".repeat(size)); } catch {}
  }
}
"""


@pytest.mark.parametrize("when", ["before", "between"])
def test_a_storage_that_is_full(tab, service, when):
    """Nothing is sent that could not be kept; and when there is room, all is sent once."""
    address, handler = service
    path = "notice.html" if when == "before" else "example.html"
    tab.goto(f"{address}/{path}")
    tab.get_by_role("link" if when == "before" else "button").first.wait_for()
    tab.evaluate(FILL)
    said = "its storage is full or blocked"
    if when == "before":
        tab.goto(f"{address}/example.html")
        tab.get_by_text(said).wait_for()
        assert not tab.get_by_role("button", name="Send").is_visible()
    else:
        choose(tab, today="bad", week="bad")
        press_send(tab, said)
    assert not handler.came
    keys = "Object.keys(localStorage).filter((key) => key.startsWith('filler'))"
    tab.evaluate(f"for (const key of {keys}) localStorage.removeItem(key)")
    tab.goto(f"{address}/example.html")
    choose(tab, today="fair", week="fair")
    press_send(tab, SENT)
    assert handler.counts() == {"today": [0, 1, 0], "week": [0, 1, 0]}


def test_a_storage_that_fills_up_between_two_questions(tab, service):
    """What was kept is sent, the rest is not; later it is, whatever is chosen then."""
    address, handler = service
    mechanism = uldp.RandomizedResponse(uldp.Domain(2**10), 0.1)
    handler.survey = Survey("page", dict.fromkeys(("today", "week"), mechanism))
    tab.add_init_script(
        """const setItem = Storage.prototype.setItem;
        Storage.prototype.setItem = function (key, text) {
          const isTooMuch = window.isFull && text.includes("1 1");
          if (isTooMuch) throw new DOMException("", "QuotaExceededError");
          setItem.call(this, key, text);
        };"""
    )
    tab.goto(f"{address}/example.html")
    choose(tab, today="3", week="5")
    tab.evaluate("window.isFull = true")
    press_send(tab, "its storage is full or blocked")
    assert "nothing was sent that it could not keep" in status_of(tab)
    assert len(handler.came) == 1
    tab.evaluate("window.isFull = false")
    choose(tab, week="6")
    press_send(tab, SENT)
    assert len(handler.came) == 2
    assert all(sum(counts) == 1 for counts in handler.counts().values())


def test_a_second_tab(tab, service):
    address, handler = service
    other = tab.context.new_page()
    for one in (tab, other):
        one.goto(f"{address}/example.html")
        choose(one, today="fair", week="bad")
    press_send(tab, SENT)
    other.get_by_text("You have answered in another tab. Thank you!").wait_for()
    assert not other.get_by_role("button", name="Send").is_visible()
    assert len(handler.came) == 2


def test_a_second_tab_that_was_asleep(tab, service):
    """It has missed that something was stored, and asks when Send is pressed."""
    address, handler = service
    other = tab.context.new_page()
    other.add_init_script("addEventListener('storage', (e) => e.stopImmediatePropagation());")
    for one in (tab, other):
        one.goto(f"{address}/example.html")
        choose(one, today="fair")
    press_send(tab, SENT)
    press_send(other, "You have answered in another tab. Thank you!")
    assert len(handler.came) == 1


BLOCKED = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("denied", "SecurityError"); },
});"""


def test_each_obstacle_has_its_own_words(tab, service):
    """Also in the console; and where nothing can be kept, nothing can be sent."""
    address, handler = service
    page, complaints = f"{address}/example.html", []
    tab.on("console", lambda message: complaints.append(message.text))
    handler.survey = Survey("twice", {"q": SURE}, WAYS["first"])
    said = {}
    for query in ("", "?round=", "?round=3", "?round=x"):
        tab.goto(page + query)
        said[query] = status_of(tab)
    assert set(said.values()) == {
        "This link does not say which time you are asked. Please use the one that you were given. "
        "Nothing was sent."
    }
    handler.survey = Survey("once", {"q": uldp.UtilityOptimizedRR(MOOD, 5.01)})
    handler.set.clear()
    tab.goto(page)
    refused = "You cannot answer here. Nothing more was sent. (epsilon must be 5 in all, at most)"
    assert status_of(tab) == refused
    assert any("epsilon" in text for text in complaints)
    for body, words in (('{"uldp": 4}', "uldp must be the format, 2 or 3"), ("?", "must be JSON")):
        tab.route("**/survey.json", lambda route, _, body=body: route.fulfill(body=body))
        tab.goto(page)
        assert words in status_of(tab)
    tab.route("**/survey.json", lambda route: route.abort())
    tab.goto(page)
    assert status_of(tab).startswith("The survey cannot be reached. Please come back later.")
    tab.route("**/survey.json", lambda route: route.fulfill(status=500))
    tab.goto(page)
    assert status_of(tab).startswith("The survey cannot be reached. Please come back later.")
    tab.unroute("**/survey.json")
    tab.add_init_script(BLOCKED)
    handler.survey = Survey("once", {"q": uldp.UtilityOptimizedRR(MOOD, 1.0)})
    tab.goto(page)
    assert "its storage is full or blocked" in status_of(tab)
    assert not tab.get_by_role("button", name="Send").is_visible()
    assert not handler.came


@pytest.mark.parametrize("missing", ["delete Object.hasOwn", "delete Navigator.prototype.locks"])
def test_a_browser_that_is_too_old(tab, service, missing):
    """It is said before anything is asked."""
    address, _ = service
    tab.add_init_script(missing)
    tab.goto(f"{address}/example.html")
    assert status_of(tab).startswith("This browser is too old for this page.")
    assert not tab.locator("form").is_visible()


def test_the_oldest_browsers_that_do(tab, service):
    """Safari has timeouts of signals since 16.0, all else that the page needs since 15.4."""
    address, handler = service
    handler.set["PATIENCE"] = "300"
    handler.delay = 0.6
    tab.add_init_script("delete AbortSignal.timeout; delete AbortSignal.any;")
    tab.goto(f"{address}/example.html")
    choose(tab, today="bad")
    press_send(tab, WAITING)
    handler.delay = 0.0
    press_send(tab, SENT)


def test_an_open_connection(tab):
    """With a host name: on 127.0.0.1 plain http is taken for safe."""

    def hand_on(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        route.fulfill(path=CLIENT / name, content_type=KINDS[Path(name).suffix])

    tab.route("http://survey.example/*", hand_on)
    tab.goto("http://survey.example/example.html")
    assert status_of(tab).startswith("This address does not begin with https")
    assert not tab.get_by_role("button", name="Send").is_visible()


def test_without_scripts(browser, service):
    address, _ = service
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    for page, words in (
        ("example.html", "This page needs JavaScript"),
        ("notice.html", "which needs JavaScript"),
    ):
        tab.goto(f"{address}/{page}")
        assert words in tab.locator("noscript").inner_text()
        assert not tab.get_by_text("One moment").is_visible()
    context.close()


def test_a_file_that_is_spelt_otherwise_is_another_survey(tab, service):
    """A file with one more space at each visit, and the same id: no second report."""
    address, handler = service
    spaces = 0

    def spelt(route: Route) -> None:
        route.fulfill(body=handler.survey.to_json() + " " * spaces)

    tab.route("**/survey.json", spelt)
    for spaces in range(3):
        tab.goto(f"{address}/example.html")
        if spaces:
            assert "first met under its id" in status_of(tab)
            continue
        choose(tab, today="fair", week="fair")
        press_send(tab, SENT)
    assert len(handler.came) == 2


# --- rounds --------------------------------------------------------------------------------------


def test_the_first_report_is_sent_in_each_round(tab, service):
    """At ε = 0.1, where twelve new reports would be the old ones with a probability of 2e-6."""
    address, handler = service
    mood = uldp.Domain(["good", "fair", "bad"], sensitive=["bad", "fair"])
    mechanism = uldp.RandomizedResponse(mood, 0.1)
    handler.survey = Survey("page", {f"{q}": mechanism for q in range(12)}, WAYS["first"])
    for round, answer in ((1, "fair"), (2, "bad")):
        tab.goto(f"{address}/example.html?round={round}")
        choose(tab, **{f"{question}": answer for question in range(12)})
        press_send(tab, SENT)
    assert sorted(handler.came[:12]) == sorted(handler.came[12:])
    assert handler.addresses == ["/messages?round=1"] * 12 + ["/messages?round=2"] * 12
    tab.goto(f"{address}/example.html?round=1")
    tab.get_by_text(ANSWERED).wait_for()
    assert len(handler.came) == 24


def test_it_is_silent_in_the_rounds_that_it_has_not_drawn(tab, service):
    address, handler = service
    handler.survey = Survey("page", {"q": SURE}, WAYS["one of two"])
    asked = []
    for round in (1, 2):
        tab.goto(f"{address}/example.html?round={round}")
        if "not asked this time" in status_of(tab):
            assert not tab.get_by_role("button", name="Send").is_visible()
            continue
        asked.append(round)
        choose(tab, q="good")
        press_send(tab, SENT)
    assert handler.addresses == [f"/messages?round={round}" for round in asked]
    assert len(asked) == 1


# --- the pages themselves ------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["example.html", "notice.html"])
def test_the_pages_run_no_script_but_their_own(tab, service, page):
    address, _ = service
    refused = []
    tab.on("console", lambda m: refused.append(m.text) if "Content Security" in m.text else None)
    tab.goto(f"{address}/{page}")
    tab.get_by_text("times as high").first.wait_for()
    assert not refused
    tab.evaluate(
        """() => {
            document.body.insertAdjacentHTML("beforeend", '<img src="x" onerror="window.ran = 1">');
            const script = document.createElement("script");
            script.textContent = "window.ran = 2";
            document.body.append(script);
        }"""
    )
    tab.wait_for_timeout(100)
    assert tab.evaluate("window.ran") is None
    assert len(refused) >= 2
    text = (CLIENT / page).read_text(encoding="utf-8")
    assert "<style" not in text
    assert text.count("<script") == text.count('<script type="module" src="') == 1


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_the_pages_are_accessible_and_fit_a_phone(browser, service, scheme, width):
    address, handler = service
    long = uldp.Domain(["x" * 70, "a sentence of many words that goes on and on"], ["x" * 70])
    cells = uldp.Domain.product(age=["young", "old"], drug=9, sensitive=["young, 8"])
    domains = {"q" * 60: long, "cells": cells, "place": PLACES}
    questions = {name: uldp.UtilityOptimizedRR(domain, 1.0) for name, domain in domains.items()}
    handler.survey = Survey("page", questions)
    tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    for page in ("example.html", "notice.html"):
        tab.goto(f"{address}/{page}")
        tab.get_by_text("times as high").first.wait_for()
        results = Axe().run(tab, options={"runOnly": ["wcag2a", "wcag2aa"]})
        assert results.violations_count == 0, results.generate_report()
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()


# --- with the server of the book -----------------------------------------------------------------


def sources() -> dict[str, str]:
    """The cells of "Your survey in an hour" by their ids."""
    book = json.loads((ROOT / "notebooks" / "your_survey.ipynb").read_text(encoding="utf-8"))
    return {cell["id"]: "".join(cell["source"]) for cell in book["cells"]}


def source_of(cell_id: str) -> str:
    return sources()[cell_id]


def server_of_the_book() -> str:
    """The pieces of server.py, one behind the other."""
    pieces = [one.partition("\n") for one in sources().values() if one.startswith("%%writefile ")]
    first, *others = (line for line, _, _ in pieces)
    assert first == "%%writefile server.py"
    assert set(others) == {"%%writefile -a server.py"}
    return "".join(f"{program}\n" for _, _, program in pieces)


WARM = """
import os, runpy, sys, uldp.survey
for _ in sys.stdin:
    pid = os.fork()
    if not pid:
        os.dup2(2, 1)
        sys.argv[0] = "server.py"
        runpy.run_path("server.py", run_name="__main__")
    print(pid, flush=True)
    os.waitpid(pid, 0)
"""
"""For each line it starts the server, which need not import what is imported here."""


class Recipe:
    """The server of "Your survey in an hour", as its page has it, in a folder of its own."""

    def __init__(self, folder: Path, survey: Survey, tokens: dict[str, str]) -> None:
        (folder / "server.py").write_text(server_of_the_book(), encoding="utf-8")
        shutil.copytree(CLIENT, folder / "page")
        (folder / "page" / "survey.json").write_bytes(survey.to_json().encode())
        lines = [f"{token} {region}\n" for token, region in tokens.items()]
        (folder / "first.txt").write_text("".join(lines))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.survey = survey
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-c", WARM, str(self.port), "first"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with (self.folder / "said").open("ab") as said:
            self.starter = subprocess.Popen(command, cwd=self.folder, stderr=said, **pipes)
        self.start_again()

    def start_again(self) -> None:
        """Once the server has ended."""
        print(file=self.starter.stdin, flush=True)
        self.pid = int(self.starter.stdout.readline())
        for _ in range(1000):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
            except ConnectionRefusedError:
                time.sleep(0.02)
            else:
                return
        raise ChildProcessError("server.py does not listen")

    def stop(self) -> None:
        os.kill(self.pid, signal.SIGTERM)
        self.starter.communicate()

    def post(self, query: str, body: bytes) -> int:
        address = f"http://127.0.0.1:{self.port}/messages?{query}"
        try:
            with urllib.request.urlopen(address, body) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            return refused.code

    def messages(self, region: str) -> dict[str, list[bytes]]:
        """What the lines of the book write into files, by question."""
        with contextlib.chdir(self.folder):
            exec(source_of("ys-export"), {})
        paths = {q: self.folder / f"first-{region}-{q}.bin" for q in self.survey.questions}
        files = {q: path.read_bytes() if path.exists() else b"" for q, path in paths.items()}
        longest = self.survey.longest_message()
        return {q: [*wire.split(io.BytesIO(data), longest)] for q, data in files.items()}

    def counts(self, region: str) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for question, messages in self.messages(region).items():
            reading = self.survey.read(messages)
            assert not reading.refused
            assert sum(tally.n for tally in reading.tallies.values()) == reading.tallies[question].n
            found[question] = reading.tallies[question].counts.tolist()
        return found


@pytest.fixture
def readable() -> Iterator[None]:
    """New files can be read by all, until the lines of the book say otherwise."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("readable")
def test_the_tokens_of_the_book_hide_the_order_of_the_people(tmp_path, monkeypatch):
    """A lot draws the halves; the server's files name nobody, and none is written twice."""
    source = source_of("ys-tokens")
    people = [(f"{number}@example.org", f"region{number:03}") for number in range(101)]
    asked = re.sub(r"people = .*", f"people = {people}", source)
    monkeypatch.chdir(tmp_path)
    exec(asked, {})
    invited = []
    for name, size in (("first", 50), ("second", 51)):
        lines = Path(f"{name}.txt").read_text().splitlines()
        assert lines == sorted(lines)
        assert len(lines) == size
        regions = dict(line.split() for line in lines)
        assert all(re.fullmatch("[0-9a-f]{16}", token) for token in regions)
        for line in Path(f"{name}-links.csv").read_text().splitlines():
            number, token = re.fullmatch(r"(\d+)@.*,https://.*token=(.*)", line).groups()
            assert regions[token] == f"region{int(number):03}"
            invited.append(int(number))
    assert sorted(invited) == list(range(101))
    assert sorted(invited[:50]) != list(range(50))  # but once in 10^29
    assert not any(path.stat().st_mode & 0o077 for path in Path().iterdir())
    before = {path: path.read_bytes() for path in Path().iterdir()}
    with pytest.raises(FileExistsError):
        exec(asked, {})
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.fixture
def recipe(tmp_path, readable) -> Iterator[Recipe]:
    mechanism = uldp.UtilityOptimizedRR(MOOD, 2.5)
    survey = Survey("page", dict.fromkeys(("today", "week"), mechanism))
    running = Recipe(tmp_path, survey, {"anne": "north", "bob": "north", "carol": "south"})
    yield running
    running.stop()


def test_the_page_and_the_server_of_the_book(browser, recipe):
    """One answer a token, be it from another phone; and none is lost while the server is away."""
    page = f"http://127.0.0.1:{recipe.port}/example.html?token="
    tabs = [browser.new_context().new_page() for _ in range(3)]
    for tab in tabs[:2]:
        tab.goto(page + "anne")
        choose(tab, today="fair", week="bad")
        press_send(tab, SENT)
    tab = tabs[2]
    tab.goto(page + "dora")
    tab.get_by_text("The server does not know this link.").wait_for()
    assert not tab.get_by_role("button", name="Send").is_visible()
    assert [sum(counts) for counts in recipe.counts("north").values()] == [1, 1]
    assert not any(map(sum, recipe.counts("south").values()))
    tab.goto(page + "carol")
    choose(tab, today="good")
    recipe.stop()
    press_send(tab, WAITING)
    recipe.start()
    tab.goto(page + "bob")
    tab.get_by_text("used for this survey with another link").wait_for()
    assert not any(map(sum, recipe.counts("south").values()))
    tab.goto(page + "carol")
    tab.get_by_text(f"{ANSWERED} You may still answer “week”").wait_for()
    assert [sum(counts) for counts in recipe.counts("north").values()] == [1, 1]
    assert [sum(counts) for counts in recipe.counts("south").values()] == [1, 0]
    for tab in tabs:
        tab.context.close()


def test_the_server_of_the_book_takes_no_nonsense(recipe):
    good = recipe.survey.message("today", 0)
    week = recipe.survey.message("week", 2)
    other = Survey("other", dict(recipe.survey.questions)).message("today", 0)
    for query in (
        "token=dora",
        "",
        "token=",
        "token=../../x",
        "token=anne&token=dora",
        "token=dora&token=anne",
        "token=anne&token=anne",
    ):
        assert recipe.post(query, good) == recipe.post(query, b"") == 403
    assert recipe.post("token=anne", b"") == 200
    for body in (b"x", good[:-1], good + good, other, bytes(10**4)):
        assert recipe.post("token=anne", body) == 400
    twice = f"{len(good)}\r\nContent-Length: {len(good)}"
    for length in ("-1", "1000000000", "9" * 5000, "x", "5_3", "+53", "²", twice):
        with socket.create_connection(("127.0.0.1", recipe.port)) as raw:
            head = f"POST /messages?token=anne HTTP/1.0\r\nContent-Length: {length}\r\n\r\n"
            raw.sendall(head.encode("latin-1") + good)
            assert raw.recv(100).startswith(b"HTTP/1.0 400")
    with socket.create_connection(("127.0.0.1", recipe.port)) as raw:
        raw.sendall(b"POST /messages?token=anne HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.0 400")
    assert not any(map(any, recipe.messages("north").values()))
    for token in ("carol", "bob", "anne"):
        with ThreadPoolExecutor(8) as pool:  # many at once count once
            sent = [(f"token={token}", week), (f"token={token}&round=1", good)] * 8
            assert {*pool.map(lambda one: recipe.post(*one), sent)} == {200}
    assert recipe.counts("north") == {"today": [2, 0, 0], "week": [0, 0, 2]}


def test_the_server_of_the_book_names_no_address_and_hides_what_it_writes(recipe):
    """Also when a connection breaks, and when the disk is full: then nothing is marked."""
    message = recipe.survey.message("today", 0)
    with socket.create_connection(("127.0.0.1", recipe.port)) as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
        raw.sendall(b"POST /messages?token=anne HTTP/1.0\r\nContent-Length: 50\r\n\r\n")
        time.sleep(0.2)
    time.sleep(0.2)
    limits = resource.prlimit(recipe.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(recipe.pid, resource.RLIMIT_FSIZE, (0, limits[1]))
    with pytest.raises(ConnectionError):
        recipe.post("token=anne", message)
    resource.prlimit(recipe.pid, resource.RLIMIT_FSIZE, limits)
    assert recipe.post("token=anne", message) == 200
    assert recipe.counts("north")["today"] == [1, 0, 0]
    said = (recipe.folder / "said").read_text()
    assert said.startswith("<class 'ConnectionResetError'>\n")  # a full disk takes no log, either
    assert "127.0.0.1" not in said
    for name in ("first.db", "first-north-today.bin"):
        assert (recipe.folder / name).stat().st_mode & 0o077 == 0


def test_the_server_of_the_book_refuses_a_survey_that_has_changed(recipe):
    """By a word: its messages would not be of one survey. It goes on with the old file."""
    assert recipe.post("token=anne", recipe.survey.message("today", 0)) == 200
    recipe.stop()
    file = recipe.folder / "page" / "survey.json"
    before = file.read_bytes()
    texts = {"today": "How are you?"}
    Survey("page", dict(recipe.survey.questions), texts=texts).save(file)
    command = [sys.executable, "server.py", str(recipe.port), "first"]
    ended = subprocess.run(command, cwd=recipe.folder, capture_output=True, text=True, timeout=60)
    said = "page/survey.json is not the survey that first.db is of\n"
    assert (ended.returncode, ended.stderr) == (1, said)
    file.write_bytes(before)
    recipe.start()
    assert recipe.counts("north")["today"] == [1, 0, 0]


@pytest.mark.usefixtures("readable")
def test_the_server_of_the_book_may_be_ended_at_any_moment(tmp_path):
    """Under load, twenty times, and what was not confirmed is sent again: each is kept once."""
    people = 400
    survey = Survey("page", {"today": uldp.RandomizedResponse(uldp.Domain(people), 40.0)})
    tokens = [f"{number:04}" for number in range(people)]
    running = Recipe(tmp_path, survey, dict.fromkeys(tokens, "north"))
    waiting = set(range(people))

    def send(person: int) -> None:
        message = survey.message("today", person)
        address = f"http://127.0.0.1:{running.port}/messages?token={tokens[person]}"
        with contextlib.suppress(OSError), urllib.request.urlopen(address, message) as answer:
            if answer.read() == sha256(message).hexdigest().encode():
                waiting.discard(person)

    try:
        for turn in range(21):
            before = len(waiting)
            with ThreadPoolExecutor(8) as pool:
                sent = [pool.submit(send, person) for person in [*waiting]]
                if turn == 20:
                    break
                while len(waiting) > before - 5:
                    assert not all(one.done() for one in sent)
                    time.sleep(0.001)
                os.kill(running.pid, (signal.SIGTERM, signal.SIGKILL)[turn % 2])
                pool.shutdown(cancel_futures=True)
            running.start_again()
    finally:
        running.stop()
    assert not waiting
    kept = running.messages("north")["today"]
    assert sorted(kept) == sorted(survey.message("today", person) for person in range(people))


@pytest.mark.usefixtures("readable")
def test_nothing_that_the_server_of_the_book_keeps_tells_the_order_of_the_messages(tmp_path):
    """Neither places nor bytes; it would fail by chance in one of 10^8 runs."""
    people, invited = 120, 160
    answers = uldp.RandomizedResponse(uldp.Domain(invited), 40.0)
    survey = Survey("page", dict.fromkeys(("today", "week"), answers))
    rng = np.random.default_rng(3)
    tokens = [rng.bytes(8).hex() for _ in range(invited)]
    running = Recipe(tmp_path, survey, dict.fromkeys(tokens, "north"))
    try:
        before = (tmp_path / "first.db").read_bytes()
        running.stop()
        running.start()  # what is there stays
        for person in range(people):
            for question in survey.questions:
                message = survey.message(question, person)
                assert running.post(f"token={tokens[person]}", message) == 200
    finally:
        running.stop()
    after = (tmp_path / "first.db").read_bytes()
    places = [np.arange(people)]
    for question, kept in running.messages("north").items():
        sent = [survey.message(question, person) for person in range(people)]
        assert sorted(kept) == sorted(sent)
        places += [np.array([kept.index(one) for one in sent])]
        for one in sent:  # what is left after this are the marks
            after = after.replace(one, bytes(len(one)))
    correlations = np.corrcoef(places)[~np.eye(3, dtype=bool)]
    assert np.abs(correlations).max() < 6 / np.sqrt(people - 1)
    changed = sum(one != other for one, other in zip(before, after, strict=True))
    assert changed <= 2 * people + 8


@pytest.mark.usefixtures("readable")
def test_what_the_book_shows_runs_as_it_stands(tmp_path, monkeypatch):
    """In the order of the page and in an empty folder, for somebody who copies what can be seen."""
    monkeypatch.chdir(tmp_path)
    cells = json.loads((ROOT / "notebooks" / "your_survey.ipynb").read_text(encoding="utf-8"))
    shown: dict[str, Any] = {}
    seen = []
    for cell in cells["cells"]:
        source = "".join(cell["source"])
        tags = cell["metadata"].get("tags", [])
        servers = re.findall(r"`python (server\.py) 8000 (\w+)`", source)
        commands = re.findall(r'"uldp (.*?)"', source) if "remove-input" in tags else []
        if cell["cell_type"] == "markdown":
            for program, name in servers:
                with socket.socket() as free:
                    free.bind(("127.0.0.1", 0))
                    port = free.getsockname()[1]
                serve(program, port, name)
        elif commands:
            for command in commands:
                words = [[*map(str, Path().glob(w))] or [w] for w in shlex.split(command)]
                assert command_line.main([*itertools.chain(*words)]) == 0
        elif source.startswith("%%writefile "):
            first, _, rest = source.partition("\n")
            with Path("server.py").open("a" if " -a " in first else "w", encoding="utf-8") as file:
                file.write(f"{rest}\n")
        elif "hide-input" not in tags:
            exec(compile(source, cell["id"], "exec"), shown)
        else:
            continue
        seen += [*commands, *(name for _, name in servers)]
    assert len(seen) == 9
    assert shown["tally"].n == 1_000
    assert set(shown["changes"]) == {"north", "south", "all"}


def serve(program: str, port: int, name: str) -> None:
    """Start a server as the book says, and ask it whether it knows the links that were sent."""
    process = subprocess.Popen([sys.executable, program, f"{port}", name])
    links = Path(f"{name}-links.csv").read_text().split()
    statuses = {}
    for attempt in range(200):
        try:
            for link in links:
                query = link.partition("?")[2]
                address = f"http://127.0.0.1:{port}/messages?{query}"
                statuses[link] = urllib.request.urlopen(address, b"").status
        except urllib.error.URLError:
            assert process.poll() is None, attempt
            time.sleep(0.1)
        else:
            break
    process.terminate()
    process.wait()
    assert [*statuses.values()] == [200] * len(links)
    assert len(links) == 2
