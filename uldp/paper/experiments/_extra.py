"""The packages that running an experiment and reading a table need."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["extra"]


def extra(package: str) -> ModuleType:
    """Import a package of the extra "experiments"; if it is missing, the error names the extra."""
    try:
        return import_module(package)
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f'uldp.paper.experiments needs the package {missing.name}, of the extra "experiments"'
        ) from missing
