// What the tests of the client ask of it: a task with its input, as JSON, in; the answer, as JSON, out.

import { readFileSync, writeFileSync } from "node:fs";
import { Coins, parseSurvey, rehearse, sha256 } from "../client/uldp.mjs";
import { totalOf } from "../client/promise.mjs";
import {
  collect, entryVariance, l2WithoutReplacement, likelihoods, losses, lossesWithin, plan, printed, projected,
  revealedShare, saddle, sample, simulate, supportOf, talliesFile, usersNeeded, worstLoss, worstMass,
} from "../book/_live/model.mjs";

const HEADER_BYTES = 48;
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytesOf = (text) => new Uint8Array(Buffer.from(text, "hex"));
const labelsOf = ({ labels }) =>
  Array.isArray(labels) ? labels : Array.from({ length: labels }, (_, label) => label);
const reportOf = (message) => message.subarray(HEADER_BYTES, message.length - 4);

/** The error that something is refused with, or nothing. */
function refusal(action) {
  try {
    action();
    return null;
  } catch (error) {
    const { name, message, stack, reason = null } = error;
    return { name, message, stack, reason };
  }
}

/** Coins that decide as they are told, and then for the first possibility; they note everything. */
class ToldCoins {
  constructor(told) {
    this.told = told;
    this.made = [];
  }

  decide(p, complement, name) {
    return this.#make({ name, chances: [complement, p] }) === 1;
  }

  choose(n, name) {
    return this.#make({ name, chances: null, n });
  }

  #make(choice) {
    const place = this.made.length;
    const first = choice.chances ? choice.chances.findIndex((chance) => chance > 0) : 0;
    const made = place < this.told.length ? this.told[place] : first;
    this.made.push({ ...choice, made });
    return made;
  }
}

/** The next combination of choices, in the order of an odometer, or nothing after the last. */
function following(made) {
  for (let place = made.length - 1; place >= 0; place--) {
    const { chances, n = 2, made: chosen } = made[place];
    for (let next = chosen + 1; next < n; next++) {
      if (!chances || chances[next] > 0) return [...made.slice(0, place).map((m) => m.made), next];
    }
  }
  return null;
}

/** All choices that a device can make for an answer, each with its report. */
function leaves(survey, question, answer, options) {
  const found = [];
  let told = [];
  while (told) {
    const coins = new ToldCoins(told);
    const report = reportOf(rehearse(survey, question.name, answer, coins, options));
    const steps = coins.made.map(({ name, n }) => (n ? `${name} of ${n}` : name));
    const path = coins.made.map(({ chances, n, made }) => (n ? [n] : [chances[1], chances[0], made]));
    found.push({ report: hex(report), steps: steps.join(", "), path });
    told = following(coins.made);
  }
  return found;
}

/** A storage like that of a browser; one that is told so is full, drops or changes what comes. */
class Storage {
  texts = new Map();
  trouble = null;

  getItem(key) {
    if (this.trouble === "late") return Promise.resolve(null);
    return this.texts.get(key) ?? null;
  }

  setItem(key, text) {
    if (this.trouble === "full") throw new Error("full");
    if (this.trouble !== "deaf") this.texts.set(key, this.trouble === "short" ? "" : text);
  }
}

/** What a device sends if it is asked so often: "silent", or "failed" if it cannot store. */
function answered(survey, question, events, coins) {
  const storage = new Storage();
  return events.map(([round, answer, trouble = null]) => {
    storage.trouble = trouble;
    try {
      const options = { round, storage };
      const message = rehearse(survey, question, answer, coins, options);
      return trouble === "lost" ? trouble : hex(reportOf(message));
    } catch (error) {
      return error.name === "SurveyError" ? "silent" : "failed";
    }
  });
}

function facts(text) {
  const survey = parseSurvey(text);
  const questions = survey.questions.map((one) => ({
    name: one.name,
    values: one.size,
    report_bytes: one.reportBytes,
    sensitive_values: one.sensitiveValues,
    decisions: one.decisions,
  }));
  return { digest: survey.digest, id: survey.id, repeat: survey.repeat ?? null, questions };
}

