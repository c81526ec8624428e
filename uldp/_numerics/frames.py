"""Whose line a warning names."""

from __future__ import annotations

import sys
import traceback
from itertools import takewhile


def stacklevel() -> int:
    """Return the level of the first call, up from the one that asks, that is not this package's.

    An import on the way does not count: `warnings.warn` passes over its frames.
    """
    frames = traceback.walk_stack(sys._getframe(1))
    names = (frame.f_globals.get("__name__", "") for frame, _ in frames)
    own = takewhile(lambda name: name.partition(".")[0] in ("uldp", "importlib"), names)
    return 1 + sum("_bootstrap" not in name for name in own)
