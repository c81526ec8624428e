// The explorer: what each mechanism loses, needs and reveals, for any numbers of answers.

import {
  believed, entryVariance, lossesWithin, revealedShare, saddle, suspicion, usersNeeded, worstMass,
} from "../../client/collector.mjs";
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

/** What is told of a mechanism: in words, how it is written, whether it is a chance. */
const QUANTITIES = {
  users: ["people needed", written],
  tv: ["total variation", written],
  mse: ["mean squared error", written],
  excess: ["mean squared error / limit", written],
  own: ["standard error, a sensitive answer", percent],
  other: ["standard error, another answer", percent],
  revealed: ["share revealed", percent, true],
  suspected: ["suspicion after a protected report", percent, true],
};
const shownAs = (key, value) => (Number.isNaN(value) ? "–" : QUANTITIES[key][1](value));

function forecast(question, limit, { k, s, people, target, share, belief }) {
  const worst = (loss) => lossesWithin(question, worstMass(question, loss), people)[loss];
  const error = (x) => Math.sqrt(entryVariance(question, x, share) / people);
  const mse = worst("l2");
  const revealed = s < k ? revealedShare(question) : NaN;
  const [suspected] = s < k ? believed([belief, 1 - belief], [1, 1 - revealed]) : [NaN];
  return {
    users: usersNeeded(question, "l1", 2 * target),
    tv: worst("l1") / 2,
    mse,
    excess: mse / limit,
    own: error(0),
    other: s < k ? error(k - 1) : NaN,
    revealed,
    suspected,
  };
}

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

/** The forecasts by name, and the limit of the mean squared error. */
function forecasts(state) {
  const { questions, limit: ofOne } = designs(state.k, state.s, state.epsilon);
  const limit = ofOne / state.people;
  const entries = questions.map(([name, question]) => [name, forecast(question, limit, state)]);
  const found = Object.fromEntries(entries);
  Object.assign(found[NOTHING], { revealed: 1, suspected: NaN });
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
    const [label, write, isShare] = QUANTITIES[drawn];
    const { limit, found } = forecasts(state);
    const along = EPSILONS.map((one) => forecasts({ ...state, epsilon: one }));
    const rows = [...NAMES, NOTHING];
    const curve = (name) => along.map((one) => one.found[name][drawn]);
    const curves = Object.fromEntries(rows.map((name) => [name, curve(name)]));
    const level = { mse: along.map((one) => one.limit), excess: along.map(() => 1) }[drawn];
    const all = [...Object.values(curves), level ?? []].flat().filter((value) => value > 0);
    const y = isShare ? { from: 0, to: 1 }
      : { from: Math.min(...all) / 1.3, to: 1.3 * Math.max(...all), log: true };
    const panel = new Panel({
      width, height: 340,
      x: { from: EPSILONS[0], to: EPSILONS.at(-1), log: true, label: "ε" },
      y: { ...y, write, label },
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
      said: `${s} of ${thousands(k)} answers are sensitive, ε = ${epsilon}. For a total ` +
        `variation of ${percent(target)} in the worst case ${best} needs ` +
        `${written(found[best].users)} people, the fewest; without privacy it takes ` +
        `${written(found[NOTHING].users)}. A protected report raises no suspicion of ` +
        `${percent(belief)} above ${percent(after)}: odds grow by a factor of ` +
        `${written(Math.exp(epsilon))} at most.`,
      below: [
        table(
          `Worst case with ${thousands(people)} people, and people needed for a total variation ` +
            `of ${percent(target)}. Limit of the mean squared error: ${written(limit)}.`,
          ["", "total variation", "mean squared error", "/ limit", "people needed"],
          rows.map(row(["tv", "mse", "excess", "users"])),
        ),
        table(
          `Standard error of one answer's share where ${percent(share)} give it, how often an ` +
            "answer that is not sensitive is revealed, and what a suspicion of " +
            `${percent(belief)} that an answer is sensitive becomes if it is not.`,
          ["", "error, sensitive", "error, other", "revealed", "suspicion after"],
          rows.map(row(["own", "other", "revealed", "suspected"])),
        ),
      ],
      shown: { limit, found, curves, epsilons: EPSILONS, after, best },
    };
  },
});
