"""Imports run one way, what is heavy is imported where it is used, and every error can be sent."""

import ast
import copy
import importlib
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import uldp
from uldp.survey.wire import MessageError, Reason

ROOT = Path(__file__).parents[1]
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for path in (ROOT / "uldp").rglob("*.py")
}
PACKAGES = {name.removesuffix(".__init__") for name in FILES if name.endswith(".__init__")}
EXEMPT = {"uldp.__init__", "uldp._names"}
"""The face, and where users find what others define."""
OPTIONAL = ("dask", "distributed", "joblib", "matplotlib", "pandas", "pyarrow", "randomgen")


def imported(tree: ast.AST) -> set[str]:
    """The files that an import runs: what it names, also as a string, and the faces above that."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= (parts & FILES.keys() | parts & PACKAGES) or {node.module}
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            names |= {word.value for word in node.args if isinstance(word, ast.Constant)}
    above = {parent for parent in PACKAGES for name in names if f"{name}.".startswith(f"{parent}.")}
    return (names & FILES.keys()) | {f"{name}.__init__" for name in above}


def parsed(name: str) -> ast.Module:
    """A file, without what a face finds elsewhere when it is asked for, named for types."""
    tree = ast.parse(FILES[name].read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if "if _TYPE_CHECKING:" not in ast.unparse(node)]
    return tree


def test_imports_make_no_circle():
    """Neither at run time nor for types; a package's face is not what its own files wait for."""
    graph = {}
    for name in FILES:
        own_faces = {f"{above}.__init__" for above in PACKAGES if name.startswith(f"{above}.")}
        graph[name] = imported(parsed(name)) - own_faces
    assert len(tuple(TopologicalSorter(graph).static_order())) == len(FILES)


