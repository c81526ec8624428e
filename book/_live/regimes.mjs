// Worst-case losses over ε, with what Tables 3 and 4 print for both ends, and the limit.

import { printed, saddle, worstLoss } from "./model.mjs";
import {
  EPSILONS, FAINT, PALE, PLAIN, Panel, alongEpsilon, choice, columns, geometric, inPercent, lookOf,
  part, percent, planned, privacy, table, whole, written,
} from "./kit.mjs";

const NAMES = ["RR", "RAPPOR", "uRR", "uRAP"];
const [SMALL, LOW] = ["small", "ln k"];
const LEVELS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, ...EPSILONS];
const GRID = geometric(0.001, 10, 49);
const EVERY = 4; // of the points while a hand moves
const UPTO = 1; // the leading terms for ε → 0 are compared so far
const THIN = { ...PLAIN, width: 1 };
const UNIT = { l1: Math.sqrt(2 / Math.PI), l2: 1 };
const WRITTEN = { l1: "ℓ₁", l2: "ℓ₂" };

/** The worst-case loss over that without privacy: exact, and as it is printed for one end. */
function relative(name, { loss, k, s }, epsilon, end) {
  const question = planned(name, k, s, epsilon);
  const none = printed(loss, end, "no privacy", s, k, epsilon);
  const exact = worstLoss(question, loss) / UNIT[loss];
  return [exact / none, printed(loss, end, name, s, k, epsilon) / none];
}

let kept; // the curves of the last k, s and loss

/** The curves, which ε does not move: all points, or some for the time of a move. */
function curvesOf(state, draft) {
  const { loss, k, s } = state;
  const key = `${loss} ${k} ${s}`;
  if (kept?.key === key && (draft || kept.grid === GRID)) return kept;
  const grid = draft ? GRID.filter((_, i) => i % EVERY === 0) : GRID;
  const [exact, small] = [{}, {}];
  for (const name of NAMES) {
    const curve = grid.map((one) => relative(name, state, one, SMALL));
    [exact[name], small[name]] = [0, 1].map((i) => curve.map((pair) => pair[i]));
  }
  const limit = loss === "l2" && grid.map((one) => saddle(s, k - s, one).value / (1 - 1 / k));
  kept = { key, grid, exact, small, limit };
  return kept;
}

part("regimes", {
  controls: {
    k: whole("Possible answers, k", 2, 5000, 625),
    s: whole("Sensitive among them, s", 1, ({ k }) => k, 15),
    loss: choice("Loss", WRITTEN, "l1"),
    epsilon: privacy(0.1, LEVELS),
  },
  show(state, { width, draft }) {
    const { loss, k, s, epsilon } = state;
    const lnK = Math.log(k);
    const good = loss === "l1" ? s ** 2 / (k - s) : Infinity; // leading terms are good far below
    const [at, low] = [{}, {}];
    for (const name of NAMES) {
      at[name] = relative(name, state, epsilon, SMALL);
      low[name] = relative(name, state, lnK, LOW);
    }
    const { grid, exact, small, limit } = curvesOf(state, draft);
    const size = columns(width, 2);
    const x = alongEpsilon(GRID);
    const most = Math.max(...NAMES.map((name) => exact[name][0]), 10);
    const shared = { width: size.width, height: 340, at: epsilon, moves: "epsilon" };
    const losses = new Panel({
      ...shared, title: "Worst-case loss / no privacy", x,
      names: NAMES.flatMap((name) => exact[name].map((one) => `${name} ${written(one)}`)),
      y: { from: 0.7, to: 1.5 * most, log: true, say: written,
        ticks: Array.from({ length: Math.ceil(Math.log10(most)) }, (_, i) => 10 ** i) },
    });
    if (limit) losses.line(grid, limit, PALE);
    losses.rule({ x: lnK }, THIN).rule({ x: epsilon });
    losses.write(0.75 * lnK, 1.5 * most, "ln k", { anchor: "end", lift: -14 });
    const shares = new Panel({
      ...shared, title: "Printed for ε → 0 / exact loss", x: { ...x, to: UPTO }, names: ["RAPPOR 00.0%"],
      y: { from: 0, to: 2, ticks: [0, 0.5, 1, 1.5, 2], write: inPercent, say: percent },
    });
    shares.rule({ y: 1 }, THIN).rule({ x: epsilon });
    const both = [[losses, 1.5 * most, 1], [shares, 2, 0.1]];
    for (const [panel, top, left] of Number.isFinite(good) ? both : []) {
      const [by, anchor] = good < left ? [1.3, "start"] : [0.75, "end"];
      panel.rule({ x: good }, { ...THIN, line: "dashed" });
      panel.write(by * good, top, "s²/ν", { anchor, lift: -30 });
    }
    for (const name of NAMES) {
      const look = lookOf(name);
      losses.line(grid, exact[name], look, name);
      shares.line(grid, small[name].map((one, i) => one / exact[name][i]), look, name);
    }
    const share = ([truth, entry]) => percent(entry / truth);
    losses.names(epsilon, NAMES.map((name) =>
      [`${name} ${written(at[name][0])}`, at[name][0], lookOf(name)]));
    const inShares = Math.min(epsilon, UPTO);
    shares.names(inShares, NAMES.map((name) => {
      const [truth, entry] = relative(name, state, inShares, SMALL);
      const words = epsilon > UPTO ? name : `${name} ${inPercent(entry / truth)}`;
      return [words, entry / truth, lookOf(name)];
    }));
    return {
      drawing: [losses, shares],
      keys: [[`ε = ${epsilon}`, FAINT], ...(limit ? [["limit", PALE]] : [])],
      said: `${s} of ${k} answers are sensitive. At ε = ${epsilon} what is printed for ε → 0 ` +
        `is ${share(at.uRR)} of uRR's worst-case ${WRITTEN[loss]} loss, and ${share(at.uRAP)} of ` +
        `uRAP's. At ε = ln k = ${written(lnK)} uRR loses ${written(low.uRR[0])} times as much as ` +
        `no privacy, and uRAP ${written(low.uRAP[0])} times.`,
      folds: {
        "In numbers": () => [table(
          `Worst-case ${WRITTEN[loss]} loss over that without privacy, exact and as printed.`,
          ["", `ε = ${epsilon}`, "printed", "ε = ln k", "printed"],
          NAMES.map((name) => [name, ...[...at[name], ...low[name]].map(written)]),
        )],
      },
      shown: { at, low, exact, small, limit, grid: GRID },
    };
  },
});
