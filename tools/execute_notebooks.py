"""Execute notebooks in place, so that a second run leaves the same bytes.

Usage: python tools/execute_notebooks.py NOTEBOOK...

Beside each figure in SVG, which the book shows, a small one in PNG is stored. Editors show it
before a notebook is trusted or run, when they show no SVG.
"""

import base64
import io
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}
COLORS, DOTS_PER_INCH = 64, 100
FIRST = [
    "import sys",
    f"sys.path.append({str(Path(__file__).parent)!r})",
    "import execute_notebooks",
    "execute_notebooks.publish_png()",
    "del sys, execute_notebooks",
]
"""What a kernel does before the first cell."""
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
        extra_arguments=[f"--IPKernelApp.exec_lines={FIRST!r}"],
    ).execute()
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    fold(notebook)
    nbformat.write(notebook, path)


def publish_png() -> None:
    """Let the figures of this kernel be published in PNG, too."""
    from IPython.display import publish_display_data
    from PIL import Image

    from uldp.paper.figures.style import Picture, note

    def publish(figure: Picture) -> None:
        size, words = figure.get_size_inches(), figure.get_suptitle()
        places = [ax.get_subplotspec() for ax in figure.panels]
        svg = figure.svg()
        # It is narrow now, and has no ground: what is drawn first changes what is drawn next.
        for ax, place in zip(figure.panels, places, strict=True):
            ax.set_subplotspec(place)
        note(figure.panels, words)
        figure.arrange(*size, figure.columns)
        figure.patch.set_visible(True)
        drawn, small = io.BytesIO(), io.BytesIO()
        figure.savefig(drawn, format="png", dpi=DOTS_PER_INCH, facecolor="white")
        picture = Image.open(drawn).convert("RGB")
        picture.quantize(COLORS, dither=Image.Dither.NONE).save(small, "png", optimize=True)
        png = base64.b64encode(small.getvalue()).decode()
        publish_display_data({"image/svg+xml": svg, "image/png": png})

    Picture._ipython_display_ = publish


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, flush=True)
        execute(Path(name))
