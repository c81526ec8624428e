// The front page: one kind of mechanism for all answers, and for those that need it, on the census.

import { losses, sample, simulate } from "./model.mjs";
import {
  HIDDEN, OTHER, Panel, choice, columns, element, part, percent, privacy, seeded, signed, surveyOf,
  thousands, written,
} from "./kit.mjs";

const PAIRS = { RAPPOR: "uRAP", RR: "uRR" };
const NAMES = ["RR", "uRR", "RAPPOR", "uRAP"];
const LABELS = 400;
const EVERYBODY = 299285;
const EDGE = 2; // points, up and down
const RANKS = { 1: "most frequent", 10: "10th", 100: "100th", 400: "400th" };

const others = CENSUS.counts.map((_, x) => x).filter((x) => !CENSUS.sensitive.includes(x));
const inTurn = [...CENSUS.sensitive, ...others]; // which answers are sensitive first
const truth = CENSUS.counts.map((count) => count / EVERYBODY);
const byRank = truth.map((_, x) => x).sort((a, b) => truth[b] - truth[a]);
const ranks = byRank.map((_, i) => i + 1);

/** What a census value says: age, weeks worked, marital status and sex. */
function labelOf(value) {
  let rest = value;
  return [...CENSUS.factors].reverse().map((level) => {
    const text = level[rest % level.length];
    rest = Math.floor(rest / level.length);
    return text;
  }).reverse().join(", ");
}

const asked = (mechanism, epsilon, sensitive) =>
  surveyOf({ name: "all", labels: LABELS, sensitive, mechanism, epsilon }).questions[0];

let holders;

/** Everybody's reports, as the collector reads them. */
function estimated(name, question) {
  holders ??= sample(EVERYBODY, truth, seeded(EVERYBODY, 0));
  return simulate(question, holders, seeded(EVERYBODY, 0, NAMES.indexOf(name))).estimate();
}

function panelOf(name, title, { estimate, typical }, isProtected, width) {
  const off = estimate.map((share, x) => 100 * (share - truth[x]));
  const panel = new Panel({
    title, note: `error of each share in points, typically ± ${Number((100 * typical).toPrecision(2))}`,
    width, height: 268,
    x: { from: 0.9, to: 1.1 * LABELS, log: true, ticks: Object.keys(RANKS).map(Number),
      write: (rank) => RANKS[rank], label: "answers, by how frequent they are" },
    y: { from: -EDGE, to: EDGE, ticks: [-2, -1, 0, 1, 2], write: signed },
  });
  for (const [isSensitive, look] of [[false, OTHER], [true, HIDDEN]]) {
    const some = ranks.filter((rank) => isProtected.has(byRank[rank - 1]) === isSensitive);
    panel.dots(some, some.map((rank) => off[byRank[rank - 1]]), { ...look, opacity: 0.75 });
  }
  const place = (i) => [panel.x(i + 1), panel.y(off[byRank[i]])];
  const away = (i, px, py) => Math.hypot(place(i)[0] - px, place(i)[1] - py);
  panel.reading = {
    name: title, count: LABELS, isPoints: true,
    nearest: (px, py) => byRank.reduce((a, _, i) => (away(i, px, py) < away(a, px, py) ? i : a), 0),
    places: (i) => [[...place(i), isProtected.has(byRank[i]) ? HIDDEN.color : OTHER.color]],
    text: (i) => `${labelOf(byRank[i])}${isProtected.has(byRank[i]) ? " (sensitive)" : ""}: ` +
      `in truth ${percent(truth[byRank[i]])}, with ${name} ` +
      `${written(Math.abs(off[byRank[i]]))} points too ${off[byRank[i]] < 0 ? "low" : "high"}.`,
  };
  return panel;
}

const times = (ratio) => {
  if (ratio < 0.1) return written(ratio);
  return ratio < 9.95 ? ratio.toFixed(1) : thousands(Math.round(ratio));
};

part("front", {
  saidFirst: true,
  probes: ["1", "400"].map((sensitive) => ({ pair: "RR", sensitive })),
  controls: {
    pair: choice("Compare like with like", Object.fromEntries(Object.entries(PAIRS).map((pair) =>
      [pair[0], pair.join(" → ")])), "RAPPOR"),
    epsilon: privacy(1),
    sensitive: choice("Sensitive answers", { 1: "1", 76: "76", 400: "all 400" }, "76"),
  },
  show({ pair, epsilon, sensitive }, { width }) {
    const protectedValues = inTurn.slice(0, Number(sensitive)).sort((a, b) => a - b);
    const isProtected = new Set(protectedValues);
    const drawn = [pair, PAIRS[pair]];
    const found = {};
    for (const name of NAMES) {
      const question = asked(name, epsilon, protectedValues);
      const { l2 } = losses(question, truth, EVERYBODY);
      found[name] = { mse: l2, typical: Math.sqrt(l2 / LABELS) };
      if (drawn.includes(name)) found[name].estimate = estimated(name, question);
    }
    const isBeyond = drawn.some((name) =>
      found[name].estimate.some((share, x) => 100 * Math.abs(share - truth[x]) > EDGE));
    const ratio = found[pair].mse / found[PAIRS[pair]].mse;
    const [alone] = inTurn;
    const [all, few] = ["RR", "uRR"].map((name) =>
      losses(asked(name, epsilon, [alone]), truth, EVERYBODY).l2);
    const most = all / few;
    const size = columns(width, 2);
    const isAll = sensitive === "400";
    const state = `${PAIRS[pair]} against ${pair}, census table, 400 answers of which ` +
      `${isAll ? "all" : sensitive} ${sensitive === "1" ? "is" : "are"} sensitive, ε = ${epsilon}.`;
    const kinds = found.RAPPOR.mse / found.uRR.mse;
    const both = ["plain RAPPOR", "uRR"];
    const [wasteful, thrifty] = kinds < 1 ? both.reverse() : both;
    return {
      drawing: [
        panelOf(pair, `Every answer blurred: ${pair}`, found[pair], isProtected, size.width),
        panelOf(PAIRS[pair], `Only what needs it: ${PAIRS[pair]}`, found[PAIRS[pair]], isProtected,
          size.width),
      ],
      keys: [["a sensitive answer", { ...HIDDEN, marker: "circle" }],
        ["any other answer", { ...OTHER, marker: "circle" }],
        ...(isBeyond ? [["beyond the axis", { color: "var(--muted)", marker: "up" }]] : [])],
      said: [
        element("span", { class: "live-number" }, `${times(ratio)}×`),
        element("span", {}, isAll
          ? " as many people: where every answer is sensitive, both are the same mechanism."
          : ` fewer people with ${PAIRS[pair]}, which protects only the sensitive answers, than ` +
            `with ${pair}, which protects all: for the same error over all answers.`,
        element("span", { class: "live-quiet" }, state)),
      ],
      below: [element("p", { class: "live-remark" },
        `The kind of mechanism matters as well: here ${wasteful} needs ` +
        `${times(Math.max(kinds, 1 / kinds))} times as many people as ${thrifty}. So each is set ` +
        "against its own kind. The fewer answers are sensitive, the more is gained: with one of " +
        `400, RR needs ${times(most)} times as many people as uRR.`)],
      shown: { holders, protectedValues, found, ratio, kinds, most },
    };
  },
});
