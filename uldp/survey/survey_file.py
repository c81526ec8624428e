"""The text of a survey file: questions with their mechanisms as JSON, and back.

The format is described in the book under "The survey file and its messages".
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from uldp.domain import BETWEEN_LABELS, Domain, Label, ProductDomain
from uldp.kinds import KINDS, MECHANISMS
from uldp.mechanisms import Mechanism
from uldp.personalized import TaggedDomain

__all__ = [
    "Content",
    "excerpt",
    "json_array",
    "json_object",
    "look_of",
    "read_json",
    "read_survey",
    "write_survey",
]

FORMAT = 3
OLD_FORMAT = 2
LARGEST_LABEL = 2**53 - 1
MOST_COUNTS = 2**17
"""Over all questions: values, bots included, times rows of the tally."""
MOST_BYTES = 2**21
MOST_ROUNDS = 1000
MOST_CHARACTERS = 500
ADVICE = "; what version 1.0.0 wrote, its collector reads with Survey.load(path, old=True)"
SHOWN_CHARACTERS = 100
NONCHARACTERS = "".join(chr(end) + chr(end + 1) for end in range(0xFFFE, 0x110000, 0x10000))
CONTROL = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff]")
NOT_IN_TEXT = re.compile(
    "[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff9-\ufffc"
    "\U000e0000-\U000e007f" + NONCHARACTERS + "]"
)
INVISIBLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065\u2800\u3164"
    "\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d159"
    "\U0001d173-\U0001d17a\U000e0080-\U000e0fff]"
)
WHITE_SPACE = re.compile("[ \u1680]+")
QUOTATION_MARKS = re.compile(
    "[\u02ba\u02ee\u201c-\u201f\u275d\u275e\u301d-\u301f]|['\u2018-\u201b]{2}"
)
DASHES = re.compile("[\u2010-\u2015\u2212]")
APOSTROPHES = re.compile("[\u02bc\u2018\u2019\u201b]")

OWN_FIELDS = {
    kind: {f.name for f in fields(kind) if f.init} - {"domain", "epsilon"} for kind in KINDS
}
"""The parameters of each kind of mechanism beyond the domain and ε."""
OPTIONAL = {"theta"}


class Content(NamedTuple):
    """What a survey file says.

    Attributes
    ----------
    id : str
        The name of the survey.
    questions : dict of str to Mechanism
        The mechanism of each question, in order.
    repeat : mapping of str to str or int, or None
        What a device keeps, and how often the survey is asked and answered; None for a single time.
    texts : dict of str to str
        What people are asked, by the name of the question, where the file says it.
    """

    id: str
    questions: dict[str, Mechanism]
    repeat: Mapping[str, Any] | None
    texts: dict[str, str]


def read_survey(text: str, old: bool = False) -> Content:
    """Return what the text of a survey file says, or raise a ValueError that says what is wrong.

    An `old` file of format 2 may be larger than devices take, and have other texts.
    """
    found = read_json(text, math.inf if old else MOST_BYTES)
    if "tallies" in found:
        raise ValueError("these are tallies, which `uldp estimate` reads")
    file = json_object(found, "the file", {"uldp", "id", "questions"}, {"repeat"})
    is_for_devices = not old or file["uldp"] != OLD_FORMAT
    advice = ADVICE if file["uldp"] == OLD_FORMAT else ""
    questions: dict[str, Mechanism] = {}
    texts: dict[str, str] = {}
    entries = json_array(file["questions"], "questions", least=1)
    counts = sum(map(_counts, entries))
    if is_for_devices and counts > MOST_COUNTS:
        raise ValueError(
            f"questions must have at most {MOST_COUNTS} counts in all, got {counts}{advice}"
        )
    for number, entry in enumerate(entries):
        where = f"questions[{number}]"
        name, mechanism = _question(entry, where)
        if name in questions:
            raise ValueError(f"{where}.name must differ from the others, got {excerpt(name)}")
        questions[name] = mechanism
        if "text" in entry:
            texts[name] = _text(entry["text"], f"{where}.text")
    repeat = _repeat(file["repeat"]) if "repeat" in file else None
    content = Content(_text(file["id"], "id"), questions, repeat, texts)
    if is_for_devices:
        try:
            _check_shown(content)
        except ValueError as error:
            raise ValueError(f"{error}{advice}") from None
    return content


def write_survey(
    id: str,
    questions: Mapping[str, Mechanism],
    repeat: Mapping[str, Any] | None,
    texts: Mapping[str, str],
) -> str:
    """Return the text of a survey file; `read_survey` checks whether the content is allowed."""
    blocks = []
    for name, mechanism in questions.items():
        text = {"text": texts[name]} if name in texts else {}
        own = _own_entries(mechanism)
        entries = {"name": name, **text, **_domain_entries(mechanism.domain), **own}
        lines = (f"      {as_json(key)}: {as_json(value)}" for key, value in entries.items())
        blocks.append("    {\n" + ",\n".join(lines) + "\n    }")
    head = f'{{\n  "uldp": {FORMAT},\n  "id": {as_json(id)},\n'
    if repeat is not None:
        head += f'  "repeat": {as_json(dict(_repeat(dict(repeat))))},\n'
    whole = head + '  "questions": [\n' + ",\n".join(blocks) + "\n  ]\n}\n"
    size = _size(whole)
    if size > MOST_BYTES:
        sizes = dict(zip(questions, map(_size, blocks), strict=True))
        name = max(sizes, key=lambda name: sizes[name])
        raise ValueError(
            f"questions must make a file of at most {MOST_BYTES} bytes, got {size}: {excerpt(name)}"
            f" takes {sizes[name]}, as all its {questions[name].domain.size} labels stand there. "
            "Shorten labels, or ask the factors of a product as a question each"
        )
    return whole


def read_json(text: str, most: float = MOST_BYTES) -> Any:
    """Return what a JSON text of a format that is read holds; no object repeats a key.

    Parsing can take 25 times as much memory as the text, so its length in bytes is limited.
    """
    if _size(text) > most:
        raise ValueError(f"it must be at most {most} bytes long, got more")
    try:
        found = json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it must be JSON of a few levels, got a deeper one") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it must be JSON: {error}") from None
    if not isinstance(found, dict) or "uldp" not in found:
        raise ValueError(f'it must be an object with the key "uldp", got {excerpt(found)}')
    if type(found["uldp"]) is not int or found["uldp"] not in (OLD_FORMAT, FORMAT):
        raise ValueError(
            f'its format "uldp" must be {OLD_FORMAT} or {FORMAT}, got {excerpt(found["uldp"])}'
        )
    return found


def json_object(
    value: Any, where: str, required: Set[str], optional: Set[str] = frozenset()
) -> dict[str, Any]:
    """Return an object with these keys, or say which are missing or unknown."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be an object, got {excerpt(value)}")
    missing = required - value.keys()
    unknown = [key for key in value if key not in required | optional]
    if missing:
        raise ValueError(f"{where} must have the key {min(missing)!r}")
    if unknown:
        known = ", ".join(sorted(required | optional))
        raise ValueError(f"{where} must have no key but {known}, got {excerpt(unknown[0])}")
    return value


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def excerpt(value: object) -> str:
    """Return what was found, for an error message: a sender may have put anything there."""
    shown = ascii(value)
    return shown if len(shown) <= SHOWN_CHARACTERS else f"{shown[:SHOWN_CHARACTERS]}..."


