"""Results as a notebook shows them and as data frames, and packages that come with an extra."""

from collections.abc import Mapping
from html import escape
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["Result", "needed"]


def needed(package: str, extra: str, caller: str) -> ModuleType:
    """Import a package, or say of which extra it is."""
    try:
        return import_module(package)
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f'{caller} needs the package {missing.name}, of the extra "{extra}"'
        ) from missing


class Result:
    """A result of columns, by default a row of what its fields hold."""

    def to_pandas(self) -> Any:
        """Return all rows as a `pandas.DataFrame`, with numbers as they are, shares out of 1.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        pandas = needed("pandas", "tables", f"{type(self).__name__}.to_pandas")
        return pandas.DataFrame(self._columns, index=self._index(pandas))

    def _repr_html_(self) -> str:
        head, *rows = self._texts()
        names = "".join(f"<th>{escape(name)}</th>" for name in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        table = '<table class="table table-sm">\n'
        return f"{table}<thead><tr>{names}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>{notes}"

    @property
    def _columns(self) -> Mapping[str, Any]:
        return {name: [held] for name, held in vars(self).items()}

    def _index(self, pandas: Any) -> Any:
        """Return the index of the data frame; None is 0, 1, ...."""

    def _texts(self) -> list[list[str]]:
        """Return the head, and the rows that are shown."""
        names = [name.replace("_", " ") for name in vars(self)]
        cells = [held if isinstance(held, str) else f"{held:.6g}" for held in vars(self).values()]
        return [names, cells]

    def _notes(self) -> list[str]:
        """Return what stands below the rows."""
        return []