def levels() -> dict[str, int]:
    """The line of each file or folder in the picture of CONTRIBUTING.md, counted from the top."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    picture = text.split("## Where things are")[1].split("```")[1]
    drawn: dict[str, int] = {}
    level = -1
    for line in picture.strip().splitlines():
        level += bool(line.strip(" |"))
        words = re.findall(r"[\w/]+", line)
        for word in words if line.startswith(" ") else words[1:]:
            drawn.setdefault(word.removesuffix("/"), level)
    return drawn


def test_the_picture_has_every_file_of_the_folders_that_it_lists():
    drawn = levels()
    for folder in ("mechanisms", "beyond", "inference", "_numerics"):
        files = {path.stem for path in (ROOT / "uldp" / folder).glob("*.py")} - {"__init__"}
        assert files <= drawn.keys()


def test_imports_run_downwards_in_the_picture():
    drawn = levels()
    level = {name: drawn[name.split(".")[1]] for name in FILES.keys() - EXEMPT}
    for name in level:
        needed = imported(parsed(name)) - EXEMPT
        assert [other for other in needed if level[other] < level[name]] == [], name
        if name.startswith("uldp.inference."):
            assert not any(other.startswith("uldp.beyond.") for other in needed), name


@pytest.mark.parametrize("name", sorted(FILES.keys() - EXEMPT))
def test_nothing_of_the_package_is_imported_inside_a_function_or_for_types_alone(name):
    tree = parsed(name)
    inside = (ast.FunctionDef, ast.AsyncFunctionDef, ast.If)
    for node in ast.walk(tree):
        if isinstance(node, inside):
            allowed = {"uldp.__init__", "uldp.survey.__init__", "uldp.survey.secure"}
            assert imported(node) <= allowed  # it needs an extra


TOC = (ROOT / "_toc.yml").read_text(encoding="utf-8")
CHAPTERS = re.findall(r"notebooks/\w+", TOC.split("The paper\n")[1].split("caption:")[0])


def beyond_the_paper(code: str) -> set[int]:
    """Return the lines that import, or reach as an attribute, what the paper does not have."""
    names: dict[str, object] = {}

    def value(node: ast.expr) -> object:
        if isinstance(node, ast.Attribute):
            module = value(node.value)
            return getattr(module, node.attr, None) if isinstance(module, ModuleType) else None
        return names.get(node.id) if isinstance(node, ast.Name) else None

    def home(found: object) -> str:
        return str(getattr(found, "__module__", getattr(found, "__name__", "")))

    homes = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute):
            homes.append((node.lineno, home(value(node))))
        elif isinstance(node, ast.Import | ast.ImportFrom) and "uldp" in ast.unparse(node):
            exec(ast.unparse(node), names)
            homes.append((node.lineno, ast.unparse(node)))
            for alias in node.names:
                homes.append((node.lineno, home(names.get(alias.asname or alias.name))))
    return {line for line, home in homes if re.search(r"\buldp\.(beyond|inference|survey)", home)}


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_of_the_paper_says_why_it_takes_more_than_the_paper_has(name):
    """In a comment on the line or on the one before it."""
    cells = json.loads((ROOT / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    lines = ["", *code.splitlines()]
    for at in beyond_the_paper(code):
        assert "# " in lines[at] or lines[at - 1].lstrip().startswith("# "), lines[at]


@pytest.mark.parametrize(
    "line",
    [
        "from uldp.survey.choosing import AIMS as aims",
        "import uldp.beyond as b",
        "uldp.inference.total()",
        "uldp.beyond.limits.saddle",
        "print(uldp.compare())",
        "[uldp.beyond.Shuffled]",
        "uldp.mechanisms.UtilityOptimizedBlockDesign(1).l2_loss",
    ],
)
def test_what_the_paper_does_not_have_is_found(line):
    known = "import uldp\nfrom uldp import privacy\nuldp.mechanisms.PAPER, privacy.audit\n"
    assert beyond_the_paper(known + line) == {4}


def test_importing_the_library_loads_no_extra_and_no_other_part():
    code = "import sys, uldp; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    late = {"sympy", "scipy.optimize", "scipy.stats", "uldp.survey", "uldp.paper"}
    assert not loaded & {*OPTIONAL, *late}


def test_the_face_of_the_package_has_what_it_lists():
    assert dir(uldp) == sorted(uldp.__all__)
    assert len(dir(uldp)) <= 30
    for name in dir(uldp):
        assert getattr(uldp, name) is not None
    assert uldp.datasets is uldp.paper.datasets
    with pytest.raises(AttributeError, match="no attribute 'survays'"):
        _ = uldp.survays


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("survey.secure", "randomgen", "secure"),
        ("survey.parquet", "pyarrow", "dask"),
        ("paper.figures", "matplotlib", "figures"),
        ("paper.verify", "sympy", "book"),
    ],
)
def test_what_is_missing_names_its_extra(module, package, extra):
    code = f"import sys; sys.modules[{package!r}] = None; import uldp; uldp.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    message = f'uldp.{module} needs the package {package}, of the extra "{extra}"'
    assert last == f"ModuleNotFoundError: {message}"


def kinds_below(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    for below in kind.__subclasses__():
        if below.__module__.partition(".")[0] == "uldp":
            yield below
        yield from kinds_below(below)


def fail(error: BaseException) -> None:
    raise error


def test_every_exception_comes_back_from_another_process():
    """Whole, by whatever means it is copied; a pool waits for ever for one that does not."""
    for name in FILES:
        importlib.import_module(name.removesuffix(".__init__"))
    arguments = {MessageError: (Reason.EMPTY, "it is of question 3")}
    kinds = {*kinds_below(BaseException)}
    assert MessageError in kinds
    copies = [copy.copy, copy.deepcopy]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        copies.append(lambda one, protocol=protocol: pickle.loads(pickle.dumps(one, protocol)))
    with ProcessPoolExecutor(1) as pool:
        copies.append(lambda one: pool.submit(fail, one).exception(timeout=60))
        joblib = pytest.importorskip("joblib")

        def of_joblib(one: BaseException) -> BaseException:
            with pytest.raises(type(one)) as caught:
                joblib.Parallel(2)([joblib.delayed(fail)(one)])
            return caught.value

        copies.append(of_joblib)
        for kind in kinds:
            error = kind(*arguments.get(kind, ("why",)))
            error.add_note("noted")
            for copied in copies:
                found = copied(error)
                state = {key: getattr(found, key) for key in vars(error)}
                assert (type(found), str(found), state) == (kind, str(error), vars(error))


def test_a_folder_that_is_not_installed_can_be_imported():
    code = (
        "import importlib.metadata as m\n"
        "def version(name): raise m.PackageNotFoundError(name)\n"
        "m.version = version\n"
        "import uldp, uldp.__main__, uldp.paper.experiments\n"
        "print(uldp.__version__, uldp.paper.figures.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["unknown", "uldp.paper.figures"]
