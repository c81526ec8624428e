"""Reports as bytes: what a device sends to the collector, and how he reads it.

A message holds reports of one mechanism. All numbers are little-endian.

========= ===== ==================================================
offset    bytes content
========= ===== ==================================================
0         4     ``uldp`` in ASCII
4         4     1, the version of the format
8         4     h, the length of the parameters
12        4     w, the length of a report
16        4     n, the number of reports
20        h     the parameters
20+h      w·n   the reports
20+h+w·n  4     CRC-32 of all before, as in PNG and zlib
========= ===== ==================================================

The parameters are JSON in ASCII, keys sorted, without spaces: the class of the mechanism, its
fields, the number of values, and in place of the domain the first 128 bits of the SHA-256 digest of
its labels and its sensitive values. They are the same bytes in every message of a survey, so that a
device can be handed them ready-made (see `parameters`).

A report of a mechanism whose reports are rows of bytes is this row. An index of a value (RR, uRR)
is an integer of 1, 2 or 4 bytes, the fewest that hold k - 1.

The checksum finds damage, not forgery: who may send, and that nobody listens, is the business of
the transport, and a device may lie about its value whatever the format. So that one sender does not
speak for many, `read` takes one report from a message unless more are allowed.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp._packed import integer_dtype
from uldp.mechanisms import Mechanism

__all__ = ["Batch", "MessageError", "Reason", "dumps", "loads", "parameters", "read"]

MAGIC, VERSION = b"uldp", 1
HEADER = struct.Struct("<4s4I")
CHECKSUM = struct.Struct("<I")
MOST_REPORTS = 2**32 - 1
DIGEST_CHARACTERS = 32
SHOWN_BYTES = 300
BYTES_AT_ONCE = 1 << 18

BytesLike = bytes | bytearray | memoryview


class Reason(StrEnum):
    """Why a message is rejected."""

    NOT_BYTES = "not bytes"
    FORMAT = "not of this format"
    VERSION = "of another version"
    TRUNCATED = "shorter than it says"
    CORRUPT = "damaged on the way"
    FOREIGN = "of another mechanism or domain"
    TOO_MANY = "with more reports than are allowed"
    IMPOSSIBLE = "with a report that the mechanism cannot produce"


class MessageError(ValueError):
    """A message that the collector rejects.

    Attributes
    ----------
    reason : Reason
        Why.
    """

    def __init__(self, reason: Reason, details: str) -> None:
        super().__init__(f"message {reason}: {details}")
        self.reason = reason


@dataclass(frozen=True, eq=False)
class Batch:
    """What a collector reads from many messages.

    Attributes
    ----------
    reports : ndarray
        The accepted reports, one along the first axis, for `Mechanism.tally`, `evidence` or
        `estimate`.
    messages : int
        How many messages were accepted.
    rejected : Counter
        How many messages were rejected, by `Reason`.
    impossible : int
        How many reports of accepted messages were left out because the mechanism cannot produce
        them.
    """

    reports: NDArray[Any]
    messages: int
    rejected: Counter[Reason]
    impossible: int


def parameters(mechanism: Mechanism) -> bytes:
    """Return the parameters that a message of this mechanism holds.

    The digest of the domain is that of the JSON array of its labels and of the increasing indices
    of its sensitive values, where the number of labels stands for the labels 0, ..., k - 1.

    Raises
    ------
    TypeError
        If `mechanism` is not a `Mechanism`.
    """
    _checks.instance(mechanism, "mechanism", Mechanism)
    domain = mechanism.domain
    labels = domain.size if isinstance(domain.labels, range) else list(domain.labels)
    digest = sha256(_json([labels, domain.sensitive.tolist()])).hexdigest()
    own = {f.name: getattr(mechanism, f.name) for f in fields(mechanism) if f.init and f.compare}
    return _json(
        own
        | {
            "mechanism": type(mechanism).__name__,
            "domain": digest[:DIGEST_CHARACTERS],
            "values": domain.size,
        }
    )


def dumps(mechanism: Mechanism, reports: ArrayLike) -> bytes:
    """Return a message that holds reports.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism that made the reports; for those of a `PersonalizedMechanism`, its common one.
    reports : array_like
        What `privatize` returned, one report or many.

    Raises
    ------
    ValueError
        If a report is one that the mechanism cannot produce, or there are 2^32 or more.
    TypeError
        If an argument is of the wrong type.
    """
    described = parameters(mechanism)
    rows, width = wire_rows(mechanism, reports), wire_dtype(mechanism).itemsize
    if len(rows) > MOST_REPORTS:
        raise ValueError(f"reports must be at most {MOST_REPORTS}, got {len(rows)}")
    head = HEADER.pack(MAGIC, VERSION, len(described), width, len(rows))
    body = head + described + rows.tobytes()
    return body + CHECKSUM.pack(zlib.crc32(body))


def loads(mechanism: Mechanism, message: BytesLike) -> NDArray[Any]:
    """Return the reports of one message, however many, one along the first axis.

    Parameters
    ----------
    mechanism : Mechanism
        The collector's mechanism.
    message : bytes-like
        What `dumps` returned.

    Raises
    ------
    MessageError
        A ValueError, if the message is not one of this format and version, was cut short or
        damaged, was made with another mechanism or domain, or holds a report that the mechanism
        cannot produce. Its `reason` says which.
    TypeError
        If an argument is of the wrong type.
    """
    expected, layout = parameters(mechanism), wire_dtype(mechanism)
    if not isinstance(message, BytesLike):
        raise TypeError(f"message must be bytes, got {type(message).__name__}")
    rows = np.frombuffer(_payload(message, expected, layout.itemsize), layout)
    try:
        return mechanism.check(rows.astype(mechanism.report_dtype.base))
    except ValueError as impossible:
        raise MessageError(Reason.IMPOSSIBLE, str(impossible)) from None


def read(mechanism: Mechanism, messages: Iterable[BytesLike], max_reports: int = 1) -> Batch:
    """Return the reports of many messages, and how much was rejected and why.

    Messages that `loads` rejects, those with too many reports, and whatever is not bytes are left
    out and counted. But where the mechanism cannot produce some reports of an intact message, these
    alone are left out, and the others kept. The messages may come from a generator: what is held in
    memory is proportional to what is kept.

    Parameters
    ----------
    mechanism : Mechanism
        The collector's mechanism.
    messages : iterable of bytes-like
        What devices sent.
    max_reports : int, optional
        How many reports a message may hold: one, as a device sends it, since a message of a million
        would outvote the others. Allow more only where a relay bundles, as many as it does.

    Raises
    ------
    ValueError
        If `max_reports` is not a whole number of at least 1.
    TypeError
        If an argument is of the wrong type; a single message is no collection of messages.
    """
    expected, layout = parameters(mechanism), wire_dtype(mechanism)
    if isinstance(messages, BytesLike | str) or not isinstance(messages, Iterable):
        raise TypeError(
            f"messages must be a collection of bytes, such as a list, got {type(messages).__name__}"
        )
    most = _checks.whole(max_reports, "max_reports", least=1)
    rejected: Counter[Reason] = Counter()
    accepted = impossible = 0
    kept, waiting = bytearray(), bytearray()
    for message in messages:
        try:
            payload = _payload(message, expected, layout.itemsize)
        except MessageError as error:
            rejected[error.reason] += 1
            continue
        if len(payload) > most * layout.itemsize:
            rejected[Reason.TOO_MANY] += 1
            continue
        accepted += 1
        waiting += payload
        if len(waiting) >= BYTES_AT_ONCE:
            impossible += _sift(mechanism, waiting, kept)
            waiting = bytearray()
    impossible += _sift(mechanism, waiting, kept)
    reports = np.frombuffer(kept, mechanism.report_dtype)
    return Batch(reports, accepted, rejected, impossible)


def _sift(mechanism: Mechanism, payload: bytearray, kept: bytearray) -> int:
    """Keep the reports that the mechanism can produce, and return the number of the others."""
    layout, impossible = wire_dtype(mechanism), 0
    rows = np.frombuffer(payload, layout)
    at_once = max(1, BYTES_AT_ONCE // layout.itemsize)
    for first in range(0, len(rows), at_once):
        reports = rows[first : first + at_once].astype(mechanism.report_dtype.base)
        possible = mechanism.possible(reports)
        kept += reports[possible].tobytes()
        impossible += int(np.count_nonzero(~possible))
    return impossible


def _payload(message: object, expected: bytes, width: int) -> memoryview:
    """Return the reports of an intact message with these parameters, possible or not."""
    if not isinstance(message, BytesLike):
        raise MessageError(Reason.NOT_BYTES, f"it is of type {type(message).__name__}")
    try:
        sent = bytes(message)
    except ValueError as released:
        raise MessageError(Reason.NOT_BYTES, str(released)) from None
    if not sent.startswith(MAGIC[: len(sent)]):
        raise MessageError(Reason.FORMAT, f"it starts with {sent[:4]!r}, not with {MAGIC!r}")
    if len(sent) < HEADER.size:
        raise MessageError(Reason.TRUNCATED, f"{len(sent)} of at least {HEADER.size} bytes")
    _, version, described, found, n = HEADER.unpack_from(sent)
    if version != VERSION:
        raise MessageError(Reason.VERSION, f"it is {version}, this collector reads {VERSION}")
    start = HEADER.size + described
    end = start + found * n
    if len(sent) < end + CHECKSUM.size:
        raise MessageError(Reason.TRUNCATED, f"{len(sent)} of {end + CHECKSUM.size} bytes")
    if len(sent) > end + CHECKSUM.size:
        raise MessageError(Reason.CORRUPT, f"{len(sent)} bytes instead of {end + CHECKSUM.size}")
    content = memoryview(sent)
    if zlib.crc32(content[:end]) != CHECKSUM.unpack_from(sent, end)[0]:
        raise MessageError(Reason.CORRUPT, "its checksum is wrong")
    if content[HEADER.size : start] != expected or found != width:
        raise MessageError(
            Reason.FOREIGN,
            f"it has {excerpt(sent[HEADER.size : start])} and {found} bytes for a report, this "
            f"collector {excerpt(expected)} and {width} bytes",
        )
    return content[start:end]


def wire_dtype(mechanism: Mechanism) -> np.dtype[Any]:
    """Return the type of one report in a message."""
    dtype = mechanism.report_dtype
    if dtype.shape:
        return dtype
    return integer_dtype(mechanism.output_count - 1)


def wire_rows(mechanism: Mechanism, reports: ArrayLike) -> NDArray[Any]:
    """Return reports as a message holds them, one along the first axis; refuse impossible ones."""
    return mechanism.check(reports).astype(wire_dtype(mechanism).base)


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def excerpt(described: bytes) -> str:
    """Return parameters for an error message: a sender may have put anything there."""
    return f"{described[:SHOWN_BYTES]!r}{'...' if len(described) > SHOWN_BYTES else ''}"
