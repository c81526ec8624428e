// What is different with few users: the exact loss beside its limit, and people who are drawn once.

import { l2WithoutReplacement, losses } from "./model.mjs";
import {
  BLUE, EPSILONS, FAINT, PALE, PLAIN, Panel, geometric, lookOf, part, percent, slider, surveyOf,
  table, thousands, written,
} from "./kit.mjs";

const asked = (labels, sensitive, mechanism, epsilon) =>
  surveyOf({ name: "all", labels, sensitive, mechanism, epsilon }).questions[0];

// --- the exact loss for n users ------------------------------------------------------------------

const USERS = [1, 2, 3, 4, 5, 7, 10, 15, 20, 50, 100, 1000, 1e4, 1e6, 1e9];
const MANY = USERS.at(-1);
const [LEAST, MOST] = [0.001, 1000];
const EXPECTED = [-3, -2, -1, 0, 1, 2].flatMap((power) =>
  [1, 1.5, 2, 3, 4, 5, 7].map((digit) => Number(`${digit}e${power}`)),
).concat(MOST);

/** Two values without protection, of which one has this expected number of reports. */
function deviations(users, expected) {
  const share = expected / users;
  const { l1, l1Exact } = losses(asked(2, [], "uRR", 1), [share, 1 - share], users);
  return { exact: (users * l1Exact) / 2, limit: (users * l1) / 2 };
}

function ratios(users) {
  const grid = geometric(LEAST, Math.min(MOST, users / 2), 400);
  return [grid, grid.map((expected) => {
    const { exact, limit } = deviations(users, expected);
    return exact / limit;
  })];
}

part("finite", {
  controls: {
    users: slider("People, n", USERS, 20, thousands),
    expected: slider("Expected number of reports, nm", ({ users }) =>
      EXPECTED.filter((one) => one <= users / 2), 0.5),
  },
  show({ users, expected }, { width }) {
    const { exact, limit } = deviations(users, expected);
    const [few, many] = [ratios(users), ratios(MANY)];
    const panel = new Panel({
      width, height: 300,
      x: { from: LEAST, to: MOST, log: true, label: "expected number of reports, nm" },
      y: { from: 0, to: 1.4, label: "exact / central limit" },
    });
    panel.rule({ y: 1 }, { ...PLAIN, width: 1 });
    panel.line(...many, FAINT).line(...few, BLUE);
    panel.dots([expected], [exact / limit], { ...PLAIN, marker: "circle" });
    return {
      drawing: [panel.node],
      keys: [[`n = ${thousands(users)}`, BLUE], [`n = ${thousands(MANY)}`, FAINT]],
      said: `Of n = ${thousands(users)} people ${written(expected)} are expected to report a ` +
        `value. Their number is off by ${written(exact)} on average; by the central limit ` +
        `theorem it would be ${written(limit)}. The exact error is ` +
        `${percent(exact / limit)} of its limit.`,
      shown: { exact, limit, curve: few },
    };
  },
});

// --- people who are drawn once -------------------------------------------------------------------

const NAMES = ["RR", "RAPPOR", "uRR", "uRAP"];
const PEOPLE_ASKED = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1];
const held = CENSUS.counts;
const everybody = held.reduce((a, b) => a + b, 0);
const truth = held.map((count) => count / everybody);

/** The l2 losses of independent users, and of as many people who are drawn once. */
function lossesOf(question, n) {
  return [losses(question, truth, n).l2, l2WithoutReplacement(question, truth, n, everybody)];
}

part("halves", {
  slow: true,
  controls: {
    share: slider("Share of people asked", PEOPLE_ASKED, 0.5, percent),
    epsilon: slider("ε", EPSILONS, 5),
  },
  show({ share, epsilon }, { width }) {
    const n = Math.ceil(share * everybody);
    const of = (name, at) => lossesOf(asked(held.length, CENSUS.sensitive, name, at), n);
    const none = lossesOf(asked(held.length, [], "uRR", epsilon), n);
    const level = none[1] / none[0];
    const panel = new Panel({
      width, height: 300,
      x: { from: EPSILONS[0], to: EPSILONS.at(-1), log: true, label: "ε" },
      y: { from: 0, to: 1.05, label: "MSE, drawn by independent" },
    });
    panel.rule({ y: level }, PALE).rule({ x: epsilon });
    const [found, curves] = [{ "no privacy": none }, {}];
    for (const name of NAMES) {
      found[name] = of(name, epsilon);
      curves[name] = EPSILONS.map((one) => of(name, one)).map(([all, once]) => once / all);
      panel.line(EPSILONS, curves[name], lookOf(name), 5);
    }
    const rows = [...NAMES, "no privacy"];
    return {
      drawing: [panel.node],
      keys: [...NAMES.map((name) => [name, lookOf(name)]), ["no privacy", PALE]],
      said: `${thousands(n)} of the ${thousands(everybody)} people of the census table are ` +
        `drawn, nobody twice. Without privacy this makes the MSE ${percent(level)} of that of ` +
        `independent users; at ε = ${epsilon} it is ` +
        `${percent(found.uRR[1] / found.uRR[0])} with uRR.`,
      below: [table(
        `Expected squared error of ${thousands(n)} users at ε = ${epsilon}.`,
        ["", "independent", "drawn once", "ratio"],
        rows.map((name) => {
          const [all, once] = found[name];
          return [name, written(all), written(once), percent(once / all)];
        }),
      )],
      shown: { n, people: everybody, level, found, curves, epsilons: EPSILONS },
    };
  },
});
