// The device's side of a survey: a survey file and an answer in, the bytes of a message out.
//
//   const survey = parseSurvey(text);                  // the exact text of the file, or its bytes
//   const message = survey.privatize("mood", "good");   // a Uint8Array to be sent
//
// The format and the laws of the reports are described in the book of the Python package uldp,
// under "The survey file and its messages". No dependencies; for browsers and Node.

const VERSION = 2; // of a message
const MAGIC = [0x75, 0x6c, 0x64, 0x70]; // "uldp"
const [HEADER_BYTES, CHECKSUM_BYTES] = [48, 4];
const [MOST_QUESTIONS, MOST_COUNTS, MOST_ROUNDS, WORD] = [2 ** 16, 2 ** 17, 1000, 2 ** 32];
const [WORDS_AT_ONCE, SURE_WORDS, MOST_BYTES] = [16, 2, 2 ** 21];
const QUESTION_KEYS = ["name", "labels", "sensitive", "mechanism", "epsilon"];
const MECHANISMS = ["RR", "RAPPOR", "uRR", "uRAP", "uBD", "uHR"];
const WHOLE = ["uldp", "labels", "sensitive", "sizes", "rounds", "reports"];
const ONCE = { keep: "first", rounds: 1, reports: 1 };
const NOT_IN_TEXT =
  /[\p{Cc}\p{Cs}\p{NChar}\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffc\u{e0000}-\u{e007f}]/u;
const INVISIBLE = new RegExp(
  "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065\u2800\u3164" +
    "\ufe00-\ufe0f\uffa0\ufff0-\ufff8\u{13430}-\u{1343f}\u{16fe4}\u{1bca0}-\u{1bca3}\u{1d159}" +
    "\u{1d173}-\u{1d17a}\u{e0080}-\u{e0fff}]",
  "gu",
);
const LENGTH = /^.{1,500}$/su; // in code points
const QUOTATION_MARKS =
  /[\u02ba\u02ee\u201c-\u201f\u275d\u275e\u301d-\u301f]|['\u2018-\u201b]{2}/;
const JSON_TOKENS = /"(?:[^"\\]+|\\.)*"|[^\s"[\]{}:,]+|[[\]{}:,]/g;

/** What is wrong with a survey, an answer or a secret map. It names the place, never the value. */
export class SurveyError extends Error {
  name = "SurveyError";
}

/** Why a message is not taken: `reason` is one of the words of the format. */
export class MessageError extends Error {
  name = "MessageError";
  constructor(reason) {
    super(`message ${reason}`);
    this.reason = reason;
  }
}

function refuseIf(isWrong, reason) {
  if (isWrong) throw new MessageError(reason);
}

/** Read a survey file; any other text is refused by a SurveyError that names the place. */
export function parseSurvey(file, options = {}) {
  checkKeys(options, "options", [], ["mostEpsilon"]);
  const { mostEpsilon = Infinity } = options;
  return new Survey(readJson(file), checkNumber(mostEpsilon, "mostEpsilon", 0, Infinity));
}

/**
 * Make a message as `survey.privatize` does, from given random choices: for tests, and for pages
 * that show a mechanism at work, never for an answer that somebody gives. `coins` are `Coins`, or
 * an object with its two methods.
 */
export function rehearse(survey, question, answer, coins, options) {
  const asked = survey.question(question);
  if (!isStored(survey, options)) {
    return survey.message(question, asked.perturb(answer, options, coins));
  }
  const { kept, slot, others, store } = recall(survey, options, coins);
  const report = asked.perturb(answer, others, coins);
  if (!kept.rounds.includes(slot)) throw refusal("round", "one in which this device takes part");
  const key = `${slot} ${asked.number}`;
  if (!Object.hasOwn(kept.reports, key)) {
    kept.reports[key] = [...report];
    store(kept);
  }
  const stored = checkArray(kept.reports[key], "storage: a report", report.length, report.length);
  for (const byte of stored) checkNumber(byte, "storage: a byte", 0, 255, "a whole number");
  return survey.message(question, Uint8Array.from(stored));
}

