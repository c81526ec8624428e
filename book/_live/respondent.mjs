// One person's answer: her device's coins, the bytes that it sends, and what they tell.

import { Coins, rehearse } from "../../client/uldp.mjs";
import {
  believed, collect, likelihoods, losses, suspicion, talliesFile,
} from "./model.mjs";
import {
  BLUE, EPSILONS, FAINT, ORANGE, PALE, PLAIN, Panel, button, choice, element, filling, inPercent,
  lookOf, part, percent, seeded, slider, surveyOf, table, thousands, written,
} from "./kit.mjs";

const ANSWERS = ["married", "widowed", "divorced", "separated", "never married"];
const SENSITIVE = ["divorced", "separated"];
const QUESTION = "marital status";
const FROM_13 = 100; // the first of the census table's values that is not of a child
const HEADER = [
  ["format", 4], ["version", 2], ["question", 2], ["bytes in a report", 4], ["reports", 4],
  ["survey", 32],
];
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
  replaced: () => "Replace the answer by that one?",
  own: () => "If the answer is sensitive: switch its own bit on?",
  other: (place, of) => `Switch the bit of “${of[place]}” on, as noise?`,
  shown: () => "If the answer is not sensitive: reveal it?",
};

function stepsOf(notes, values) {
  let bits = 0;
  return notes.map(({ name, n, least, word, below, made }) => {
    if (n) {
      const from = `Draw one of the ${n} protected answers: `;
      return element("li", {}, from, element("b", {}, values[made]));
    }
    const digits = word.toString(2).padStart(32, "0").slice(0, 12);
    const number = (word / 2 ** 32).toFixed(4);
    const question = QUESTIONS[name](name === "other" ? bits++ : 0, values);
    const compared = element("span", { class: "live-coin" },
      ` 0.${digits}… = ${number} ${below ? "<" : "≥"} ${least.toFixed(4)}: `);
    return element("li", {}, question, compared, element("b", {}, made ? "yes" : "no"));
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
  if (question.mechanism.endsWith("RR")) return `“${ANSWERS[report[0]]}”`;
  const on = protectedValues.filter((_, j) => (report[j >> 3] >> (j & 7)) & 1);
  const others = ANSWERS.filter((answer) => !protectedValues.includes(answer));
  const revealed = others[report[report.length - 1] - 1];
  const bits = `bits on: ${on.join(", ") || "none"}`;
  return others.length && revealed ? `${bits}; revealed: ${revealed}` : bits;
}

part("respondent", {
  controls: {
    answer: choice("Your answer (* sensitive)", Object.fromEntries(ANSWERS.map((one) =>
      [one, SENSITIVE.includes(one) ? `${one} *` : one])), "divorced"),
    mechanism: choice("Mechanism", Object.fromEntries(["uRR", "uRAP", "RR", "RAPPOR"].map((one) =>
      [one, one])), "uRR"),
    epsilon: slider("ε", EPSILONS, 1),
    before: slider("Believed before: your answer", PRIORS, 0.1, percent),
    throws: button("Throw the coins again"),
  },
  show({ answer, mechanism, epsilon, before, throws }, { width }) {
    const survey = askedBy(mechanism, epsilon);
    const [question] = survey.questions;
    const values = question.sensitiveValues.map((x) => ANSWERS[x]);
    const coins = new NotedCoins(seeded(2019, throws));
    const message = rehearse(survey, QUESTION, answer, coins);
    const { reports } = survey.open(message);
    const chances = likelihoods(question, reports);
    const prior = priorOf(answer, before);
    const after = believed(prior, chances);
    const own = ANSWERS.indexOf(answer);
    const isProtected = question.sensitiveValues.includes(own);
    const rarest = Math.min(...chances.filter((_, x) => x !== own));
    const worst = chances[own] / (chances[own] + rarest);
    const odds = (after[own] * (1 - before)) / ((1 - after[own]) * before);
    const isProof = rarest === 0;
    const sent = `What it sends: ${message.length} bytes, the report is ` +
      reportInWords(question, reports, values);
    const panel = new Panel({
      width, height: 200,
      x: { from: 0, to: 1, write: percent, label: "probability of each answer" },
      y: { from: ANSWERS.length - 0.5, to: -0.5, room: 105, ticks: ANSWERS.map((_, x) => x),
        write: (x) => ANSWERS[x] },
    });
    ANSWERS.forEach((_, x) => {
      const color = x === own ? ORANGE.color : BLUE.color;
      const bar = (share, aside, look) => panel.add("rect", {
        x: 0, y: panel.y(x) + aside, width: panel.x(share), height: 9, style: `fill: ${look}`,
      });
      bar(prior[x], -10, PALE.color);
      bar(after[x], 1, color);
    });
    const steps = stepsOf(coins.notes, values);
    return {
      drawing: [
        element("div", {}, element("b", {}, "Your device"), element("ol", {}, ...steps)),
        element("div", {}, element("b", {}, sent), bytesOf(message)),
        panel.node,
      ],
      keys: [
        ["believed before", { color: PALE.color, marker: "square" }],
        ["after, your answer", { color: ORANGE.color, marker: "square" }],
        ["after, the others", { color: BLUE.color, marker: "square" }],
      ],
      said: `Who believed with ${percent(before)} that you are ${answer} now believes it with ` +
        `${percent(after[own])}` +
        (isProof ? ": the report proves it." : `: the odds have changed by a factor of ` +
        `${written(odds)}, where ${written(Math.exp(epsilon))} is the most` +
        `${isProtected ? "" : " of a report that does not reveal it"}. Who hesitated ` +
        `between your answer and the one from which this report is rarest now believes yours ` +
        `with ${percent(worst)} instead of 50%.`),
      below: [table(
        "The same report, from each answer.",
        ["", "believed before", "chance of this report", "believed after"],
        ANSWERS.map((one, x) => [one, percent(prior[x]), percent(chances[x]), percent(after[x])]),
      )],
      shown: {
        survey: survey.text, message: [...message], notes: coins.notes,
        prior, chances, after, worst, odds,
      },
    };
  },
});

// --- 10,000 neighbours ---------------------------------------------------------------------------

const SURE = 2; // standard errors, up and down

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

part("neighbours", {
  follows: "respondent",
  slow: true,
  controls: {
    people: slider("People who answer", [100, 300, 1000, 3000, 10000], 10000, thousands),
    draw: button("Ask others"),
  },
  show({ mechanism, epsilon, people, draw }, { width }) {
    const shares = sharesOfAnswers();
    const names = mechanism === "RR" ? ["RR"] : [mechanism, "RR"];
    const found = {};
    for (const name of names) found[name] = asked(name, epsilon, people, draw);
    const ends = names.flatMap((name) => {
      const { estimate, errors, expected } = found[name];
      return shares.flatMap((share, x) => [
        estimate[x] - SURE * errors[x], estimate[x] + SURE * errors[x],
        share - SURE * expected[x], share + SURE * expected[x],
      ]);
    });
    const panel = new Panel({
      width, height: 60 + 52 * ANSWERS.length,
      x: { from: Math.min(0, ...ends), to: Math.max(...ends), write: inPercent, label: "share" },
      y: { from: ANSWERS.length - 0.5, to: -0.5, room: 105, ticks: ANSWERS.map((_, x) => x),
        write: (x) => ANSWERS[x] + (SENSITIVE.includes(ANSWERS[x]) ? " *" : "") },
    });
    const at = ANSWERS.map((_, x) => x);
    names.forEach((name, row) => {
      const { estimate, errors, expected } = found[name];
      const y = at.map((x) => x + (names.length === 1 ? 0 : row ? 0.2 : -0.2));
      shares.forEach((share, x) => {
        const [left, right] = [-1, 1].map((side) => panel.x(share + side * SURE * expected[x]));
        const box = { x: left, y: panel.y(y[x]) - 6, width: right - left, height: 12 };
        panel.add("rect", { ...box, style: `fill: ${PALE.color}` });
      });
      const spread = (side) => estimate.map((one, x) => one + side * SURE * errors[x]);
      panel.spans(y, spread(-1), spread(1), lookOf(name));
      panel.dots(estimate, y, lookOf(name));
    });
    shares.forEach((share, x) => panel.line([share, share], [x - 0.42, x + 0.42], PLAIN));
    const off = (name) => Math.max(...found[name].errors);
    const compared = names.length === 1 ? "" :
      ` With RR it would be ± ${points(off("RR"))}.`;
    return {
      drawing: [panel.node],
      keys: [["truth", { ...PLAIN, line: "solid" }], ["where 19 of 20 estimates land", {
        color: PALE.color, marker: "square" }], ...names.map((name) => [name, lookOf(name)])],
      said: `${thousands(people)} people have answered with the same program. ` +
        `The collector knows each share to ± ${points(off(mechanism))} percentage points ` +
        `or better.${compared}`,
      below: [table(
        "What the collector estimates, with two standard errors up and down.",
        ["", "truth", ...names],
        ANSWERS.map((answer, x) => [answer, percent(shares[x]), ...names.map((name) => {
          const { estimate, errors } = found[name];
          return `${(100 * estimate[x]).toFixed(1)} ± ${points(errors[x])}%`;
        })]),
      )],
      shown: { shares, found },
    };
  },
});

// --- asked again ---------------------------------------------------------------------------------

const DAYS = [1, 2, 3, 4, 5, 7, 10, 14, 21, 30, 60, 100];

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
      width, height: 260,
      x: { from: 0, to: days, label: "day", ticks: days < 8 ? at : undefined },
      y: { from: 0, to: 1.02, write: percent, label: `belief: ${answer}`,
        ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] },
    });
    panel.line(at, most, FAINT).line(at, path, ORANGE).line(at, kept, BLUE);
    return {
      drawing: [panel.node],
      keys: [["a new report every day", ORANGE], ["the first report again", BLUE],
        ["no belief in a protected answer goes above", FAINT]],
      said: `On ${days} ${days > 1 ? "days" : "day"} your device has answered with new coins. ` +
        `Who believed with ${percent(before)} that you are ${answer} now believes it with ` +
        `${percent(isProved ? 1 : Math.min(path[days], 1 - Number.EPSILON))}; ` +
        `had your device kept its first report, with ${percent(kept[days])}.`,
      shown: { survey: survey.text, reports, path, kept, most },
    };
  },
});
