"""The commands of a survey: what it promises, counting the messages, and estimates from counts."""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import re
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import ROUND_CEILING, Context
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from uldp import inference, personalized
from uldp._numerics import checks
from uldp.domain import Domain, ProductDomain
from uldp.inference import EstimateTable
from uldp.law import LINEAR
from uldp.losses import total_variance
from uldp.mechanisms import Mechanism
from uldp.personalized import TaggedDomain
from uldp.survey import survey_file, wire
from uldp.survey.surveys import MOST_BYTES_OF_TALLIES, Survey, Tallies
from uldp.tallies import FROM_TALLIES, METHODS, Tally

__all__ = ["add_survey_commands"]

FORMULAS = ("=", "+", "-", "@")
COLUMNS = ("question", "value", "estimate", "standard_error", "low", "high", "background_error")
MOST_NAMED = 20
UPWARDS = Context(prec=4, rounding=ROUND_CEILING)


def add_survey_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands."""
    describe = _command(
        commands,
        "describe",
        "say what a survey promises, and what to expect of it",
        "Say what each question promises to people, what a person tells in all, and the errors to "
        "expect.",
        "uldp describe --people 10000 survey.json",
    )
    describe.set_defaults(run=_describe)
    describe.add_argument("survey", type=Path, help="the survey file")
    describe.add_argument(
        "--people", type=int, default=1000, metavar="N", help="who answer each question (1000)"
    )
    tally = _command(
        commands,
        "tally",
        "count the reports in messages",
        "Count the reports in messages, for each question of a survey, and write the counts as "
        "JSON. Refused messages are counted by file and reason, on the error output. Options stand "
        "before the survey; a file whose name begins with a minus is given as ./-name. The exit "
        "status is 1, and nothing is written, if no report is accepted, too many messages are "
        "refused, or a file of several messages has one that is cut, at its end or, if files were "
        "joined, before it. No message tells whose it is: a day whose file is counted twice counts "
        "twice, and nothing shows it.",
        "uldp tally --out tallies.json survey.json north.bin south.bin.gz",
        "cat north.bin | uldp tally survey.json - > tallies.json",
    )
    tally.set_defaults(run=_tally)
    tally.add_argument("survey", type=Path, help="the survey file")
    tally.add_argument(
        "files",
        nargs=argparse.REMAINDER,
        metavar="FILE",
        help="of one message, or of many, one behind the other; NAME.gz is unpacked, and - is the "
        "standard input; nothing here is an option",
    )
    tally.add_argument(
        "--max-reports", type=int, default=1, metavar="N", help="reports in a message (1)"
    )
    tally.add_argument(
        "--most-refused",
        type=float,
        default=0.01,
        metavar="SHARE",
        help="of the messages that may be refused (0.01); 1 counts what is left of a file that was "
        "cut, too",
    )
    add = _command(
        commands,
        "add",
        "add up the counts of several files",
        "Add up tallies of one survey, of different messages, and write the sums as JSON. If a "
        "file of messages has grown, its new count takes the place of the old one: with both, a "
        "day counts twice, and nothing shows it. Options stand before the files.",
        "uldp add --out sum.json north.json south.json",
    )
    add.set_defaults(run=_add)
    add.add_argument(
        "tallies",
        nargs=argparse.REMAINDER,
        metavar="TALLIES",
        help="what the command tally wrote; nothing here is an option",
    )
    for command in (tally, add):
        command.add_argument("--out", type=Path, metavar="FILE", help="where to write (the output)")
    estimate = _command(
        commands,
        "estimate",
        "estimate shares from the counts",
        "Print the estimated share of each value, its standard error and interval. For a question "
        "with tags, print shares of answers too, but not with --simultaneous, --clip, or a "
        "--method without intervals.",
        "uldp estimate tallies.json",
        "uldp estimate --simultaneous --clip tallies.json",
        "uldp estimate --method norm_sub --csv tallies.json > shares.csv",
    )
    estimate.set_defaults(run=_estimate)
    estimate.add_argument("tallies", type=Path, help="what the command tally wrote")
    estimate.add_argument(
        "--question", action="append", metavar="NAME", help="this question alone; may be repeated"
    )
    estimate.add_argument(
        "--method",
        choices=METHODS,
        default="adjusted",
        help="the estimator; adjusted, the default, is the empirical one of the paper, adjusted to "
        "sum to 1; these two alone have errors and intervals; em and mle need counts that tell "
        "what came together, as those of RR, uRR, uHR, and of a uBD that sends one value",
    )
    estimate.add_argument(
        "--confidence", type=float, default=0.95, metavar="P", help="of the intervals (0.95)"
    )
    estimate.add_argument(
        "--simultaneous", action="store_true", help="let all intervals of a question hold together"
    )
    estimate.add_argument("--clip", action="store_true", help="cut all to 0 to 1")
    estimate.add_argument(
        "--csv",
        action="store_true",
        help="print CSV instead of tables; an =, +, - or @ with which a cell would begin, if a "
        "text is split at ; or a tab, too, gets an apostrophe",
    )


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    summary: str,
    description: str,
    *examples: str,
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog="\n  ".join(["examples:", *examples]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _describe(given: argparse.Namespace) -> None:
    survey = Survey.load(given.survey)
    people = checks.whole(given.people, "--people", least=1)
    print(f"{survey.id}\n")
    reports: int = (survey.repeat or {}).get("reports", 1)
    for name, mechanism in survey.questions.items():
        promise = _promise(mechanism, people, reports)
        print("\n  ".join([survey.texts.get(name, name), *promise]), end="\n\n")
    if not any(one.sensitive.size for one in survey.questions.values()):
        print("Nothing in this survey is protected.")
        return
    times = f" in {survey.repeat['rounds']} rounds" if survey.repeat else ""
    print(f"In all a person tells ε = {_upwards(survey.epsilon)}{times}.")


def _promise(mechanism: Mechanism, people: int, reports: int) -> Iterator[str]:
    """Yield what a question promises, and what to expect of it."""
    labels = mechanism.domain.labels
    S = mechanism.sensitive
    N = mechanism.nonsensitive
    believed = 1 / (1 + np.exp(-reports * mechanism.epsilon))
    after = f", after {reports} reports" if reports > 1 else ""
    yield f"{type(mechanism).__name__}, ε = {_upwards(mechanism.epsilon)}, {len(labels)} values"
    if S.size:
        yield from _listed("protected", [labels[x] for x in S])
        yield f"  a suspicion of 50% of one of them becomes at most {_percent(believed)}{after}"
    else:
        yield "protected: nothing"
    if N.size:
        yield from _listed("not protected", [labels[x] for x in N])
        share = mechanism.revealed_share
        yield f"  one of them is revealed with the chance {_percent(share)}"
        if reports > 1:
            chance = _percent(1 - (1 - share) ** reports)
            yield f"  if it stays the same, in {reports} reports at least once with {chance}"
    errors = np.sqrt(mechanism.adjusted.null_variances / people)
    at_worst = mechanism.worst_case("l1")
    yield f"with {people:,} people, in the worst case, a total variation of about " + (
        f"{mechanism.l1_loss(at_worst, people, method='adjusted') / 2:.2g}"
    )
    noisy = [
        f"{100 * errors[part].max():.2g} points ({called})"
        for part, called in ((S, "protected"), (N, "not protected"))
        if errors[part].any()
    ]
    if noisy:
        yield f"and a standard error of a share near 0 of {', '.join(noisy)}"
    for called, groups in _shares(mechanism.domain):
        worst = max(total_variance(mechanism, group, method="adjusted") for group in groups)
        yield f"  and of {called} of at most {100 * np.sqrt(worst / people):.2g} points"


def _shares(domain: Domain) -> Iterator[tuple[str, list[NDArray[np.float64]]]]:
    """Yield what is published of groups of values: those of X_S, and the answers of each factor."""
    if 0 < domain.sensitive.size < domain.size:
        in_S = np.isin(np.arange(domain.size), domain.sensitive)
        yield "the share of all sensitive values together", [in_S.astype(float)]
    if isinstance(domain, ProductDomain):
        for name, factor in domain.factors.items():
            yield f"a share in {name!r}", [domain.weights(**{name: x}) for x in factor.labels]


def _upwards(epsilon: float) -> str:
    """Write a level with 4 digits, rounded up but for the rounding errors of its sum."""
    return f"{float(UPWARDS.create_decimal(f'{epsilon:.12g}')):.4g}"


def _percent(share: float) -> str:
    """Write a share in percent, rounded up as on the page for participants."""
    return f"{np.ceil(round(100 * share, 9)):.0f}%"


def _listed(called: str, labels: Sequence[object]) -> Iterator[str]:
    """Yield how many labels there are, and each in a line, so that none can pass for two."""
    part = f", the first {MOST_NAMED}" if len(labels) > MOST_NAMED else ""
    yield f"{called}, {len(labels):,} of the values{part}:"
    for label in labels[:MOST_NAMED]:
        yield f"  - {label}"


def _tally(given: argparse.Namespace) -> int | None:
    survey = Survey.load(given.survey)
    most = checks.nonnegative(given.most_refused, "--most-refused", most=1)
    longest = survey.longest_message(given.max_reports)
    if given.out and given.out.exists():
        for name in (given.survey, *given.files):
            read = os.fstat(0) if name == "-" else Path(name).stat()
            if os.path.samestat(given.out.stat(), read):
                raise ValueError(f"--out must not be a file that is read, got {str(name)!r}")
    tallies = dict(Tallies(survey))
    accepted = impossible = 0
    refused: Counter[wire.Reason] = Counter()
    cuts: list[str] = []
    refusals: list[str] = []
    doubts: list[str] = []
    by_digest: dict[bytes, str] = {}
    for name, file in _once(given.files):
        with _unpacked(name, file) as data:
            digest = sha256()
            pieces = wire.digested(wire.split(data, longest), digest)
            reading = survey.read(pieces, given.max_reports)
        for question, tally in reading.tallies.items():
            if tally.n:
                tallies[question] += tally
        accepted += reading.messages
        refused += reading.refused
        impossible += reading.impossible
        for reason, times in reading.refused.most_common():
            refusals.append(f"{name!r}: {times:,} refused: {reason}")
        equal = by_digest.setdefault(digest.digest(), name)
        if not reading.pieces:
            doubts.append(f"{name!r} is empty")
        elif equal != name and reading.pieces > 1:
            doubts.append(f"{name!r} equals {equal!r}: both are counted")
        if reading.is_cut:
            cuts.append(f"{name!r} {wire.IS_CUT}")
    print(f"{accepted:,} messages accepted", file=sys.stderr)
    for lines in (refusals, cuts, doubts):
        for line in lines[:MOST_NAMED]:
            print(line, file=sys.stderr)
        if len(lines) > MOST_NAMED:
            print(f"and {len(lines) - MOST_NAMED:,} more such lines", file=sys.stderr)
    if len(refusals) > MOST_NAMED:
        print(f"{refused.total():,} messages refused in all", file=sys.stderr)
    if impossible:
        print(f"{impossible:,} impossible reports left out", file=sys.stderr)
    why = ""
    if not any(tally.n for tally in tallies.values()):
        why = "no report was accepted"
    elif cuts and most < 1:
        why = "a file was cut; get it whole, or count what is left of it with --most-refused 1"
    elif refused.total() + impossible > most * (accepted + refused.total()):
        why = f"more than {most:.2%} was refused (see --most-refused)"
    if why:
        print(f"uldp: nothing is written: {why}", file=sys.stderr)
        if refused[wire.Reason.FOREIGN]:
            print(f"uldp: is {str(given.survey)!r} the file that was sent out?", file=sys.stderr)
        return 1
    _write(Tallies(survey, tallies), given.out)
    return None


def _once(names: Sequence[str]) -> Iterator[tuple[str, BinaryIO]]:
    """Yield each file while it is open; none may be given twice, under whatever names."""
    if not names:
        raise ValueError("FILE must be one or more, got none")
    for name in names:
        if name.startswith("-") and name != "-":
            raise ValueError(
                f"FILE must not begin with a minus, got {name!r}: options stand before the "
                f"files, and a file of this name is ./{name}"
            )
    read: dict[tuple[int, int], str] = {}
    for name in names:
        opened = (
            os.fdopen(0, "rb", closefd=False) if name == "-" else checks.regular_file(name, "FILE")
        )
        with opened as file:
            status = os.fstat(file.fileno())
            identity = status.st_dev, status.st_ino
            if identity in read:
                raise ValueError(
                    f"FILE must not repeat a file, got {name!r} after {read[identity]!r}"
                )
            read[identity] = name
            yield name, file


@contextmanager
def _unpacked(name: str, file: BinaryIO) -> Iterator[Any]:
    if not name.endswith(".gz"):
        yield file
        return
    try:
        if not os.fstat(file.fileno()).st_size:
            raise EOFError("it is empty")
        yield gzip.GzipFile(fileobj=file)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"FILE must be a whole .gz file, got {name!r}: {error}") from None


def _add(given: argparse.Namespace) -> None:
    """Add up files; say which hold the same counts, as copies and few people do."""
    total: Any = 0
    read: dict[bytes, str] = {}
    for name, file in _once(given.tallies):
        try:
            tallies = Tallies.from_json(file.read(MOST_BYTES_OF_TALLIES + 1))
            total += tallies
        except ValueError as error:
            raise ValueError(f"{name!r}: {error}") from None
        equal = read.setdefault(sha256(tallies.to_json().encode()).digest(), name)
        if equal != name and any(tally.n for tally in tallies.values()):
            print(f"{name!r} has the counts of {equal!r}: both are added", file=sys.stderr)
    _write(total, given.out)


def _write(tallies: Tallies, out: Path | None) -> None:
    if out is None:
        print(tallies.to_json(), end="")
    else:
        tallies.save(out)


def _estimate(given: argparse.Namespace) -> None:
    tallies = Tallies.load(given.tallies)
    names = given.question or [*tallies]
    for name in names:
        checks.choice(name, "question", tallies)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tables = {name: _table(tallies[name], name, given) for name in names if tallies[name].n}
    for warning in told:
        print(f"uldp: {warning.message}", file=sys.stderr)
    answers = {}
    plain = given.method in LINEAR and not given.simultaneous and not given.clip
    for name in tables:
        domain = tallies[name].law.domain
        is_open = isinstance(domain, TaggedDomain) and domain.base.nonsensitive.size > 0
        if plain and is_open and tallies[name].n > 1:
            answers[name] = personalized.summary(
                tallies[name], confidence=given.confidence, method=given.method
            )
    if given.csv:
        _print_csv(tables | answers)
        return
    for name in names:
        print(f"{name}\n{tables.get(name, 'no reports')}\n")
        if name in answers:
            print(f"{name}: shares of answers\n{answers[name]}\n")


def _table(tally: Tally, name: str, given: argparse.Namespace) -> EstimateTable:
    options = given.confidence, given.method, given.simultaneous, given.clip
    try:
        return inference.summary(tally, *options)
    except (ValueError, ArithmeticError) as error:
        if given.method in FROM_TALLIES:
            raise
        raise ValueError(
            f"--method must be one of {', '.join(FROM_TALLIES)} for the question {name!r}, "
            f"got {given.method!r}: {error}"
        ) from None


def _print_csv(tables: dict[str, EstimateTable]) -> None:
    print(",".join(COLUMNS))
    writer = csv.writer(sys.stdout, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    for name, table in tables.items():
        added = table.further.get("background_error", [""] * table.domain.size)
        numbers = table.estimate, table.standard_error, table.low, table.high
        for label, *row, error in zip(table.domain.labels, *numbers, added, strict=True):
            writer.writerow([_as_text(name), _as_text(label), *row, error])
        for note in table.notes:
            print(f"{name}: {note}", file=sys.stderr)


def _as_text(cell: str | int) -> str | int:
    """Put an apostrophe before each part that a spreadsheet would compute as a formula."""
    if not isinstance(cell, str):
        return cell
    look_of = survey_file.look_of
    parts = re.split("([;\t])", cell)
    return "".join(f"'{part}" if look_of(part).startswith(FORMULAS) else part for part in parts)
