// The collector's side of a survey, for pages that show something: tallies of messages, the
// empirical estimate, its standard errors, the losses to expect, and what a report tells.
//
//   const { tallies, refused } = collect(survey, messages);  // a survey that uldp.mjs has read
//   tallies.get("mood").estimate();
//
// A service that keeps messages uses the Python package uldp, which does the same and more. The
// formulas are those of its book, under "The survey file and its messages" and, for the block
// design, "The fundamental limit". No dependencies; for browsers and Node.

const HALVINGS = 1100;
const ROUNDING = 1e-12;
const FEW = 16;
const [NEGLIGIBLE, DIGITS] = [1e-12, 12];
const TAIL = 1e-17;

/**
 * Tally the reports of many messages; count what is refused, by reason, and go on.
 *
 * A device sends one report in a message; allow more where a relay bundles.
 */
export function collect(survey, messages, { maxReports = 1 } = {}) {
  const tallies = new Map(survey.questions.map((one) => [one.name, new Tally(one)]));
  const refused = {};
  const refuse = (reason) => {
    refused[reason] = (refused[reason] ?? 0) + 1;
  };
  let [accepted, impossible] = [0, 0];
  for (const message of messages) {
    try {
      const { question, count, reports } = survey.open(message);
      if (count > maxReports) {
        refuse("with more reports than are allowed");
      } else {
        accepted += 1;
        impossible += tallies.get(question.name).add(reports);
      }
    } catch (error) {
      if (error.reason === undefined) throw error;
      refuse(error.reason);
    }
  }
  return { tallies, messages: accepted, refused, impossible };
}

/** Return the text of a file of tallies, for `uldp.Tallies.from_json` in Python. */
export function talliesFile(survey, tallies) {
  const entries = survey.questions.map(({ name }) => {
    const { n, counts } = tallies.get(name);
    return { question: name, n, counts };
  });
  return JSON.stringify({ uldp: 3, survey: survey.text, tallies: entries });
}

/** What a collector keeps of the reports to a question: their number, and counts. */
class Tally {
  #decoder;
  #classes;

  constructor(question) {
    this.question = question;
    this.n = 0;
    const rows = question.mechanism === "uBD" ? question.decisions.length : 1;
    this.#classes = classes(question);
    const zeros = () => new Array(outputsOf(question)).fill(0);
    this.counts = rows > 1 ? Array.from({ length: rows }, zeros) : zeros();
  }

  /** Count reports, one after the other as in a message; return how many no device can send. */
  add(reports) {
    const width = this.question.reportBytes;
    let impossible = 0;
    for (let start = 0; start < reports.length; start += width) {
      const isCounted = this.#count(reports.subarray(start, start + width));
      this.n += Number(isCounted);
      impossible += Number(!isCounted);
    }
    return impossible;
  }

  /** The empirical estimate of the distribution over all values, bots included. */
  estimate() {
    if (!this.n) throw new RangeError("a tally must hold reports to estimate from");
    return this.#decoderOf().estimate(this.#rows(), this.n);
  }

  /** The standard error of each entry of the estimate. */
  standardErrors() {
    if (this.n < 2) throw new RangeError("a tally must hold two reports or more for an error");
    return this.#decoderOf().standardErrors(this.#rows(), this.n);
  }

  #decoderOf() {
    this.#decoder ??= decoderOf(this.question);
    return this.#decoder;
  }

  #rows() {
    return Array.isArray(this.counts[0]) ? this.counts : [this.counts];
  }

  #count(report) {
    const { question } = this;
    const read = reportIn(question, report, this.#classes);
    if (!read) return false;
    const rows = this.#rows();
    const { decisions, mechanism } = question;
    const isOfSize = (law) => law.size === read.members.length;
    const row = mechanism === "uBD" && !read.revealed ? decisions.findIndex(isOfSize) : 0;
    for (const value of read.supported) rows[row][value] += 1;
    return true;
  }
}

/** How many counts there are: of the values, or of uHR of the columns and what is not sensitive. */
function outputsOf({ columns, size, sensitiveValues }) {
  return columns ? columns + size - sensitiveValues.length : size;
}

/** What a report says, or nothing if no device can send it. */
function reportIn(question, report, [sensitive, others]) {
  const { mechanism, decisions } = question;
  if (mechanism.endsWith("RR") || mechanism === "uHR") {
    const value = numberIn(report, 0);
    return value < outputsOf(question) && { supported: [value] };
  }
  const s = sensitive.length;
  const revealed = numberIn(report, Math.ceil(s / 8));
  const members = [];
  for (let bit = 0; bit < 8 * Math.ceil(s / 8); bit++) {
    if ((report[bit >> 3] >> (bit & 7)) & 1) members.push(bit);
  }
  if (revealed > others.length || members.at(-1) >= s) return false;
  if (mechanism === "uBD") {
    const isKnown = revealed ? !members.length : decisions.some((d) => d.size === members.length);
    if (!isKnown) return false;
  }
  const supported = members.map((place) => sensitive[place]);
  if (revealed) supported.push(others[revealed - 1]);
  return { supported, members, revealed };
}

