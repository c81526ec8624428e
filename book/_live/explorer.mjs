// The explorer: how many people a survey needs, how exact it is, and how private.

import {
  believed, entryVariance, revealedShare, saddle, suspicion, usersNeeded, varianceOfAll,
  worstLoss,
} from "./model.mjs";
import {
  EPSILONS, PEOPLE, PLAIN, Panel, alongEpsilon, bold, choice, element, fewLetters, geometric, heads,
  inPercent, lookOf, part, percent, planned, privacy, slider, stepped, surveyOf, table, thousands,
  whole, written,
} from "./kit.mjs";

const NAMES = Object.keys(LOOKS);
const DRAWN = ["RR", "RAPPOR", "uRR", "uRAP", "uBD"];
const NOTHING = "no privacy";
const THIN = { color: "var(--muted)", line: "solid", width: 1.2 };
const MOST_ANSWERS = 5000;
const SHARE = 0.01; // of the answer whose standard error the table has
const TARGETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
const BELIEFS = [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99];
const OFTEN = [1, 2, 15, 76];
const [EVERY, EVERY_OF_MANY] = [3, 6]; // of the levels of ε while a hand moves, for many answers

/** Numbers of sensitive answers where the slider stops. */
function stops({ k }) {
  const all = [...geometric(1, k, 40).map(Math.round), ...OFTEN.filter((s) => s <= k), k];
  return [...new Set(all)].sort((a, b) => a - b);
}

const MOST_KEPT = 5000;
const kept = new Map();

/** What is kept of what takes long, by what it is of. */
function once(key, make) {
  if (!kept.has(key)) {
    if (kept.size > MOST_KEPT) kept.clear();
    kept.set(key, make());
  }
  return kept.get(key);
}

/** A mechanism and its worst losses for one user, by its name or without privacy. */
const design = (name, { k, s, epsilon }) => once(`${name} ${k} ${s} ${epsilon}`, () => {
  const truthful = { name, labels: k, sensitive: [], mechanism: "uRR", epsilon };
  const question = name === NOTHING
    ? surveyOf(truthful).questions[0] : planned(name, k, s, epsilon);
  return { question, l1: worstLoss(question, "l1"), name };
});

const limitOf = ({ k, s, epsilon, people }) =>
  once(`limit ${k} ${s} ${epsilon}`, () => saddle(s, k - s, epsilon).value) / people;
const error = ({ question }, value, { people }) =>
  Math.sqrt(entryVariance(question, value, SHARE) / people);
const shareOf = ({ question }, { k, s }) => (s < k ? revealedShare(question) : NaN);
const mseOf = ({ question }, { people }) => worstLoss(question, "l2") / people;

function suspectedAfter(one, at) {
  if (one.name === NOTHING) return NaN;
  return believed([at.belief, 1 - at.belief], [1, 1 - shareOf(one, at)])[0];
}

/** What is told of a mechanism: how it is computed, and how it is written. */
const QUANTITIES = {
  users: [({ l1 }, { target }) => usersNeeded(l1, "l1", 2 * target), heads],
  tv: [({ l1 }, { people }) => l1 / Math.sqrt(people) / 2, written],
  mse: [mseOf, written],
  excess: [(one, at) => mseOf(one, at) / limitOf(at), written],
  own: [(one, at) => error(one, 0, at), percent],
  other: [(one, at) => (at.s < at.k ? error(one, at.k - 1, at) : NaN), percent],
  all: [({ question }, { k, s, people }) =>
    (s < k ? Math.sqrt(varianceOfAll(question, s) / people) : NaN), percent],
  revealed: [shareOf, percent],
  suspected: [suspectedAfter, percent],
};

/** A share that is estimated wrongly; nothing is worse than all. */
const wrongly = (tv) => (tv < 0.99 ? percent(tv) : tv < 1 ? "nearly 100%" : "100% or more");

const shortly = (tv) => wrongly(tv).replace("nearly ", "<").replace(" or more", "+");

