"""Splitting an array into chunks that fit into a cache."""

from __future__ import annotations

from collections.abc import Iterator


def chunks(size: int, step: int) -> Iterator[slice]:
    """Cut range(size) into consecutive slices of `step`, the last one shorter."""
    return (slice(start, min(start + step, size)) for start in range(0, size, step))