/**
 * The losses to expect of the empirical estimate from n users who are drawn from p.
 *
 * `l1`, of the sum of the absolute errors, is the value of the central limit theorem, and `l1Exact`
 * that for this n (not for uBD and uHR); `l2`, of the sum of their squares, is exact.
 */
export function losses(question, p, n) {
  const decoder = decoderOf(question);
  const variances = decoder.variances(p).map((variance) => variance / n);
  return {
    variances,
    l1: total(variances.map((variance) => Math.sqrt((2 * variance) / Math.PI))),
    get l1Exact() {
      return decoder.meanDeviations && total(decoder.meanDeviations(p, n));
    },
    l2: total(variances),
  };
}

/** The same l2 loss if n users are drawn from so many people, who hold p, without replacement. */
export function l2WithoutReplacement(question, p, n, people) {
  const { l2 } = losses(question, p, n);
  const saved = ((n - 1) / (people - 1)) * (1 - total(p.map((entry) => entry ** 2)));
  return l2 > (1 + ROUNDING) * (saved / n) ? l2 - saved / n : 0;
}

/** Return the distribution that is nearest to an estimate ("Norm-Sub"). */
export function projected(estimate) {
  const most = largest(estimate); // without it nothing changes but the size of the numbers
  const lowered = estimate.map((entry) => entry - most);
  const descending = [...lowered].sort((a, b) => b - a);
  let [sum, excess] = [0, 0];
  descending.forEach((entry, i) => {
    sum += entry;
    if (entry > (sum - 1) / (i + 1)) excess = (sum - 1) / (i + 1);
  });
  return lowered.map((entry) => Math.max(entry - excess, 0));
}

const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
const largest = (numbers) => numbers.reduce((most, number) => Math.max(most, number), -Infinity);
const decoders = { uBD: blockDecoder, uHR: hadamardDecoder };
const decoderOf = (question) => (decoders[question.mechanism] ?? supportDecoder)(question);

/**
 * Standard errors from unbiased variances, or where they are below 0 from the projection.
 *
 * Squares of reports are taken at a point, an unbiased estimate.
 */
function errorsFrom(decoder, estimate, n, point = estimate) {
  const unbiased = decoder
    .variances(point)
    .map((v, x) => v + (point[x] - estimate[x]) * (point[x] + estimate[x]));
  const atNearest = decoder.variances(projected(estimate));
  const most = largest(unbiased.map((v, x) => Math.abs(v + estimate[x] ** 2)));
  return unbiased.map((v, x) =>
    Math.sqrt(Math.max(v < -ROUNDING * most ? atNearest[x] / n : v / (n - 1), 0)),
  );
}

/** The Bernoulli number with the variance foreign + slope p - p² of an entry p. */
function bernoulliOf(slope, foreign) {
  const width = Math.sqrt(slope ** 2 + 4 * foreign);
  const small = (2 * foreign) / (width + Math.abs(slope));
  const [below, above] = slope > 0 ? [small, width - small] : [width - small, small];
  return { other: below / width, notOther: above / width, gain: 1 / width };
}

function numberIn(bytes, start) {
  let number = 0;
  for (let i = bytes.length - 1; i >= start; i--) number = number * 256 + bytes[i];
  return number;
}

const known = new WeakMap();

/** The sensitive values of a question, and the others. */
function classes(question) {
  if (!known.has(question)) {
    const sensitive = question.sensitiveValues;
    const isSensitive = new Set(sensitive);
    const all = Array.from({ length: question.size }, (_, value) => value);
    known.set(question, [sensitive, all.filter((value) => !isSensitive.has(value))]);
  }
  return known.get(question);
}

// --- RR, uRR, RAPPOR, uRAP: each entry is affine in one binomial count ---------------------------

function supportLaws({ mechanism, decisions, epsilon }, s) {
  if (mechanism in decoders) {
    throw new RangeError(`question must be of RR, RAPPOR, uRR or uRAP, got ${mechanism}`);
  }
  if (mechanism.endsWith("RR")) {
    const [replaced, kept] = decisions.replaced ?? [0, 1];
    const drawn = replaced / Math.max(s, 1);
    const notDrawn = drawn * (s - 1);
    return [
      { own: kept + drawn, notOwn: notDrawn, other: drawn, notOther: kept + notDrawn, gain: kept },
      { own: kept, notOwn: replaced, other: 0, notOther: 1, gain: kept },
    ];
  }
  const { own = [1, 0], other = [0, 1], shown = [0, 1] } = decisions;
  const gain = own[0] * -Math.expm1(-epsilon) * other[1];
  return [
    { own: own[0], notOwn: own[1], other: other[0], notOther: other[1], gain },
    { own: shown[0], notOwn: shown[1], other: 0, notOther: 1, gain: shown[0] },
  ];
}

