"""A cryptographically secure generator for `Mechanism.privatize`; needs the extra "secure".

NumPy's generators, the default of `privatize` among them, are made for statistics: their numbers
look random, but whoever sees enough of them can compute the others (Bouillaguet et al. 2020).
ChaCha20 (Bernstein 2008) is a cipher: no feasible computation is known that tells its key stream
from uniform bits, or from one part of it any other, as long as the key is secret.
"""

from __future__ import annotations

import os
import secrets
from typing import Any
from weakref import WeakSet

import numpy as np

from uldp._numerics.results import needed

__all__ = ["SystemChaCha", "generator"]

ChaCha: Any = needed("randomgen", "secure", "uldp.survey.secure").ChaCha

KEY_BITS = 256


def generator() -> np.random.Generator:
    """Return a new generator for ``mechanism.privatize(values, rng=generator())``.

    Its bits are the key stream of ChaCha20 with 20 rounds under a key of 256 bits that the
    operating system draws (`secrets`). Nothing repeats the stream: a forked process, a copy and
    what comes out of a pickle all have keys of their own, also where another thread was drawing
    while the process forked. The key stays in memory for as long as the generator does; a generator
    for each call forgets it after the call.
    """
    return np.random.Generator(SystemChaCha())


class SystemChaCha(ChaCha):  # type: ignore[misc]
    """The bit generator of `generator`: ChaCha20 under a fresh key from the operating system."""

    def __init__(self) -> None:
        super().__init__(key=secrets.randbits(KEY_BITS))
        _alive.add(self)

    def spawn(self, n_children: int) -> list[SystemChaCha]:
        """Return so many others, each with a key of its own."""
        return [SystemChaCha() for _ in range(n_children)]

    def __reduce__(self) -> tuple[type[SystemChaCha], tuple[()]]:
        """Pickle as a generator with another key."""
        return SystemChaCha, ()


_alive: WeakSet[SystemChaCha] = WeakSet()


def _change_keys() -> None:
    """Give each generator of a forked process a key of its own, and a lock that can be taken."""
    for copied in list(_alive):
        _free(copied.lock)
        copied.state = SystemChaCha().state


def _free(lock: Any) -> None:
    """Release a lock that is held by a thread which was not forked with the process."""
    if lock.acquire(blocking=False):
        lock.release()
    else:
        lock._at_fork_reinit()  # as the standard library does with its own locks


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_change_keys)
