// What a survey tells of a person, in words made from its file: for example.html and notice.html.

const SHOWN = 8; // of a long list of answers, in one line
const GUESSES = [0.1, 0.5];

// Bounds are rounded up, by hand: browsers before 2023 ignore the rounding mode of Intl.
const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const NOISE = 1e-9;

function growth(factor) {
  const unit = 10 ** (Math.floor(Math.log10(factor)) - 2);
  return digits.format(Math.ceil(factor / unit - NOISE) * unit);
}

const percent = (share) => `${Math.ceil(100 * share - NOISE)}%`;

/** How much a guess may gain: ε in words. */
const oddsOf = (epsilon) => `at most ${growth(Math.exp(epsilon))} times as high`;

/** The chance that an answer which is not protected is sent as it is. */
function shownChance({ mechanism, decisions }) {
  if (mechanism === "uBD") {
    return decisions.reduce((sum, { weight, hidden }) => sum + weight[0] * hidden[1], 0);
  }
  return decisions.shown ? decisions.shown[0] : decisions.replaced[1];
}

/** An element of a page. */
export function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/**
 * Which answers to a question are protected, how well, and what may be seen of the others.
 *
 * In a sentence a label could pass for several, or for what follows: each is an item of a list, and
 * they are counted.
 */
export function promiseOf(question, most = SHOWN) {
  const { labels, sensitiveValues, size, tags, epsilon } = question;
  if (!sensitiveValues.length) return [make("p", {}, "Not protected: your answer is sent as it is.")];
  const kept = `One message makes the odds of a guess ${oddsOf(epsilon)}.`;
  if (sensitiveValues.length === size) return [make("p", {}, `Protected: every answer. ${kept}`)];
  const named = sensitiveValues.slice(0, sensitiveValues.length - tags.length);
  const items = named.slice(0, most).map((x) => make("li", {}, `${labels[x] ?? x}`));
  const parts = tags.length ? ["any answer that you call private"] : [];
  if (named.length) parts.push(`${named.length} ${named.length === 1 ? "answer" : "answers"}`);
  if (named.length > most) parts.push(`here the first ${most}`);
  const shown = percent(shownChance(question));
  const others = `Any other answer is sent as it is in ${shown} of all cases.`;
  const head = make("p", {}, `Protected: ${parts.join(", ")}${named.length ? ":" : "."}`);
  const list = items.length ? [make("ul", {}, ...items)] : [];
  return [head, ...list, make("p", {}, `${kept} ${others}`)];
}

/** What becomes of an answer that is not protected, and stays the same, over all rounds. */
function openOf(questions, reports) {
  const mixed = questions.filter(({ sensitiveValues: { length }, size }) => length % size);
  if (!mixed.length || reports === 1) return "";
  const chance = Math.max(...mixed.map((one) => 1 - (1 - shownChance(one)) ** reports));
  const seen = `is sent as it is at least once in up to ${percent(chance)} of all cases`;
  return ` An answer that is not protected ${seen}, if it stays the same.`;
}

/** What all that a device sends tells together, with examples. */
export function totalOf({ epsilon, questions, repeat }) {
  if (questions.every(({ sensitiveValues }) => !sensitiveValues.length)) {
    return "Nothing in this survey is protected.";
  }
  const { keep, rounds, reports } = repeat ?? { rounds: 1, reports: 1 };
  const again =
    keep === "first"
      ? `This is asked ${rounds} times, and the same messages are sent each time`
      : `This is asked ${rounds} times, and your device answers ${reports} of them`;
  const isOne = questions.length * reports === 1;
  const messages = isOne ? "Your message makes" : "All your messages together make";
  const after = (before) => 1 / (1 + (1 / before - 1) * Math.exp(-epsilon));
  const steps = GUESSES.map((p) => `${percent(p)} becomes ${percent(after(p))}`);
  const odds = `${oddsOf(epsilon)}: a guess of ${steps.join(", one of ")}, at most`;
  const open = openOf(questions, reports);
  const all = `${messages} the odds of a guess about what is protected ${odds}.${open}`;
  return rounds > 1 ? `${again}, as long as this browser remembers it. ${all}` : all;
}
