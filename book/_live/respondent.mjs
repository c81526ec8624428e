// One person's answer: her device's coins, the bytes that it sends, and what they tell.

import { Coins, rehearse } from "../../client/uldp.mjs";
import {
  believed, collect, likelihoods, losses, suspicion, talliesFile,
} from "./model.mjs";
import {
  ACCENT, BEFORE, FAINT, HIDDEN, OTHER, PALE, PLAIN, Panel, bold, button, choice, element,
  filling, inPercent, lookOf, part, percent, privacy, seeded, signed, slider, surveyOf, table,
  thousands, written,
} from "./kit.mjs";

const ANSWERS = ["married", "widowed", "divorced", "separated", "never married"];
const SENSITIVE = ["divorced", "separated"];
const TONES = Object.fromEntries(ANSWERS.map((one) =>
  [one, SENSITIVE.includes(one) ? "sensitive" : "other"]));
const ROWS = ANSWERS.map((_, x) => x);
const MECHANISMS = Object.fromEntries(["uRR", "uRAP", "RR", "RAPPOR"].map((one) => [one, one]));
const QUESTION = "marital status";
const FROM_13 = 100; // the first of the census table's values that is not of a child
const HEADER = [
  ["format", 4], ["version", 2], ["question", 2], ["bytes in a report", 4], ["reports", 4],
  ["survey", 32],
];
const PEAK = { color: "var(--ink)", marker: "upright" };
const PRIORS = [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99];

/** The shares of the answers among those of 13 and older in the census table. */
function sharesOfAnswers() {
  const counts = ANSWERS.map(() => 0);
  CENSUS.counts.forEach((count, value) => {
    if (value >= FROM_13) counts[(value >> 1) % ANSWERS.length] += count;
  });
  const people = counts.reduce((a, b) => a + b, 0);
  return counts.map((count) => count / people);
}

const askedBy = (mechanism, epsilon) =>
  surveyOf({ name: QUESTION, labels: ANSWERS, sensitive: SENSITIVE, mechanism, epsilon });

/** The prior that gives one answer a probability, and the others theirs by their shares. */
function priorOf(answer, before) {
  const shares = sharesOfAnswers();
  const own = ANSWERS.indexOf(answer);
  const rest = 1 - shares[own];
  return shares.map((share, x) => (x === own ? before : ((1 - before) * share) / rest));
}

/** Coins that note what they decide, and the number that decides it. */
class NotedCoins {
  constructor(word) {
    this.word = word;
    this.notes = [];
  }

  decide(p, complement, name) {
    const words = [];
    const coins = new Coins((wanted) => {
      filling(this.word)(wanted);
      words.push(...wanted);
    });
    const made = coins.decide(p, complement);
    const below = made === p <= complement;
    this.notes.push({ name, p, least: Math.min(p, complement), word: words[0], below, made });
    return made;
  }

  choose(n, name) {
    const made = new Coins(filling(this.word)).choose(n);
    this.notes.push({ name, n, made });
    return made;
  }
}

const QUESTIONS = {
  replaced: () => "Name that one, instead of one's own?",
  own: () => "If the answer is sensitive: switch its own bit on?",
  other: (place, of) => `Switch the bit of “${of[place]}” on, as noise?`,
  shown: () => "If the answer is not sensitive: reveal it?",
};

/** The binary digits of a random number, of which the last one shown decides a comparison. */
function coinsOf(word, least) {
  const digits = word.toString(2).padStart(32, "0");
  const bound = Math.floor(least * 2 ** 32).toString(2).padStart(32, "0").slice(-32);
  const differs = [...digits].findIndex((digit, i) => digit !== bound[i]);
  const shown = Math.max(differs, 0) + 1;
  return [...digits.slice(0, Math.max(shown, 4))].map((digit, i) =>
    element("span", { class: `live-coin${i === shown - 1 ? " live-decides" : ""}` }, digit));
}

function stepsOf(notes, values) {
  let bits = 0;
  return notes.map(({ name, n, least, word, below, made }) => {
    if (n) {
      const from = `Draw one of the ${n} answers that chance may name: `;
      return element("li", {}, from, bold(values[made], TONES[values[made]]));
    }
    const question = QUESTIONS[name](name === "other" ? bits++ : 0, values);
    const random = (word / 2 ** 32).toFixed(4);
    const rule = `${below === made ? "yes" : "no"} if below ${least.toFixed(4)}`;
    const compared = ` = ${random} (${rule}): `;
    const number = element("span", { class: "live-coins" }, "0.", ...coinsOf(word, least), "…");
    return element("li", {}, `${question} `, number, compared, bold(made ? "yes" : "no"));
  });
}

const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");

