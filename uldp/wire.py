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
the transport, and a device may lie about its value whatever the format.
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
from uldp.mechanisms import Mechanism

__all__ = ["Batch", "MessageError", "Reason", "dumps", "loads", "parameters", "read"]

MAGIC, VERSION = b"uldp", 1
HEADER = struct.Struct("<4s4I")
CHECKSUM = struct.Struct("<I")
MOST_REPORTS = 2**32 - 1
DIGEST_CHARACTERS = 32
SHOWN_BYTES = 300


class Reason(StrEnum):
    """Why a message is rejected."""

    FORMAT = "not of this format"
    VERSION = "of another version"
    TRUNCATED = "shorter than it says"
    CORRUPT = "damaged on the way"
    FOREIGN = "of another mechanism or domain"
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


def loads(mechanism: Mechanism, message: bytes) -> NDArray[Any]:
    """Return the reports of one message, one along the first axis.

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
    reports = _reports(mechanism, parameters(mechanism), message)
    try:
        mechanism.tally(reports)
    except ValueError as impossible:
        raise MessageError(Reason.IMPOSSIBLE, str(impossible)) from None
    return reports


def read(mechanism: Mechanism, messages: Iterable[bytes]) -> Batch:
    """Return the reports of many messages, and how much was rejected and why.

    Messages that `loads` rejects are left out and counted. But where the mechanism cannot produce
    some reports of an intact message, these alone are left out, and the others kept.

    Parameters
    ----------
    mechanism : Mechanism
        The collector's mechanism.
    messages : iterable of bytes-like
        What devices sent.

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    """
    expected = parameters(mechanism)
    if not isinstance(messages, Iterable):
        raise TypeError(f"messages must be a collection of bytes, got {messages!r}")
    rejected: Counter[Reason] = Counter()
    parts = []
    for message in messages:
        try:
            parts.append(_reports(mechanism, expected, message))
        except MessageError as error:
            rejected[error.reason] += 1
    none = np.empty((0,), dtype=mechanism.report_dtype)
    reports = np.concatenate([none, *parts])
    possible = mechanism.possible(reports)
    return Batch(reports[possible], len(parts), rejected, int(np.count_nonzero(~possible)))


def _reports(mechanism: Mechanism, expected: bytes, message: bytes) -> NDArray[Any]:
    """Return the reports of an intact message of this mechanism, possible or not."""
    if not isinstance(message, bytes | bytearray | memoryview):
        raise TypeError(f"message must be bytes, got {type(message).__name__}")
    sent = bytes(message)
    if not sent.startswith(MAGIC[: len(sent)]):
        raise MessageError(Reason.FORMAT, f"it starts with {sent[:4]!r}, not with {MAGIC!r}")
    if len(sent) < HEADER.size:
        raise MessageError(Reason.TRUNCATED, f"{len(sent)} of at least {HEADER.size} bytes")
    _, version, described, width, n = HEADER.unpack_from(sent)
    if version != VERSION:
        raise MessageError(Reason.VERSION, f"it is {version}, this collector reads {VERSION}")
    start = HEADER.size + described
    end = start + width * n
    if len(sent) < end + CHECKSUM.size:
        raise MessageError(Reason.TRUNCATED, f"{len(sent)} of {end + CHECKSUM.size} bytes")
    if len(sent) > end + CHECKSUM.size:
        raise MessageError(Reason.CORRUPT, f"{len(sent)} bytes instead of {end + CHECKSUM.size}")
    if zlib.crc32(sent[:end]) != CHECKSUM.unpack_from(sent, end)[0]:
        raise MessageError(Reason.CORRUPT, "its checksum is wrong")
    layout = wire_dtype(mechanism)
    if sent[HEADER.size : start] != expected or width != layout.itemsize:
        raise MessageError(
            Reason.FOREIGN,
            f"it has {excerpt(sent[HEADER.size : start])} and {width} bytes for a report, this "
            f"collector {excerpt(expected)} and {layout.itemsize} bytes",
        )
    rows = np.frombuffer(sent, dtype=layout, count=n, offset=start)
    return rows.astype(mechanism.report_dtype.base)


def wire_dtype(mechanism: Mechanism) -> np.dtype[Any]:
    """Return the type of one report in a message."""
    dtype = mechanism.report_dtype
    if dtype.shape:
        return dtype
    largest = mechanism.domain.size - 1
    return next(np.dtype(t) for t in ("<u1", "<u2", "<u4") if largest <= np.iinfo(t).max)


def wire_rows(mechanism: Mechanism, reports: ArrayLike) -> NDArray[Any]:
    """Return reports as a message holds them, one along the first axis; refuse impossible ones."""
    mechanism.tally(reports)
    layout = wire_dtype(mechanism)
    return np.asarray(reports).astype(layout.base).reshape(-1, *layout.shape)


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def excerpt(described: bytes) -> str:
    """Return parameters for an error message: a sender may have put anything there."""
    return f"{described[:SHOWN_BYTES]!r}{'...' if len(described) > SHOWN_BYTES else ''}"
