// Worst-case losses over ε, between the leading terms of Tables 3 and 4 and the limit.

import { lossesWithin, printed, saddle, worstMass } from "../../client/collector.mjs";
import {
  FAINT, PALE, Panel, choice, geometric, lookOf, part, percent, planned, slider, table, whole,
  written,
} from "./kit.mjs";

const NAMES = ["RR", "RAPPOR", "uRR", "uRAP"];
const GRID = geometric(0.01, 10, 31);
const UNIT = { l1: Math.sqrt(2 / Math.PI), l2: 1 };

/** The worst-case loss in the tables' units, √(2/(πn)) or 1/n. */
function worstLoss(name, loss, k, s, epsilon) {
  const question = planned(name, k, s, epsilon);
  return lossesWithin(question, worstMass(question, loss), 1)[loss] / UNIT[loss];
}

part("leading-terms", {
  controls: {
    loss: choice("Loss", { l1: "l1, Table 3", l2: "l2, Table 4" }, "l1"),
    k: whole("Values, k", 2, 4096, 400),
    s: whole("Sensitive among them, s", 1, ({ k }) => k, 76),
    epsilon: slider("ε", GRID, 0.1),
  },
  show({ loss, k, s, epsilon }, { width }) {
    const end = Math.log(k);
    const exact = {};
    for (const name of NAMES) exact[name] = GRID.map((e) => worstLoss(name, loss, k, s, e));
    const limit = loss === "l2" && GRID.map((e) => saddle(s, k - s, e).value);
    const small = (name, e) => printed(loss, "ε → 0", name, s, k, e);
    const all = Object.values(exact).flat();
    const panel = new Panel({
      width, height: 320,
      x: { from: GRID[0], to: GRID.at(-1), log: true, label: "ε" },
      y: { from: 0.7 * Math.min(...all), to: 1.4 * Math.max(...all), log: true,
        label: `worst-case ${loss} loss` },
    });
    panel.rule({ x: epsilon });
    if (limit) panel.line(GRID, limit, PALE);
    const rows = NAMES.map((name) => {
      const look = lookOf(name);
      panel.line(GRID, exact[name], look);
      const leading = GRID.map((e) => small(name, e) || NaN);
      panel.line(GRID, leading, { ...look, line: "dotted", width: 1.2 });
      const atEnd = printed(loss, "ε = ln k", name, s, k, end);
      panel.dots([end], [atEnd], look);
      const here = exact[name][GRID.indexOf(epsilon)];
      const there = worstLoss(name, loss, k, s, end);
      return { name, here, small: small(name, epsilon) / here, large: atEnd / there };
    });
    const [best] = [...rows].sort((a, b) => a.here - b.here);
    const ofLimit = limit ? ` It is ${written(best.here / limit[GRID.indexOf(epsilon)])} times ` +
      "the least that any ULDP mechanism can have." : "";
    return {
      drawing: [panel.node],
      keys: [...NAMES.map((name) => [name, lookOf(name)]),
        ["leading term as ε → 0", { ...FAINT }],
        ...(limit ? [["the limit", PALE]] : [])],
      said: `At ε = ${epsilon}, with ${s} of ${k} sensitive, ${best.name} has the smallest ` +
        `worst-case ${loss} loss.${ofLimit} Markers: what the table prints for ` +
        `ε = ln k = ${written(end)}.`,
      below: [table(
        "What the table prints, as a share of the exact worst-case loss.",
        ["", "exact loss", "ε → 0, here", "ε = ln k"],
        rows.map(({ name, here, small, large }) =>
          [name, written(here), percentOf(small), percentOf(large)]),
      )],
      shown: { grid: GRID, rows, limit, exact },
    };
  },
});

const percentOf = (share) => (share < 1 ? percent(share) : `${written(100 * share)}%`);