function bytesOf(message) {
  const widths = [...HEADER, ["report", message.length - 52], ["checksum", 4]];
  let start = 0;
  const rows = widths.map(([name, width]) => {
    const bytes = message.slice(start, (start += width));
    const digits = element("code", {}, hex(bytes));
    const shown = name === "report" ? element("b", {}, digits) : digits;
    return element("div", {}, element("dt", {}, name), element("dd", {}, shown));
  });
  return element("dl", { class: "live-bytes" }, ...rows);
}

/** The report itself, in words: which answer it names, or which bits are on. */
function reportInWords(question, report, protectedValues) {
  if (question.mechanism.endsWith("RR")) {
    const answer = ANSWERS[report[0]];
    return [bold(answer, TONES[answer])];
  }
  const on = protectedValues.filter((_, j) => (report[j >> 3] >> (j & 7)) & 1);
  const others = ANSWERS.filter((answer) => !protectedValues.includes(answer));
  const revealed = others[report[report.length - 1] - 1];
  const bits = on.flatMap((one, i) => [i ? ", " : "", bold(one, TONES[one])]);
  const which = on.length ? [on.length > 1 ? "those of " : "that of ", ...bits] : ["none"];
  const sent = ["a row of bits with ", ...which, " on"];
  return others.length && revealed ? [...sent, "; it reveals ", bold(revealed, "other")] : sent;
}

/** What is believed of each answer, before and after. */
function beliefs(prior, after, own, most, width) {
  const panel = new Panel({
    width, height: 38 * ANSWERS.length + 48,
    x: { from: 0, to: 1, ticks: [0, 0.25, 0.5, 0.75, 1], write: inPercent, label: "belief" },
    y: { from: ANSWERS.length - 0.5, to: -0.5, ticks: ROWS,
      write: (x) => (x === own ? `${ANSWERS[x]} (you)` : ANSWERS[x]),
      tone: (x) => `live-${TONES[ANSWERS[x]]} ${x === own ? "live-title" : ""}` },
  });
  ANSWERS.forEach((answer, x) => {
    const { color } = SENSITIVE.includes(answer) ? HIDDEN : OTHER;
    const bar = (share, aside, height, look) => panel.add("rect", {
      x: 0, y: panel.y(x) + aside, width: panel.x(share), height, ...look,
    });
    bar(prior[x], -15, 8, { style: `fill: ${BEFORE.color}` });
    bar(after[x], -6, 19, { style: `fill: ${color}` });
    const isInside = after[x] > 0.6;
    const end = x === own && most < 0.6 ? most : after[x]; // behind the mark of the most
    panel.add("text", {
      x: panel.x(end) + (isInside ? -8 : 8), y: panel.y(x) + 8, class: "live-name",
      "text-anchor": isInside ? "end" : "start",
      style: `fill: var(--${isInside ? "page" : "ink"})`,
    }, `${percent(prior[x])} → ${percent(after[x])}`);
  });
  panel.dots([most], [own], PEAK);
  return panel;
}

part("respondent", {
  probes: ({ mechanism }) =>
    ["divorced", "never married"].map((answer) => ({ mechanism, answer })),
  controls: {
    answer: choice("Your marital status. Blue answers are sensitive.",
      Object.fromEntries(ANSWERS.map((one) => [one, one])), "divorced",
      { at: "top", tones: TONES }),
    epsilon: privacy(1, undefined, { at: "after" }),
    before: slider("Believed before", PRIORS, 0.1, inPercent, { at: "after" }),
    mechanism: choice("Mechanism", MECHANISMS, "uRR", { at: "after" }),
    throws: button("Throw the coins again"),
  },
  show({ answer, mechanism, epsilon, before, throws }, { width }) {
    const survey = askedBy(mechanism, epsilon);
    const [question] = survey.questions;
    const values = question.sensitiveValues.map((x) => ANSWERS[x]);
    const coins = new NotedCoins(seeded(2022, throws));
    const message = rehearse(survey, QUESTION, answer, coins);
    const { reports } = survey.open(message);
    const chances = likelihoods(question, reports);
    const prior = priorOf(answer, before);
    const after = believed(prior, chances);
    const own = ANSWERS.indexOf(answer);
    const isProtected = question.sensitiveValues.includes(own);
    const odds = (after[own] * (1 - before)) / ((1 - after[own]) * before);
    const isProof = ROWS.every((x) => x === own || chances[x] === 0);
    const most = isProtected ? suspicion(before, epsilon) : NaN;
    const steps = stepsOf(coins.notes, values);
    return {
      drawing: [beliefs(prior, after, own, most, width)],
      keys: [["believed before the report; in colour, after it", BEFORE],
        ...(isProtected ? [["at most, after any report", PEAK]] : [])],
      said: [
        "Your phone sends ", ...reportInWords(question, reports, values),
        `. Somebody who gave a chance of ${inPercent(before)} to your being ${answer} now gives `,
        "it ", bold(percent(after[own])),
        ...(isProof ? [": the report proves it."] : [
          isProtected ? `; no report could make it more than ${percent(most)}. ` : ". ",
          element("span", { class: "live-quiet" },
            `The odds have changed by a factor of ${written(odds)}; the largest factor of a ` +
            `${isProtected ? "" : "protected "}report is ${written(Math.exp(epsilon))}.`),
        ]),
      ],
      below: [element("div", {}, bold("What the coins said, as binary digits"),
        element("ol", { class: "live-steps" }, ...steps))],
      folds: {
        [`Look into the envelope: ${message.length} bytes`]: () => [bytesOf(message)],
        "The same report, from each answer": () => [table(
          "What each answer makes of this report.",
          ["", "believed before", "chance of this report", "believed after"],
          ANSWERS.map((one, x) => [one, ...[prior, chances, after].map((all) => percent(all[x]))]),
        )],
      },
      shown: {
        survey: survey.text, message: [...message], notes: coins.notes, prior, chances, after, odds,
      },
    };
  },
});