/** What is drawn for each question: the quantity, its axis, and how its values are written. */
const QUESTIONS = {
  users: ["How many people?", "users", {
    to: Infinity, log: true, write: fewLetters,
    label: "people needed", say: heads,
  }],
  exact: ["How exact?", "tv", {
    to: 1, log: true, write: inPercent,
    label: "share estimated wrongly (▲ above 100%)", say: wrongly,
  }],
  private: ["How private?", "suspected", {
    log: true, write: inPercent,
    label: "believed after the report", say: percent,
    // a tenth of the room is below what was believed before
    range: (prior) => ({ from: prior ** 1.1, to: 1,
      ticks: [prior, ...[0.01, 0.1, 0.2, 0.5, 1].filter((one) => one > prior)] }),
  }],
};
const is = (question) => ({ when: ({ ask }) => ask === question });

/** The sentence for each question, from values by mechanism. */
const SAID = {
  users: ({ best, of }, { target }) => [
    "Ask ", bold(heads(of(best))), ` people with ${best}, the fewest of all; uRAP needs `,
    bold(heads(of("uRAP"))), " and plain RAPPOR ", bold(heads(of("RAPPOR"))), ".",
    ` Without privacy it takes ${heads(of(NOTHING))}, for ${inPercent(target)} estimated wrongly ` +
    "in the worst case.",
  ],
  exact: ({ best, of }, { people }) => [
    `From ${heads(people)} people ${best} estimates `, bold(wrongly(of(best))),
    " wrongly in the worst case, the least of all; uRAP ", bold(wrongly(of("uRAP"))),
    " and plain RAPPOR ", bold(wrongly(of("RAPPOR"))), `. Without privacy it is ` +
    `${wrongly(of(NOTHING))}.`,
  ],
  private: ({ after, most, of }, { belief, k, s }) => [
    `After a protected report a suspicion of ${inPercent(belief)} is `, bold(percent(after)),
    " at most.",
    ...(s === k ? [] : [" That nothing is revealed tells something, too: with " +
      `${most} ${inPercent(belief)} that the answer is sensitive become `,
    bold(percent(of(most))), "."]),
  ],
};

function tables(state, found, limit) {
  const { people, target, belief } = state;
  const cell = (name) => (key) =>
    (Number.isNaN(found[name][key]) ? "–" : QUANTITIES[key][1](found[name][key]));
  const rows = (keys) => [...NAMES, NOTHING].map((name) => [name, ...keys.map(cell(name))]);
  return [
    table(
      `Worst case with ${thousands(people)} people, and people needed for a total variation (TV) ` +
        `of ${inPercent(target)}. Limit of the mean squared error (MSE): ${written(limit)}.`,
      ["", "TV", "MSE", "MSE / limit", "people needed"],
      rows(["tv", "mse", "excess", "users"]),
    ),
    table(
      `Standard error of one answer's share where ${inPercent(SHARE)} give it, at most that of all ` +
        "sensitive answers together, how often an answer that is not sensitive is revealed, and " +
        `what the suspicion that an answer is sensitive, ${inPercent(belief)} before, becomes if ` +
        "the report reveals nothing.",
      ["", "error, sensitive", "error, other", "all sensitive", "revealed", "suspicion"],
      rows(["own", "other", "all", "revealed", "suspected"]),
    ),
  ];
}

const python = ({ k, s, epsilon, people }) => [element("pre", {}, element("code", {},
  `import uldp\n\nsurvey = uldp.Domain(${k}, sensitive=range(${s}))\n` +
  `uldp.compare(survey, epsilon=${epsilon}, n=${people})`))];