function supportDecoder(question) {
  const [sensitive] = classes(question);
  const [ofSensitive, ofOthers] = supportLaws(question, sensitive.length);
  let isSensitive;
  const law = (value) => {
    isSensitive ??= new Set(sensitive);
    return isSensitive.has(value) ? ofSensitive : ofOthers;
  };
  const supported = (p, value) => {
    const { own, notOwn, other, notOther } = law(value);
    return [own * p + other * (1 - p), notOwn * p + notOther * (1 - p)];
  };
  return {
    estimate: ([counts], n) => counts.map((count, x) => (count / n - law(x).other) / law(x).gain),
    standardErrors: ([counts], n) =>
      counts.map((count, x) => {
        const spread = (count / n) * ((n - count) / n);
        return Math.sqrt(spread / (n - 1)) / law(x).gain;
      }),
    variances: (p) =>
      p.map((entry, x) => {
        const [m, notM] = supported(entry, x);
        return (m * notM) / law(x).gain ** 2;
      }),
    meanDeviations: (p, n) =>
      p.map((entry, x) => meanDeviation(n, ...supported(entry, x)) / (n * law(x).gain)),
    varianceAt(isOfSensitive, share) {
      const { own, notOwn, other, notOther, gain } = isOfSensitive ? ofSensitive : ofOthers;
      const rest = 1 - share;
      return ((own * share + other * rest) * (notOwn * share + notOther * rest)) / gain ** 2;
    },
    bernoulli: (isOfSensitive) => (isOfSensitive ? ofSensitive : ofOthers),
  };
}

/** E|B - nm| of a binomial number B of n trials, by de Moivre's formula. */
function meanDeviation(n, m, notM) {
  const [rarer, complement] = m <= notM ? [m, notM] : [notM, m];
  const above = Math.floor(n * rarer) + 1;
  return 2 * above * complement * binomialProbability(above, n, n * rarer);
}

/** Pr[B = x] of a binomial number B of n trials with this mean, by the saddle point (Loader). */
function binomialProbability(x, n, mean) {
  if (mean <= 0 || x > n) return 0;
  const rest = n - x;
  const away = (number, by) => (number ? number * Math.log1p(by) : 0);
  const distance = away(x, (x - mean) / mean) + away(rest, (mean - x) / (n - mean));
  if (!rest) return Math.exp(-distance);
  const correction = stirlingError(n) - stirlingError(x) - stirlingError(rest);
  return Math.sqrt(n / (2 * Math.PI * x * rest)) * Math.exp(correction - distance);
}

/** log x! less its Stirling approximation, for x of at least 1. */
function stirlingError(x) {
  if (x < FEW) {
    let logFactorial = 0;
    for (let i = 2; i <= x; i++) logFactorial += Math.log(i);
    return logFactorial - (x + 0.5) * Math.log(x) + x - 0.5 * Math.log(2 * Math.PI);
  }
  const z = 1 / (x * x);
  return (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z / 1188)))) / x;
}

// --- uHR: a fast Hadamard transform of the counts ------------------------------------------------

function hadamardDecoder(question) {
  const [sensitive, others] = classes(question);
  const { columns } = question;
  const [hidden, told] = question.decisions.replaced ?? [0, 1];
  const decoder = {
    estimate([counts], n) {
      const transformed = hadamardTransform(counts.slice(0, columns));
      const sums = new Array(question.size);
      sensitive.forEach((x, j) => (sums[x] = transformed[j + 1]));
      others.forEach((x, j) => (sums[x] = counts[columns + j]));
      return sums.map((sum) => sum / (n * told));
    },
    standardErrors(rows, n) {
      const estimate = decoder.estimate(rows, n);
      const point = [...estimate];
      for (const x of sensitive) point[x] += (1 - total(estimate)) / sensitive.length;
      return errorsFrom(decoder, estimate, n, point);
    },
    variances(p) {
      const sent = total(sensitive.map((x) => p[x])) + hidden * total(others.map((x) => p[x]));
      const found = p.map((entry) => entry / told - entry ** 2);
      for (const x of sensitive) found[x] = sent / told ** 2 - p[x] ** 2;
      return found;
    },
    varianceAt(isOfSensitive, share, ofClass) {
      const sent = ofClass + hidden * (1 - ofClass);
      return (isOfSensitive ? sent / told : share) / told - share ** 2;
    },
    bernoulli(isOfSensitive) {
      if (!isOfSensitive) return { other: 0, notOther: 1, gain: told };
      return bernoulliOf(sensitive.length / told, hidden / told ** 2);
    },
  };
  return decoder;
}

function hadamardTransform(values) {
  let result = values;
  for (let length = 1; length < values.length; length *= 2) {
    const pairs = result.filter((_, i) => i % 2 === 0).map((even, i) => [even, result[2 * i + 1]]);
    result = [...pairs.map(([even, odd]) => even + odd), ...pairs.map(([even, odd]) => even - odd)];
  }
  return result;
}

