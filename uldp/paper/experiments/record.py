"""The record of an experiment: a file that finished realizations are appended to."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from uldp.paper.experiments.points import Losses

__all__ = ["Entry", "Record"]

Entry = tuple[Mapping[str, Any], Mapping[str, Losses]]
"""What determines a realization, and its losses by estimator."""


class Record:
    """Losses of finished realizations, a line of JSON each.

    A kill can only tear the last line, which is then cut off when the file is opened again. One
    process at a time may append.

    Parameters
    ----------
    path : Path
        The file, which need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._losses: defaultdict[str, dict[str, Losses]] = defaultdict(dict)
        if not path.exists():
            return
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)
        for number, line in enumerate(content[:whole].splitlines(), start=1):
            try:
                entry = json.loads(line)
                losses = {
                    method: _numbers(values) for method, values in entry.pop("losses").items()
                }
            except (ValueError, KeyError, AttributeError, TypeError):
                raise ValueError(
                    f"{path}, line {number}: expected a finished realization, got {line[:40]!r}"
                ) from None
            self._losses[_name(entry)].update(losses)

    def losses(self, key: Mapping[str, Any]) -> Mapping[str, Losses]:
        """Return the losses by estimator of a realization, none if it is not recorded."""
        return self._losses.get(_name(key), {})

    def append(self, entries: Iterable[Entry]) -> None:
        """Add realizations; on return they are on the disk."""
        entries = list(entries)
        text = "".join(json.dumps({**key, "losses": losses}) + "\n" for key, losses in entries)
        with self.path.open("ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        for key, losses in entries:
            self._losses[_name(key)].update(losses)


def _numbers(losses: Mapping[str, Any]) -> Losses:
    """Return losses by name, some of which may stand one level below."""
    return {
        name: _numbers(value) if isinstance(value, dict) else float(value)
        for name, value in losses.items()
    }


def _name(key: Mapping[str, Any]) -> str:
    return json.dumps(key, sort_keys=True)
