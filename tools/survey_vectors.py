"""Write the test vectors of the survey format, client/vectors.json.

    python tools/survey_vectors.py

What they hold is described in the book under "The survey file and its messages". The reports are
chosen, not drawn, so that the file depends on nothing but the format and the mechanisms.
"""

from __future__ import annotations

import json
import random
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import uldp
from uldp import inference
from uldp.beyond import best_theta
from uldp.mechanisms import Mechanism
from uldp.mechanisms.set_reports import SetReports
from uldp.personalized import TaggedDomain
from uldp.survey import survey_file, wire

PATH = Path(__file__).parents[1] / "client" / "vectors.json"
MOST_OUTPUTS = 64
MOST_VALUES = 1000
REPORTS = 40
USERS = 1000
SURE = "numbers and a tag, ε so large that a report is the value"
SURE_ANSWERS = [(1, {}), (2, {}), (0, {}), (2, {2: "t"}), (0, {2: "t"}), (1, {1: "t", 0: "t"})]
"""Answers to that question, each with a map of what is sensitive to the user alone."""

MOOD = uldp.Domain(["good", "fair", "bad", "café"], sensitive=["bad", "good"])
PLACES = uldp.Domain(["park", "clinic", "elm street", "oak street"], sensitive=["clinic"])


def surveys() -> list[str]:
    """Return the texts of surveys of each kind, and of some at the edges of the format."""
    ubd, rappor, urap = (
        uldp.UtilityOptimizedBlockDesign,
        uldp.Rappor,
        uldp.UtilityOptimizedRappor,
    )
    urr, rr, uhr = uldp.UtilityOptimizedRR, uldp.RandomizedResponse, uldp.UtilityOptimizedHadamard
    tagged, three = TaggedDomain(PLACES, ["home", "others"]), uldp.Domain(7, sensitive=[1, 4, 6])
    wide, wider = uldp.Domain(300, range(0, 300, 27)), uldp.Domain(300, range(4, 17))
    several = {
        "RR": rr(MOOD, 1.0),
        "uRR": urr(MOOD, 1.0),
        "uRR, 256 values": urr(uldp.Domain(256, [3]), 1.0),
        "RAPPOR": rappor(MOOD, 1.0),
        "RAPPOR, θ = 1/2": rappor(MOOD, 1.0, 0.5),
        "uRAP": urap(MOOD, 1.0),
        "uRAP, θ = 1/10": urap(MOOD, 0.7, 0.1),
        "uRAP, θ = 9/10": urap(MOOD, 0.7, 0.9),
        "uRAP, best θ": urap(three, 1.0, best_theta(urap(three, 1.0))),
        "uRAP, θ small": urap(MOOD, 1.0, 1e-80),
        "uRAP, θ near 1": urap(MOOD, 40.0, 1 - 2**-53),
        "uRAP, tags": urap(tagged, 0.5, 0.5),
        "uBD, size 1": ubd(MOOD, 1.0, 1),
        "uBD, size 1, ε large": ubd(MOOD, 500.0, 1),
        "uBD, size 2": ubd(three, 1.0, 2),
        "uBD, sizes 1 and 2": ubd(three, 0.5, {1: 0.3, 2: 0.7}),
        "uBD, sizes 1 and 2, tags": ubd(tagged, 0.5, {1: 0.5, 2: 0.5}),
        "uBD, sizes 1 to 3": ubd(three, 2.0, {1: 0.25, 2: 0.5, 3: 0.25}),
        "uBD, sizes 3 and 4": ubd(wider, 1.0, {3: 0.125, 4: 0.875}),
        "uHR, 2 sensitive values": uhr(MOOD, 1.0),
        **{f"{kind.wire_name}, ε small": kind(MOOD, 1e-9) for kind in (urr, urap)},
        # At a smaller ε its estimates, of some 1/ε, cancel to fewer than nine digits of an error.
        "uHR, ε small": uhr(MOOD, 1e-6),
    }
    examples = {
        "s = 2": (MOOD, 1.0),
        "s = 2, ε large": (MOOD, 500.0),
        "s = 3": (three, 0.5),
        "k = 1": (uldp.Domain(1), 1.0),
        "s = 0": (uldp.Domain(["a", "b", "c"]), 1.0),
        "s = 1": (uldp.Domain([-(2**53) + 1, 2**53 - 1], [2**53 - 1]), 1.0),
        "s = k": (uldp.Domain(9, range(9)), 1.0),
        "300 values": (wide, 1.0),
        "tags": (tagged, 0.5),
        "tags, numbers": (TaggedDomain(uldp.Domain([30, 10, 20], sensitive=[]), ["work"]), 1.0),
    }
    huge = {
        "uRR, 65536 values": urr(uldp.Domain(65_536, [5]), 1.0),
        "uRR, 65537 values": urr(uldp.Domain(65_537, [5]), 1.0),
        "uRAP, 65536 revealed values": urap(uldp.Domain(65_537, [5]), 1.0),
    }
    cells = uldp.Domain.product(
        age=["18-29", "30+"], drug=["none", "some"], sensitive=lambda age, drug: drug == "some"
    )
    once = {"keep": "first", "rounds": 12}
    often = {"keep": "nothing", "rounds": 12, "reports": 3}
    named: list[tuple[Any, ...]] = [
        ("several mechanisms", several),
        *(
            (f"every {name}", {where: kind(*given) for where, given in examples.items()})
            for name, kind in uldp.mechanisms.MECHANISMS.items()
        ),
        *((name, {name: mechanism}) for name, mechanism in huge.items()),
        (
            "product, with names such as __proto__ and 7",
            {"__proto__": urr(cells, 1.0), "7": urr(cells, 1.0)},
        ),
        (SURE, {SURE: urr(TaggedDomain(uldp.Domain([1, 2, 0], [1]), ["t"]), 500.0)}),
        ("repeated, the first report", {"mood": urr(MOOD, 1.0)}, once),
        ("repeated, new reports", {"mood": urr(MOOD, 1.0)}, often),
        ("with a text", {"mood": urr(MOOD, 1.0)}, None, {"mood": "Ça va, aujourd’hui?"}),
    ]
    by_hand = (
        '\r\n {"questions":[{"epsilon":1e0,"theta":5E-1,"mechanism":"uRAP","sensitive":[ "\\u00e9",'
        '"a"],\r\n\t"labels":["o\\u0301","\\u00e9","a","\\ud83d\\ude00"],"name":"by hand"}, '
        '{"labels":[10,-3,0],"sensitive":[0,10],"mechanism":"uBD","sizes":[[1,1]],"name":"numbers",'
        '"epsilon":2}],"id":"\\"by hand\\"","uldp":2} \n\n'
    )
    return [*(uldp.Survey(*one).to_json() for one in named), by_hand]


