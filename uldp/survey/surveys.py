"""A survey is one file, which the collector and every device read.

`Survey` holds the questions with their mechanisms, writes and reads messages, and `Tallies` are
what is kept of them. The format of the file, of messages and of tallies is described in the book
under "The survey file and its messages"; `schema` is its JSON Schema.

>>> answers = Domain(["good", "fair", "bad"], sensitive=["bad"])
>>> mood = UtilityOptimizedRR(answers, epsilon=1.0)
>>> survey = Survey("wellbeing-2026-w47", {"mood": mood})
>>> message = survey.privatize("mood", "fair")  # on a device that runs Python
>>> survey.read([message]).tallies["mood"].n  # at the collector
1
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.chunks import chunks
from uldp._numerics.fields import set_fields
from uldp.domain import Label
from uldp.kinds import MECHANISMS
from uldp.mechanisms import Mechanism
from uldp.mechanisms.base import Seed
from uldp.personalized.tagged import TaggedDomain
from uldp.personalized.users import PersonalizedMechanism, SecretMap
from uldp.survey import survey_file, wire
from uldp.survey.survey_file import excerpt
from uldp.survey.wire import BytesLike, MessageError, Reason
from uldp.tallies import Tally

__all__ = ["Reading", "Survey", "Tallies", "schema"]

MESSAGE_BYTES_AT_ONCE = 1 << 18
SHOWN_DIGITS = 12
MOST_BYTES_OF_TALLIES = 4 * survey_file.MOST_BYTES


class Survey:
    """The questions of a survey, each with its mechanism, and the text of its file.

    A survey is known by the SHA-256 digest of its file's exact text in UTF-8. Every message holds
    it, so that reports for another or for a changed survey are refused. Two surveys are
    equal if their texts are.

    Parameters
    ----------
    id : str
        The name of the survey, for people.
    questions : mapping of str to Mechanism
        The mechanism of each question by its name, in order, 1 to 65,536 of them. For the
        personalized mechanism it is the common one, over a `uldp.personalized.TaggedDomain`.
    repeat : mapping, optional
        How the survey is asked again, as its file has it and `uldp.survey.Plan.repeat`
        gives it: ``{"keep": "first", "rounds": T}`` if a device sends its first report in each of
        T rounds, and ``{"keep": "nothing", "rounds": T, "reports": m}`` if it makes m new ones, in
        rounds that it has drawn beforehand. T is 1 to 1000, m 1 to T. By default it is asked once.
        The client in JavaScript follows it; the levels of the m reports add up.
    texts : mapping of str to str, optional
        What people are asked, by the name of the question; by default pages show the name.

    Attributes
    ----------
    digest : str
        The SHA-256 digest of the file in hexadecimal digits.
    """

    id: str
    questions: Mapping[str, Mechanism]
    repeat: Mapping[str, Any] | None
    texts: Mapping[str, str]
    digest: str
    _text: str
    _old: bool
    _names: list[str]
    _widths: list[int]

    def __init__(
        self,
        id: str,
        questions: Mapping[str, Mechanism],
        repeat: Mapping[str, Any] | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        checks.instance(id, "id", str)
        if not isinstance(questions, Mapping):
            raise TypeError(f"questions must map names to mechanisms, got {questions!r}")
        for name, mechanism in questions.items():
            checks.instance(name, "each name in questions", str)
            checks.instance(mechanism, f"questions[{name!r}]", Mechanism)
        if repeat is not None and not isinstance(repeat, Mapping):
            raise TypeError(f"repeat must be a mapping such as that of a plan, got {repeat!r}")
        if texts is not None and not isinstance(texts, Mapping):
            raise TypeError(f"texts must map names of questions to strings, got {texts!r}")
        for name, text in (texts or {}).items():
            checks.choice(name, "each name in texts", questions)
            checks.instance(text, f"texts[{name!r}]", str)
        self._set(survey_file.write_survey(id, questions, repeat, texts or {}))
        for name, mechanism in questions.items():
            if self.questions[name] != mechanism:
                raise ValueError(
                    f"questions[{name!r}] must be as its file says, {self.questions[name]!r}, "
                    f"got {mechanism!r}"
                )

    def _set(self, text: str, old: bool = False) -> None:
        content = survey_file.read_survey(text, old)
        set_fields(
            self,
            id=content.id,
            questions=MappingProxyType(content.questions),
            repeat=content.repeat,
            texts=MappingProxyType(content.texts),
            digest=sha256(text.encode()).hexdigest(),
            _text=text,
            _old=old,
            _names=[*content.questions],
            _widths=[wire.wire_dtype(one).itemsize for one in content.questions.values()],
        )

    @classmethod
    def from_json(cls, text: str | wire.BytesLike, *, old: bool = False) -> Survey:
        """Return the survey of a file.

        Parameters
        ----------
        text : str or bytes-like
            The file's content. Bytes are safest: to read a file as text may change its line
            endings, and so the survey.
        old : bool, optional
            For the collector of a survey that version 1.0.0 wrote: read it also if it is larger, or
            has other texts, than devices take today. By default it is refused.
        """
        is_old = checks.flag(old, "old")
        survey = cls.__new__(cls)
        try:
            survey._set(_decoded(text), is_old)
        except ValueError as error:
            raise ValueError(f"text must be that of a survey: {error}") from None
        return survey

    def to_json(self) -> str:
        """Return the exact text of the file, to be written as UTF-8 without changing a line ending.

        `save` does so.
        """
        return self._text

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, old: bool = False) -> Survey:
        """Return the survey of a file, which must be a regular one (see `from_json`)."""
        with checks.regular_file(path, "path") as file:
            return cls.from_json(file.read(-1 if old else survey_file.MOST_BYTES + 1), old=old)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the survey's file, byte for byte, in the place of any that is there."""
        _save(self.to_json(), path)

    @property
    def epsilon(self) -> float:
        """The level of all that a person tells, in nats: each question's ε times the reports to it.

        She makes one report to a question, or m where the survey is asked again and nothing is
        kept. The levels add up (Proposition 1 of the paper), whatever the answers. A question
        without sensitive values adds its ε, too, although it protects no answer.
        """
        reports: int = (self.repeat or {}).get("reports", 1)
        return reports * math.fsum(one.epsilon for one in self.questions.values())

    def privatize(
        self,
        question: str,
        answer: Label,
        secrets: SecretMap | None = None,
        rng: Seed = None,
    ) -> bytes:
        """Return the message of one person's answer to a question; for a device that runs Python.

        Each call draws a new report, which costs the question's ε again. So a device that sends
        twice sends the same message; in a survey with `repeat` it keeps what the file says.

        Parameters
        ----------
        question : str
            The name of the question.
        answer : label
            The answer. An error does not show it.
        secrets : mapping of label to str, optional
            Where a question has tags: the answers that are sensitive to this person, each with its
            tag (see `uldp.PersonalizedMechanism`). None by default.
        rng : optional
            What `numpy.random.default_rng` takes, for tests. By default a new
            `uldp.survey.secure.generator()`, which needs the extra "secure".
        """
        if not isinstance(question, str) or question not in self.questions:
            raise ValueError(
                f"question must be one of {', '.join(self._names)}; the one given is not shown "
                "here, as it may be an answer"
            )
        if self._old:
            raise ValueError("a survey that was read with old=True is the collector's alone")
        mechanism: Mechanism | PersonalizedMechanism = self.questions[question]
        if isinstance(mechanism.domain, TaggedDomain):
            own = {} if secrets is None else secrets
            mechanism = PersonalizedMechanism(self.questions[question], own)
        elif secrets is not None:
            raise TypeError(f"secrets must be None, for the question {question!r} has no tags")
        held = mechanism.domain._of_labels(answer, "answer", secret=True)
        if held.ndim:
            raise TypeError(f"answer must be one label, got an array of {held.size}")
        if rng is None:
            from uldp.survey import secure  # it needs an extra

            rng = secure.generator()
        return self.message(question, mechanism.privatize(held, rng, indices=True))

    def message(self, question: str, reports: ArrayLike) -> bytes:
        """Return a message that holds reports.

        Parameters
        ----------
        question : str
            The name of the question.
        reports : array_like
            What the question's mechanism made of answers, one report or many.
        """
        checks.choice(question, "question", self._names)
        rows = wire.wire_rows(self.questions[question], reports)
        return wire.pack(bytes.fromhex(self.digest), self._names.index(question), rows)

    def open(self, message: BytesLike, max_reports: int = 1) -> tuple[str, NDArray[Any]]:
        """Return what one message holds: its question, and the reports.

        Parameters
        ----------
        message : bytes-like
            What a device sent.
        max_reports : int, optional
            How many reports the message may hold (see `read`).

        Returns
        -------
        str
            The name of the question.
        (n, ...) ndarray
            The reports, one along the first axis.

        Raises
        ------
        MessageError
            A ValueError, if the message is not intact, is of another survey, holds no report or too
            many, or one that the mechanism cannot produce. Its `reason` says which.
        """
        most = checks.whole(max_reports, "max_reports", least=1)
        number, payload = self._payload(message, most)
        name = self._names[number]
        mechanism = self.questions[name]
        rows = np.frombuffer(payload, wire.wire_dtype(mechanism))
        try:
            return name, mechanism.check(rows.astype(mechanism.report_dtype.base))
        except ValueError as impossible:
            raise MessageError(Reason.IMPOSSIBLE, str(impossible)) from None

    def read(
        self, messages: Iterable[BytesLike], max_reports: int = 1, keep_reports: bool = False
    ) -> Reading:
        """Tally the reports of many messages; count those that are refused, by reason, and go on.

        The messages may come from a generator; the tallies, the reports if they are kept, and some
        megabytes are held in memory.
        They are not compared: equal bytes are mostly honest reports that are equal. Who sent a
        message, and if it came twice, is known to the service alone.

        Parameters
        ----------
        messages : iterable of bytes-like
            What devices sent.
        max_reports : int, optional
            How many reports a message may hold: one, as a device sends it, since a message of a
            million would outvote the others. Allow more only where a relay bundles.
        keep_reports : bool, optional
            Whether to keep the reports too, which "em" and "mle" need where a report is a set.

        Returns
        -------
        Reading
        """
        not_many = isinstance(messages, BytesLike | str) or hasattr(messages, "read")
        if not_many or not isinstance(messages, Iterable):
            raise TypeError(
                "messages must be a collection of bytes, such as a list or what "
                "uldp.survey.wire.split(file, survey.longest_message()) finds in a file, got "
                f"{type(messages).__name__}"
            )
        most = checks.whole(max_reports, "max_reports", least=1)
        kept = checks.flag(keep_reports, "keep_reports")
        boxes = {
            name: _Box(self.questions[name], tally, kept) for name, tally in Tallies(self).items()
        }
        by_number = [*boxes.values()]
        refused: Counter[Reason] = Counter()
        accepted = waiting = 0
        for message in messages:
            try:
                number, payload = self._payload(message, most)
            except MessageError as error:
                refused[error.reason] += 1
                continue
            accepted += 1
            by_number[number].waiting += payload
            waiting += len(payload)
            if waiting >= MESSAGE_BYTES_AT_ONCE:
                waiting = 0
                for box in by_number:
                    box.count()
        for box in by_number:
            box.count()
        return Reading(
            tallies=Tallies(self, {name: box.tally for name, box in boxes.items()}),
            reports={name: box.sorted_reports() for name, box in boxes.items() if kept},
            messages=accepted,
            refused=refused,
            impossible=sum(box.impossible for box in by_number),
        )

    def longest_message(self, max_reports: int = 1) -> int:
        """Return the length of the longest message of this survey, for `uldp.survey.wire.split`.

        Parameters
        ----------
        max_reports : int, optional
            How many reports a message may hold.
        """
        most = checks.whole(max_reports, "max_reports", least=1)
        return wire.LEAST_LENGTH + most * max(self._widths)

    def _payload(self, message: object, most: int) -> tuple[int, memoryview]:
        """Return the number of question and the reports of an intact message, possible or not."""
        digest, number, width, payload = wire.unpack(message)
        if digest.hex() != self.digest:
            raise MessageError(
                Reason.FOREIGN,
                f"its survey is {digest.hex()[:SHOWN_DIGITS]}..., this one is "
                f"{self.digest[:SHOWN_DIGITS]}...",
            )
        if number >= len(self._widths):
            raise MessageError(
                Reason.QUESTION, f"it is of question {number}, there are {len(self._widths)}"
            )
        if width != self._widths[number]:
            raise MessageError(
                Reason.QUESTION,
                f"its reports have {width} bytes, those of question {number} "
                f"{self._widths[number]}",
            )
        if not payload:
            raise MessageError(Reason.EMPTY, f"it is of question {number}")
        if len(payload) > most * width:
            raise MessageError(
                Reason.TOO_MANY, f"{len(payload) // width} reports, at most {most} are"
            )
        return number, payload

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Survey cannot be changed; make a new one to set {name}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Survey) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make it anew, from its text, which a process reads once."""
        return _unpickled, (self.to_json(), self._old)

    def __repr__(self) -> str:
        return f"Survey({self.id!r}, {len(self.questions)} questions, {self.digest[:12]}...)"


class Tallies(Mapping[str, Tally]):
    """The tally of each question of a survey; parts add up, with ``+`` and with `sum`.

    Parameters
    ----------
    survey : Survey
        The survey.
    tallies : mapping of str to Tally, optional
        The tallies by the names of their questions; where there is none, no report came.
    """

    survey: Survey

    def __init__(self, survey: Survey, tallies: Mapping[str, Tally] | None = None) -> None:
        checks.instance(survey, "survey", Survey)
        given = {} if tallies is None else tallies
        if not isinstance(given, Mapping):
            raise TypeError(f"tallies must map questions to tallies, got {tallies!r}")
        for name, tally in given.items():
            checks.choice(name, "tallies", survey.questions)
            checks.instance(tally, f"tallies[{name!r}]", Tally)
            if tally.law != survey.questions[name]:
                raise ValueError(
                    f"tallies[{name!r}] must be of {survey.questions[name]!r}, got {tally.law!r}"
                )
        self.survey = survey
        self._tallies = {
            name: given[name] if name in given else empty_tally(mechanism)
            for name, mechanism in survey.questions.items()
        }

    def to_json(self) -> str:
        """Return the text of a file of tallies, which includes the text of the survey file."""
        entries = [
            survey_file.as_json({"question": name, "n": tally.n, "counts": tally.counts.tolist()})
            for name, tally in self.items()
        ]
        text = survey_file.as_json(self.survey.to_json())
        lines = ",\n    ".join(entries)
        return (
            f'{{\n  "uldp": {survey_file.FORMAT},\n  "survey": {text},\n'
            f'  "tallies": [\n    {lines}\n  ]\n}}\n'
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, old: bool = False) -> Tallies:
        """Return the tallies of a file, which must be a regular one (see `from_json`)."""
        with checks.regular_file(path, "path") as file:
            return cls.from_json(file.read(-1 if old else MOST_BYTES_OF_TALLIES + 1), old=old)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file of the tallies, in the place of any that is there."""
        _save(self.to_json(), path)

    @classmethod
    def from_json(cls, text: str | wire.BytesLike, *, old: bool = False) -> Tallies:
        """Return the tallies of a file.

        Parameters
        ----------
        text : str or bytes-like
            What `to_json` returned.
        old : bool, optional
            Whether their survey may be one that only version 1.0.0 took (see `Survey.from_json`).
        """
        is_old = checks.flag(old, "old")
        try:
            return cls._read(_decoded(text), is_old)
        except ValueError as error:
            raise ValueError(f"text must be that of tallies: {error}") from None

    @classmethod
    def _read(cls, text: str, old: bool) -> Tallies:
        content = survey_file.read_json(text, math.inf if old else MOST_BYTES_OF_TALLIES)
        if "questions" in content:
            raise ValueError("this is a survey file, by which `uldp tally` counts messages")
        file = survey_file.json_object(content, "the file", {"uldp", "survey", "tallies"})
        if not isinstance(file["survey"], str):
            raise ValueError(f"survey must be a string, got {excerpt(file['survey'])}")
        survey = Survey.from_json(file["survey"], old=old)
        names = [*survey.questions]
        entries = survey_file.json_array(file["tallies"], "tallies")
        if len(entries) != len(names):
            raise ValueError(f"tallies must be an array of {len(names)}, one for each question")
        tallies = {}
        for number, (name, entry) in enumerate(zip(names, entries, strict=True)):
            where = f"tallies[{number}]"
            one = survey_file.json_object(entry, where, {"question", "n", "counts"})
            if one["question"] != name:
                raise ValueError(
                    f"{where}.question must be {name!r}, got {excerpt(one['question'])}"
                )
            counts: Any = survey_file.json_array(one["counts"], f"{where}.counts")
            numbers = [one["n"], *np.array(counts, dtype=object).ravel()]
            wrong = [number for number in numbers if type(number) is not int]
            if wrong:
                raise ValueError(f"{where} must hold whole numbers, got {excerpt(wrong[0])}")
            tallies[name] = Tally(survey.questions[name], one["n"], counts)
        return cls(survey, tallies)

    def __getitem__(self, question: str) -> Tally:
        return self._tallies[question]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tallies)

    def __len__(self) -> int:
        return len(self._tallies)

    def __add__(self, other: Tallies | int) -> Tallies:
        if isinstance(other, int) and other == 0:
            return self
        if not isinstance(other, Tallies):
            return NotImplemented
        if self.survey != other.survey:
            raise ValueError(
                f"tallies must be of one survey, got {self.survey!r} and {other.survey!r}"
            )
        return Tallies(self.survey, {name: self[name] + other[name] for name in self})

    __radd__ = __add__

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tallies)
            and self.survey == other.survey
            and self._tallies == other._tallies
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name!r}: n={tally.n}" for name, tally in self.items())
        return f"Tallies({self.survey!r}, {{{numbers}}})"