def _counts(entry: Any) -> int:
    """Return about how many numbers a tally of a question has, before its entry is read."""
    if not isinstance(entry, dict):
        return 0
    labels, tags, sizes = (entry.get(key) for key in ("labels", "tags", "sizes"))
    size = labels if isinstance(labels, int) else _length(labels)
    return max(size + _length(tags), 0) * max(_length(sizes), 1)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0


def _question(entry: Any, where: str) -> tuple[str, Mechanism]:
    if not isinstance(entry, dict) or not isinstance(entry.get("mechanism"), str):
        raise ValueError(f'{where} must be an object with the key "mechanism"')
    if entry["mechanism"] not in MECHANISMS:
        raise ValueError(
            f"{where}.mechanism must be one of {', '.join(MECHANISMS)}, "
            f"got {excerpt(entry['mechanism'])}"
        )
    kind = MECHANISMS[entry["mechanism"]]
    own = OWN_FIELDS[kind]
    required = {"name", "labels", "sensitive", "mechanism", "epsilon"} | (own - OPTIONAL)
    json_object(entry, where, required, {"text", "tags", "factors"} | (own & OPTIONAL))
    name = _text(entry["name"], f"{where}.name")
    domain = _domain(entry, where)
    given = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in entry.items()
        if key in own
    }
    if "sizes" in given:
        given["sizes"] = _sizes(entry["sizes"], f"{where}.sizes")
    if "theta" in given and not _is_number(given["theta"]):
        raise ValueError(f"{where}.theta must be a number, got {excerpt(given['theta'])}")
    try:
        mechanism = kind(domain, entry["epsilon"], **given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from None
    if "sizes" in given and vars(mechanism)["sizes"] != given["sizes"]:
        raise ValueError(f"{where}.sizes must increase, with probabilities above 0")
    return name, mechanism


def _repeat(value: Any) -> Mapping[str, Any]:
    keep = value.get("keep") if isinstance(value, dict) else None
    if not isinstance(keep, str) or keep not in ("first", "nothing"):
        raise ValueError('repeat must be an object whose "keep" is "first" or "nothing"')
    json_object(value, "repeat", {"keep", "rounds"} | ({"reports"} if keep == "nothing" else set()))
    repeat: dict[str, Any] = {"keep": keep}
    repeat["rounds"] = _count(value["rounds"], "repeat.rounds", MOST_ROUNDS)
    if keep == "nothing":
        repeat["reports"] = _count(value["reports"], "repeat.reports", repeat["rounds"])
    return MappingProxyType(repeat)


def _count(value: Any, where: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ValueError(f"{where} must be a whole number from 1 to {most}, got {excerpt(value)}")
    return value


def _sizes(value: Any, where: str) -> tuple[tuple[int, float], ...]:
    for pair in json_array(value, where):
        is_pair = isinstance(pair, list) and len(pair) == 2
        if not is_pair or type(pair[0]) is not int or not _is_number(pair[1]):
            raise ValueError(
                f"{where} must be pairs of a whole number and a number, got {excerpt(pair)}"
            )
    return tuple((size, weight) for size, weight in value)


def _domain(entry: dict[str, Any], where: str) -> Domain:
    labels: Any = entry["labels"]
    if isinstance(labels, list):
        labels = _labels(labels, f"{where}.labels", least=1)
    elif not isinstance(labels, int):
        raise ValueError(f"{where}.labels must be an array or a number, got {excerpt(labels)}")
    given = json_array(entry["tags"], f"{where}.tags", least=1) if "tags" in entry else []
    tags = [_text(tag, f"{where}.tags") for tag in given]
    sensitive = _labels(entry["sensitive"], f"{where}.sensitive")
    kind = type(labels[0]) if isinstance(labels, list) else int
    foreign = [label for label in sensitive if type(label) is not kind]
    if foreign:
        raise ValueError(f"{where}.sensitive must hold labels, got {excerpt(foreign[0])}")
    try:
        domain = Domain(labels, sensitive)
        if "factors" in entry:
            domain = _product(entry["factors"], domain)
        return TaggedDomain(domain, tags) if tags else domain
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from None


def _product(value: Any, domain: Domain) -> ProductDomain:
    factors = {}
    for number, entry in enumerate(json_array(value, "factors", least=1)):
        where = f"factors[{number}]"
        factor = json_object(entry, where, {"name", "labels"})
        name = _text(factor["name"], f"{where}.name")
        if name in factors:
            raise ValueError(f"factors must not repeat a name, got {excerpt(name)}")
        factors[name] = _labels(factor["labels"], f"{where}.labels", least=1)
    if math.prod(map(len, factors.values())) != domain.size:
        raise ValueError("factors must have as many cells as there are labels")
    cells = (BETWEEN_LABELS.join(map(str, cell)) for cell in product(*factors.values()))
    if any(cell != label for cell, label in zip(cells, domain.labels, strict=True)):
        raise ValueError("factors must have the labels of the question as the labels of its cells")
    return ProductDomain(factors, domain.sensitive)


def _labels(value: Any, where: str, least: int = 0) -> list[Label]:
    labels: list[Label] = []
    for label in json_array(value, where, least):
        if not isinstance(label, int | str):
            raise ValueError(f"{where} must hold strings or whole numbers, got {excerpt(label)}")
        if isinstance(label, int) and abs(label) > LARGEST_LABEL:
            raise ValueError(f"{where} must lie within 2^53, got {excerpt(label)}")
        labels.append(_text(label, where) if isinstance(label, str) else label)
    return labels


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{where} must be a string that is not empty, got {excerpt(value)}")
    if CONTROL.search(value):
        raise ValueError(
            f"{where} must have no control character or lone surrogate, got {excerpt(value)}"
        )
    return value


def _check_shown(content: Content) -> None:
    """Refuse texts that a page cannot show, or not so that people can tell them apart."""
    _check_texts([content.id], "id")
    _check_texts(content.questions, "the names of questions")
    _check_texts(content.texts.values(), "the texts of questions")
    for number, mechanism in enumerate(content.questions.values()):
        where = f"questions[{number}]"
        domain = mechanism.domain
        tags: tuple[str, ...] = ()
        if isinstance(domain, TaggedDomain):
            tags = domain.tags
            domain = domain.base
        if isinstance(domain, ProductDomain):
            _check_texts(domain.factors, f"the names of {where}.factors")
            for name, factor in domain.factors.items():
                _check_labels(factor.labels, f"{where}.factors: labels of {excerpt(name)}")
        labels = () if isinstance(domain.labels, range) else domain.labels
        _check_labels(labels, f"{where}.labels")
        _check_texts(tags, f"{where}.tags")
        _check_different([*labels, *(f"⊥{tag}" for tag in tags)], f"{where}.labels and tags")


def _check_labels(labels: Sequence[Label], where: str) -> None:
    texts = [label for label in labels if isinstance(label, str)]
    _check_texts(texts, where)
    for text in texts:
        if QUOTATION_MARKS.search(text):
            raise ValueError(
                f"{where} must have no double quotation marks, in which pages put them, "
                f"got {excerpt(text)}"
            )


def _check_texts(texts: Iterable[str], where: str) -> None:
    for text in texts:
        if len(text) > MOST_CHARACTERS:
            raise ValueError(
                f"{where} must have at most {MOST_CHARACTERS} characters, got {excerpt(text)}"
            )
        if NOT_IN_TEXT.search(text):
            raise ValueError(
                f"{where} must have no control character, mark of direction or noncharacter, "
                f"got {excerpt(text)}"
            )
    _check_different(texts, where)


def _check_different(values: Iterable[Label], where: str) -> None:
    """Refuse two strings that look alike, in the sense of the format, and those that are blank."""
    first: dict[Label, Label] = {}
    for value in values:
        look = look_of(value) if isinstance(value, str) else value
        if look == "":
            raise ValueError(
                f"{where} must each have a character that is seen, got {excerpt(value)}"
            )
        if look in first:
            wrong = "repeat a label" if first[look] == value else "have two that are alike"
            raise ValueError(
                f"{where} must not {wrong}, got {excerpt(first[look])} and {excerpt(value)}"
            )
        first[look] = value


def look_of(text: str) -> str:
    """Return what a text looks like, in the sense of the format: what is alike has one."""
    letters = unicodedata.normalize("NFKC", INVISIBLE.sub("", text))
    letters = APOSTROPHES.sub("'", DASHES.sub("-", letters))
    return "".join(letter.lower() for letter in WHITE_SPACE.sub(" ", letters).strip(" "))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def json_array(value: Any, where: str, least: int = 0) -> list[Any]:
    """Return an array of at least so many entries."""
    if not isinstance(value, list):
        raise ValueError(f"{where} must be an array, got {excerpt(value)}")
    if len(value) < least:
        raise ValueError(f"{where} must have {least} or more entries, got {len(value)}")
    return value


def _domain_entries(domain: Domain) -> dict[str, Any]:
    base = domain.base if isinstance(domain, TaggedDomain) else domain
    labels = base.labels
    entries: dict[str, Any] = {
        "labels": len(labels) if isinstance(labels, range) else list(labels),
        "sensitive": [labels[x] for x in base.sensitive],
    }
    if isinstance(base, ProductDomain):
        entries["factors"] = [
            {"name": name, "labels": list(factor.labels)} for name, factor in base.factors.items()
        ]
    if isinstance(domain, TaggedDomain):
        entries["tags"] = list(domain.tags)
    return entries


def _own_entries(mechanism: Mechanism) -> dict[str, Any]:
    """Return the kind, ε and the other parameters."""
    kind = type(mechanism)
    if kind not in OWN_FIELDS:
        raise ValueError(
            f"questions must have mechanisms of {', '.join(MECHANISMS)}, got {kind.__name__}"
        )
    entries = {"mechanism": kind.wire_name, "epsilon": mechanism.epsilon}
    return entries | mechanism.own_entries()


def as_json(value: object) -> str:
    """Return a value as JSON, with letters as they are."""
    return json.dumps(value, ensure_ascii=False)


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it must be JSON in which no object repeats a key")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"it must be JSON, which has no {constant}")
