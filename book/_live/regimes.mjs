// Worst-case losses over ε, with what Tables 3 and 4 print for both ends, and the limit.

import { lossesWithin, printed, saddle, worstMass } from "./model.mjs";
import {
  EPSILONS, FAINT, PALE, PLAIN, Panel, choice, columns, geometric, lookOf, part, percent, planned,
  slider, table, whole, written,
} from "./kit.mjs";

const NAMES = ["RR", "RAPPOR", "uRR", "uRAP"];
const [SMALL, LOW] = ["ε → 0", "ε = ln k"];
const LEVELS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, ...EPSILONS];
const GRID = geometric(0.001, 10, 49);
const UPTO = 1; // the leading terms for ε → 0 are compared so far
const THIN = { ...PLAIN, width: 1 };
const UNIT = { l1: Math.sqrt(2 / Math.PI), l2: 1 };

/** The worst-case loss over that without privacy: exact, and as it is printed for one end. */
function relative(name, { loss, k, s }, epsilon, end) {
  const question = planned(name, k, s, epsilon);
  const none = printed(loss, end, "no privacy", s, k, epsilon);
  const exact = lossesWithin(question, worstMass(question, loss), 1)[loss] / UNIT[loss];
  return [exact / none, printed(loss, end, name, s, k, epsilon) / none];
}

part("regimes", {
  slow: true,
  controls: {
    k: whole("Possible answers, k", 2, 5000, 625),
    s: whole("Sensitive among them, s", 1, ({ k }) => k, 15),
    loss: choice("Loss", { l1: "l1", l2: "l2" }, "l1"),
    epsilon: slider("ε", LEVELS, 0.1),
  },
  show(state, { width }) {
    const { loss, k, s, epsilon } = state;
    const lnK = Math.log(k);
    const [at, low, exact, small] = [{}, {}, {}, {}];
    for (const name of NAMES) {
      at[name] = relative(name, state, epsilon, SMALL);
      low[name] = relative(name, state, lnK, LOW);
      const curve = GRID.map((one) => relative(name, state, one, SMALL));
      [exact[name], small[name]] = [0, 1].map((i) => curve.map((pair) => pair[i]));
    }
    const limit = loss === "l2" && GRID.map((one) => saddle(s, k - s, one).value / (1 - 1 / k));
    const size = columns(width, 2);
    const x = { from: GRID[0], to: GRID.at(-1), log: true, label: "ε" };
    const most = Math.max(...NAMES.map((name) => exact[name][0]), 10);
    const losses = new Panel({
      title: "loss / no privacy", width: size.width, height: 320, x,
      y: { from: 0.7, to: 1.5 * most, log: true, room: 74 },
    });
    if (limit) losses.line(GRID, limit, PALE);
    losses.rule({ x: lnK }, THIN).rule({ x: epsilon });
    losses.write(0.9 * lnK, 1.5 * most, "ln k", { anchor: "end", lift: -14 });
    const shares = new Panel({
      title: "ε → 0: printed / exact", width: size.width, height: 320, x: { ...x, to: UPTO },
      y: { from: 0, to: 2 },
    });
    shares.rule({ y: 1 }, THIN).rule({ x: epsilon });
    for (const name of NAMES) {
      const look = lookOf(name);
      losses.line(GRID, small[name], { ...look, line: "dotted", width: 1.2 });
      losses.line(GRID, exact[name], { ...look, line: "solid" });
      losses.dots([lnK], [low[name][1]], { ...look, hollow: true });
      shares.line(GRID, small[name].map((one, i) => one / exact[name][i]), look, 6);
    }
    const share = ([truth, entry]) => percent(entry / truth);
    return {
      drawing: [losses.node, shares.node],
      keys: [
        ...NAMES.map((name) => [name, { ...lookOf(name), line: "solid" }]),
        ["printed, ε → 0", FAINT],
        ["printed, ε = ln k", { ...PLAIN, line: undefined, marker: "circle", hollow: true }],
        ...(limit ? [["limit", PALE]] : []),
      ],
      said: `${s} of ${k} answers are sensitive. At ε = ${epsilon} what is printed for ε → 0 ` +
        `is ${share(at.uRR)} of uRR's worst-case ${loss} loss, and ${share(at.uRAP)} of uRAP's. ` +
        `At ε = ln k = ${written(lnK)} uRR loses ${written(low.uRR[0])} times as much as no ` +
        `privacy, and uRAP ${written(low.uRAP[0])} times.`,
      below: [table(
        `Worst-case ${loss} loss over that without privacy, exact and as printed.`,
        ["", `ε = ${epsilon}`, "printed", "ε = ln k", "printed"],
        NAMES.map((name) => [name, ...[...at[name], ...low[name]].map(written)]),
      )],
      shown: { at, low, exact, small, limit, grid: GRID },
    };
  },
});
