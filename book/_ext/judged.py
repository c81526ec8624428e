"""The paper's claims on its experiments, judged from the stored tables as the book is built.

`{claims}` has a line for each figure, or other place, that claims speak of: where, what it shows,
the names of the book's figures if it is one, and the label under which its claims are judged.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "notebooks"))

import claims  # noqa: E402
import verdicts as v  # noqa: E402

HEADERS = ("Paper", "What it shows or says", "Verdict", "For, against, undecided", "Here")


def rows(places: Iterable[str]) -> list[tuple[str, ...]]:
    """Return a row for each figure, with its verdicts counted, and one for each claim."""
    judged = claims.judge(claims.read_tables(ROOT)).values()
    table: list[tuple[str, ...]] = []
    for line in places:
        where, shows, figures, label = (part.strip() for part in line.split("|"))
        of = [each for each in judged if each.claim.where == where]
        if figures:
            words = [each.counts.word for each in of]
            verdicts = [f"{words.count(word)} {word}" for word in v.WORDS if word in words]
            pictures = [f"{{numref}}`{name}`" for name in figures.split()]
            found = ", ".join(verdicts) or "–"
            table.append((f"**{where}**", shows, found, "", ", ".join(pictures)))
        for claim, _, counts in of:
            says = f"{claim.says} ({claim.remark})" if claim.remark else claim.says
            cells = ", ".join(map(str, counts[:3])) + ("; one decides" if counts.by_one else "")
            place = f"{{ref}}`Claim {claim.number} <{label}>`"
            table.append((where, says, counts.word, cells, place))
    return table


class Claims(SphinxDirective):
    """A table of all claims."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Write the table as a page would."""
        head = [HEADERS, ("---",) * len(HEADERS)]
        lines = [f"| {' | '.join(row)} |" for row in (*head, *rows(self.content))]
        table = nodes.Element()
        self.state.nested_parse(StringList(lines, str(ROOT)), self.content_offset, table)
        return table.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.add_directive("claims", Claims)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
