// What is different with few users: the exact loss beside its limit, and people who are drawn once.

import { l2WithoutReplacement, losses } from "./model.mjs";
import {
  ACCENT, EPSILONS, PALE, PLAIN, Panel, alongEpsilon, geometric, inPercent, lookOf, part,
  percent, privacy, slider, surveyOf, table, thousands, written,
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

let two; // values without protection

/** Of which one has this expected number of reports. */
function deviations(users, expected) {
  const share = expected / users;
  two ??= asked(2, [], "uRR", 1);
  const { l1, l1Exact } = losses(two, [share, 1 - share], users);
  return { exact: (users * l1Exact) / 2, limit: (users * l1) / 2 };
}

const kept = new Map();

function ratios(users) {
  if (!kept.has(users)) {
    const grid = geometric(LEAST, Math.min(MOST, users / 2), 400);
    kept.set(users, [grid, grid.map((expected) => {
      const { exact, limit } = deviations(users, expected);
      return exact / limit;
    })]);
  }
  return kept.get(users);
}

part("finite", {
  controls: {
    users: slider("People, n", USERS, 20, thousands),
    expected: slider("Expected number of reports, n × m", ({ users }) =>
      EXPECTED.filter((one) => one <= users / 2), 0.5),
  },
  show({ users, expected }, { width, still }) {
    const { exact, limit } = deviations(users, expected);
    const [few, many] = [ratios(users), ratios(MANY)];
    const panel = new Panel({
      width, height: 320, at: expected, moves: "expected",
      x: { from: LEAST, to: MOST, log: true, label: "expected number of reports, n × m",
        say: (one) => `n × m = ${written(one)}` },
      y: still({ from: 0, to: users < 3 ? 1.4 : 1.2, write: inPercent, say: percent,
        label: "exact error / central limit theorem" }),
    });
    const name = `n = ${thousands(users)}`;
    panel.rule({ y: 1 }, { ...PLAIN, width: 1 }).rule({ x: expected });
    panel.line(...many, PALE).line(...few, ACCENT, name);
    panel.dots([expected], [exact / limit], { ...ACCENT, marker: "circle" });
    const [by, anchor] = expected < 1 ? [1.1, "start"] : [0.9, "end"];
    panel.write(by * expected, panel.axes.y.to, percent(exact / limit), { anchor, lift: -12 });
    return {
      drawing: [panel],
      keys: [[name, ACCENT], [`n = ${thousands(MANY)}`, PALE]],
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
const NOTHING = "no privacy";
const THIN = { color: "var(--muted)", line: "solid", width: 1.2 };
const PEOPLE_ASKED = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1];
const held = CENSUS.counts;
const everybody = held.reduce((a, b) => a + b, 0);
const truth = held.map((count) => count / everybody);

const EVERY = 3; // of the levels of ε while a hand moves
const designs = new Map();

/** The l2 losses of independent users, and of as many people who are drawn once. */
function lossesOf(name, epsilon, n) {
  const key = `${name} ${epsilon}`;
  const make = () => (name === NOTHING
    ? asked(held.length, [], "uRR", epsilon) : asked(held.length, CENSUS.sensitive, name, epsilon));
  if (!designs.has(key)) designs.set(key, make());
  const question = designs.get(key);
  return [losses(question, truth, n).l2, l2WithoutReplacement(question, truth, n, everybody)];
}

part("halves", {
  controls: {
    share: slider("Share of people asked", PEOPLE_ASKED, 0.5, percent),
    epsilon: privacy(5),
  },
  show({ share, epsilon }, { width, draft, still }) {
    const n = Math.ceil(share * everybody);
    const none = lossesOf(NOTHING, epsilon, n);
    const level = none[1] / none[0];
    const from = Math.min(level, 0.75) - 0.04;
    const panel = new Panel({
      width, height: 320, x: { ...alongEpsilon(), log: false }, at: epsilon, moves: "epsilon",
      names: NAMES.map((name) => `${name} 00.0%`),
      y: still({ from, to: 1.03, ticks: [0, 0.25, 0.5, 0.75, 1].filter((one) => one > from),
        write: inPercent, say: percent, label: "squared error, drawn once / independent" }),
    });
    panel.rule({ y: level }, THIN).rule({ x: epsilon });
    const grid = draft
      ? EPSILONS.filter((one, i) => i % EVERY === 0 || one === EPSILONS.at(-1)) : EPSILONS;
    const [found, curves] = [{ [NOTHING]: none }, {}];
    for (const name of NAMES) {
      found[name] = lossesOf(name, epsilon, n);
      curves[name] = grid.map((one) => lossesOf(name, one, n)).map(([all, once]) => once / all);
      panel.line(grid, curves[name], lookOf(name), name);
    }
    panel.names(epsilon, NAMES.map((name) => {
      const [all, once] = found[name];
      return [`${name} ${inPercent(once / all)}`, once / all, lookOf(name)];
    }));
    const rows = [...NAMES, NOTHING];
    return {
      drawing: [panel],
      keys: [[NOTHING, THIN]],
      said: `${thousands(n)} of the ${thousands(everybody)} people of the census table are ` +
        `drawn, nobody twice. Without privacy this makes the MSE ${percent(level)} of that of ` +
        `independent users; at ε = ${epsilon} it is ` +
        `${percent(found.uRR[1] / found.uRR[0])} with uRR.`,
      folds: {
        "In numbers": () => [table(
          `Expected squared error of ${thousands(n)} users at ε = ${epsilon}.`,
          ["", "independent", "drawn once", "ratio"],
          rows.map((name) => {
            const [all, once] = found[name];
            return [name, written(all), written(once), percent(once / all)];
          }),
        )],
      },
      shown: { n, people: everybody, level, found, curves, epsilons: EPSILONS },
    };
  },
});