// --- 10,000 neighbours ---------------------------------------------------------------------------

const SURE = 2; // standard errors, up and down
const REACHES = [1, 2, 4, 8, 12, 20, 40, 60, 100, 200, 400]; // points, the ends of the axis

const points = (error) => (100 * SURE * error).toFixed(1);

/** Let people answer with the client; return what the collector reads, and what he may expect. */
function asked(mechanism, epsilon, people, draw) {
  const survey = askedBy(mechanism, epsilon);
  const shares = sharesOfAnswers();
  const word = seeded(draw, people); // the same people, whatever the mechanism
  const coins = new Coins(filling(seeded(draw, people, mechanism.length)));
  const answers = Array.from({ length: people }, () => {
    let rest = word() / 2 ** 32;
    return ANSWERS.find((_, x) => (rest -= shares[x]) < 0) ?? ANSWERS.at(-1);
  });
  const messages = answers.map((answer) => rehearse(survey, QUESTION, answer, coins));
  const { tallies } = collect(survey, messages);
  const tally = tallies.get(QUESTION);
  const { variances } = losses(survey.questions[0], shares, people);
  return {
    file: talliesFile(survey, tallies),
    estimate: tally.estimate(),
    errors: tally.standardErrors(),
    expected: variances.map(Math.sqrt),
  };
}

let atRest; // what the last drawing at rest has found

/** The same people and coins under other numbers: errors as large as these make them. */
function rescaled(name, epsilon, people) {
  const shares = sharesOfAnswers();
  const { variances } = losses(askedBy(name, epsilon).questions[0], shares, people);
  const expected = variances.map(Math.sqrt);
  const last = atRest[name];
  const by = (x) => (last.expected[x] ? expected[x] / last.expected[x] : 0);
  return {
    estimate: shares.map((share, x) => share + by(x) * (last.estimate[x] - share)),
    errors: last.errors.map((error, x) => by(x) * error),
    expected,
  };
}

