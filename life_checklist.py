"""Put a checklist with numbers into notebooks/privacy_in_practice.ipynb (run at the top of a tree)."""
import json, sys
path = "notebooks/privacy_in_practice.ipynb"
nb = json.load(open(path, encoding="utf-8"))
def md(id, text): return {"cell_type": "markdown", "id": id, "metadata": {}, "source": text.strip("\n").splitlines(True)}
def code(id, src, prompt): return {"cell_type": "code", "execution_count": None, "id": id, "metadata": {"mystnb": {"code_prompt_show": prompt}, "tags": ["hide-input"]}, "outputs": [], "source": src.strip("\n").splitlines(True)}
text = r"""
(sec-practice-checklist)=
## A checklist, with numbers

For somebody who runs a collection, in the order in which things are decided. The numbers are those of a survey like the census of this book, 400 answers of which 76 are sensitive, with 100,000 people and uBD at $\eps = 1$.

```{table} What to settle before anybody is asked
:name: tab-practice-checklist

| To settle | In this survey | Where |
|---|---|---|
| What is sensitive, and which $\eps$? A suspicion of 50% becomes at most | 73% | {ref}`ch-uldp` |
| How often a non-sensitive answer is revealed | 31% | {ref}`ch-uldp` |
| Which mechanism? The MSE of uBD, and of RR | 0.002, 0.55 | {ref}`ch-choosing` |
| How sure is one sensitive share? Its standard error | 0.5 points | {ref}`ch-inference` |
| Asked twelve times, $L = 1$ in all: the MSE if all answer always, and if each answers once | 0.43, 0.033 | {ref}`ch-asked-again` |
| The answer cannot change: send the kept report; the cost | $\eps$, once | {ref}`ch-asked-again` |
| One forged report counts for | 3.2 people | {ref}`ch-lied-to` |
| An estimate of 2%, if one report in 1,000 is forged | 1.7 to 2.1% | {ref}`ch-lied-to` |
| 80% answer, 30% of them yes: the share among all, whatever the others hold | 24 to 44% | {ref}`ch-lied-to` |
```
"""
src = r'''
from uldp import attacks, datasets, repeated

table, n = datasets.census(), 100_000
block = uldp.UtilityOptimizedBlockDesign(table.domain, 1.0)
x, E = int(block.sensitive[0]), np.exp(1.0)
ordinary = uldp.RandomizedResponse(table.domain, 1.0)
losses = [kind.l2_loss(table.frequencies, n) for kind in (block, ordinary)]
error = np.sqrt(block.decoder.variances(table.frequencies)[x] / n)
often = repeated.plans(table.domain, 1.0, surveys=12, n=n)
always = next(one for one in often if one.reports == 12)
wide = attacks.unforged(block, [x], (0.02, 0.02), 0.001)
found = {
    "suspicion": f"{E / (1 + E):.0%}",
    "revealed": f"{block.revealed_share:.0%}",
    "MSE": ", ".join(f"{loss:.2g}" for loss in losses),
    "standard error": f"{100 * error:.1f} points",
    "twelve surveys": f"{always.loss:.2g}, {often[0].loss:.2g}",
    "forged report": f"{attacks.influence(block)[x, 1]:.1f} people",
    "forged 0.1%": f"{100 * wide[0]:.1f} to {100 * wide[1]:.1f}%",
    "refused": f"{100 * 0.8 * 0.3:.0f} to {100 * (0.8 * 0.3 + 0.2):.0f}%",
}
stated = ["73%", "31%", "0.002, 0.55", "0.5 points", "0.43, 0.033"]
assert [*found.values()] == [*stated, "3.2 people", "1.7 to 2.1%", "24 to 44%"]
assert often[0].reports == 1
print(f"{len(found)} numbers of the checklist computed: as stated")
'''
cells = [md("practice-privacy-60", text), code("practice-privacy-61", src, "Check: the numbers of the checklist")]
nb["cells"] = [c for c in nb["cells"] if c["id"] not in ("practice-privacy-60", "practice-privacy-61")]
at = next(i for i, c in enumerate(nb["cells"]) if "## What remains unprotected" in "".join(c["source"]))
nb["cells"][at:at] = cells
# the rules of repeated asking have a chapter of their own now
short = "What may be sent the next time has a chapter of its own, {ref}`ch-asked-again`; what liars and forgers can do another, {ref}`ch-lied-to`.\n"
for c in nb["cells"]:
    s = "".join(c["source"])
    if "Nobody can tell whether it\n  was drawn or chosen." in s:
        c["source"] = s.replace("Nobody can tell whether it\n  was drawn or chosen.", "Nobody can tell whether it\n  was drawn or chosen; {ref}`ch-lied-to` counts what that can do.").splitlines(True)
    if "The rule in the second row\nmust not be used" in s and short not in s:
        c["source"] = s.replace("**At the collector.**", short.strip() + "\n\n**At the collector.**").splitlines(True)
with open(path, "w", encoding="utf-8") as f:
    json.dump(nb, f, indent=1, ensure_ascii=False); f.write("\n")
