"""The mutants of the package: a module with one number or operator changed.

A mutant is named by its statement and the change in it, and so are the harmless ones in
harmless_mutants.toml. There a statement is found by its shape, which is its text with numbers for
names and strings, whatever it is called and wherever it stands; where several have this shape, it
is the one that shares most names with what is listed: of its module, its definition and its text.
"""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[1]
HARMLESS = Path(__file__).with_name("harmless_mutants.toml")
OUTSIDE = ("__init__", "__main__", "collecting", "experiments", "figures", "secure")
"""What is not mutated: files without formulas, and what works on files and processes."""

REPLACED: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
LEFT_OUT = (ast.Raise, ast.Assert, ast.JoinedStr)
LEFT_OUT_FIELDS = ("annotation", "returns", "decorator_list")
BODIES = ("body", "orelse", "finalbody", "handlers", "cases", "decorator_list")

Shape = tuple[str | int, ...]


@dataclass(frozen=True)
class Statement:
    """A statement, of a compound one the head alone.

    Attributes
    ----------
    module, definition, text : str
        The module, the class and function that it stands in, and what it says.
    first, last : int
        The numbers of its lines.
    """

    module: str
    definition: str
    text: str
    first: int = 0
    last: int = 0

    @property
    def shape(self) -> Shape:
        """The text with numbers for names and strings."""
        return self.shape_of(self.text)

    def shape_of(self, change: str) -> Shape:
        """Return a change of the statement with the same numbers for names."""
        number = {word: i for i, word in enumerate(dict.fromkeys(_names(self.text)))}
        return tuple(number.get(word, word) for word in _words(change))

    @property
    def names(self) -> set[str]:
        """The names in the statement, and of what it stands in."""
        return {*_names(self.text), *self.module.split("/"), *self.definition.split(".")} - {""}


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    Attributes
    ----------
    statement : Statement
        Where.
    original, change : str
        What: the expression before and after, of a number the one that it stands in.
    before, after : str
        The module before and after.
    """

    statement: Statement
    original: str
    change: str
    before: str
    after: str

    def __str__(self) -> str:
        where = self.statement
        place = f"uldp/{where.module}.py:{where.first} {where.definition}: {where.text}"
        return f"{place}\n    {self.original}  ->  {self.change}"

    @property
    def shape(self) -> Shape:
        """The shape of the change."""
        return self.statement.shape_of(self.change)

    @property
    def key(self) -> str:
        """What identifies the mutant as long as its module stays the same."""
        text = f"{self.statement.module}\n{self.before}\n{self.after}"
        return sha256(text.encode()).hexdigest()


def modules() -> list[str]:
    """Return the modules that are mutated, each as a path in the package without its suffix."""
    package = ROOT / "uldp"
    names = (path.relative_to(package).with_suffix("") for path in sorted(package.rglob("*.py")))
    return [name.as_posix() for name in names if not {*name.parts} & {*OUTSIDE}]


def mutants(module: str) -> Iterator[Mutant]:
    """Yield all mutants of a module."""
    before = (ROOT / "uldp" / f"{module}.py").read_text(encoding="utf-8")
    tree = ast.parse(before)
    for node, parent, statement in _nodes(tree, Statement(module, "", "")):
        shown = parent if isinstance(node, ast.Constant) else node
        for field, value in _changes(node):
            kept, original = getattr(node, field), ast.unparse(_head(shown))
            setattr(node, field, value)
            change, after = ast.unparse(_head(shown)), _spliced(before, node)
            setattr(node, field, kept)
            yield Mutant(statement, original, change, before, after)


def harmless() -> list[tuple[Statement, str | None]]:
    """Read which mutants are right to survive: statements, each with a change or None for any."""
    entries = tomllib.loads(HARMLESS.read_text(encoding="utf-8"))["harmless"]
    return [
        (Statement(entry["module"], entry.get("definition", ""), _normal(text)), change)
        for entry in entries
        for text in entry["statements"]
        for change in entry.get("changes", [None])
    ]


def without_harmless(
    every: list[Mutant], listed: list[tuple[Statement, str | None]]
) -> tuple[list[Mutant], list[tuple[Statement, str | None]]]:
    """Return the mutants that are not listed as harmless, and what is listed but is no mutant."""
    by_shape = defaultdict(list)
    for place in dict.fromkeys(mutant.statement for mutant in every):
        by_shape[place.shape].append(place)
    allowed, unknown = set(), []
    made = {(mutant.statement, mutant.shape) for mutant in every}
    for statement, change in listed:
        shape = change if change is None else statement.shape_of(change)
        places = [
            place for place in by_shape[statement.shape] if shape is None or (place, shape) in made
        ]
        shared = max((len(place.names & statement.names) for place in places), default=0)
        found = [place for place in places if len(place.names & statement.names) == shared]
        allowed |= {(place, shape) for place in found if shared}
        unknown += [] if shared else [(statement, change)]
    left = [
        mutant
        for mutant in every
        if not allowed & {(mutant.statement, None), (mutant.statement, mutant.shape)}
    ]
    return left, unknown


def _nodes(parent: ast.AST, within: Statement) -> Iterator[tuple[ast.AST, ast.AST, Statement]]:
    """Yield all nodes that may be changed, each with its parent and its statement."""
    for field, value in ast.iter_fields(parent):
        for child in value if isinstance(value, list) else [value]:
            left_out = field in LEFT_OUT_FIELDS or isinstance(child, LEFT_OUT)
            if isinstance(child, ast.AST) and not left_out:
                statement = _statement(child, within) if isinstance(child, ast.stmt) else within
                yield child, parent, statement
                yield from _nodes(child, statement)


def _changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Yield the ways to change a node: a field of it, and the value to give it."""
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            yield "value", node.value + 1
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            yield from (("op", new()) for new in REPLACED.get(type(node.op), ()))
        case ast.UnaryOp():
            yield "operand", ast.UnaryOp(node.op, node.operand)
        case ast.Compare():
            for i, op in enumerate(node.ops):
                for new in REPLACED[type(op)]:
                    yield "ops", [*node.ops[:i], new(), *node.ops[i + 1 :]]


