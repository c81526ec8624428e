// The collector's side of a survey, for pages that show something: tallies of messages, the
// empirical estimate, its standard errors, and the losses to expect.
//
//   const { tallies, refused } = collect(survey, messages);  // a survey that uldp.mjs has read
//   tallies.get("mood").estimate();
//
// A service that keeps messages uses the Python package uldp, which does the same and more. The
// formulas are those of its book, under "The survey file and its messages" and, for the block
// design, "The fundamental limit". No dependencies; for browsers and Node.

const IMPOSSIBLE = "with a report that the mechanism cannot produce";
const HALVINGS = 1100;
const ROUNDING = 1e-12;
const FEW = 16;

/**
 * Tally the reports of many messages; count what is refused, by reason, and go on.
 *
 * A device sends one report in a message; allow more where a relay bundles.
 */
export function collect(survey, messages, { maxReports = 1 } = {}) {
  const tallies = new Map(survey.questions.map((one) => [one.name, new Tally(one)]));
  const refused = {};
  const refuse = (reason, count = 1) => {
    if (count) refused[reason] = (refused[reason] ?? 0) + count;
  };
  let accepted = 0;
  for (const message of messages) {
    try {
      const { question, count, reports } = survey.open(message);
      if (count > maxReports) {
        refuse("with more reports than are allowed");
      } else {
        accepted += 1;
        refuse(IMPOSSIBLE, tallies.get(question.name).add(reports));
      }
    } catch (error) {
      if (error.reason === undefined) throw error;
      refuse(error.reason);
    }
  }
  return { tallies, messages: accepted, refused };
}

/** Return the text of a file of tallies, for `uldp.surveys.Tallies.from_json` in Python. */
export function talliesFile(survey, tallies) {
  const entries = survey.questions.map(({ name }) => {
    const { n, counts } = tallies.get(name);
    return { question: name, n, counts };
  });
  return JSON.stringify({ uldp: 2, survey: survey.text, tallies: entries });
}

/** What a collector keeps of the reports to a question: their number, and counts. */
export class Tally {
  #decoder;
  #sensitive;
  #others;

  constructor(question) {
    this.question = question;
    this.n = 0;
    const rows = question.mechanism === "uBD" ? question.decisions.length : 1;
    [this.#sensitive, this.#others] = classes(question);
    const { columns, size } = question;
    const zeros = () => new Array(columns ? columns + this.#others.length : size).fill(0);
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
    const { mechanism, decisions } = this.question;
    const rows = this.#rows();
    if (mechanism.endsWith("RR") || mechanism === "uHR") {
      const value = numberIn(report, 0);
      if (value >= rows[0].length) return false;
      rows[0][value] += 1;
      return true;
    }
    const s = this.#sensitive.length;
    const revealed = numberIn(report, Math.ceil(s / 8));
    const members = [];
    for (let bit = 0; bit < 8 * Math.ceil(s / 8); bit++) {
      if ((report[bit >> 3] >> (bit & 7)) & 1) members.push(bit);
    }
    if (revealed > this.#others.length || members.at(-1) >= s) return false;
    let row = 0;
    if (mechanism === "uBD") {
      row = revealed ? 0 : decisions.findIndex((law) => law.size === members.length);
      if (row < 0 || (revealed && members.length)) return false;
    }
    for (const member of members) rows[row][this.#sensitive[member]] += 1;
    if (revealed) rows[row][this.#others[revealed - 1]] += 1;
    return true;
  }
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
    l1Exact: decoder.meanDeviations && total(decoder.meanDeviations(p, n)),
    l2: total(variances),
  };
}

/** Return the distribution that is nearest to an estimate ("Norm-Sub"). */
export function projected(estimate) {
  const most = Math.max(...estimate); // without it nothing changes but the size of the numbers
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
const decoders = { uBD: blockDecoder, uHR: hadamardDecoder };
const decoderOf = (question) => (decoders[question.mechanism] ?? supportDecoder)(question);

/** Standard errors from unbiased variances, or where they are below 0 from the projection. */
function errorsFrom(decoder, estimate, n) {
  const unbiased = decoder.variances(estimate);
  const atNearest = decoder.variances(projected(estimate));
  const most = Math.max(...unbiased.map((v, x) => Math.abs(v + estimate[x] ** 2)));
  return unbiased.map((v, x) =>
    Math.sqrt(Math.max(v < -ROUNDING * most ? atNearest[x] / n : v / (n - 1), 0)),
  );
}

function numberIn(bytes, start) {
  let number = 0;
  for (let i = bytes.length - 1; i >= start; i--) number = number * 256 + bytes[i];
  return number;
}

function classes(question) {
  const sensitive = question.sensitiveValues;
  const isSensitive = new Set(sensitive);
  const all = Array.from({ length: question.size }, (_, value) => value);
  return [sensitive, all.filter((value) => !isSensitive.has(value))];
}

// --- RR, uRR, RAPPOR, uRAP: each entry is affine in one binomial count ---------------------------

function supportLaws(question, s) {
  const { decisions, epsilon } = question;
  if (question.mechanism.endsWith("RR")) {
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
  const isSensitive = new Set(sensitive);
  const [ofSensitive, ofOthers] = supportLaws(question, sensitive.length);
  const law = (value) => (isSensitive.has(value) ? ofSensitive : ofOthers);
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
    standardErrors: (rows, n) => errorsFrom(decoder, decoder.estimate(rows, n), n),
    variances(p) {
      const sent = total(sensitive.map((x) => p[x])) + hidden * total(others.map((x) => p[x]));
      const found = p.map((entry) => entry / told - entry ** 2);
      for (const x of sensitive) found[x] = sent / told ** 2 - p[x] ** 2;
      return found;
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
