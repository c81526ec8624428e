"""The headers of a Parquet file's pages, which say how a page is encoded, whatever the footer says.

They are structs of Thrift's compact protocol. What is no header of the pages that `write_reports`
makes is refused, not skipped: readers differ in what they skip.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

__all__ = ["Page", "pages"]

DATA, DICTIONARY = 0, 2
CONTENT = {DATA: 5, DICTIONARY: 7}
"""The field of the header that is about the content of a page, by the type of the page."""

BOOLEANS = 1, 2
NUMBERS = range(4, 7)
BINARY, STRUCT = 8, 12
MOST_BYTES_OF_NUMBER = 10
DEEPEST = 3


class Page(NamedTuple):
    """What the header of a page says: its encoding, the values in it, and its length in bytes."""

    is_dictionary: bool
    encoding: int
    values: int
    size: int


class _Header:
    """A header that is read field by field."""

    def __init__(self, data: memoryview, at: int) -> None:
        self.data = data
        self.at = at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        value = 0
        for place in range(MOST_BYTES_OF_NUMBER):
            byte = self.byte()
            value |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return value
        raise ValueError("a number is too long")

    def signed(self) -> int:
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def struct(self, depth: int = 1) -> dict[int, Any]:
        """Return the fields of a struct by their numbers, none of which comes twice."""
        if depth > DEEPEST:
            raise ValueError("it is too deep")
        fields: dict[int, Any] = {}
        last = 0
        while first := self.byte():
            step, kind = divmod(first, 16)
            last = last + step if step else self.signed()
            if last in fields:
                raise ValueError(f"field {last} comes twice")
            fields[last] = self.value(kind, depth)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        if kind in BOOLEANS:
            return kind == BOOLEANS[0]
        if kind in NUMBERS:
            return self.signed()
        if kind == BINARY:
            length = self.number()
            self.at += length
            return None
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise ValueError(f"a field is of type {kind}")


def pages(chunk: bytes) -> Iterator[Page]:
    """Yield what the headers of the pages of a column say, which fill its bytes.

    Raises
    ------
    ValueError
        If something else is among them.
    """
    data = memoryview(chunk)
    at = 0
    while at < len(data):
        header = _Header(data, at)
        try:
            fields = header.struct()
        except IndexError:
            raise ValueError("the header of a page is cut") from None
        kind, size = fields.get(1), fields.get(3)
        content = fields.get(CONTENT.get(kind, 0)) if isinstance(kind, int) else None
        if not isinstance(content, dict) or size != fields.get(2):
            raise ValueError("a page is compressed, or neither of data nor a dictionary")
        found = (kind == DICTIONARY, content.get(2), content.get(1), size)
        if not all(isinstance(number, int) and number >= 0 for number in found):
            raise ValueError("a page does not say what is in it")
        page = Page(*cast("tuple[bool, int, int, int]", found))
        at = header.at + page.size
        if at > len(data):
            raise ValueError("a page is cut")
        yield page