def _statement(node: ast.stmt, within: Statement) -> Statement:
    definition = within.definition
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        definition = f"{definition}.{node.name}".removeprefix(".")
    head = _head(node)
    inside = [part for part in ast.walk(head) if part is not head]
    ends = [node.end_lineno] if head is node else [getattr(n, "end_lineno", 0) for n in inside]
    last = max([node.lineno, *ends])
    return Statement(within.module, definition, ast.unparse(head), node.lineno, last)


def _head(node: ast.AST) -> ast.AST:
    """Return a statement without the statements in it, any other node as it is."""
    if not isinstance(node, ast.stmt) or not hasattr(node, "body"):
        return node
    head = copy(node)
    for field in {*BODIES} & {*node._fields}:
        setattr(head, field, [])
    return head


def _spliced(text: str, node: ast.AST) -> str:
    """Return a module's text with the present form of one of its nodes in place of the former."""
    lines = text.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    new = ast.unparse(node)
    new = new if isinstance(node, ast.stmt) else f"({new})"
    return (b"".join(lines)[:start] + new.encode() + b"".join(lines)[end:]).decode()


def _normal(text: str) -> str:
    """Return the head of a statement as `ast.unparse` writes it."""
    return ast.unparse(_head(ast.parse(text + " pass" * text.endswith(":")).body[0]))


def _words(text: str) -> list[str]:
    """Return the words and signs of a piece of Python."""
    kinds = (tokenize.NAME, tokenize.NUMBER, tokenize.OP, tokenize.STRING)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type in kinds]


def _names(text: str) -> list[str]:
    """Return the names and strings of a piece of Python, in their order."""
    return [
        word
        for word in _words(text)
        if (word.isidentifier() and not keyword.iskeyword(word)) or word[-1] in "\"'"
    ]
