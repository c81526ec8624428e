// The mean error for finitely many users, against that of the central limit theorem.

import { losses } from "../../client/collector.mjs";
import {
  BLUE, FAINT, PLAIN, Panel, geometric, part, slider, surveyOf, thousands, written,
} from "./kit.mjs";

const USERS = [1, 2, 5, 10, 20, 50, 100, 1000, 1e4, 1e6, 1e9];
const EXPECTED = geometric(0.001, 1000, 61);
const [question] = surveyOf({
  name: "x", labels: 2, sensitive: [], mechanism: "uRR", epsilon: 1, // all are revealed
}).questions;

function at(expected, users) {
  const share = expected / users;
  const { l1, l1Exact } = losses(question, [share, 1 - share], users);
  return { limit: l1 / 2, exact: l1Exact / 2, ratio: l1Exact / l1 };
}

part("deviation", {
  controls: {
    users: slider("People, n", USERS, 20, thousands),
    expected: slider("Reports expected, n m", ({ users }) =>
      EXPECTED.filter((one) => one <= users / 2), 1, written),
  },
  show({ users, expected }, { width }) {
    const most = Math.min(1000, users / 2);
    const grid = geometric(0.001, most, Math.min(1 + Math.ceil(width), 600));
    const xs = grid.map((one) => Math.min(one, most));
    const curve = xs.map((one) => at(one, users).ratio);
    const here = at(expected, users);
    const panel = new Panel({
      width, height: 280,
      x: { from: 0.001, to: 1000, log: true, label: "reports expected, n m" },
      y: { from: 0, to: 1.35, label: "exact / central limit" },
    });
    panel.rule({ y: 1 }).rule({ x: expected }).line(xs, curve, BLUE);
    panel.dots([expected], [here.ratio], { ...PLAIN, marker: "circle" });
    return {
      drawing: [panel.node],
      keys: [[`n = ${thousands(users)}`, BLUE], ["as in the limit", FAINT]],
      said: `Of ${thousands(users)} people ${written(expected)} are expected to report a value. ` +
        `The share is then off by ${written(here.exact)} on average; the central limit theorem ` +
        `says ${written(here.limit)}. The ratio is ${written(here.ratio)}.`,
      shown: { ...here, xs, curve },
    };
  },
});
