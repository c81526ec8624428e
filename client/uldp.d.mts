/** A label of a survey file: a string, or a whole number. */
export type Label = string | number;

/** A probability and its complement. */
export type Pair = readonly [p: number, complement: number];

/**
 * A user's secret map: her sensitive labels, each with its tag. It never leaves the device. An
 * object is refused: it loses a label `__proto__`, and its keys are no numbers.
 */
export type Secrets = ReadonlyMap<Label, string>;

export interface Options {
  /** For a question with tags: an answer that is in the map is replaced by the bot of its tag. */
  secrets?: Secrets;
  /** For a survey that is repeated, where it must be there: which time it is asked, from 1. */
  round?: number;
  /**
   * Where reports are kept. For a survey that is repeated it must be there; with one that is not,
   * there is one report to each question, and another file of the same `id` is refused.
   */
  storage?: DeviceStorage;
}

/** Where a device keeps texts for as long as a survey is asked, such as `localStorage`. */
export interface DeviceStorage {
  getItem(key: string): string | null;
  setItem(key: string, text: string): void;
}

/** How a survey is repeated; a user's level for a question is `epsilon` times `reports`. */
export interface Repeat {
  /** Whether a device sends its first report in all rounds, or new ones in some that it draws. */
  readonly keep: "first" | "nothing";
  /** How often it is asked. */
  readonly rounds: number;
  /** How many reports a device draws in all; 1 if it keeps the first. */
  readonly reports: number;
}

export type Mechanism = "RR" | "RAPPOR" | "uRR" | "uRAP" | "uBD" | "uHR";

/** The words for why a message is refused; `open` knows all but the last two. */
export type Reason =
  | "not bytes"
  | "not of this format"
  | "shorter than it says"
  | "of another version"
  | "damaged on the way"
  | "of another survey"
  | "of no question of the survey"
  | "without a report"
  | "with more reports than are allowed"
  | "with a report that the mechanism cannot produce";

/** RR, uRR and uHR; empty if no value is sensitive. */
export interface ResponseLaw {
  readonly replaced?: Pair;
}

/** RAPPOR and uRAP; without the choices that no value needs. */
export interface BitLaw {
  readonly own?: Pair;
  readonly other?: Pair;
  readonly shown?: Pair;
}

/** One size of uBD. */
export interface BlockLaw {
  readonly size: number;
  readonly weight: Pair;
  readonly held: Pair;
  readonly hidden: Pair;
}

/** A question of a survey; it cannot be changed. */
export interface Question {
  /** Its place in the file, from 0. */
  readonly number: number;
  readonly name: string;
  /** What people are asked; the name, if the file does not say it. */
  readonly text: string;
  /** The labels in their order, or a number k, which stands for 0 .. k - 1. */
  readonly labels: readonly Label[] | number;
  /** The factors whose cells are the labels, if the values are those of a product. */
  readonly factors?: readonly { readonly name: string; readonly labels: readonly Label[] }[];
  /** The tags of the personalized mechanism; empty if there are none. */
  readonly tags: readonly string[];
  /** The number of values, the bots of the tags included. */
  readonly size: number;
  /** The numbers of the sensitive values, bots included, in increasing order. */
  readonly sensitiveValues: readonly number[];
  readonly mechanism: Mechanism;
  readonly epsilon: number;
  /** The probabilities of a device's decisions; of uBD one law for each size. */
  readonly decisions: ResponseLaw | BitLaw | readonly BlockLaw[];
  /** The columns of uHR, a power of 2; 0 if no value is sensitive, and for other mechanisms. */
  readonly columns: number;
  /** The rows of a tally: of uBD its sizes, otherwise 1. */
  readonly rows: number;
  /** The length of a report. */
  readonly reportBytes: number;
}

/** A survey; it cannot be changed. */
export interface Survey {
  readonly id: string;
  /** The exact text of the file. */
  readonly text: string;
  /** The SHA-256 digest of the text in UTF-8, in hexadecimal digits. */
  readonly digest: string;
  readonly questions: readonly Question[];
  /** How it is repeated, if it is. */
  readonly repeat?: Repeat;
  /** What all that a device sends can tell: the sum of the levels, times the reports to each. */
  readonly epsilon: number;

  /**
   * Whether a device answers in a round; it is silent in the others, whatever the answer is. True
   * if the survey is not repeated. With a storage, the file is known by its `id` from now on.
   *
   * @throws {SurveyError} As `privatize`.
   */
  takesPart(options?: Options): boolean;

  /**
   * Perturb an answer and return the message to be sent.
   *
   * With a storage the report is stored before it is returned; where one is stored for this round,
   * or a first one is kept, that is returned, whatever the answer has become.
   *
   * @param question The name of the question.
   * @param answer A label as in the file, of the same type.
   * @throws {SurveyError} If there is no such question or label, or the secret map does not fit; if
   *   the device takes no part in the round, or the storage keeps nothing, gives back what it was
   *   not given, or knows another file of this id. The error names what is wrong, and neither the
   *   answer nor anything of the map.
   */
  privatize(question: string, answer: Label, options?: Options): Uint8Array;

  /** Return the question of a name. */
  question(name: string): Question;

  /** Return a message of reports that were made before, one after the other. */
  message(question: string, reports: Uint8Array): Uint8Array;

  /**
   * Return what a message holds; whether the mechanism can produce the reports is not looked at.
   *
   * @throws {MessageError} If it is not an intact message of this survey.
   */
  open(message: unknown): { question: Question; count: number; reports: Uint8Array };
}

/** What is wrong with a survey, an answer or a secret map. It names the place, never the value. */
export class SurveyError extends Error {}

/** Why a message is not taken. */
export class MessageError extends Error {
  constructor(reason: Reason);
  readonly reason: Reason;
}

/**
 * Read a survey file.
 *
 * @param file Its exact text, or its bytes.
 * @param options The largest `epsilon` of a survey that is taken; by default any is.
 * @throws {SurveyError} If the text is no survey file. The error names the place.
 */
export function parseSurvey(
  file: string | ArrayBuffer | ArrayBufferView,
  options?: { mostEpsilon?: number },
): Survey;

/** The source of decisions: `Coins`, or a stand-in for them in a test. */
export interface RandomChoices {
  /** Return true with probability p. The last argument names the decision as the format does. */
  decide(p: number, complement: number, name?: string): boolean;
  /** Return one of 0 .. n - 1, all equally likely. */
  choose(n: number, name?: string): number;
}

/** Exact random choices, from a function that fills an array with random bits. */
export class Coins implements RandomChoices {
  constructor(fill: (words: Uint32Array) => unknown);
  decide(p: number, complement: number, name?: string): boolean;
  choose(n: number, name?: string): number;
}

/**
 * Make a message as `survey.privatize` does, from given random choices.
 *
 * For tests, and for pages that show a mechanism at work; never for an answer that somebody gives.
 */
export function rehearse(
  survey: Survey,
  question: string,
  answer: Label,
  coins: RandomChoices,
  options?: Options,
): Uint8Array;

/** Return the SHA-256 digest of bytes. */
export function sha256(bytes: Uint8Array): Uint8Array;