// --- uBD: the best linear estimate from sets of random sizes -------------------------------------

function blockDecoder(question) {
  const [sensitive, others] = classes(question);
  const [s, nu] = [sensitive.length, others.length];
  const laws = blockLawsOf(question, s);
  const weights = blockWeights(laws, s, nu, bestMass(laws, s, nu));
  const decoder = {
    estimate(rows, n) {
      const sets = laws.map(({ size }, i) => total(sensitive.map((x) => rows[i][x])) / size);
      const shown = total(others.map((x) => rows[0][x]));
      const ofSets = total(laws.map((_, i) => weights.outside[i] * sets[i]));
      const ofOthers = total(laws.map((_, i) => weights.hidden[i] * sets[i]));
      const sums = new Array(question.size);
      for (const x of sensitive) {
        const holding = total(laws.map((_, i) => weights.contrast[i] * rows[i][x]));
        sums[x] = holding + ofSets + weights.absent * shown;
      }
      for (const x of others) {
        sums[x] = rows[0][x] / weights.revealed + ofOthers + weights.unnamed * shown;
      }
      return sums.map((sum) => sum / n);
    },
    varianceAt(isOfSensitive, share, ofClass) {
      const outcomes = isOfSensitive ? sensitiveOutcomes : otherOutcomes;
      const found = outcomes(laws, weights, share, ofClass - share, 1 - ofClass);
      return total(found.map(([value, chance]) => chance * (value - share) ** 2));
    },
    variances(p) {
      const mass = total(sensitive.map((x) => p[x]));
      const foreign = total(others.map((x) => p[x]));
      const found = new Array(question.size);
      const variance = (x, outcomes) =>
        total(outcomes.map(([value, chance]) => chance * (value - p[x]) ** 2));
      for (const x of sensitive) {
        found[x] = variance(x, sensitiveOutcomes(laws, weights, p[x], mass - p[x], foreign));
      }
      for (const x of others) {
        found[x] = variance(x, otherOutcomes(laws, weights, p[x], foreign - p[x], mass));
      }
      return found;
    },
    bernoulli(isOfSensitive) {
      const outcomes = isOfSensitive ? sensitiveOutcomes : otherOutcomes;
      const squares = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((holders) =>
        total(outcomes(laws, weights, ...holders).map(([value, chance]) => chance * value ** 2)),
      );
      const [own, fellow, foreign] = squares;
      const size = (isOfSensitive ? sensitive : others).length;
      const slope = own - foreign + (size - 1) * (fellow - foreign);
      return bernoulliOf(slope, foreign);
    },
    standardErrors: (rows, n) => errorsFrom(decoder, decoder.estimate(rows, n), n),
  };
  return decoder;
}

/** The laws of the sizes, as `BlockLaw` of the Python package has them. */
function blockLawsOf(question, s) {
  const fellows = Math.max(s - 1, 1);
  return question.decisions.map(({ size: d, weight, held, hidden }) => ({
    size: d,
    weight: weight[0],
    own: held[0],
    notOwn: held[1],
    fellow: (held[0] * (d - 1) + held[1] * d) / fellows,
    notFellow: (held[0] * (s - d) + held[1] * (s - 1 - d)) / fellows,
    gain: (hidden[1] * (s - d)) / fellows,
    hidden: hidden[0],
    shown: hidden[1],
    held: d / s,
    notHeld: (s - d) / s,
  }));
}

/** What a report adds to n times each entry, in the estimate that is best at p(X_S) = mass. */
function blockWeights(laws, s, nu, mass) {
  const mean = (numbers) => total(numbers.map((number, i) => laws[i].weight * number));
  const revealed = s ? mean(laws.map(({ shown }) => shown)) : 1;
  const reached = laws.map(({ hidden }) => mass + hidden * (1 - mass));
  const excess = laws.map(({ shown }, i) => (shown * (1 - mass)) / reached[i]);
  const scale = s ? mean(laws.map(({ shown }, i) => shown * (1 + excess[i]))) : 1;
  const foreign = excess.map((one) => (mean(excess) - one) / scale);
  const foreignRevealed = (1 + mean(excess)) / scale;
  const ownRevealed = -mean(laws.map(({ hidden }, i) => hidden * (1 + excess[i]))) / scale;
  const raw = laws.map(({ own, size }, i) => own / size / reached[i]);
  const slope = mean(laws.map(({ gain }, i) => raw[i] * gain));
  const contrast = raw.map((one) => (s > 1 ? one / slope : 0));
  const outside = laws.map(({ size }, i) => (1 - foreign[i] - contrast[i] * size) / s);
  const unnamed = (foreignRevealed - 1 / revealed) / Math.max(nu, 1);
  return {
    contrast,
    outside,
    absent: ownRevealed / Math.max(s, 1),
    hidden: foreign.map((one) => one / Math.max(nu, 1)),
    unnamed,
    named: unnamed + 1 / revealed,
    revealed,
    foreign,
    foreignRevealed,
    ownRevealed,
  };
}