/** Whether reports are kept: of a survey that is repeated, and wherever there is a storage. */
const isStored = (survey, options) => Boolean(survey.repeat) || options?.storage !== undefined;

/**
 * What a device keeps of a survey: the rounds that it has drawn, and its report to each question in
 * each of them, which may be the answer. Nothing is drawn twice, or used before it is stored; and
 * where something else is stored, nothing is drawn anew. One that is not repeated has one round.
 */
function recall(survey, options, coins) {
  if (kindOf(options) !== "Object") throw refusal("options", "an object");
  const times = survey.repeat ? ["round"] : [];
  checkKeys(options, "options", [...times, "storage"], ["secrets"]);
  const { round, storage, ...others } = options;
  const { keep, rounds, reports } = survey.repeat ?? ONCE;
  if (survey.repeat) checkNumber(round, "round", 1, rounds, "a whole number");
  const key = `uldp ${survey.id}`;
  const store = (content) => {
    const text = JSON.stringify(content);
    storage.setItem(key, text);
    if (storage.getItem(key) !== text) throw refusal("storage", "one that keeps what it is given");
    return content;
  };
  const begin = () => {
    const slots = Array.from({ length: keep === "first" ? 1 : rounds }, (_, i) => i + 1);
    let left = reports;
    const drawn = slots.filter((t) => coins.choose(slots.length + 1 - t, "round") < left && left--);
    return store({ survey: survey.digest, rounds: drawn, reports: {} });
  };
  const text = storage.getItem(key);
  const kept = (text ?? null) === null ? begin() : readJson(text, "storage").content;
  if (kept?.survey !== survey.digest) throw refusal("survey", "the one first met under its id");
  checkArray(kept.rounds, "storage: its rounds", reports, reports);
  if (kindOf(kept.reports) !== "Object") throw refusal("storage: its reports", "an object");
  return { kept, slot: keep === "first" ? 1 : round, others, store };
}

/** Exact random choices, from a function that fills a Uint32Array with random bits. */
export class Coins {
  #fill;
  #words = new Uint32Array(WORDS_AT_ONCE);
  #next = WORDS_AT_ONCE;

  constructor(fill) {
    this.#fill = fill;
  }

  /**
   * Decide with probability p, exact to the last binary digit of the smaller one of p and 1 - p.
   *
   * A random number between 0 and 1 is compared with that one, 32 digits at a time: always the
   * first 64, so that the time does not tell the outcome, and more for as long as all are equal.
   */
  decide(p, complement) {
    let [rest, isBelow, isTied] = [Math.min(p, complement), false, true];
    for (let used = 0; used < SURE_WORDS || (isTied && rest > 0); used++) {
      const digits = Math.floor(rest * WORD);
      rest = rest * WORD - digits;
      const word = this.#word();
      isBelow ||= isTied && word < digits;
      isTied &&= word === digits;
    }
    return isBelow === p <= complement;
  }

  /** Choose one of 0 .. n - 1, all equally likely; n is at most 2^32. */
  choose(n) {
    let word = this.#word();
    while (word >= WORD - (WORD % n)) word = this.#word();
    return word % n;
  }

  #word() {
    if (this.#next === WORDS_AT_ONCE) {
      this.#fill(this.#words);
      this.#next = 0;
    }
    const word = this.#words[this.#next];
    this.#words[this.#next++] = 0;
    return word;
  }
}

const systemCoins = () => new Coins((words) => crypto.getRandomValues(words)); // wiped by Coins

class Survey {
  #questions;
  #digest;