const TASKS = {
  repeated: ({ text, question, courses }) => {
    const survey = parseSurvey(text);
    return courses.map((events) => {
      const found = [];
      let told = [];
      while (told) {
        const coins = new ToldCoins(told);
        const report = answered(survey, question, events, coins).join(" ");
        const path = coins.made.map(({ chances, n, made }) =>
          n ? [n] : [chances[1], chances[0], made],
        );
        found.push({ report, path });
        told = following(coins.made);
      }
      return found;
    });
  },

  visits: ({ question, visits }) => {
    const storage = new Storage();
    return visits.map(([text, answer]) => {
      try {
        const survey = parseSurvey(text);
        survey.takesPart({ storage });
        return hex(survey.privatize(question, answer, { storage }));
      } catch (error) {
        return error.message;
      }
    });
  },

  assigned: ({ text, question, label, tag }) => {
    const secrets = {};
    secrets[label] = tag;
    return refusal(() => parseSurvey(text).privatize(question, label, { secrets }));
  },

  seconds: ({ texts, answer, times }) =>
    texts.map((text) => {
      const taken = Array.from({ length: times }, () => {
        const survey = parseSurvey(text);
        const start = process.cpuUsage();
        for (const { name } of survey.questions) survey.privatize(name, answer);
        const { user, system } = process.cpuUsage(start);
        return (user + system) / 1e6;
      });
      return Math.min(...taken);
    }),

  panel: ({ text, question, answers }) => {
    const survey = parseSurvey(text);
    const rounds = Array.from({ length: survey.repeat.rounds }, (_, i) => i + 1);
    return answers.map((answer) => {
      const storage = new Storage();
      return rounds.map((round) => {
        const options = { round, storage };
        if (!survey.takesPart(options)) return null;
        return hex(survey.privatize(question, answer, options));
      });
    });
  },

  stored: ({ text, question, answers, told }) => {
    const survey = parseSurvey(text);
    return answers.map((answer) => {
      const storage = new Storage();
      rehearse(survey, question, answer, new ToldCoins(told), { round: 1, storage });
      return [...storage.texts];
    });
  },

  refusedRounds: ({ text, question, answer, cases }) => {
    const survey = parseSurvey(text);
    return cases.map(([options, trouble = null, before = null]) => {
      const storage = new Storage();
      if (before !== null) storage.setItem(`uldp ${survey.id}`, before);
      storage.trouble = trouble;
      const isTime = Object.hasOwn(options ?? {}, "round") && !("storage" in options);
      const all = isTime ? { ...options, storage } : options;
      const other = survey.repeat ? refusal(() => survey.takesPart(all ?? undefined)) : null;
      return [refusal(() => survey.privatize(question, answer, all ?? undefined)), other];
    });
  },

  projectedPoint: (size) => {
    const estimate = new Array(size).fill(0);
    estimate[size - 1] = 2;
    return projected(estimate).map((entry, x) => [x, entry]).filter(([, entry]) => entry);
  },

  digests: (texts) => texts.map((text) => hex(sha256(bytesOf(text)))),

  facts: (texts) => texts.map(facts),

  factsOrNot: (texts) =>
    texts.map((text) => {
      try {
        return facts(text);
      } catch (error) {
        if (error.name === "SurveyError") return null;
        throw error;
      }
    }),

  bounded: ({ text, options }) =>
    options.map((one) => refusal(() => parseSurvey(text, one)) ?? parseSurvey(text, one).epsilon),

  factors: (texts) => texts.map((text) => parseSurvey(text).questions.map(({ factors }) => factors)),

  messages: ({ text, reports }) => {
    const survey = parseSurvey(text);
    return reports.map(([question, some]) => hex(survey.message(question, bytesOf(some))));
  },

  collected: ({ text, messages, maxReports, asked = {} }) => {
    const survey = parseSurvey(text);
    const read = collect(survey, messages.map(bytesOf), { maxReports });
    const questions = [...read.tallies.values()].map((tally) => ({
      n: tally.n,
      counts: tally.counts,
      estimate: tally.n ? tally.estimate() : null,
      projected: tally.n ? projected(tally.estimate()) : null,
      standard_errors: tally.n > 1 ? tally.standardErrors() : null,
      losses: (asked[tally.question.name] ?? []).map(({ p, n }) => losses(tally.question, p, n)),
    }));
    const file = talliesFile(survey, read.tallies);
    return { questions, accepted: read.messages, refused: read.refused, file };
  },

  plans: (asked) =>
    asked.map(([name, k, s, epsilon]) => {
      const file = { uldp: 2, id: "plan", questions: [plan(name, k, s, epsilon)] };
      const [question] = parseSurvey(JSON.stringify(file)).questions;
      const worst = ["l1", "l2"].map((loss) => {
        const mass = worstMass(question, loss);
        return { mass, ...lossesWithin(question, mass, 7) };
      });
      const { value, mass } = saddle(s, k - s, epsilon);
      const { sizes } = file.questions[0];
      const support = ["uBD", "uHR"].includes(question.mechanism) ? null : supportOf(question);
      const revealed = revealedShare(question);
      const users = ["l1", "l2"].map((loss) => usersNeeded(worstLoss(question, loss), loss, 0.1));
      const entries = [0, k - 1].map((x) =>
        [0, 0.3, 1].map((share) => entryVariance(question, x, share)),
      );
      return { worst, limit: { value, mass }, sizes, support, revealed, users, entries };
    }),

  withoutReplacement: ({ text, p, n, people }) =>
    parseSurvey(text).questions.map((one) => l2WithoutReplacement(one, p, n, people)),

  printed: (asked) => asked.map((entry) => printed(...entry)),

  likelihoods: (texts) =>
    texts.map(({ text, reports }) => {
      const survey = parseSurvey(text);
      return reports.map(([name, rows]) =>
        rows.map((row) => likelihoods(survey.question(name), bytesOf(row)) ?? null),
      );
    }),

  drawn: (all) => all.map(({ n, p, first }) => sample(n, [p, 1 - p], () => first)[0]),
  simulated: ({ text, holders, times }) => {
    const survey = parseSurvey(text);
    let at = 1;
    const word = () => {
      at = (at + 0x9e3779b9) | 0; // SplitMix32
      let z = Math.imul(at ^ (at >>> 16), 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      return (z ^ (z >>> 15)) >>> 0;
    };
    return survey.questions.map((one) =>
      Array.from({ length: times }, () => simulate(one, holders, word).counts),
    );
  },

  notByCounts: ({ text, holders, p }) =>
    parseSurvey(text).questions.map((one) => ({
      refused: [() => supportOf(one), () => simulate(one, holders, () => 0)].map(refusal),
      losses: losses(one, p, 7),
    })),

  reasons: ({ text, messages, maxReports }) => {
    const survey = parseSurvey(text);
    return messages.map((one) => {
      const { refused, impossible } = collect(survey, [bytesOf(one)], { maxReports });
      const words = "with a report that the mechanism cannot produce";
      return { ...refused, ...(impossible && { [words]: impossible }) };
    });
  },

  laws: (texts) =>
    texts.map(({ text, names }) => {
      const survey = parseSurvey(text);
      return names.map((name) => {
        const question = survey.question(name);
        const [first] = labelsOf(question);
        const own = labelsOf(question).map((label) => leaves(survey, question, label));
        const secret = question.tags.map((tag) =>
          leaves(survey, question, first, { secrets: new Map([[first, tag]]) }),
        );
        return [...own, ...secret];
      });
    }),

  lawsOf: ({ text, question, cases }) => {
    const survey = parseSurvey(text);
    return cases.map(([answer, entries]) =>
      leaves(survey, survey.question(question), answer, { secrets: new Map(entries) }),
    );
  },

  coins: (scripts) =>
    scripts.map(({ p, complement, n, words }) => {
      let used = 0;
      const coins = new Coins((wanted) => {
        wanted.set(words.slice(used, used + wanted.length));
        used += wanted.length;
      });
      const made = n ? coins.choose(n) : coins.decide(p, complement);
      return [made, coins.choose(2 ** 32)];
    }),

  withoutRandomness: ({ text, question, answer }) => {
    const survey = parseSurvey(text);
    const value = () => {
      throw new Error("no random bits");
    };
    Object.defineProperty(globalThis.crypto, "getRandomValues", { value });
    return refusal(() => survey.privatize(question, answer));
  },

  wiped: (draws) => {
    let kept = [];
    const coins = new Coins((words) => (kept = words.fill(7)));
    for (let draw = 0; draw < draws; draw++) coins.choose(2);
    return [...kept];
  },

  totals: (texts) => texts.map((text) => totalOf(parseSurvey(text))),

  thawed: (text) => {
    const found = [];
    const visit = (value, path) => {
      if (Object(value) !== value) return;
      if (!Object.isFrozen(value)) found.push(path);
      for (const [key, inner] of Object.entries(value)) visit(inner, `${path}.${key}`);
    };
    visit(parseSurvey(text), "survey");
    return found;
  },

  ignorable: () =>
    Array.from({ length: 0x110000 }, (_, code) => code).filter(
      (code) => /\p{Default_Ignorable_Code_Point}/u.test(String.fromCodePoint(code)),
    ),

  refusedSurveys: (texts) => texts.map((text) => refusal(() => parseSurvey(text))),

  refusedBytes: (texts) => texts.map((text) => refusal(() => parseSurvey(bytesOf(text)))),

  refusedAnswers: ({ text, answers }) => {
    const survey = parseSurvey(text);
    return answers.map(([question, answer, options, entries]) => {
      const secrets = entries ? { secrets: new Map(entries) } : undefined;
      return refusal(() => survey.privatize(question, answer, options ?? secrets));
    });
  },

  sent: ({ text, answers, path }) => {
    const survey = parseSurvey(text);
    const messages = answers.map(([question, answer, secrets]) =>
      survey.privatize(question, answer, secrets ? { secrets: new Map(secrets) } : undefined),
    );
    writeFileSync(path, Buffer.concat(messages));
    return messages.length;
  },

  histogram: ({ text, question, users }) => {
    const survey = parseSurvey(text);
    const asked = survey.question(question);
    const bits = 8 * asked.reportBytes;
    return labelsOf(asked).map((label) => {
      const counts = new Array(2 ** bits).fill(0);
      for (let user = 0; user < users; user++) {
        const message = survey.privatize(question, label);
        counts[message[HEADER_BYTES] + (bits > 8 ? 256 * message[HEADER_BYTES + 1] : 0)] += 1;
      }
      const seen = counts.map((n, report) => [report, n]).filter(([, n]) => n);
      return Object.fromEntries(
        seen.map(([report, n]) => [hex([report, report >> 8].slice(0, bits / 8)), n]),
      );
    });
  },
};

const { task, input } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(TASKS[task](input)));