function sensitiveOutcomes(laws, weights, own, fellow, foreign) {
  const ofSets = laws.flatMap((law, i) => {
    const sent = law.hidden * foreign;
    const holds = law.own * own + law.fellow * fellow + law.held * sent;
    const lacks = law.notOwn * own + law.notFellow * fellow + law.notHeld * sent;
    return [
      [weights.outside[i] + weights.contrast[i], law.weight * holds],
      [weights.outside[i], law.weight * lacks],
    ];
  });
  return [...ofSets, [weights.absent, weights.revealed * foreign]];
}

function otherOutcomes(laws, weights, own, fellow, foreign) {
  const ofSets = laws.map((law, i) => [
    weights.hidden[i],
    law.weight * (foreign + law.hidden * (own + fellow)),
  ]);
  const { unnamed, named, revealed } = weights;
  return [...ofSets, [unnamed, revealed * fellow], [named, revealed * own]];
}

/** The p(X_S) at which the best linear estimate has the largest l2 loss; one size needs none. */
function bestMass(laws, s, nu) {
  if (!nu || laws.length < 2) return 1;
  const slope = (mass) => {
    const weights = blockWeights(laws, s, nu, mass);
    const { contrast, foreign, foreignRevealed, ownRevealed, revealed } = weights;
    const ofRevealed =
      (nu - 1) / (nu * revealed ** 2) + ownRevealed ** 2 / s + foreignRevealed ** 2 / nu;
    const gained = laws.map(({ weight, shown, size, notHeld }, i) => {
      const ofSets = contrast[i] ** 2 * size * notHeld + (1 - foreign[i]) ** 2 / s;
      return weight * shown * (ofSets + foreign[i] ** 2 / nu - ofRevealed);
    });
    return total(gained) - (2 * mass) / s + (2 * (1 - mass)) / nu;
  };
  if (slope(0) <= 0) return 0;
  if (slope(1) >= 0) return 1;
  let [low, high] = [0, 1];
  for (let i = 0; i < HALVINGS && low < (low + high) / 2 && (low + high) / 2 < high; i++) {
    const middle = (low + high) / 2;
    [low, high] = slope(middle) > 0 ? [middle, high] : [low, middle];
  }
  return low;
}

// --- before anybody is asked ---------------------------------------------------------------------

/**
 * Return the entry of a survey file for a mechanism by its name in tables, over k values of which
 * the first s are sensitive (1 or more): "uBD" with its best sizes.
 */
export function plan(name, k, s, epsilon) {
  const sensitive = Array.from({ length: s }, (_, value) => value);
  const entry = { name, labels: k, sensitive, mechanism: name, epsilon };
  if (name === "uBD") entry.sizes = saddle(s, k - s, epsilon).sizes;
  return entry;
}

/** The p(X_S) at which the expected "l1" or "l2" loss of the empirical estimate is largest. */
export function worstMass(question, loss) {
  const [s, nu] = classes(question).map(({ length }) => length);
  if (!s || !nu) return Number(s > 0);
  const decoder = decoderOf(question);
  const [inS, inN] = [decoder.bernoulli(true), decoder.bernoulli(false)];
  const slope = ({ other, notOther, gain }) => (notOther - other) / gain;
  const mass =
    loss === "l1"
      ? (inN.other + inN.gain / nu - inS.other) / (inS.gain / s + inN.gain / nu)
      : (slope(inS) - slope(inN) + 2 / nu) / (2 / s + 2 / nu);
  return Math.min(Math.max(mass, 0), 1);
}

/** What `losses` has, where p is uniform within X_S and within X_N: one variance for each class. */
export function lossesWithin(question, mass, n) {
  const sizes = classes(question).map(({ length }) => length);
  const decoder = decoderOf(question);
  const variances = sizes.map((size, ofOthers) => {
    const ofClass = ofOthers ? 1 - mass : mass;
    return size ? decoder.varianceAt(!ofOthers, ofClass / size, ofClass) / n : 0;
  });
  const l1 = total(variances.map((v, i) => sizes[i] * Math.sqrt((2 * v) / Math.PI)));
  return { variances, l1, l2: total(variances.map((v, i) => sizes[i] * v)) };
}

/** n times the variance of one entry, where p(value) = share and the others are equally likely. */
export function entryVariance(question, value, share) {
  const isSensitive = question.sensitiveValues.includes(value);
  const fellows = classes(question)[Number(!isSensitive)].length - 1;
  const ofClass = share + ((1 - share) * fellows) / Math.max(question.size - 1, 1);
  return decoderOf(question).varianceAt(isSensitive, share, ofClass);
}

/**
 * The largest n times the variance of the share of the first s values together, which are those that
 * the survey protects, in the estimate that is adjusted to sum to 1. With T the share it is
 * c + b T - T².
 */
