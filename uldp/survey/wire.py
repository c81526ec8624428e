"""The bytes of a message, in which a device sends reports to the collector of a survey.

All numbers are little-endian.

========= ===== ==================================================
offset    bytes content
========= ===== ==================================================
0         4     ``uldp`` in ASCII
4         2     2, the version of the format
6         2     the number of the question in the survey, from 0
8         4     w, the length of a report
12        4     n, the number of reports
16        32    the SHA-256 digest of the survey file
48        w·n   the reports
48+w·n    4     CRC-32 of all before, as in PNG and zlib
========= ===== ==================================================

A report of a mechanism whose reports are rows of bytes is this row. The number of one of m outputs
(RR, uRR, uHR) is an integer of 1, 2 or 4 bytes, the fewest that hold m - 1.

The checksum finds damage, not forgery: who may send, and that nobody listens, is the business of
the transport, and a device may lie about its value whatever the format. `uldp.Survey` writes and
reads messages with the functions of this module.
"""

from __future__ import annotations

import io
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.checksums import crc_of_slices
from uldp._numerics.packed import integer_dtype
from uldp.mechanisms import Mechanism

__all__ = ["MessageError", "Reason", "split", "unpack"]

MAGIC = b"uldp"
MESSAGE_VERSION = 2
HEADER = struct.Struct("<4s2H2I32s")
VERSION_END = 8
CHECKSUM = struct.Struct("<I")
LEAST_LENGTH = HEADER.size + CHECKSUM.size
MOST_VERSIONS = 256
"""A message begins with ``uldp`` and one of them."""
IS_CUT = "has a message that is cut: what stood behind it is missing"
BYTES_AT_ONCE = 1 << 20
MOST_BYTES_AT_ONCE = 1 << 25

BytesLike = bytes | bytearray | memoryview


class Reason(StrEnum):
    """Why a message is refused."""

    NOT_BYTES = "not bytes"
    FORMAT = "not of this format"
    TRUNCATED = "shorter than it says"
    VERSION = "of another version"
    CORRUPT = "damaged on the way"
    FOREIGN = "of another survey"
    QUESTION = "of no question of the survey"
    EMPTY = "without a report"
    TOO_MANY = "with more reports than are allowed"
    IMPOSSIBLE = "with a report that the mechanism cannot produce"


class MessageError(ValueError):
    """A message that the collector refuses.

    Attributes
    ----------
    reason : Reason
        Why.
    """

    def __init__(self, reason: Reason, details: str) -> None:
        super().__init__(reason, details)  # pickle makes it anew from these
        self.reason = reason

    def __str__(self) -> str:
        return "message {}: {}".format(*self.args)


def pack(digest: bytes, question: int, rows: NDArray[Any]) -> bytes:
    """Return a message.

    Parameters
    ----------
    digest : bytes
        The SHA-256 digest of the survey file.
    question : int
        The number of the question.
    rows : (n, ...) ndarray
        The reports as `wire_rows` returns them.
    """
    width = rows.dtype.itemsize * int(np.prod(rows.shape[1:]))
    head = HEADER.pack(MAGIC, MESSAGE_VERSION, question, width, len(rows), digest)
    body = head + rows.tobytes()
    return body + CHECKSUM.pack(zlib.crc32(body))


def unpack(message: object) -> tuple[bytes, int, int, memoryview]:
    """Return the contents of a message of any survey.

    Parameters
    ----------
    message : object
        What came.

    Returns
    -------
    digest : bytes
        The SHA-256 digest of the survey file.
    question : int
        The number of the question.
    width : int
        The length of a report.
    payload : memoryview
        The reports, one after the other.

    Raises
    ------
    MessageError
        A ValueError, if it is not an intact message of this version. Its `reason` says why.
    """
    if not isinstance(message, BytesLike):
        raise MessageError(Reason.NOT_BYTES, f"it is of type {type(message).__name__}")
    sent = bytes(message)
    if not sent.startswith(MAGIC[: len(sent)]):
        raise MessageError(Reason.FORMAT, f"it starts with {sent[:4]!r}, not with {MAGIC!r}")
    if (
        len(sent) >= VERSION_END
        and (version := int.from_bytes(sent[4:6], "little")) != MESSAGE_VERSION
    ):
        raise MessageError(
            Reason.VERSION,
            f"it is {version}, this collector reads {MESSAGE_VERSION}, in which a message holds "
            "the digest of its survey file",
        )
    if len(sent) < LEAST_LENGTH:
        raise MessageError(Reason.TRUNCATED, f"{len(sent)} of at least {LEAST_LENGTH} bytes")
    _, _, question, width, n, digest = HEADER.unpack_from(sent)
    end = HEADER.size + width * n
    if len(sent) < end + CHECKSUM.size:
        raise MessageError(Reason.TRUNCATED, f"{len(sent)} of {end + CHECKSUM.size} bytes")
    if len(sent) > end + CHECKSUM.size:
        raise MessageError(Reason.CORRUPT, f"{len(sent)} bytes instead of {end + CHECKSUM.size}")
    content = memoryview(sent)
    if zlib.crc32(content[:end]) != CHECKSUM.unpack_from(sent, end)[0]:
        raise MessageError(Reason.CORRUPT, "its checksum is wrong")
    return digest, question, width, content[HEADER.size : end]


