import type { Question, Reason, Survey } from "./uldp.mjs";

export interface Collected {
  /** The tally of each question, by its name. */
  readonly tallies: Map<string, Tally>;
  /** How many messages were taken. */
  readonly messages: number;
  /** How many messages were refused, by reason. */
  readonly refused: Partial<Record<Reason, number>>;
  /** How many reports of messages that were taken are left out, as no device can send them. */
  readonly impossible: number;
}

/** Tally the reports of many messages; count what is refused, by reason, and go on. */
export function collect(
  survey: Survey,
  messages: Iterable<unknown>,
  options?: { maxReports?: number },
): Collected;

/** Return the text of a file of tallies, as the format has it. */
export function talliesFile(survey: Survey, tallies: Map<string, Tally>): string;

/** What a collector keeps of the reports to a question. */
export class Tally {
  constructor(question: Question);
  readonly question: Question;
  /** The number of reports. */
  n: number;
  /**
   * The counts of the values; of uBD with several sizes one such array for each size; of uHR those
   * of the columns, then of the values that are not sensitive.
   */
  counts: number[] | number[][];
  /** Count reports, one after the other; return how many no device can send. */
  add(reports: Uint8Array): number;
  /** The empirical estimate of the distribution over all values, bots included. */
  estimate(): number[];
  /** The standard error of each entry of the estimate. */
  standardErrors(): number[];
}

export interface Losses {
  /** The variance of each entry. */
  readonly variances: number[];
  /** E sum of |p̂(x) - p(x)| by the central limit theorem. */
  readonly l1: number;
  /** The same exactly, for this n; not for uBD and uHR. */
  readonly l1Exact?: number;
  /** E sum of (p̂(x) - p(x))². */
  readonly l2: number;
}

/** The losses to expect of the empirical estimate from n users who are drawn from p. */
export function losses(question: Question, p: readonly number[], n: number): Losses;

/** The l2 loss if n users are drawn from so many people, who hold p, without replacement. */
export function l2WithoutReplacement(
  question: Question,
  p: readonly number[],
  n: number,
  people: number,
): number;

/** Return the distribution that is nearest to an estimate. */
export function projected(estimate: readonly number[]): number[];

/** A mechanism by its name in tables, as an entry of a survey file; s is at least 1. */
export function plan(name: string, k: number, s: number, epsilon: number): object;

/** The p(X_S) at which the expected loss of the empirical estimate is largest. */
export function worstMass(question: Question, loss: "l1" | "l2"): number;

/** The losses where p is uniform within X_S and within X_N, with p(X_S) = mass. */
export function lossesWithin(
  question: Question,
  mass: number,
  n: number,
): { variances: [number, number]; l1: number; l2: number };

/** n times the variance of one entry, where p(value) = share and the others are equally likely. */
export function entryVariance(question: Question, value: number, share: number): number;

/** The least number of users whose expected loss is at most the target for every p. */
export function usersNeeded(question: Question, loss: "l1" | "l2", target: number): number;

/** What Table 3 or 4 of the paper prints, in units of √(2/(nπ)) and of 1/n. */
export function printed(
  loss: "l1" | "l2",
  regime: "ε → 0" | "ε = ln k",
  name: string,
  s: number,
  k: number,
  epsilon: number,
): number;

/** How often a report supports a value of X_S, and of X_N; uBD and uHR are refused. */
export function supportOf(question: Question): { own: number; other: number; gain: number }[];

/** The probability that somebody with a non-sensitive value reveals it. */
export function revealedShare(question: Question): number;

/** The θ of uRAP with the least worst-case l2 loss. */
export function bestTheta(s: number, nu: number, epsilon: number): number;

/** The fundamental limit, its p(X_S), and the sizes of the block design that attains it. */
export function saddle(
  s: number,
  nu: number,
  epsilon: number,
): { value: number; mass: number; sizes: [number, number][] };

/** The probability of one report, given each value; nothing if no device can send it. */
export function likelihoods(question: Question, report: Uint8Array): number[] | undefined;

/** What is believed after a report that has these probabilities. */
export function believed(prior: readonly number[], chances: readonly number[]): number[];

/** A probability after its odds were multiplied by e^level. */
export function suspicion(before: number, level: number): number;

/** Draw the tally of everybody's report, from how many hold each value; uBD and uHR are refused. */
export function simulate(
  question: Question,
  holders: readonly number[],
  word: () => number,
): Tally;

/** Draw how many of n people hold each value. */
export function sample(n: number, weights: readonly number[], word: () => number): number[];
