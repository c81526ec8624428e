import type { Question, Reason, Survey } from "./uldp.mjs";

export interface Collected {
  /** The tally of each question, by its name. */
  readonly tallies: Map<string, Tally>;
  /** How many messages were taken. */
  readonly messages: number;
  /**
   * How many messages were refused, by reason; and, under "with a report that the mechanism cannot
   * produce", how many reports of messages that were taken are left out.
   */
  readonly refused: Partial<Record<Reason, number>>;
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

/** Return the distribution that is nearest to an estimate. */
export function projected(estimate: readonly number[]): number[];
