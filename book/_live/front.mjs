// The front page: the answers of the census table, as four mechanisms let a collector see them.

import { losses, sample, simulate } from "./model.mjs";
import {
  EPSILONS, PLAIN, Panel, button, columns, inPercent, lookOf, part, seeded, slider, surveyOf, table,
  thousands, written,
} from "./kit.mjs";

const NAMES = ["RR", "uRR", "RAPPOR", "uRAP"];
const SIZES = [1, 2, 5, 10, 20, 40, 76, 150, 300, 400];
const EVERYBODY = 299285;

const others = CENSUS.counts.map((_, x) => x).filter((x) => !CENSUS.sensitive.includes(x));
const inTurn = [...CENSUS.sensitive, ...others]; // which answers are sensitive first
const truth = CENSUS.counts.map((count) => count / EVERYBODY);
const byRank = truth.map((_, x) => x).sort((a, b) => truth[b] - truth[a]);

part("front", {
  slow: true,
  controls: {
    epsilon: slider("ε", EPSILONS, 1),
    sensitive: slider("Sensitive answers", SIZES, 76),
    people: slider("People", [1000, 3000, 10000, 30000, 100000, EVERYBODY], EVERYBODY, thousands),
    again: button("Ask others"),
  },
  show({ epsilon, sensitive, people, again }, { width }) {
    const protectedValues = inTurn.slice(0, sensitive).sort((a, b) => a - b);
    const isProtected = new Set(protectedValues);
    const holders = sample(people, truth, seeded(people, again));
    const found = {};
    for (const [i, mechanism] of NAMES.entries()) {
      const labels = CENSUS.counts.length;
      const entry = { name: "all", labels, sensitive: protectedValues, mechanism, epsilon };
      const [question] = surveyOf(entry).questions;
      const tally = simulate(question, holders, seeded(people, again, i));
      const { l2, l1Exact } = losses(question, truth, people);
      found[mechanism] = { estimate: tally.estimate(), mse: l2, tv: l1Exact / 2 };
    }
    const all = NAMES.flatMap((name) => found[name].estimate);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const edge = 0.03 * (high - low);
    const y = { from: low - edge, to: high + edge, write: inPercent };
    const size = columns(width, 2);
    const ranks = byRank.map((_, rank) => rank + 1);
    const panels = NAMES.map((name) => {
      const { estimate } = found[name];
      const panel = new Panel({
        title: name, width: size.width, height: size.count > 1 ? 200 : 160,
        x: { from: 0, to: 400, ticks: [0, 100, 200, 300, 400] }, y,
      });
      for (const [isSensitive, look] of [
        [false, { ...lookOf(name), marker: "dot" }],
        [true, { ...PLAIN, marker: "hollow", hollow: true }],
      ]) {
        const some = ranks.filter((rank) => isProtected.has(byRank[rank - 1]) === isSensitive);
        panel.dots(some, some.map((rank) => estimate[byRank[rank - 1]]), look);
      }
      return panel.line(ranks, byRank.map((x) => truth[x]), { ...PLAIN, width: 1.4 }).node;
    });
    const timesOf = (name, other) => found[name].mse / found[other].mse;
    const pairs = [["RR", "uRR"], ["RAPPOR", "uRAP"]];
    const said = pairs.map(([one, other]) =>
      `${one} needs ${written(timesOf(one, other))} times as many people as ${other}`);
    return {
      drawing: panels,
      keys: [
        ["truth", { ...PLAIN, width: 1.4 }],
        ["estimate", { ...PLAIN, line: undefined, marker: "dot" }],
        ["estimate, sensitive", { ...PLAIN, line: undefined, marker: "hollow", hollow: true }],
      ],
      said: `${sensitive} of 400 answers are sensitive, ε = ${epsilon}, ${thousands(people)} ` +
        `people. For the same mean squared error ${said.join(", and ")}.`,
      below: [table(
        "Expected errors of the estimates, and people for the same mean squared error.",
        ["", "total variation", "mean squared error", "people, uRR = 1"],
        NAMES.map((name) => [
          name, written(found[name].tv), written(found[name].mse), written(timesOf(name, "uRR")),
        ]),
      )],
      shown: { holders, protectedValues, found },
    };
  },
});
