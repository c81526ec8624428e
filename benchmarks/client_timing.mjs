// Does the time that the client takes tell whether an answer is sensitive?
//
//   node benchmarks/client_timing.mjs [CALLS] > benchmarks/results/client_timing.csv
//
// Times single calls of `privatize`, a sensitive and a non-sensitive answer in random order, and
// prints for each mechanism the AUC of the duration: the probability that a sensitive answer takes
// longer than another one, ties counted by half. 0.5 tells nothing. The AUCs of processes differ by
// more than their calls explain; so these are shared out among several processes, and the error is
// that of the mean of their AUCs.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

import { parseSurvey } from "../client/uldp.mjs";

const CALLS = Number(process.argv[2] ?? 800_000);
const WARM_UP = 20_000;
const PROCESSES = 20;
const LABELS = Array.from({ length: 40 }, (_, i) => `answer ${10 + i}`);
const SENSITIVE = LABELS.filter((_, i) => i % 4 === 0);
const MECHANISMS = {
  uRR: { mechanism: "uRR" },
  uRAP: { mechanism: "uRAP" },
  "uBD, size 3": { mechanism: "uBD", sizes: [[3, 1]] },
  "uBD, sizes 2 and 3": { mechanism: "uBD", sizes: [[2, 0.5], [3, 0.5]] },
};
const SHARED = { labels: LABELS, sensitive: SENSITIVE, epsilon: 1 };
const questions = Object.entries(MECHANISMS).map(([name, own]) => ({ name, ...SHARED, ...own }));
questions.push({ name: "uRR, secret map", ...SHARED, tags: ["home"], mechanism: "uRR" });
const survey = parseSurvey(JSON.stringify({ uldp: 3, id: "timing", questions }));
const SECRETS = new Map([[LABELS[2], "home"], [LABELS[6], "home"]]);

/**
 * As many other answers as sensitive ones, each the next in the list, so that both kinds have like
 * places in it; with a secret map, the latter are those that are in it.
 */
function answersTo(name) {
  const isPersonal = name === "uRR, secret map";
  const sensitive = isPersonal ? [...SECRETS.keys()] : SENSITIVE;
  const others = LABELS.filter((_, i) => i % 4 === 1);
  const options = isPersonal ? { secrets: SECRETS } : undefined;
  return { groups: [others.slice(0, sensitive.length), sensitive], options };
}

function durations(name, calls) {
  const { groups, options } = answersTo(name);
  const found = [[], []];
  for (let call = 0; call < calls; call++) {
    const group = Number(Math.random() < 0.5);
    const answer = groups[group][Math.floor(Math.random() * groups[group].length)];
    const start = process.hrtime.bigint();
    survey.privatize(name, answer, options);
    found[group].push(Number(process.hrtime.bigint() - start));
  }
  return found;
}

function auc(others, sensitive) {
  const all = [...others.map((time) => [time, 0]), ...sensitive.map((time) => [time, 1])];
  all.sort(([a], [b]) => a - b);
  let rankSum = 0;
  for (let start = 0, end; start < all.length; start = end) {
    let ofSensitive = 0;
    for (end = start; end < all.length && all[end][0] === all[start][0]; end++) {
      ofSensitive += all[end][1];
    }
    rankSum += (ofSensitive * (start + end + 1)) / 2;
  }
  const least = (sensitive.length * (sensitive.length + 1)) / 2;
  return (rankSum - least) / (sensitive.length * others.length);
}

const median = (times) => times.toSorted((a, b) => a - b)[times.length >> 1] / 1000;
const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** The AUC and both medians of each question, in this process. */
function measured(calls) {
  return questions.map(({ name }) => {
    durations(name, WARM_UP);
    const [others, sensitive] = durations(name, calls);
    return [auc(others, sensitive), median(others), median(sensitive)];
  });
}

if (process.argv[3] === "alone") {
  console.log(JSON.stringify(measured(CALLS)));
  process.exit();
}

const [, version] = readFileSync(new URL("../CITATION.cff", import.meta.url), "utf8").match(/^version: (.+)$/m);
const git = (...words) => execFileSync("git", words, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
const commit = git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain", "../client") ? ", changed" : "");
console.log(`# node benchmarks/client_timing.mjs, Node ${process.version}, ${PROCESSES} processes, times in µs, uldp ${version}; commit ${commit}`);
console.log("question,calls,auc,error,median of others,median of sensitive");
const own = [import.meta.filename, String(CALLS / PROCESSES), "alone"];
const runs = Array.from({ length: PROCESSES }, () => JSON.parse(execFileSync(process.execPath, own)));
questions.forEach(({ name }, i) => {
  const [aucs, ...medians] = [0, 1, 2].map((j) => runs.map((run) => run[i][j]));
  const center = mean(aucs);
  const error = Math.sqrt(mean(aucs.map((one) => (one - center) ** 2)) / (PROCESSES - 1));
  const found = [center, error].map((number) => number.toFixed(4));
  console.log([`"${name}"`, CALLS, ...found, ...medians.map((one) => mean(one).toFixed(3))].join(","));
});
