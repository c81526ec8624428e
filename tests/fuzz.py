"""Give 100,000 changed survey files and messages to Python and to the client: `make fuzz`.

    python tests/fuzz.py [HOW_MANY [SEED]]

None may be taken by one and refused by the other, no file may have two laws, and messages are
refused for the same reason. What differs is printed, and the exit status is then 1.
"""

from __future__ import annotations

import json
import math
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

from cases import module_at, reasons_of
from test_client import TAGGED, TEXTS, ask
from test_surveys import CONTENT, SCALARS, changed, paths

from uldp.survey import wire
from uldp.survey.surveys import Survey

HOW_MANY, SEED = 100_000, 1
AT_ONCE = 5_000
SHARE_OF_FILES = 0.6
MOST_CHARACTERS = 1500
MOST_SHOWN = 10
MAX_REPORTS = 2
RELATIVE = 1e-9
PIECES = [
    *'{}[]":, \n\t\\',
    *("\\u0061", "\\ud83d\\ude00", "\\ud800"),
    *("0", "1", "2", "-", ".", ".0", "e0", "E+0", "e-1", "00", "1e400", "null", "true", "NaN", "é"),
    *("e\u0301", *"\u00ad\u200b\u200d\u202e\ufeff\u00a0ﬁKİßΣς"),
    *("\U000e0041", "\ufdd0", "⊥", '"uldp": 2,', '"theta": 0.5,', '"tags": ["a"],', '"labels": 3,'),
]
DIFFERENT_SIGNS = ("A", "a", "é", "\u200b", "\ufe0f", " ", "\u2800", "\u201d")


def bases() -> list[Any]:
    """The questions of the vectors and of the tests that are short."""
    found = list(CONTENT["questions"])
    for text in TEXTS:
        found += json.loads(text)["questions"]
    return [one for one in found if len(json.dumps(one)) < MOST_CHARACTERS]


def files(rng: Random) -> Iterator[str]:
    """Yield survey files that were changed in some places, as values or as texts."""
    questions = bases()
    repeats = [None, None, {"keep": "first", "rounds": 3}, CONTENT["repeat"]]
    while True:
        chosen = [deepcopy(rng.choice(questions)) for _ in range(rng.randint(1, 2))]
        content: Any = {"uldp": 2, "id": "fuzz", "questions": chosen}
        repeat = rng.choice(repeats)
        if repeat:
            content["repeat"] = repeat
        for _ in range(rng.randint(0, 2)):
            content = changed_value(content, rng)
        text = json.dumps(content, ensure_ascii=rng.random() < 0.5)
        for _ in range(rng.randint(0, 2)):
            text = changed_text(text, rng)
        yield text


def changed_value(content: Any, rng: Random) -> Any:
    places = paths(content)[1:]
    if not places:
        return content
    place = rng.choice(places)
    way = rng.randrange(4)
    if way == 0:
        return changed(content, place, rng.choice(SCALARS))
    other = content
    for key in rng.choice(places):
        other = other[key]
    if way == 1:
        return changed(content, place, deepcopy(other))
    old = content
    for key in place:
        old = old[key]
    if isinstance(old, str):
        at = rng.randint(0, len(old))
        sign = rng.choice([*DIFFERENT_SIGNS, *(chr(rng.randrange(0x110000)) for _ in range(4))])
        return changed(content, place, old[:at] + sign + old[at:])
    if isinstance(old, list) and old:
        one = rng.choice(old)
        twin = one.swapcase() if isinstance(one, str) else deepcopy(one)
        return changed(content, place, [*old, twin])
    if isinstance(old, int | float) and abs(old) < 1e300:
        return changed(content, place, old * rng.choice([-1, 0.5, 2, 1 + 2**-52, 1000]))
    return content


def changed_text(text: str, rng: Random) -> str:
    start = rng.randrange(len(text)) if text else 0
    end = min(len(text), start + rng.choice([0, 0, 1, 1, rng.randint(1, 40)]))
    way = rng.randrange(4)
    if way == 0:
        return text[:start] + text[end:]
    if way == 1:
        return text[:end] + text[start:end] + text[end:]
    if way == 2:
        digits = [at for at, sign in enumerate(text) if sign.isdigit()]
        at = rng.choice(digits) + 1 if digits else start
        return text[:at] + rng.choice([".0", "e0", ".", ".5", "E-1", "0", "e+2"]) + text[at:]
    return text[:start] + rng.choice(PIECES) + text[end:]


