"""Names that users find in one module and another defines, and the new names of old ones."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any

from uldp._numerics.frames import stacklevel

__all__ = ["FOUND", "MOVED", "found"]

FOUND = {
    "uldp": {
        "Survey": "uldp.survey",
        "Tallies": "uldp.survey",
        "compare": "uldp.survey.choosing",
        "datasets": "uldp.paper.datasets",
        "paper": "uldp.paper",
        "survey": "uldp.survey",
    },
    "uldp.mechanisms": {
        "KINDS": "uldp.kinds",
        "MECHANISMS": "uldp.kinds",
        "UtilityOptimizedBlockDesign": "uldp.beyond",
        "UtilityOptimizedHadamard": "uldp.beyond",
    },
    "uldp.paper": {
        "experiments": "uldp.paper.experiments",
        "figures": "uldp.paper.figures",
        "verify": "uldp.paper.verify",
    },
    "uldp.personalized": {
        "PersonalizedTotal": "uldp.inference.answers",
        "summary": "uldp.inference.answers",
        "total": "uldp.inference.answers",
    },
    "uldp.privacy": {
        "Bounds": "uldp.beyond",
        "Device": "uldp.survey.repetition",
        "EmpiricalLevel": "uldp.survey.empirical",
        "Shuffled": "uldp.beyond",
        "empirical_level": "uldp.survey.empirical",
        "two_layers": "uldp.survey.repetition",
    },
    "uldp.survey": {
        "parquet": "uldp.survey.parquet",
        "secure": "uldp.survey.secure",
    },
}
"""Where a name of a module is defined, if not below it or if that is imported when asked for."""

MOVED = {
    "uldp.choosing": "uldp.survey.choosing",
    "uldp.estimators": "uldp.tallies",
    "uldp.limits": "uldp.beyond.limits",
    "uldp.mechanisms.block_decoder": "uldp.beyond.block_decoder",
    "uldp.mechanisms.block_design": "uldp.beyond.block_design",
    "uldp.mechanisms.hadamard": "uldp.beyond.hadamard",
    "uldp.mechanisms.outcome_decoder": "uldp.beyond.outcome_decoder",
    "uldp.mechanisms.theta": "uldp.beyond.theta",
    "uldp.paper.optimal_theta": "uldp.beyond.theta",
    "uldp.personalized.answers": "uldp.inference.answers",
    "uldp.privacy.empirical": "uldp.survey.empirical",
    "uldp.privacy.repetition": "uldp.survey.repetition",
    "uldp.privacy.shuffling": "uldp.beyond.shuffling",
    "uldp.surveys": "uldp.survey.surveys",
}
"""Modules and names of 1.1.0, and the module of 1.0.0 that its pickles of surveys name. Each
answers for one version with the new module, or with what has its name there, and says so."""


def found(module: str, name: str) -> Any:
    """Return what users find under this name in a module."""
    old = f"{module}.{name}"
    home = FOUND.get(module, {}).get(name) or MOVED.get(old)
    if not home:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    if old in MOVED:
        _say(old)
    place = import_module(home)
    return getattr(place, name, place)


def _say(old: str) -> None:
    warnings.warn(f"{old} has moved to {MOVED[old]}", FutureWarning, stacklevel=stacklevel())


class _Moved:
    """Imports the new module where an old one is asked for, as by a pickle."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in MOVED:
            return None
        _say(name)
        return spec_from_loader(name, _Moved())  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(MOVED[spec.name])
        self.own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is; the import has put another spec in the place of its own."""
        module.__spec__ = self.own_spec


sys.meta_path.append(_Moved)