@dataclass(frozen=True, eq=False)
class Reading:
    """What a collector reads from many messages.

    Attributes
    ----------
    tallies : Tallies
        The tally of each question, of the accepted reports.
    reports : dict of str to ndarray
        The accepted reports of each question, one along the first axis, if they were to be kept;
        else empty. They are sorted by their bytes, since the order in which they came would join
        those of one person.
    messages : int
        How many messages were accepted.
    refused : Counter
        How many messages were refused, by `Reason`.
    impossible : int
        How many reports of accepted messages were left out because the mechanism cannot produce
        them.
    """

    tallies: Tallies
    reports: dict[str, NDArray[Any]]
    messages: int
    refused: Counter[Reason]
    impossible: int

    @property
    def pieces(self) -> int:
        """How many messages were read, accepted or not."""
        return self.messages + self.refused.total()

    @property
    def is_cut(self) -> bool:
        """Whether one of several messages is shorter than it says, as where a file was cut.

        What stood behind the cut is missing, and nobody knows how much that is; other messages may
        follow, if files were joined.
        """
        return self.pieces > 1 and self.refused[Reason.TRUNCATED] > 0


class _Box:
    """The reports to a question: those that wait, and the tally of those that were counted."""

    def __init__(self, mechanism: Mechanism, tally: Tally, keeps_reports: bool) -> None:
        self.mechanism = mechanism
        self.keeps_reports = keeps_reports
        self.waiting = bytearray()
        self.kept = bytearray()
        self.tally = tally
        self.impossible = 0

    def count(self) -> None:
        """Count the reports that wait."""
        if not self.waiting:
            return
        rows = np.frombuffer(self.waiting, wire.wire_dtype(self.mechanism))
        at_once = max(1, MESSAGE_BYTES_AT_ONCE // self.mechanism.report_dtype.itemsize)
        for chunk in chunks(len(rows), at_once):
            reports = rows[chunk].astype(self.mechanism.report_dtype.base)
            tally, possible = tally_of_possible(self.mechanism, reports)
            self.tally += tally
            self.impossible += len(reports) - tally.n
            if self.keeps_reports:
                self.kept += possible.tobytes()
        self.waiting = bytearray()

    def sorted_reports(self) -> NDArray[Any]:
        layout = self.mechanism.report_dtype
        np.frombuffer(self.kept, f"V{layout.itemsize}").sort()
        return np.frombuffer(self.kept, layout)


def tally_of_possible(mechanism: Mechanism, reports: NDArray[Any]) -> tuple[Tally, NDArray[Any]]:
    """Return the tally of those reports that the mechanism can produce, and these reports."""
    try:
        return mechanism.tally(reports), reports
    except ValueError:
        possible = reports[mechanism.possible(reports)]
        return mechanism.tally(possible), possible


def empty_tally(mechanism: Mechanism) -> Tally:
    """Return the tally of no reports."""
    return Tally(mechanism, 0, np.zeros(mechanism.tally_shape, dtype=np.int64))


def _decoded(text: str | wire.BytesLike) -> str:
    """Return the text of a file, or say that it holds messages."""
    if isinstance(text, str):
        return text
    if not isinstance(text, wire.BytesLike):
        raise TypeError(
            f"text must be a string or bytes, got {type(text).__name__}; load reads a file"
        )
    content = bytes(text)
    if content.startswith(wire.MAGIC):
        raise ValueError("these are messages, which `uldp tally` counts by a survey file")
    return content.decode()


@lru_cache(maxsize=1)
def _unpickled(text: str, old: bool) -> Survey:
    return Survey.from_json(text, old=old)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a survey file, as Python values.

    A file that meets it may still be refused: it cannot say that probabilities sum to 1, or that
    what is sensitive is a label.
    """
    sketch = (files("uldp.survey") / "survey.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(sketch)
    question = found["$defs"]["question"]
    of_all = question["properties"].keys() - set().union(*survey_file.OWN_FIELDS.values())
    question["properties"]["mechanism"] = {"enum": [*MECHANISMS]}
    question["allOf"] = [
        {
            "if": {"properties": {"mechanism": {"const": kind.wire_name}}},
            "then": {
                "required": sorted(own - survey_file.OPTIONAL),
                "propertyNames": {"enum": sorted(of_all | own)},
            },
        }
        for kind, own in survey_file.OWN_FIELDS.items()
    ]
    return found


def _save(text: str, path: str | os.PathLike[str]) -> None:
    """Write a file that takes the place of another when it is whole, and has its mode.

    Until then nobody else reads it, if somebody may not have been able to read the other.
    """
    target = checks.path(path, "path").resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(text.encode())
        return
    part = target.parent / f".{uuid4().hex}.part"
    try:
        part.touch(0o600 if target.exists() else 0o666)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target.parent)) from None
    try:
        part.write_bytes(text.encode())
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