export function varianceOfAll(question, s) {
  const [constant, slope] = squaresOfAll(question, s);
  const share = Math.min(Math.max(slope / 2, 0), 1);
  return constant + slope * share - share ** 2;
}

function squaresOfAll(question, s) {
  const { size, mechanism, sensitiveValues } = question;
  if (sensitiveValues.length === size) {
    const [{ other, notOther, gain }] = supportLaws(question, size);
    if (mechanism !== "RR") return [(s * (1 - s / size) * other * notOther) / gain ** 2, 1];
    return [(s * other * (1 - s * other)) / gain ** 2, (1 - 2 * s * other) / gain];
  }
  let ofOthers = 1 / revealedShare(question) - 1;
  let own = 1;
  if (mechanism === "uBD") {
    const laws = blockLawsOf(question, s);
    const weights = blockWeights(laws, s, size - s, bestMass(laws, s, size - s));
    const ofSets = laws.map(({ weight }, i) => weight * (1 - weights.foreign[i]) ** 2);
    own = total(ofSets);
    ofOthers = total(ofSets.map((square, i) => square * laws[i].hidden)) +
      weights.revealed * weights.ownRevealed ** 2;
  }
  return [ofOthers, own - ofOthers];
}

/** The "l1" or "l2" loss of one user where it is largest; that of n is smaller by √n or n. */
export const worstLoss = (question, loss) =>
  lossesWithin(question, worstMass(question, loss), 1)[loss];

/** The least number of users whose loss is at most the target for every p, by that of one. */
export function usersNeeded(ofOne, loss, target) {
  const ratio = (ofOne / target) ** (loss === "l1" ? 2 : 1);
  return Math.max(1, Math.ceil(ratio * (1 - ROUNDING)));
}

/**
 * What Table 3 ("l1") or 4 ("l2") of the paper prints as a mechanism's worst-case loss for
 * "small" or at "ln k", in units of √(2/(nπ)) and of 1/n.
 */
export function printed(loss, regime, name, s, k, epsilon) {
  return PRINTED[loss][regime][name](s, k, epsilon);
}

const PRINTED = {
  l1: {
    "small": {
      RR: (s, k, epsilon) => (k * Math.sqrt(k - 1)) / epsilon,
      RAPPOR: (s, k, epsilon) => (2 * k) / epsilon,
      uRR: (s, k, epsilon) => (s * Math.sqrt(s - 1)) / epsilon,
      uRAP: (s, k, epsilon) => (2 * s) / epsilon,
      "no privacy": (s, k) => Math.sqrt(k - 1),
    },
    "ln k": {
      RR: (s, k) => 2 * Math.sqrt(k - 1),
      RAPPOR: (s, k) => Math.sqrt(Math.sqrt(k) * (k - 1)),
      uRR: (s, k) => Math.sqrt(k - 1),
      uRAP: (s, k) => Math.sqrt(k - 1) * (1 + s / k ** 0.75),
      "no privacy": (s, k) => Math.sqrt(k - 1),
    },
  },
  l2: {
    "small": {
      RR: (s, k, epsilon) => (k * (k - 1)) / epsilon ** 2,
      RAPPOR: (s, k, epsilon) => ((4 * k) / epsilon ** 2) * (1 - 1 / k),
      uRR: (s, k, epsilon) => (s * (s - 1)) / epsilon ** 2,
      uRAP: (s, k, epsilon) => (4 * s) / epsilon ** 2,
      "no privacy": (s, k) => 1 - 1 / k,
    },
    "ln k": {
      RR: (s, k) => 4 * (1 - 1 / k),
      RAPPOR: (s, k) => Math.sqrt(k) * (1 - 1 / k),
      uRR: () => 1,
      uRAP: (s, k) => 1 + (s + 1) / Math.sqrt(k),
      "no privacy": (s, k) => 1 - 1 / k,
    },
  },
};

/** How often a report supports a value of X_S, and of X_N; uBD and uHR are refused. */
export function supportOf(question) {
  const laws = supportLaws(question, question.sensitiveValues.length);
  return laws.map(({ own, other, gain }) => ({ own, other, gain }));
}

/** The probability that somebody with a non-sensitive value reveals it. */
export function revealedShare(question) {
  const [s, nu] = classes(question).map(({ length }) => length);
  if (!nu) return 0;
  if (question.mechanism === "uHR") return (question.decisions.replaced ?? [0, 1])[1];
  if (question.mechanism !== "uBD") return supportOf(question)[1].own;
  return s ? total(question.decisions.map(({ weight, hidden }) => weight[0] * hidden[1])) : 1;
}

/**
 * The fundamental limit: n times the least worst-case l2 loss of any mechanism and estimate for
 * many users, the p(X_S) where it is, and the sizes of the block design that attains it.
 */