part("explorer", {
  probes: Object.keys(QUESTIONS).map((ask) => ({ ask })),
  controls: {
    ask: choice("Question", Object.fromEntries(Object.entries(QUESTIONS).map(
      ([key, [text]]) => [key, text])), "users", { at: "top", style: "live-tabs" }),
    k: whole("Possible answers", 2, MOST_ANSWERS, 400, { at: "folded" }),
    s: stepped("Sensitive", stops, ({ k }) => k, 76,
      (s, { k }) => `${thousands(s)} of ${thousands(k)}`, { ends: ["1", "all"] }),
    epsilon: privacy(1),
    target: slider("Estimated wrongly", TARGETS, 0.05, inPercent,
      { ends: ["0.1%", "50%"], ...is("users") }),
    people: slider("People asked", PEOPLE, 100000, heads, is("exact")),
    belief: slider("Believed before", BELIEFS, 0.1, inPercent, is("private")),
  },
  show(state, { width, draft, still }) {
    const { ask, epsilon, belief } = state;
    const [, drawn, y] = QUESTIONS[ask];
    const valueOf = (key, name, at) => QUANTITIES[key][0](design(name, at), at);
    const of = (name) => valueOf(drawn, name, state);
    const every = state.k < 1000 ? EVERY : EVERY_OF_MANY;
    const grid = draft
      ? EPSILONS.filter((one, i) => i % every === 0 || one === EPSILONS.at(-1)) : EPSILONS;
    const names = ask === "private" ? DRAWN : [...DRAWN, NOTHING];
    const curves = Object.fromEntries(names.map((name) =>
      [name, grid.map((one) => valueOf(drawn, name, { ...state, epsilon: one }))]));
    const all = names.flatMap((name) => curves[name]);
    const decade = (round, one) => 10 ** Math[round](Math.log10(one));
    const axis = still({
      ...y, from: decade("floor", Math.min(...all)),
      to: Math.min(decade("ceil", Math.max(...all)), y.to), ...y.range?.(belief),
    }, ask);
    const panel = new Panel({
      width, height: 340, x: alongEpsilon(), at: epsilon, moves: "epsilon", y: axis,
      names: ["RAPPOR 00.00%"],
    });
    panel.rule({ x: epsilon }, { ...PLAIN, width: 1 });
    const lookAt = (name) => (name === NOTHING ? THIN : lookOf(name));
    for (const name of names) {
      panel.line(grid, curves[name], lookAt(name), name);
      const last = curves[name].findLastIndex((one) => one > axis.to);
      if (last < 0) continue;
      const [above, below] = curves[name].slice(last, last + 2).map(Math.log);
      const share = (above - Math.log(axis.to)) / (above - below);
      const leaves = grid[last] * (grid[last + 1] / grid[last]) ** share;
      panel.dots([leaves], [curves[name][last]], lookAt(name));
    }
    const write = { users: fewLetters, exact: shortly }[ask] ?? percent;
    const said = (name) => (name === NOTHING ? name : `${name} ${write(of(name))}`);
    const told = names.map((name) => [said(name), of(name), lookAt(name)]);
    const after = suspicion(belief, epsilon);
    if (ask === "private") {
      const most = grid.map((one) => suspicion(belief, one));
      panel.line(grid, most, { ...PLAIN, line: "dotted" }, "at most");
      told.push([`at most ${percent(after)}`, after, PLAIN]);
    }
    panel.names(epsilon, told);
    const [best] = [...NAMES].sort((a, b) =>
      valueOf("tv", a, state) - valueOf("tv", b, state));
    const [most] = [...DRAWN].sort((a, b) =>
      valueOf("suspected", b, state) - valueOf("suspected", a, state));
    const found = () => Object.fromEntries([...NAMES, NOTHING].map((name) =>
      [name, Object.fromEntries(Object.keys(QUANTITIES).map((key) =>
        [key, valueOf(key, name, state)]))]));
    return {
      drawing: [panel],
      said: SAID[ask]({ best, most, of, after }, state),
      folds: {
        "All mechanisms in a table": () => tables(state, found(), limitOf(state)),
        "As Python": () => python(state),
      },
      shown: () => ({
        limit: limitOf(state), found: found(), curves, epsilons: EPSILONS, after, best,
      }),
    };
  },
});
