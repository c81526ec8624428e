"""Fields of immutable values."""

from __future__ import annotations

import numpy as np


def set_fields(owner: object, **values: object) -> None:
    """Set fields of a value that refuses assignment; arrays among them become read-only."""
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value = value.view()
            value.setflags(write=False)
        object.__setattr__(owner, name, value)


class Frozen:
    """A value whose arrays stay read-only when it is copied or comes out of a pickle."""

    def __setstate__(self, state: dict[str, object]) -> None:
        set_fields(self, **state)


def lock_arrays(owner: object) -> None:
    """Make the arrays among the fields of a value read-only."""
    set_fields(owner, **vars(owner))