def messages(survey: Survey, rng: Random) -> Iterator[bytes]:
    """Yield messages that were changed in some bytes, most of them with a checksum that fits."""
    names = [*survey.questions]
    while True:
        outputs = survey.questions[name := rng.choice(names)].outputs
        count = rng.choice([1, 1, 1, 2, 3])
        reports = [outputs[rng.randrange(len(outputs))] for _ in range(count)]
        one = bytearray(survey.message(name, reports))
        for _ in range(rng.choice([0, 1, 1, 2])):
            one[rng.choice([rng.randrange(len(one)), rng.randrange(4, 16)])] = rng.choice(
                [0, 1, 2, 255, rng.randrange(256)]
            )
        way = rng.random()
        if way < 0.1:
            del one[rng.randrange(len(one)) :]
        elif way < 0.2:
            one[12:16] = b"\0\0\0\0"
            del one[48:-4]
        elif way < 0.25:
            one += bytes(one)
        if rng.random() < 0.7 and len(one) > wire.CHECKSUM.size:
            body = bytes(one[: -wire.CHECKSUM.size])
            one = bytearray(body + wire.CHECKSUM.pack(zlib.crc32(body)))
        yield bytes(one)


def read(text: str, decisions: Any) -> Any:
    """What Python takes a file for; nothing if it refuses it."""
    try:
        survey = Survey.from_json(text)
    except ValueError:
        return None
    questions = [
        {
            "name": name,
            "values": one.domain.size,
            "report_bytes": wire.wire_dtype(one).itemsize,
            "sensitive_values": one.sensitive.tolist(),
            "decisions": decisions(one),
        }
        for name, one in survey.questions.items()
    ]
    repeat = survey.repeat and {"reports": 1, **survey.repeat}
    return {"digest": survey.digest, "id": survey.id, "repeat": repeat, "questions": questions}


def are_equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, numbers to a part in a thousand million."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(are_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(are_equal, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=1e-15)
    return bool(one == other)


def different_files(how_many: int, rng: Random) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the files that the two take for something different, and say how many were taken."""
    decisions = decisions_of_the_vectors()
    source = files(rng)
    taken = 0
    for start in range(0, how_many, AT_ONCE):
        texts = [next(source) for _ in range(min(AT_ONCE, how_many - start))]
        for text, found in zip(texts, ask("factsOrNot", texts), strict=True):
            expected = read(text, decisions)
            taken += expected is not None
            if not are_equal(found, expected):
                yield text, found, expected
    print(f"{how_many} survey files, of which Python takes {taken}")


def different_messages(how_many: int, rng: Random) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the messages that the two refuse for different reasons, and say how many for which."""
    surveys = [Survey.from_json(TEXTS[0]), TAGGED]
    sources = [messages(survey, rng) for survey in surveys]
    reasons = Counter[str]()
    for start in range(0, how_many, AT_ONCE):
        turn = start // AT_ONCE % len(surveys)
        survey = surveys[turn]
        sent = [next(sources[turn]) for _ in range(min(AT_ONCE, how_many - start))]
        asked = {"text": survey.to_json(), "messages": [message.hex() for message in sent]}
        answers = ask("reasons", {**asked, "maxReports": MAX_REPORTS})
        for message, found in zip(sent, answers, strict=True):
            expected = reasons_of(survey.read([message], max_reports=MAX_REPORTS))
            reasons.update(map(str, expected or ["accepted"]))
            if found != expected:
                yield message.hex(), found, expected
    print(f"{how_many} messages: {dict(reasons)}")


def decisions_of_the_vectors() -> Any:
    """Return the function that gives the probabilities of a device's decisions."""
    return module_at("tools/survey_vectors.py").decisions


def main(how_many: int = HOW_MANY, seed: int = SEED) -> int:
    """Compare, and print what differs."""
    start = time.perf_counter()
    rng = Random(seed)
    of_files = int(how_many * SHARE_OF_FILES)
    different = [*different_files(of_files, rng), *different_messages(how_many - of_files, rng)]
    for content, found, expected in different[:MOST_SHOWN]:
        print(f"{content}\n  client: {found}\n  Python: {expected}\n")
    seconds = time.perf_counter() - start
    print(f"{len(different)} of {how_many} differ (seed {seed}, {seconds:.0f} s)")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