export function saddle(s, nu, epsilon) {
  if (!s || s + nu === 1) {
    return { value: 1 - 1 / (s + nu), mass: Number(s > 0), sizes: s ? [[1, 1]] : [] };
  }
  const play = gameOf(s, nu, epsilon);
  const alone = Array.from({ length: s }, (_, i) => subsetSelectionLoss(s, i + 1, epsilon));
  const best = alone.indexOf(Math.min(...alone)) + 1;
  if (best > 1 || !nu) {
    return { value: play(1, [[best, 1]]).value, mass: 1, sizes: [[best, 1]] };
  }
  const mixture = (ofTwo) => (s > 1 ? [[1, 1 - ofTwo], [2, ofTwo]] : [[1, 1]]);
  const worst = (sizes) => clippedRoot((mass) => play(mass, sizes).slope, 1);
  const advantage = (ofTwo) => {
    const { gains } = play(worst(mixture(ofTwo)), mixture(ofTwo));
    return gains[1] - gains[0];
  };
  const ofTwo = s > 1 ? clippedRoot(advantage, 1 - Number.EPSILON) : 0;
  const used = mixture(ofTwo).filter(([, weight]) => weight >= NEGLIGIBLE);
  const sum = total(used.map(([, weight]) => weight));
  const sizes = used.map(([size, weight]) => [size, Number((weight / sum).toFixed(DIGITS))]);
  const mass = worst(sizes);
  return { value: play(mass, sizes).value, mass, sizes };
}

/** f(σ, λ) of the limit, its derivative by σ, and what weight on each size gains. */
function gameOf(s, nu, epsilon) {
  const [shrink, growth] = [Math.exp(-epsilon), -Math.expm1(-epsilon)];
  const ofSum = 1 / s + 1 / Math.max(nu, 1);
  return (mass, sizes) => {
    const parts = sizes.map(([size]) => {
      const [kept, noise] = [growth * size, s * shrink];
      const [all, subset] = [noise + kept, noise + mass * kept];
      const share = kept / subset;
      return { inS: (share * growth * (s - size)) / all, inN: kept / all, share };
    });
    const games = [
      { runs: s > 1, cost: (s - 1) ** 2 / s, by: 0, of: (one) => one.inS, decays: true },
      { runs: nu > 1, cost: 1 - 1 / nu, by: -1, of: (one) => one.inN, decays: false },
      { runs: nu > 0, cost: ofSum, by: -1, of: (one) => one.share, decays: true },
    ].filter(({ runs }) => runs);
    const found = { value: 0, slope: 0, gains: sizes.map(() => 0) };
    for (const { cost, by, of, decays } of games) {
      const information = total(parts.map((one, i) => sizes[i][1] * of(one)));
      const fall = decays ? total(parts.map((one, i) => sizes[i][1] * of(one) * one.share)) : 0;
      const loss = (cost * (by ? 1 - mass : 1)) / information;
      found.value += loss;
      found.slope += (by * cost + loss * fall) / information;
      parts.forEach((one, i) => (found.gains[i] += (loss / information) * of(one)));
    }
    return found;
  };
}

/** n times the worst-case l2 loss of subset selection of this size, over s values alone. */
function subsetSelectionLoss(s, size, epsilon) {
  const [shrink, growth] = [Math.exp(-epsilon), -Math.expm1(-epsilon)];
  if (s === 1) return 0;
  const [kept, noise] = [growth * size, s * shrink];
  const ofS = ((s - 1) ** 2 / s) * ((noise + kept) / (growth * (s - size)));
  return ofS * (1 + noise / kept);
}

/** Where a decreasing function passes 0 on [0, high], or the end next to that. */
function clippedRoot(decreasing, high) {
  if (decreasing(0) <= 0) return 0;
  if (decreasing(high) >= 0) return high;
  let [low, top] = [0, high];
  for (let i = 0; i < HALVINGS && low < (low + top) / 2 && (low + top) / 2 < top; i++) {
    const middle = (low + top) / 2;
    [low, top] = decreasing(middle) > 0 ? [middle, top] : [low, middle];
  }
  return low;
}

// --- what a report tells -------------------------------------------------------------------------

/** The probability of one report, given each value; nothing if no device can send it. */
export function likelihoods(question, report) {
  const [sensitive, others] = classes(question);
  const read = reportIn(question, report, [sensitive, others]);
  if (!read) return undefined;
  const { mechanism, decisions } = question;
  const isSensitive = new Set(sensitive);
  const supports = new Set(read.supported);
  const all = Array.from({ length: question.size }, (_, value) => value);
  if (mechanism === "uBD") return all.map((x) => ofSet(decisions, read, sensitive, others, x));
  if (mechanism === "uHR") return all.map((x) => ofColumn(question, read, sensitive, others, x));
  const [inS, inN] = supportLaws(question, sensitive.length);
  if (mechanism.endsWith("RR")) {
    const law = isSensitive.has(read.supported[0]) ? inS : inN;
    return all.map((x) => (supports.has(x) ? law.own : law.other));
  }
  return all.map((x) => {
    if (read.revealed && !supports.has(x)) return 0;
    if (read.revealed && isSensitive.has(x)) return 0;
    const shown = isSensitive.has(x) ? 1 : read.revealed ? inN.own : inN.notOwn;
    return sensitive.reduce((product, y) => {
      const [on, off] = x === y ? [inS.own, inS.notOwn] : [inS.other, inS.notOther];
      return product * (supports.has(y) ? on : off);
    }, shown);
  });
}