part("neighbours", {
  follows: "respondent",
  controls: {
    people: slider("People who answer", [100, 300, 1000, 3000, 10000], 10000, thousands),
    draw: button("Ask others"),
  },
  show({ mechanism, epsilon, people, draw }, { width, draft, still }) {
    const shares = sharesOfAnswers();
    const names = mechanism === "RR" ? ["RR"] : [mechanism, "RR"];
    const found = {};
    for (const name of names) {
      found[name] = draft
        ? rescaled(name, epsilon, people) : asked(name, epsilon, people, draw);
    }
    if (!draft) atRest = found;
    const widest = 100 * SURE * Math.max(...names.flatMap((name) => found[name].expected));
    const reach = REACHES.find((one) => one > 2.2 * widest) ?? REACHES.at(-1);
    const panel = new Panel({
      width, height: 50 + 48 * ANSWERS.length,
      x: still({ from: -reach, to: reach, write: signed, label: "error, in percentage points",
        ticks: [-1, -0.5, 0, 0.5, 1].map((part) => part * reach) }, "x"),
      y: { from: ANSWERS.length - 0.5, to: -0.5, ticks: ROWS, write: (x) => ANSWERS[x],
        tone: (x) => `live-${TONES[ANSWERS[x]]}` },
    });
    names.forEach((name, row) => {
      const { estimate, errors, expected } = found[name];
      const look = { ...lookOf(name), marker: "circle" };
      const y = ROWS.map((x) => x + (names.length === 1 ? 0 : row ? 0.14 : -0.26));
      const off = estimate.map((one, x) => 100 * (one - shares[x]));
      const bars = expected.map((one) => 100 * SURE * one);
      const [low, high] = [-1, 1].map((side) =>
        off.map((one, x) => one + side * 100 * SURE * errors[x]));
      bars.forEach((bar, x) => panel.add("rect", {
        x: panel.x(-bar), y: panel.y(y[x]) + 5, width: panel.x(bar) - panel.x(-bar), height: 5,
        style: `fill: ${PALE.color}`,
      }));
      panel.spans(y, low, high, look).dots(off, y, look);
      panel.add("text", {
        x: panel.x(Math.max(bars[0], high[0])) + 8, y: panel.y(y[0]) + 5, class: "live-name",
        style: `fill: ${look.color}`,
      }, name);
    });
    panel.rule({ x: 0 }, PLAIN);
    const off = (name) => Math.max(...found[name].errors);
    const compared = names.length === 1 ? "" :
      ` With RR it would be ± ${points(off("RR"))}.`;
    return {
      drawing: [panel],
      keys: [["truth", PLAIN], ["estimate ± 2 standard errors", { ...PLAIN, marker: "circle" }],
        ["where 19 of 20 estimates land", { color: PALE.color, marker: "square" }]],
      said: `${thousands(people)} people have answered with the same program. ` +
        `The collector knows each share to ± ${points(off(mechanism))} percentage points ` +
        `or better.${compared}`,
      folds: {
        "In numbers": () => [table(
          "What the collector estimates, with two standard errors up and down.",
          ["", "truth", ...names],
          ANSWERS.map((answer, x) => [answer, percent(shares[x]), ...names.map((name) => {
            const { estimate, errors } = found[name];
            const reach = errors[x] ? ` ± ${points(errors[x])}` : ""; // none if all are alike
            return `${(100 * estimate[x]).toFixed(1)}${reach}%`;
          })]),
        )],
      },
      shown: { shares, found },
    };
  },
});

// --- asked again ---------------------------------------------------------------------------------

const DAYS = [1, 2, 3, 4, 5, 7, 10, 14, 21, 30, 60, 100];
const FIRST = { ...PLAIN, line: "dashed" };
// pixels, which leave the line that ends there free
const BELOW = 22;

part("tomorrow", {
  follows: "respondent",
  controls: {
    days: slider("Asked on so many days", DAYS, 30),
    draw: button("Throw the coins again"),
  },
  show({ answer, mechanism, epsilon, before, days, draw }, { width }) {
    const survey = askedBy(mechanism, epsilon);
    const [question] = survey.questions;
    const own = ANSWERS.indexOf(answer);
    const coins = new Coins(filling(seeded(30, draw)));
    const reports = [];
    const fresh = [priorOf(answer, before)];
    let isProved = false;
    for (let day = 0; day < days; day++) {
      const { reports: report } = survey.open(rehearse(survey, QUESTION, answer, coins));
      reports.push([...report]);
      const chances = likelihoods(question, report);
      isProved ||= chances.filter((chance) => chance > 0).length === 1;
      fresh.push(believed(fresh[day], chances));
    }
    const at = fresh.map((_, day) => day);
    const path = fresh.map((belief) => belief[own]);
    const kept = at.map((day) => path[Math.min(day, 1)]);
    const most = at.map((day) => suspicion(before, day * epsilon));
    const panel = new Panel({
      width, height: 280, at: days,
      x: { from: 0, to: DAYS.at(-1), log: true, shift: 1, ticks: [0, 1, 2, 5, 10, 20, 50, 100],
        label: "day (logarithmic)", say: (day) => `Day ${day}` },
      y: { from: 0, to: 1, write: inPercent, say: percent, ticks: [0, 0.25, 0.5, 0.75, 1],
        label: `believed: ${answer}` },
    });
    const end = isProved ? 1 : Math.min(path[days], 1 - Number.EPSILON);
    panel.rule({ x: days }, { ...PLAIN, width: 1 });
    panel.line(at, most, FAINT, "at most").line(at, path, ACCENT, "new reports");
    panel.line(at, kept, FIRST, "first report again");
    panel.names(days, [[`new ${percent(end)}`, end, ACCENT, BELOW],
      [`first ${percent(kept[days])}`, kept[days], FIRST]]);
    return {
      drawing: [panel],
      keys: [["a new report every day", ACCENT], ["the first report again", FIRST],
        ["no belief in a protected answer goes above", FAINT]],
      said: `On ${days} ${days > 1 ? "days" : "day"} your device has answered with new coins. ` +
        `Who believed with ${inPercent(before)} that you are ${answer} now believes it with ` +
        `${percent(end)}; had your device kept its first report, with ${percent(kept[days])}.`,
      shown: { survey: survey.text, reports, path, kept, most },
    };
  },
});
