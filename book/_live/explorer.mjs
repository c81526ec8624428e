// The explorer: what each mechanism loses, needs and reveals, for any numbers of answers.

import {
  believed, entryVariance, lossesWithin, revealedShare, saddle, suspicion, usersNeeded, worstMass,
} from "./model.mjs";
import {
  EPSILONS, PALE, PEOPLE, PLAIN, Panel, choice, lookOf, part, percent, planned, slider,
  surveyOf, table, thousands, whole, written,
} from "./kit.mjs";

const NAMES = Object.keys(LOOKS);
const NOTHING = "no privacy";
const THIN = { ...PLAIN, width: 1.2 };
const MOST_ANSWERS = 5000;
const TARGETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
const SHARES = [0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5];
const BELIEFS = [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99];

/** A number of people: to the last one, or with three digits from ten millions on. */
const heads = (number) => (number < 1e7 ? thousands(number) :
  number.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 }));

const worst = (question, loss, { people }) =>
  lossesWithin(question, worstMass(question, loss), people)[loss];
const error = (question, value, { share, people }) =>
  Math.sqrt(entryVariance(question, value, share) / people);
const shareOf = (question, { k, s }) => (s < k ? revealedShare(question) : NaN);

function suspectedAfter(question, at) {
  if (!question.sensitiveValues.length) return NaN;
  return believed([at.belief, 1 - at.belief], [1, 1 - shareOf(question, at)])[0];
}

/** What is told of a mechanism: in words, how it is written, what it is, whether it is a chance. */
const QUANTITIES = {
  users: ["people needed", heads, (one, { target }) => usersNeeded(one, "l1", 2 * target)],
  tv: ["total variation (TV)", written, (one, at) => worst(one, "l1", at) / 2],
  mse: ["mean squared error (MSE)", written, (one, at) => worst(one, "l2", at)],
  excess: ["MSE / limit", written, (one, at) => worst(one, "l2", at) / at.limit],
  own: ["standard error, a sensitive answer", percent, (one, at) => error(one, 0, at)],
  other: ["standard error, another answer", percent, (one, at) =>
    at.s < at.k ? error(one, at.k - 1, at) : NaN],
  revealed: ["share revealed", percent, shareOf, true],
  suspected: ["suspicion, if nothing is revealed", percent, suspectedAfter, true],
};
const shownAs = (key, value) => (Number.isNaN(value) ? "–" : QUANTITIES[key][1](value));

const MOST_KEPT = 500;
const kept = new Map();

/** What the other controls do not change: the mechanisms, the last without privacy; the limit. */
function designs(k, s, epsilon) {
  const key = `${k} ${s} ${epsilon}`;
  if (!kept.has(key)) {
    if (kept.size > MOST_KEPT) kept.clear();
    const truthful = { name: NOTHING, labels: k, sensitive: [], mechanism: "uRR", epsilon };
    const questions = NAMES.map((name) => [name, planned(name, k, s, epsilon)]);
    questions.push([NOTHING, surveyOf(truthful).questions[0]]);
    kept.set(key, { questions, limit: saddle(s, k - s, epsilon).value });
  }
  return kept.get(key);
}

/** Some quantities by name, and the limit of the mean squared error. */
function forecasts(keys, state) {
  const { questions, limit: ofOne } = designs(state.k, state.s, state.epsilon);
  const limit = ofOne / state.people;
  const forecast = (one) =>
    Object.fromEntries(keys.map((key) => [key, QUANTITIES[key][2](one, { ...state, limit })]));
  const found = Object.fromEntries(questions.map(([name, one]) => [name, forecast(one)]));
  return { limit, found };
}

part("explorer", {
  slow: true,
  controls: {
    k: whole("Possible answers, k", 2, MOST_ANSWERS, 400),
    s: whole("Sensitive among them, s", 1, ({ k }) => k, 76),
    epsilon: slider("ε", EPSILONS, 1),
    people: slider("People, n", PEOPLE, 100000, thousands),
    target: slider("Wanted: total variation", TARGETS, 0.05, percent),
    share: slider("Share of one answer", SHARES, 0.01, percent),
    belief: slider("Believed before", BELIEFS, 0.1, percent),
    drawn: choice("Drawn over ε", Object.fromEntries(Object.entries(QUANTITIES).map(
      ([key, [text]]) => [key, text])), "users"),
  },
  show(state, { width }) {
    const { k, s, epsilon, people, target, share, belief, drawn } = state;
    const [label, write, , isShare] = QUANTITIES[drawn];
    const { limit, found } = forecasts(Object.keys(QUANTITIES), state);
    const along = EPSILONS.map((one) => forecasts([drawn], { ...state, epsilon: one }));
    const rows = [...NAMES, NOTHING];
    const curve = (name) => along.map((one) => one.found[name][drawn]);
    const curves = Object.fromEntries(rows.map((name) => [name, curve(name)]));
    const level = { mse: along.map((one) => one.limit), excess: along.map(() => 1) }[drawn];
    const all = [...Object.values(curves), level ?? []].flat().filter((value) => value > 0);
    const [least, most] = all.length ? [Math.min(...all), Math.max(...all)] : [0.001, 1];
    const y = isShare ? { from: 0, to: 1 } : { from: least / 1.3, to: 1.3 * most, log: true };
    const panel = new Panel({
      width, height: 340,
      x: { from: EPSILONS[0], to: EPSILONS.at(-1), log: true, label: "ε" },
      y: { ...y, write, label, room: 82 },
    });
    if (level) panel.line(EPSILONS, level, PALE);
    panel.rule({ x: epsilon });
    if (!isShare) panel.line(EPSILONS, curves[NOTHING], THIN);
    for (const name of NAMES) panel.line(EPSILONS, curves[name], lookOf(name), 5);
    const row = (keys) => (name) => [name, ...keys.map((key) => shownAs(key, found[name][key]))];
    const [best] = [...NAMES].sort((a, b) => found[a].users - found[b].users);
    const after = suspicion(belief, epsilon);
    return {
      drawing: [panel.node],
      keys: [
        ...NAMES.map((name) => [name, lookOf(name)]),
        ...(isShare ? [] : [[NOTHING, THIN]]),
        ...(level ? [["limit", PALE]] : []),
      ],
      said: `${thousands(s)} of ${thousands(k)} answers are sensitive, ε = ${epsilon}. For a ` +
        `total variation of ${percent(target)} in the worst case ${best} needs ` +
        `${heads(found[best].users)} people, the fewest; without privacy it takes ` +
        `${heads(found[NOTHING].users)}. A protected report raises no suspicion of ` +
        `${percent(belief)} above ${percent(after)}: odds grow by a factor of ` +
        `${written(Math.exp(epsilon))} at most.`,
      below: [
        table(
          `Worst case with ${thousands(people)} people, and people needed for a TV of ` +
            `${percent(target)}. Limit of the MSE: ${written(limit)}.`,
          ["", "TV", "MSE", "MSE / limit", "people needed"],
          rows.map(row(["tv", "mse", "excess", "users"])),
        ),
        table(
          `Standard error of one answer's share where ${percent(share)} give it, how often an ` +
            "answer that is not sensitive is revealed, and what the suspicion that an answer is " +
            `sensitive, ${percent(belief)} before, becomes if the report reveals nothing.`,
          ["", "error, sensitive", "error, other", "revealed", "suspicion"],
          rows.map(row(["own", "other", "revealed", "suspected"])),
        ),
      ],
      shown: { limit, found, curves, epsilons: EPSILONS, after, best },
    };
  },
});