  constructor({ text, content }, mostEpsilon) {
    if (kindOf(content) !== "Object") throw refusal("the file", "an object");
    if (![2, 3].includes(content.uldp)) throw refusal("uldp", "the format, 2 or 3");
    checkKeys(content, "the file", ["uldp", "id", "questions"], ["repeat"]);
    this.text = text;
    this.id = checkText(content.id, "id");
    if (content.repeat !== undefined) this.repeat = checkRepeat(content.repeat);
    const entries = checkArray(content.questions, "questions", 1, MOST_QUESTIONS);
    this.questions = entries.map((entry, number) => new Question(entry, number));
    this.#questions = new Map(this.questions.map((question) => [question.name, question]));
    checkDifferent(this.questions.map(({ name }) => name), "the names of questions");
    checkDifferent(this.questions.flatMap(({ text }) => text ?? []), "the texts of questions");
    const counts = this.questions.reduce((sum, { size, rows }) => sum + size * rows, 0);
    if (counts > MOST_COUNTS) throw refusal("questions", `of ${MOST_COUNTS} counts in all`);
    const { reports } = this.repeat ?? ONCE;
    this.epsilon = reports * this.questions.reduce((sum, { epsilon }) => sum + epsilon, 0);
    if (!(this.epsilon <= mostEpsilon)) throw refusal("epsilon", `${mostEpsilon} in all, at most`);
    this.#digest = sha256(new TextEncoder().encode(text));
    this.digest = [...this.#digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    freeze(this);
  }

  privatize(question, answer, options) {
    return rehearse(this, question, answer, systemCoins(), options);
  }

  takesPart(options) {
    if (!isStored(this, options)) return true;
    const { kept, slot } = recall(this, options, systemCoins());
    return kept.rounds.includes(slot);
  }

  question(name) {
    if (!this.#questions.has(name)) throw refusal("question", "the name of one of the survey");
    return this.#questions.get(name);
  }

  message(question, reports) {
    const { number, reportBytes } = this.question(question);
    const count = reports.length / reportBytes;
    if (!Number.isInteger(count)) throw refusal("reports", `of ${reportBytes} bytes each`);
    const end = HEADER_BYTES + reports.length;
    const message = new Uint8Array(end + CHECKSUM_BYTES);
    const view = new DataView(message.buffer);
    message.set(MAGIC);
    const head = [VERSION + number * 2 ** 16, reportBytes, count];
    head.forEach((word, i) => view.setUint32(4 + 4 * i, word, true));
    message.set(this.#digest, 16);
    message.set(reports, HEADER_BYTES);
    view.setUint32(end, crc32(message.subarray(0, end)), true);
    return message;
  }

  open(message) {
    const bytes = asBytes(message);
    refuseIf(!bytes, "not bytes");
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    refuseIf(MAGIC.some((byte, i) => i < bytes.length && bytes[i] !== byte), "not of this format");
    refuseIf(bytes.length < 8, "shorter than it says");
    refuseIf(view.getUint16(4, true) !== VERSION, "of another version");
    refuseIf(bytes.length < HEADER_BYTES + CHECKSUM_BYTES, "shorter than it says");
    const [width, count] = [view.getUint32(8, true), view.getUint32(12, true)];
    const end = HEADER_BYTES + width * count;
    refuseIf(bytes.length < end + CHECKSUM_BYTES, "shorter than it says");
    const isWhole = bytes.length === end + CHECKSUM_BYTES;
    const isIntact = isWhole && view.getUint32(end, true) === crc32(bytes.subarray(0, end));
    refuseIf(!isIntact, "damaged on the way");
    refuseIf(this.#digest.some((byte, i) => bytes[16 + i] !== byte), "of another survey");
    const question = this.questions[view.getUint16(6, true)];
    refuseIf(question?.reportBytes !== width, "of no question of the survey");
    refuseIf(count === 0, "without a report");
    return { question, count, reports: bytes.slice(HEADER_BYTES, end) };
  }
}

class Question {
  #numberOfLabel; // of each label; nothing if the labels are 0 .. k - 1
  #sensitive; // the sensitive values in order, then larger numbers; nothing if all are sensitive
  #s;

  constructor(entry, number) {
    const where = `questions[${number}]`;
    if (kindOf(entry) !== "Object") throw refusal(where, "an object");
    const { mechanism, epsilon, theta, sizes, factors } = entry;
    if (!MECHANISMS.includes(mechanism)) {
      throw refusal(`${where}.mechanism`, `one of ${MECHANISMS.join(", ")}`);
    }
    const [isResponse, isDesign] = [mechanism.endsWith("RR"), mechanism === "uBD"];
    const isHadamard = mechanism === "uHR";
    const optional = ["text", "tags", "factors", ...(mechanism.includes("RAP") ? ["theta"] : [])];
    checkKeys(entry, where, isDesign ? [...QUESTION_KEYS, "sizes"] : QUESTION_KEYS, optional);
    this.number = number;
    this.name = checkText(entry.name, `${where}.name`);
    this.text = checkText(Object.hasOwn(entry, "text") ? entry.text : this.name, `${where}.text`);
    this.mechanism = mechanism;
    this.epsilon = checkNumber(epsilon, `${where}.epsilon`, 1e-9, 500);
    this.#setLabels(entry.labels, entry.tags, where);
    if ("factors" in entry) this.factors = checkFactors(factors, this.labels, `${where}.factors`);
    this.#setSensitive(entry.sensitive, `${where}.sensitive`);
    const [s, nu] = [this.#s, this.size - this.#s];
    if (isDesign) checkSizes(sizes, s, `${where}.sizes`);
    else if (theta !== undefined) checkNumber(theta, `${where}.theta`, 1e-80, 1 - 2 ** -53);
    if (isResponse || isHadamard) this.decisions = responseLaw(isHadamard && s ? 2 : s, epsilon);
    else this.decisions = isDesign ? blockLaws(sizes, s, epsilon) : bitLaws(theta, s, nu, epsilon);
    this.rows = isDesign ? Math.max(sizes.length, 1) : 1;
    const setBytes = Math.ceil(s / 8) + (nu && bytesToHold(nu));
    this.columns = isHadamard && s ? 2 ** (32 - Math.clz32(s)) : 0; // the least power above s
    const outputs = isHadamard ? this.columns + nu : this.size;
    this.reportBytes = isResponse || isHadamard ? bytesToHold(outputs - 1) : setBytes;
  }

  get sensitiveValues() {
    return Array.from({ length: this.#s }, (_, place) => this.#sensitive?.[place] ?? place);
  }

  perturb(answer, options = {}, coins) {
    const value = this.#heldValue(answer, options);
    if (this.mechanism.endsWith("RR")) return this.#respond(value, coins);
    if (this.mechanism === "uHR") return this.#drawColumn(value, coins);
    return this.mechanism === "uBD" ? this.#drawBlock(value, coins) : this.#drawBits(value, coins);
  }

  // What follows takes the same steps whatever the value: it makes all random choices that any
  // value needs, and picks from them by multiplying with 0 and 1.

  #respond(value, coins) {
    const report = new Uint8Array(this.reportBytes);
    const place = this.#s && coins.choose(this.#s, "value");
    const drawn = this.#sensitive?.[place] ?? place;
    const isReplaced = Number(this.#s && coins.decide(...this.decisions.replaced, "replaced"));
    return writeNumber(report, 0, isReplaced * drawn + (1 - isReplaced) * value);
  }

  #drawColumn(value, coins) {
    const { isSensitive, place } = this.#classOf(value);
    const { columns, reportBytes } = this;
    const drawn = columns && coins.choose(columns, "column");
    const isTold = 1 - Number(columns && coins.decide(...this.decisions.replaced, "replaced"));
    const row = isSensitive * (place + 1);
    const column = drawn ^ (isTold * parityOf(row & drawn) * (row & -row));
    const isShown = isTold * (1 - isSensitive);
    const report = isShown * (columns + place) + (1 - isShown) * column;
    return writeNumber(new Uint8Array(reportBytes), 0, report);
  }

  #drawBits(value, coins) {
    const { isSensitive, place } = this.#classOf(value);
    const { own, other, shown } = this.decisions;
    const report = new Uint8Array(this.reportBytes);
    for (let j = 0; j < this.#s; j++) {
      report[j >> 3] |= Number(coins.decide(...other, "other")) << (j & 7);
    }
    if (own) {
      const [byte, bit] = [isSensitive * (place >> 3), isSensitive << (place & 7)];
      const isOn = Number(coins.decide(...own, "own"));
      report[byte] = (report[byte] & ~bit) | (isOn * bit);
    }
    if (shown) {
      const isShown = Number(coins.decide(...shown, "shown"));
      writeNumber(report, Math.ceil(this.#s / 8), (1 - isSensitive) * isShown * (place + 1));
    }
    return report;
  }

  #drawBlock(value, coins) {
    const { isSensitive, place } = this.#classOf(value);
    const report = new Uint8Array(this.reportBytes);
    const s = this.#s;
    let isSet = 0;
    if (s) {
      const { size, held, hidden } = this.#drawSize(coins);
      const isHeld = Number(coins.decide(...held, "held"));
      isSet = isSensitive | Number(coins.decide(...hidden, "hidden"));
      // The first of a random order are the set. The one behind them is a spare: it, or the own
      // value, goes in if the set holds the own value and must not, or does not and must.
      const order = Array.from({ length: s }, (_, i) => i);
      for (let i = 0; i < Math.min(size + 1, s); i++) {
        const j = i + coins.choose(s - i, "member");
        [order[i], order[j]] = [order[j], order[i]];
      }
      let [at, isIn] = [size - 1, 0];
      for (let i = 0; i < size; i++) {
        const isOwn = isSensitive & Number(order[i] === place);
        at += isOwn * (i - at);
        isIn |= isOwn;
      }
      const [comes, goes] = [isSensitive & isHeld & ~isIn, (1 - isHeld) & isIn];
      order[at] += comes * (place - order[at]) + goes * (order[Math.min(size, s - 1)] - order[at]);
      for (let i = 0; i < size; i++) report[order[i] >> 3] |= isSet << (order[i] & 7);
    }
    return writeNumber(report, Math.ceil(s / 8), (1 - isSet) * (place + 1));
  }

  #drawSize(coins) {
    let [drawn, after] = [null, 0];
    for (const law of [...this.decisions].reverse()) {
      const total = law.weight[0] + after;
      if (coins.decide(law.weight[0] / total, after / total, "size")) drawn = law;
      after = total;
    }
    return drawn;
  }

  #classOf(value) {
    if (!this.#sensitive) return { isSensitive: 1, place: value };
    let below = 0;
    for (let step = this.#sensitive.length >> 1; step; step >>= 1) {
      below += step * Number(this.#sensitive[below + step - 1] < value);
    }
    const isSensitive = Number(this.#sensitive[below] === value);
    return { isSensitive, place: isSensitive * below + (1 - isSensitive) * (value - below) };
  }

  #heldValue(answer, options) {
    if (kindOf(options) !== "Object") throw refusal("options", "an object");
    checkKeys(options, "options", [], ["secrets"]);
    const own = this.#find(answer);
    if (own < 0) throw refusal("answer", "one of the labels of the question");
    const { secrets = new Map() } = options;
    if (kindOf(secrets) !== "Map") throw refusal("secrets", "a Map");
    let value = own;
    for (const [label, tag] of secrets) {
      const number = this.#find(label);
      if (number < 0) throw refusal("secrets", "a map from labels of the question");
      const place = [tag, "others"].map((one) => this.tags.indexOf(one)).find((j) => j >= 0);
      if (place === undefined || typeof tag !== "string") {
        throw refusal("secrets", "a map to tags of the question");
      }
      value += Number(number === own) * (this.size - this.tags.length + place - value);
    }
    return value;
  }

  #find(label) {
    if (this.#numberOfLabel) return this.#numberOfLabel.get(label) ?? -1;
    return Number.isInteger(label) && label >= 0 && label < this.labels ? label + 0 : -1;
  }

  #setLabels(labels, tags, where) {
    if (Array.isArray(labels)) {
      checkLabels(labels, `${where}.labels`, 1);
      this.#numberOfLabel = new Map(labels.map((label, number) => [label, number]));
    } else checkNumber(labels, `${where}.labels`, 1, MOST_COUNTS, "a whole number");
    if (tags !== undefined) checkArray(tags, `${where}.tags`, 1);
    this.labels = labels;
    this.tags = (tags ?? []).map((tag) => checkText(tag, `${where}.tags`));
    checkDifferent(this.tags, `${where}.tags`);
    const bots = this.tags.map((tag) => `\u22a5${tag}`);
    checkDifferent([...(this.#numberOfLabel?.keys() ?? []), ...bots], `${where}.tags`);
    this.size = (labels.length ?? labels) + this.tags.length;
  }

  #setSensitive(sensitive, where) {
    const values = checkLabels(sensitive, where, 0).map((label) => this.#find(label));
    if (values.some((value) => value < 0)) throw refusal(where, "labels of the question");
    this.tags.forEach((_, j) => values.push(this.size - this.tags.length + j));
    const protectsAll = ["RR", "RAPPOR"].includes(this.mechanism);
    this.#s = protectsAll ? this.size : values.length;
    if (protectsAll) return;
    this.#sensitive = new Uint32Array(2 ** Math.ceil(Math.log2(this.#s + 1))).fill(WORD - 1);
    this.#sensitive.set(Uint32Array.from(values).sort());
  }
}

// --- the probabilities, each with its complement -------------------------------------------------
function responseLaw(s, epsilon) {
  const [shrink, growth] = [Math.exp(-epsilon), -Math.expm1(-epsilon)];
  const total = growth + s * shrink;
  return s ? { replaced: [(s * shrink) / total, growth / total] } : {};
}

function bitLaws(theta, s, nu, epsilon) {
  const [shrink, growth] = [Math.exp(-epsilon), -Math.expm1(-epsilon)];
  const odds = theta === undefined ? Math.exp(epsilon / 2) : theta / (1 - theta);
  const others = odds * shrink;
  const own = [odds / (1 + odds), 1 / (1 + odds)];
  const other = [others / (1 + others), 1 / (1 + others)];
  const shown = [own[0] * growth, own[1] + own[0] * shrink];
  return { ...(s && { own, other }), ...(nu && { shown }) };
}

function blockLaws(sizes, s, epsilon) {
  const [shrink, growth] = [Math.exp(-epsilon), -Math.expm1(-epsilon)];
  const total = sizes.reduce((sum, [, weight]) => sum + weight, 0);
  return sizes.map(([size, weight]) => {
    const scale = size + (s - size) * shrink;
    const held = [size / scale, ((s - size) * shrink) / scale];
    const hidden = [(s * shrink) / scale, (size * growth) / scale];
    return { size, weight: [weight / total, 1 - weight / total], held, hidden };
  });
}

// --- what a file may hold ------------------------------------------------------------------------
const refusal = (where, what) => new SurveyError(`${where} must be ${what}`);
const isObject = (value) => Object(value) === value;
const freeze = (value) => isObject(value) && Object.values(Object.freeze(value)).forEach(freeze);
const kindOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

function readJson(file, where = "the file") {
  let text, content, isShort;
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    text = typeof file === "string" ? file : decoder.decode(asBytes(file));
    isShort = text.length <= MOST_BYTES && new TextEncoder().encode(text).length <= MOST_BYTES;
    content = isShort && JSON.parse(text);
  } catch {
    throw refusal(where, "JSON, as a string or as bytes in UTF-8");
  }
  if (!isShort) throw refusal(where, `of at most ${MOST_BYTES} bytes`);
  checkSpelling(text, where);
  return { text, content };
}

/** Refuse JSON that is not what it seems: a key that stands twice, a whole number with a point. */
function checkSpelling(text, where) {
  const around = [];
  let inner = { key: "", keys: null, place: 0 }; // the innermost open brackets: the last key, all keys, the place
  let before = "";
  for (const [token] of text.matchAll(JSON_TOKENS)) {
    if (token === "{" || token === "[") {
      around.push(inner);
      inner = { key: inner.key, keys: token === "{" && new Set(), place: 0 };
    } else if (token === "}" || token === "]") inner = around.pop();
    else if (token === ",") inner.place += 1;
    else if (token === ":") {
      inner.key = JSON.parse(before);
      if (inner.keys.has(inner.key)) throw refusal(where, "JSON in which no key is repeated");
      inner.keys.add(inner.key);
    } else if (/^-?\d.*[.e]/i.test(token)) {
      const isWeight = inner.key === "sizes" && inner.place === 1;
      if (!isWeight && WHOLE.includes(inner.key)) {
        throw refusal(where, "JSON whose whole numbers have no point and no exponent");
      }
    }
    before = token;
  }
}

function checkKeys(entry, where, required, optional) {
  const missing = required.find((key) => !Object.hasOwn(entry, key));
  if (missing) throw refusal(where, `an object with the key ${missing}`);
  const known = [...required, ...optional];
  if (Object.keys(entry).some((key) => !known.includes(key))) {
    throw refusal(where, `an object with no key but ${known.join(", ")}`);
  }
}

function checkRepeat(repeat) {
  const { keep, rounds, reports = 1 } = repeat ?? {};
  if (!["first", "nothing"].includes(keep)) {
    throw refusal("repeat", "an object that keeps first or nothing");
  }
  checkKeys(repeat, "repeat", ["keep", "rounds", ...(keep === "first" ? [] : ["reports"])], []);
  checkNumber(rounds, "repeat.rounds", 1, MOST_ROUNDS, "a whole number");
  checkNumber(reports, "repeat.reports", 1, rounds, "a whole number");
  return { keep, rounds, reports };
}

function checkArray(value, where, least, most = Infinity) {
  if (Array.isArray(value) && value.length >= least && value.length <= most) return value;
  throw refusal(where, `an array of ${least} to ${most} entries`);
}

function checkText(value, where) {
  if (typeof value === "string" && LENGTH.test(value) && !NOT_IN_TEXT.test(value)) return value;
  const rest = "without control characters, marks of direction and noncharacters";
  throw refusal(where, `a string of 1 to 500 characters ${rest}`);
}

function checkNumber(value, where, least, most, kind = "a number") {
  const isOfKind = kind === "a number" ? typeof value === "number" : Number.isInteger(value);
  if (isOfKind && value >= least && value <= most) return value;
  throw refusal(where, `${kind} from ${least} to ${most}`);
}

function checkLabels(labels, where, least) {
  const most = Number.MAX_SAFE_INTEGER;
  for (const label of checkArray(labels, where, least)) {
    if (typeof label !== "string") {
      checkNumber(label, where, -most, most, "strings or whole numbers");
    } else if (QUOTATION_MARKS.test(checkText(label, where))) {
      throw refusal(where, "without the quotation marks in which pages put them");
    }
  }
  if (labels.some((label) => typeof label !== typeof labels[0])) {
    throw refusal(where, "strings or whole numbers, not both");
  }
  checkDifferent(labels, where);
  return labels;
}

function checkDifferent(values, where) {
  const seen = new Set(values.map(foldedText));
  if (seen.has("")) throw refusal(where, "of strings that each have a character that is seen");
  if (seen.size < values.length) throw refusal(where, "without two that are alike");
}

/** What strings that look the same have in common; a number is as it is. */
function foldedText(value) {
  if (typeof value === "number") return value;
  const letters = value.replace(INVISIBLE, "").normalize("NFKC");
  const dashed = letters.replace(/[\u2010-\u2015\u2212]/g, "-");
  const plain = dashed.replace(/[\u02bc\u2018\u2019\u201b]/g, "'");
  const spaced = plain.replace(/[ \u1680]+/g, " ").replace(/^ | $/g, "");
  return [...spaced].map((letter) => letter.toLowerCase()).join("");
}

function checkFactors(factors, labels, where) {
  for (const factor of checkArray(factors, where, 1)) {
    if (kindOf(factor) !== "Object") throw refusal(where, "objects");
    checkKeys(factor, where, ["name", "labels"], []);
    checkText(factor.name, where);
    checkLabels(factor.labels, where, 1);
  }
  checkDifferent(factors.map(({ name }) => name), where);
  const size = factors.reduce((cells, factor) => cells * factor.labels.length, 1);
  let stride = size;
  const strides = factors.map((factor) => (stride /= factor.labels.length));
  const labelOf = (cell) =>
    factors
      .map((factor, i) => factor.labels[Math.floor(cell / strides[i]) % factor.labels.length])
      .join(", ");
  if (size !== labels.length || labels.some((label, cell) => label !== labelOf(cell))) {
    throw refusal(where, "factors whose cells are the labels");
  }
  return factors;
}

function checkSizes(sizes, s, where) {
  let [before, sum] = [0, 0];
  for (const pair of checkArray(sizes, where, Math.min(s, 1), s)) {
    const [size, weight] = checkArray(pair, where, 2, 2);
    before = checkNumber(size, where, before + 1, s, "whole numbers");
    sum += checkNumber(weight, where, Number.MIN_VALUE, 2);
  }
  if (s && Math.abs(sum - 1) > 1e-9) throw refusal(where, "of probabilities that sum to 1");
  if (s > 1 && sizes[0][0] === s) throw refusal(where, `not ${s} alone`);
}

// --- bytes ---------------------------------------------------------------------------------------
function asBytes(value) {
  if (kindOf(value) === "ArrayBuffer") return new Uint8Array(value);
  const { buffer, byteOffset, byteLength } = value ?? {};
  return ArrayBuffer.isView(value) && new Uint8Array(buffer, byteOffset, byteLength);
}

const parityOf = (n) => [16, 8, 4, 2, 1].reduce((folded, by) => folded ^ (folded >>> by), n) & 1;
const bytesToHold = (number) => (number < 2 ** 8 ? 1 : number < 2 ** 16 ? 2 : 4);

function writeNumber(bytes, start, number) {
  for (let i = start; i < bytes.length; i++) bytes[i] = number >>> (8 * (i - start));
  return bytes;
}

/** CRC-32 as in PNG and zlib. */
function crc32(bytes) {
  let rest = -1;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (0xedb88320 & -(rest & 1));
  }
  return ~rest >>> 0;
}

// The first binary digits behind the point of the cube roots of 64 primes.
const ROUNDS = Uint32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);

/** SHA-256 (FIPS 180-4), at once: for that of crypto.subtle one has to wait. */
export function sha256(bytes) {
  const padded = new Uint8Array(64 * Math.ceil((bytes.length + 9) / 64));
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const turned = (x, by) => (x >>> by) | (x << (32 - by));
  const hash = Uint32Array.of(
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  );
  const w = new Uint32Array(64);
  for (let start = 0; start < padded.length; start += 64) {
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i++) {
      const [low, high] = [w[i - 15], w[i - 2]];
      const spread = (turned(low, 7) ^ turned(low, 18) ^ (low >>> 3)) + w[i - 16] + w[i - 7];
      const mixed = (turned(high, 17) ^ turned(high, 19) ^ (high >>> 10)) + spread;
      w[i] = i < 16 ? view.getUint32(start + 4 * i) : mixed;
      const first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g));
      const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      const both = first + ROUNDS[i] + w[i];
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + both) | 0, c, b, a, (both + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (hash[i] += word));
  }
  hash.forEach((word, i) => view.setUint32(4 * i, word));
  return padded.slice(0, 32);
}