def chosen_reports(mechanism: Mechanism) -> np.ndarray[Any, Any]:
    """Return all outputs if they are few, and otherwise some of many kinds."""
    if mechanism.output_count <= MOST_OUTPUTS:
        return mechanism.outputs
    rng, count = random.Random(1), mechanism.output_count
    if not isinstance(mechanism, SetReports):
        return np.array([0, count - 1, *(rng.randrange(count) for _ in range(REPORTS))])
    s, nu = mechanism.sensitive.size, mechanism.nonsensitive.size
    is_design = isinstance(mechanism, uldp.UtilityOptimizedBlockDesign)
    reports = []
    for number in range(REPORTS):
        if is_design:
            size, revealed = rng.choice(mechanism.sizes)[0], 0
            members = rng.sample(range(s), size)
            if nu and number % 2:
                members, revealed = [], rng.randint(1, nu)
        else:
            members = rng.sample(range(s), rng.randint(0, s))
            revealed = rng.choice([0, 1, nu, rng.randint(1, nu)]) if nu else 0
        bits = sum(1 << member for member in members).to_bytes(-(-s // 8), "little")
        rest = wire.wire_dtype(mechanism).itemsize - len(bits)
        reports.append([*bits, *revealed.to_bytes(rest, "little")])
    rows = np.array(reports)
    return rows[mechanism.possible(rows)]


def decisions(mechanism: Mechanism) -> Any:
    """Return the probabilities of a device's decisions, each with its complement.

    None for a kind of which the page does not say how a device draws.
    """
    shrink, growth = float(np.exp(-mechanism.epsilon)), float(-np.expm1(-mechanism.epsilon))
    s = mechanism.sensitive.size
    if isinstance(mechanism, uldp.UtilityOptimizedBlockDesign):
        found = []
        total = sum(weight for _, weight in mechanism.sizes)
        for d, weight in mechanism.sizes:
            scale = d + (s - d) * shrink
            found.append(
                {
                    "size": d,
                    "weight": [weight / total, 1 - weight / total],
                    "held": [d / scale, (s - d) * shrink / scale],
                    "hidden": [s * shrink / scale, d * growth / scale],
                }
            )
        return found
    if isinstance(mechanism, uldp.UtilityOptimizedRappor):
        decoder, found = mechanism.decoder, {}
        if s:
            x = mechanism.sensitive[0]
            found["own"] = [float(decoder.true_support[x]), float(decoder.not_true_support[x])]
            found["other"] = [float(decoder.false_support[x]), float(decoder.not_false_support[x])]
        if mechanism.nonsensitive.size:
            x = mechanism.nonsensitive[0]
            found["shown"] = [float(decoder.true_support[x]), float(decoder.not_true_support[x])]
        return found
    if not isinstance(mechanism, uldp.UtilityOptimizedRR | uldp.UtilityOptimizedHadamard):
        return None
    drawn = 2 if isinstance(mechanism, uldp.UtilityOptimizedHadamard) else s
    total = growth + drawn * shrink
    return {"replaced": [drawn * shrink / total, growth / total]} if s else {}


def question(survey: uldp.Survey, name: str, mechanism: Mechanism) -> dict[str, Any]:
    """Return the vectors of a question."""
    reports = chosen_reports(mechanism)
    size = mechanism.domain.size
    tally = mechanism.tally(reports)
    rows = wire.wire_rows(mechanism, reports)
    found = {
        "name": name,
        "report_bytes": wire.wire_dtype(mechanism).itemsize,
        "values": size,
        "sensitive_values": mechanism.sensitive.tolist(),
        "decisions": decisions(mechanism),
        "reports": [row.tobytes().hex() for row in rows],
        "message": survey.message(name, reports).hex(),
        "single": survey.message(name, reports[0]).hex(),
    }
    if size > MOST_VALUES:
        return found
    p = np.arange(1, size + 1) / (size * (size + 1) / 2)
    found |= {
        "tally": {"n": tally.n, "counts": tally.counts.tolist()},
        "estimate": mechanism.estimate(tally).tolist(),
        "standard_errors": roots_of_variances(tally) if tally.n > 1 else None,
        "losses": {
            "p": p.tolist(),
            "n": USERS,
            "variances": (mechanism.decoder.variances(p) / USERS).tolist(),
            "l1": mechanism.l1_loss(p, USERS),
            "l2": mechanism.l2_loss(p, USERS),
        },
    }
    if mechanism.output_count <= MOST_OUTPUTS:
        try:
            matrix = mechanism.transition_matrix().tolist()
        except ValueError:  # entries too small for floating point
            return found
        outputs = wire.wire_rows(mechanism, mechanism.outputs)
        found |= {"outputs": [row.tobytes().hex() for row in outputs], "matrix": matrix}
    return found


def roots_of_variances(tally: uldp.Tally) -> list[float]:
    """Return the standard errors, and 0 where all reports are alike."""
    return np.nan_to_num(inference.standard_errors(tally, "empirical")).tolist()


def survey_vectors(text: str) -> dict[str, Any]:
    """Return the vectors of a survey."""
    survey = uldp.Survey.from_json(text)
    questions = [question(survey, name, one) for name, one in survey.questions.items()]
    found = {"text": text, "digest": survey.digest, "questions": questions}
    if all("tally" in one for one in questions):
        messages = [bytes.fromhex(one["message"]) for one in questions]
        found["tallies"] = survey.read(messages, max_reports=1000).tallies.to_json()
    return found


def sure_answers(texts: list[str]) -> list[dict[str, Any]]:
    """Return answers to the question at the largest ε with their reports, sure but for e^-500."""
    surveys = [uldp.Survey.from_json(text) for text in texts]
    (number,) = (number for number, survey in enumerate(surveys) if SURE in survey.questions)
    common = surveys[number].questions[SURE]
    found = []
    for answer, secrets in SURE_ANSWERS:
        place = common.domain.base.labels.index(answer)
        report = common.domain.bots[0] if answer in secrets else place
        entry = {"survey": number, "question": SURE, "answer": answer}
        found.append(entry | {"secrets": [*secrets.items()], "report": f"{report:02x}"})
    return found


def refused_surveys() -> list[dict[str, str]]:
    """Return texts that are no surveys."""
    right = {
        "uldp": 3,
        "id": "survey",
        "questions": [
            {
                "name": "mood",
                "labels": ["good", "fair", "bad"],
                "sensitive": ["bad", "fair"],
                "mechanism": "uRAP",
                "epsilon": 1,
                "theta": 0.5,
            }
        ],
    }

    def changed(why: str, **changes: Any) -> dict[str, str]:
        return {"why": why, "text": json.dumps({**right, **changes})}

    def asked(why: str, **changes: Any) -> dict[str, str]:
        entry = {**right["questions"][0], **changes}
        return changed(why, questions=[{k: v for k, v in entry.items() if v is not ...}])

    def respelled(why: str, one: str, other: str) -> dict[str, str]:
        content = {**right, "repeat": {"keep": "first", "rounds": 12}}
        text = json.dumps(content)
        assert one in text
        return {"why": why, "text": text.replace(one, other)}

    design = {"mechanism": "uBD", "theta": ...}
    answers = {"name": "answer", "labels": ["good", "fair", "bad"]}
    numbers = {"sensitive": [], "mechanism": "RR", "epsilon": 1}
    many = [{"name": f"{k}", "labels": k, **numbers} for k in (2**16, 2**16 - 1, 2)]
    often = {"keep": "nothing", "rounds": 12, "reports": 3}
    return [
        {"why": "no JSON", "text": json.dumps(right)[:-1]},
        {"why": "empty", "text": ""},
        {"why": "a byte order mark", "text": "\ufeff" + json.dumps(right)},
        {"why": "no object", "text": "[]"},
        {"why": "no number of JSON", "text": json.dumps(right).replace("0.5", "NaN")},
        {"why": "a number that is not finite", "text": json.dumps(right).replace("0.5", "1e999")},
        {"why": "no version", "text": json.dumps({"id": "a", "questions": right["questions"]})},
        *(changed("another version", uldp=version) for version in (1, 4, "3", None, True)),
        *(changed("id is no text", id=wrong) for wrong in ("", None, 7, "a\nb", "\ud800", "\x7f")),
        *(changed("no questions", questions=wrong) for wrong in ([], {}, None, "mood")),
        *(changed("no question", questions=[wrong]) for wrong in (None, [], {}, "mood")),
        changed("an unknown key", note="hello"),
        *(
            changed("no way to be asked again", repeat=wrong)
            for wrong in (None, {}, [], "first", 12, {"keep": "first"}, {"rounds": 12})
        ),
        *(
            changed("a device keeps something else", repeat={"keep": wrong, "rounds": 12})
            for wrong in ("", "per value", None, 1, ["first"])
        ),
        *(
            changed("rounds are no number of them", repeat={"keep": "first", "rounds": wrong})
            for wrong in (0, -1, 1.5, 1001, "12", None, True, [12])
        ),
        *(
            changed("reports are no number of rounds", repeat={**often, "reports": wrong})
            for wrong in (0, -1, 1.5, 13, "3", None, True)
        ),
        changed("reports are missing", repeat={"keep": "nothing", "rounds": 12}),
        changed("reports are of no use", repeat={**often, "keep": "first"}),
        changed("an unknown key", repeat={"keep": "first", "rounds": 12, "start": 1}),
        changed("a repeated name", questions=right["questions"] * 2),
        *(asked("name is no text", name=wrong) for wrong in ("", None, 7, "a\tb", ...)),
        *(asked("labels are none", labels=wrong) for wrong in ([], None, "ab", {}, True, ..., 0)),
        *(
            asked("labels are too many", labels=wrong, sensitive=[])
            for wrong in (2**26, 2**17 + 1, -1, 1.5)
        ),
        changed("there are too many counts", questions=many),
        asked("there are too many counts", labels=2**17, sensitive=[], tags=["a"]),
        asked(
            "there are too many counts",
            **{**design, "labels": 2**16, "sensitive": [0, 1, 2]},
            sizes=[[1, 0.5], [2, 0.25], [3, 0.25]],
        ),
        respelled("a key is repeated", '"epsilon": 1', '"epsilon": 1, "epsilon": 1'),
        respelled("a key is repeated", '"uldp": 3', '"uldp": 3, "\\u0075ldp": 3'),
        respelled("a whole number has a point", '"uldp": 3', '"uldp": 3.0'),
        respelled("a whole number has a point", '"rounds": 12', '"rounds": 12.0'),
        respelled("a whole number has an exponent", '"rounds": 12', '"rounds": 12e0'),
        *(
            asked("labels look alike", labels=["good", "fair", "bad", wrong])
            for wrong in ("Bad", "\uff42\uff41\uff44", "b\xadad", "bad\u200b", "bad\ufe0f", "bad ")
        ),
        asked("labels look alike", labels=["very good", "very  good"], sensitive=[]),
        asked("a label is not seen", labels=["good", "fair", "bad", "\u2800"]),
        *(
            asked("a label has quotation marks", labels=["good", "fair", "bad", wrong])
            for wrong in (
                "a\u201d, \u201cb",
                "a\u2019\u2019, \u2018\u2018b",
                "a\u02ee, \u275db",
            )
        ),
        asked("labels look alike", labels=["18-29", "18\u201029"], sensitive=[]),
        asked("labels look alike", labels=["don't", "don\u2019t"], sensitive=[]),
        asked("a string is too long", labels=["good", "fair", "bad", "a" * 501]),
        asked("labels look alike", labels=["caf\xe9", "cafe\u0301"], sensitive=[]),
        asked("tags look alike", tags=["home", "HOME"]),
        respelled(
            "ids of format 2 are as long", '"uldp": 3, "id": "', f'"uldp": 2, "id": "{"x" * 500}'
        ),
        *(
            asked("a character is not of text", labels=["good", "fair", "bad", f"a{wrong}"])
            for wrong in "\u2028\u202e\u2066\ufeff\ufffc\ufdd0\U0001ffff\U000e0041"
        ),
        *(
            asked("factors do not fit", factors=wrong)
            for wrong in (
                *(None, 3, {}, [], [[]], [{}], [answers, answers], [{**answers, "size": 3}]),
                *([{**answers, "name": name}] for name in ("", None, 7)),
                *([{**answers, "labels": labels}] for labels in (3, [], ["good"], [0, 1, 2])),
                [{**answers, "labels": ["fair", "good", "bad"]}],
            )
        ),
        asked("a repeated label", labels=["good", "fair", "bad", "good"]),
        asked("labels of two kinds", labels=["good", "fair", "bad", 1]),
        asked("a label is no text", labels=["good", "fair", "bad", ""]),
        asked("a label is no text", labels=["good", "fair", "bad", None]),
        asked("a label is no text", labels=["good", "fair", "bad", ["a"]]),
        asked("a label is too large", labels=[1, 2**53], sensitive=[]),
        asked("a label is not whole", labels=[1, 2.5], sensitive=[]),
        *(asked("sensitive is none", sensitive=wrong) for wrong in (None, "bad", 1, {}, ...)),
        asked("a sensitive value is no label", sensitive=["worse"]),
        asked("a sensitive value is no label", sensitive=[2]),
        asked("a sensitive value is no label", labels=3, sensitive=[3]),
        asked("a sensitive value is no label", labels=3, sensitive=["2"]),
        asked("a sensitive value is no label", labels=[10, 20, 30], sensitive=[0]),
        asked("a repeated sensitive value", sensitive=["bad", "bad"]),
        *(
            asked("tags are none", tags=wrong)
            for wrong in ([], None, "home", [""], [1], ["a", "a"])
        ),
        asked("a label like a bot", labels=["good", "bad", "⊥a"], sensitive=["bad"], tags=["a"]),
        *(
            asked("no mechanism", mechanism=wrong)
            for wrong in ("", None, "urr", "GRR", ["RR"], ...)
        ),
        *(
            asked("ε is out of range", epsilon=wrong)
            for wrong in (0, -1, 9e-10, 501, "1", None, True, [1], ...)
        ),
        *(
            asked("θ is out of range", theta=wrong)
            for wrong in (0, 1, -1, 9e-81, 2, "0.5", None, True)
        ),
        *(asked("θ is of no use", mechanism=name) for name in ("uRR", "uHR")),
        asked("θ is of no use", mechanism="uBD", sizes=[[1, 1]]),
        asked("sizes are of no use", sizes=[[1, 1]]),
        asked("sizes are of no use", sizes=[[1, 1]], mechanism="uHR", theta=...),
        asked("no sizes", **design),
        *(
            asked("sizes are none", sizes=wrong, **design)
            for wrong in (None, 1, {"1": 1}, [1], [[1]], [[1, 1, 1]], [["1", 1]], [[1, "1"]], [])
        ),
        asked("a size is out of range", sizes=[[0, 1]], **design),
        asked("a size is out of range", sizes=[[1, 0.5], [3, 0.5]], **design),
        asked("a size is not whole", sizes=[[1.5, 1]], **design),
        asked("sizes do not increase", sizes=[[2, 0.5], [1, 0.5]], **design),
        asked("sizes do not increase", sizes=[[1, 0.5], [1, 0.5]], **design),
        asked("a probability is out of range", sizes=[[1, 1], [2, 0]], **design),
        asked("a probability is out of range", sizes=[[1, 1.5], [2, -0.5]], **design),
        asked("probabilities do not sum to 1", sizes=[[1, 0.5], [2, 0.4]], **design),
        asked("all sets hold everything", sizes=[[2, 1]], **design),
        asked("there is nothing to hold", sensitive=[], sizes=[[1, 1]], **design),
        asked("an unknown key", sensitiv=["bad"]),
    ]


def refused_messages(texts: list[str]) -> list[dict[str, Any]]:
    """Return messages that the first survey refuses, with the reason."""
    survey, other = (uldp.Survey.from_json(text) for text in texts[:2])
    name = "uRAP"
    number = [*survey.questions].index(name)
    right = survey.message(name, survey.questions[name].outputs[:1])
    two = survey.message(name, survey.questions[name].outputs[:2])

    def sealed(body: bytes) -> bytes:
        return body + zlib.crc32(body).to_bytes(4, "little")

    head = struct.Struct("<4s2H2I32s")
    digest = bytes.fromhex(survey.digest)

    def forged(report: bytes, question: int = number, width: int = 2, n: int = 1) -> bytes:
        return sealed(head.pack(b"uldp", 2, question, width, n, digest) + report)

    old = b"uldp" + struct.pack("<IIII", 1, 20, 2, 1) + b'{"epsilon":1.0,"k":4}'[:20] + b"\1\0"
    Reason = wire.Reason
    wrong = [
        (b"GET / HTTP/1.1\r\n", Reason.FORMAT),
        (b"ulpd" + right[4:], Reason.FORMAT),
        (b"", Reason.TRUNCATED),
        (right[:3], Reason.TRUNCATED),
        (right[:7], Reason.TRUNCATED),
        (right[:51], Reason.TRUNCATED),
        (right[:-1], Reason.TRUNCATED),
        (two[: len(right)], Reason.TRUNCATED),
        (sealed(old), Reason.VERSION),
        (old[:8], Reason.VERSION),
        (old[:7], Reason.TRUNCATED),
        (right[:4] + b"\3" + right[5:], Reason.VERSION),
        (right + b"\0", Reason.CORRUPT),
        (right + right, Reason.CORRUPT),
        *(
            (right[:i] + bytes([right[i] ^ 1]) + right[i + 1 :], Reason.CORRUPT)
            for i in (6, 20, 48, 53)
        ),
        (other.message("s = 2", 0), Reason.FOREIGN),
        (forged(b"\0\0", question=len(survey.questions)), Reason.QUESTION),
        (forged(b"\0", width=1), Reason.QUESTION),
        (forged(b"", width=0), Reason.QUESTION),
        (forged(b"\0", question=65_535, width=1), Reason.QUESTION),
        (forged(b"", n=0), Reason.EMPTY),
        (two, Reason.TOO_MANY),
        (forged(b"\4\0"), Reason.IMPOSSIBLE),
        (forged(b"\0\3"), Reason.IMPOSSIBLE),
        (forged(b"\4", [*survey.questions].index("RR"), 1), Reason.IMPOSSIBLE),
        (forged(b"\6", [*survey.questions].index("uHR, 2 sensitive values"), 1), Reason.IMPOSSIBLE),
        (forged(b"\3\0", [*survey.questions].index("uBD, size 1")), Reason.IMPOSSIBLE),
        (forged(b"\1\1", [*survey.questions].index("uBD, size 1")), Reason.IMPOSSIBLE),
        (forged(b"\0\0", [*survey.questions].index("uBD, size 1")), Reason.IMPOSSIBLE),
    ]
    return [{"survey": 0, "message": message.hex(), "reason": why.value} for message, why in wrong]


def vectors() -> dict[str, Any]:
    """Return all test vectors."""
    texts = surveys()
    return {
        "about": "Test vectors of the survey format of uldp, written by tools/survey_vectors.py",
        "format": survey_file.FORMAT,
        "surveys": [survey_vectors(text) for text in texts],
        "sure_answers": sure_answers(texts),
        "refused_surveys": refused_surveys(),
        "refused_messages": refused_messages(texts),
    }


def main() -> int:
    """Write the file, a line for each survey, question or refusal."""
    text = json.dumps(vectors(), indent=None, separators=(",", ":"))
    for start in ('{"text":', '{"name":', '{"why":', '{"survey":'):
        text = text.replace(start, "\n" + start)
    PATH.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