function ofSet(decisions, { members, revealed, supported }, sensitive, others, x) {
  const place = sensitive.indexOf(x);
  if (revealed) {
    const isRevealed = others[revealed - 1] === x;
    const shown = decisions.length ? decisions : [{ weight: [1], hidden: [0, 1] }];
    return isRevealed ? total(shown.map(({ weight, hidden }) => weight[0] * hidden[1])) : 0;
  }
  const [s, size] = [sensitive.length, members.length];
  const { weight, held, hidden } = decisions.find((law) => law.size === size);
  if (place < 0) return (weight[0] * hidden[0]) / choose(s, size);
  const isIn = supported.includes(x);
  const chance = isIn ? held[0] / choose(s - 1, size - 1) : held[1] / choose(s - 1, size);
  return weight[0] * chance;
}

function ofColumn({ columns, decisions }, { supported: [sent] }, sensitive, others, x) {
  const [hidden, told] = decisions.replaced ?? [0, 1];
  if (sent >= columns) return told * Number(others[sent - columns] === x);
  let isPlus = sensitive.includes(x);
  for (let common = sent & (sensitive.indexOf(x) + 1); common; common &= common - 1) {
    isPlus = !isPlus;
  }
  return (hidden + 2 * told * Number(isPlus)) / columns;
}

const choose = (n, d) => (d ? (choose(n - 1, d - 1) * n) / d : 1);

/** What is believed after a report that has these probabilities, by Bayes' rule. */
export function believed(prior, chances) {
  const joint = prior.map((one, x) => one * chances[x]);
  const sum = total(joint);
  return joint.map((one) => one / sum);
}

/** A probability after its odds were multiplied by e^level. */
export function suspicion(before, level) {
  const odds = (before / (1 - before)) * Math.exp(level);
  return Number.isFinite(odds) ? odds / (1 + odds) : 1;
}

// --- a whole survey at once, for pictures --------------------------------------------------------

/**
 * Draw the tally of everybody's report, from how many hold each value; uBD and uHR are refused.
 *
 * `word` returns 32 random bits. The law of the tally is that of the devices' reports.
 */
export function simulate(question, holders, word) {
  const tally = new Tally(question);
  const [sensitive, others] = classes(question);
  const [inS, inN] = supportLaws(question, sensitive.length);
  tally.n = total(holders);
  const { counts } = tally;
  for (const x of others) counts[x] = binomial(holders[x], inN.own, word);
  if (question.mechanism.endsWith("RR")) {
    for (const x of sensitive) counts[x] = binomial(holders[x], inS.gain, word);
    const uniform = sensitive.map(() => 1);
    const drawn = sample(tally.n - total(counts), uniform, word);
    sensitive.forEach((x, i) => (counts[x] += drawn[i]));
    return tally;
  }
  for (const x of sensitive) {
    const ofOthers = binomial(tally.n - holders[x], inS.other, word);
    counts[x] = binomial(holders[x], inS.own, word) + ofOthers;
  }
  return tally;
}

/** Draw how many of n people hold each value, each with a probability proportional to a weight. */
export function sample(n, weights, word) {
  let [left, rest] = [n, total(weights)];
  return weights.map((weight) => {
    const drawn = binomial(left, rest > weight ? weight / rest : 1, word);
    left -= drawn;
    rest -= weight;
    return drawn;
  });
}

/** Draw a binomial number by inversion, to some twelve digits: the same word, nearly the same. */
function binomial(n, p, word) {
  let rest = (word() + word() / 2 ** 32) / 2 ** 32;
  if (p >= 1 || n === 0) return n;
  if (p <= 0) return 0;
  const odds = p / (1 - p);
  const mode = Math.floor(n * p);
  const most = mode ? binomialProbability(mode, n, n * p) : Math.exp(n * Math.log1p(-p));
  let below = 0;
  for (let x = mode, chance = most; x > 0 && chance > TAIL; x--) {
    chance *= x / ((n - x + 1) * odds);
    below += chance;
  }
  let [x, chance] = [mode, most];
  if (rest < below) {
    for (rest = below - rest; rest > 0 && x > 0; rest -= chance) {
      chance *= x / ((n - x + 1) * odds);
      x -= 1;
    }
    return x;
  }
  for (rest -= below + chance; rest >= 0 && x < n && chance > 0; rest -= chance) {
    chance *= ((n - x) * odds) / (x + 1);
    x += 1;
  }
  return x;
}
