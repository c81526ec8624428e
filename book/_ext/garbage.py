"""No search for garbage: a build ends before it fills the memory, and saves a third of its time."""

import gc

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Let Python free only what nothing refers to; a whole build takes 1.2 GB then."""
    gc.disable()
    return {"parallel_read_safe": True, "parallel_write_safe": True}
