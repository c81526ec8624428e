"""Execute notebooks in place, so that a second run leaves the same bytes.

Usage: python tools/execute_notebooks.py NOTEBOOK...
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}


def fold(notebook: nbformat.NotebookNode) -> None:
    """Let editors fold the code that the book folds: behind a line or a figure, and solutions."""
    solution = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            ends, starts = "{solution-end}" in cell.source, "{solution-start}" in cell.source
            solution = starts or (solution and not ends)
        elif solution or FOLDED & {*cell.metadata.get("tags", [])}:
            cell.metadata["jupyter"] = {"source_hidden": True}


def execute(path: Path) -> None:
    """Run the notebook at `path` in its own folder and store the outputs without timings."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=120,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": path.parent}},
    ).execute()
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    fold(notebook)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, flush=True)
        execute(Path(name))