def split(data: BytesLike | BinaryIO, longest: int) -> Iterator[bytes]:
    """Split messages that follow one another, as in a file to which they were appended.

    From the left an intact message is taken whole, whatever stands in its reports. So a file of
    nothing but messages that `Survey.open` took is cut into exactly these. A service that appends
    others' bytes unopened has no such file: the bytes of one sender may be several messages, or
    make one with the bytes behind them. A piece that is damaged, or longer than any message should
    be, ends at the next intact message, or where one seems to begin after the length of the
    shortest one. It is yielded too, so that it is refused and counted.

    The time is in proportion to the length of the data, whatever stands in them. In memory are some
    megabytes of them, or six of the longest messages.

    Parameters
    ----------
    data : bytes-like or file
        The messages, or a file that is open for reading bytes.
    longest : int
        The length of the longest message that is expected.

    Yields
    ------
    bytes
        A message, or bytes that are not one.
    """
    file = io.BytesIO(data) if isinstance(data, BytesLike) else data
    if not hasattr(file, "read"):
        raise TypeError(f"data must be bytes or a file, got {type(data).__name__}")
    most = checks.whole(longest, "longest", least=1)
    size = min(max(BYTES_AT_ONCE, 2 * most), MOST_BYTES_AT_ONCE)
    return _split(iter(lambda: file.read(size), b""), most)


def digested(pieces: Iterator[bytes], digest: Any) -> Iterator[bytes]:
    """Yield what `split` finds in a file, and digest it."""
    for piece in pieces:
        digest.update(piece)
        yield piece


def _split(blocks: Iterator[bytes], longest: int) -> Iterator[bytes]:
    """Yield the pieces of consecutive blocks; what begins near the end of a block waits."""
    held = b""
    for block in blocks:
        held += block
        settled = len(held) - longest
        done = 0
        for end in _ends(held, longest):
            if end > settled:
                break
            yield held[done:end]
            done = end
        if not done and settled > max(longest, BYTES_AT_ONCE):
            yield held[:settled]
            done = settled
        held = held[done:]
    done = 0
    for end in _ends(held, longest):
        yield held[done:end]
        done = end


def _ends(data: bytes, longest: int) -> Iterator[int]:
    """Yield where the pieces of data end, the first of which begins at 0."""
    versions = _numbers(data, 2)[4:]
    magic = _numbers(data, 4)[: versions.size] == int.from_bytes(MAGIC, "little")
    # Where messages may begin, and where those of them end that are intact.
    places = np.flatnonzero(magic & (versions < MOST_VERSIONS))
    end_of = _intact(data, places, longest)
    beginnings = [*places.tolist(), len(data)]
    intact = [*end_of, len(data)]
    start = 0
    while start < len(data):
        if start in end_of:
            start = end_of[start]
        else:
            # Junk, or a message that is not intact. It ends where an intact one begins, or where
            # one may begin that leaves this one at least as long as a message is.
            far = min(bisect_left(beginnings, start + LEAST_LENGTH), places.size)
            start = min(beginnings[far], intact[bisect_left(intact, start)])
        yield start


def _intact(data: bytes, places: NDArray[np.int64], longest: int) -> dict[int, int]:
    """Return where each intact message that begins at one of these places ends."""

    def number(at: NDArray[np.int64], length: int) -> NDArray[np.uint64]:
        return _numbers(data, length)[at].astype(np.uint64)

    places = places[places + LEAST_LENGTH <= len(data)]
    places = places[number(places + 4, 2) == MESSAGE_VERSION]
    payload = number(places + 8, 4) * number(places + 12, 4)
    whole = payload <= np.minimum(longest, len(data) - places) - LEAST_LENGTH
    starts = places[whole]
    sums = starts + HEADER.size + payload[whole].astype(np.int64)
    right = crc_of_slices(data, starts, sums) == number(sums, CHECKSUM.size)
    return dict(zip(starts[right].tolist(), (sums[right] + CHECKSUM.size).tolist(), strict=True))


def _numbers(data: bytes, length: int) -> NDArray[Any]:
    """Return the number of so many bytes that begins with each byte of the data."""
    return np.ndarray(max(len(data) - length + 1, 0), f"<u{length}", data, strides=1)


def wire_dtype(mechanism: Mechanism) -> np.dtype[Any]:
    """Return the type of one report in a message."""
    dtype = mechanism.report_dtype
    if dtype.shape:
        return dtype
    return integer_dtype(mechanism.output_count - 1)


def wire_rows(mechanism: Mechanism, reports: ArrayLike) -> NDArray[Any]:
    """Return reports as a message holds them, one along the first axis; refuse impossible ones."""
    return mechanism.check(reports).astype(wire_dtype(mechanism).base)
