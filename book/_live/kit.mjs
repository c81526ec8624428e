// What live parts of the book are made of: controls, drawings, and a state that the address holds.
// A part is made as CONTRIBUTING.md says; book/_ext/live.py joins all of them into one script.

import { parseSurvey } from "../../client/uldp.mjs";
import { plan } from "./model.mjs";

const SVG = "http://www.w3.org/2000/svg";
const GAP = 16;
const NARROWEST_PANEL = 250;
const PATIENCE = 120; // milliseconds that a slow part waits for a further move
const TOO_OFTEN = 2000;

// --- elements ------------------------------------------------------------------------------------

function made(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat());
  return node;
}

export const element = (tag, attributes = {}, ...children) =>
  made(document.createElement(tag), attributes, children);

const drawn = (tag, attributes = {}, ...children) =>
  made(document.createElementNS(SVG, tag), attributes, children);

/** A number as a reader wants it: three digits, and thousands apart. */
export function written(number) {
  const size = Math.abs(number);
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "none";
  if (size >= 1e7 || (size && size < 1e-3)) return number.toExponential(2).replace("e+", "e");
  if (size >= 1000) return Math.round(number).toLocaleString("en-US");
  return Number(number.toPrecision(3)).toString();
}

/** A share in percent, with two digits of what is away from 0 and from 100. */
export function percent(share) {
  const rarer = 100 * Math.min(share, 1 - share);
  if (rarer > 0 && rarer < 0.01) return share < 0.5 ? "<0.01%" : ">99.99%";
  const digits = rarer > 0 && rarer < 9.95 ? 1 - Math.floor(Math.log10(rarer)) : 0;
  return `${(100 * share).toFixed(digits)}%`;
}

/** A tick: powers of ten from 10⁵ on, and below 10⁻³, as such. */
function tick(number) {
  const power = Math.round(Math.log10(number));
  const isRound = number > 0 && 10 ** power === number;
  if (!isRound || (power < 5 && power >= -3)) return written(number);
  return `10${[...String(power)].map((one) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[one] ?? "⁻").join("")}`;
}

/** A tick in percent. */
export const inPercent = (share) => `${Number((100 * share).toPrecision(3))}%`;

/** A table: texts by row, of which the first in each names the row. */
export function table(caption, head, rows) {
  const cell = (text, column) =>
    column ? element("td", {}, text) : element("th", { scope: "row" }, text);
  return element(
    "table",
    { class: "live-table" },
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...head.map((text) =>
      text ? element("th", { scope: "col" }, text) : element("td")))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))),
  );
}

// --- controls ------------------------------------------------------------------------------------

/** One of `values` in their order, or of those that a function of the state returns. */
export const slider = (label, values, first, write = String) => ({
  kind: "range", label, values, first, write,
});

/** A whole number from `least` to `most`, each a number or a function of the state. */
export const whole = (label, least, most, first) => ({
  kind: "number", label, least, most, first,
});

/** One of some texts, by their keys. */
export const choice = (label, texts, first) => ({
  kind: "select", label, texts, first, values: Object.keys(texts),
});

/** How often it was pressed. */
export const button = (label) => ({ kind: "button", label, first: 0, least: 0, most: 1e6 });

const of = (value, state) => (typeof value === "function" ? value(state) : value);

/** The possible value that is next to another one. */
function nearest(control, value, state) {
  if (control.kind === "select") {
    return control.values.includes(String(value)) ? String(value) : control.first;
  }
  const number = Number(value);
  if (value === "" || Number.isNaN(number)) return nearest(control, control.first, state);
  if (control.kind === "range") {
    const distance = (one) => Math.abs(one - number);
    return of(control.values, state).reduce((a, b) => (distance(b) < distance(a) ? b : a));
  }
  const [least, most] = [of(control.least, state), of(control.most, state)];
  return Math.min(Math.max(Math.round(number), least), most);
}

/** `count` numbers with equal ratios, rounded to three digits. */
export function geometric(from, to, count) {
  const at = (i) => from * (to / from) ** (i / (count - 1));
  return Array.from({ length: count }, (_, i) => Number(at(i).toPrecision(3)));
}

export const EPSILONS = [
  0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6,
  7, 8, 9, 10,
];
export const PEOPLE = [2, 3, 4, 5, 6, 7, 8].flatMap((power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
);
export const thousands = (number) => number.toLocaleString("en-US");

class Field {
  constructor(part, key, control) {
    const id = `live-${part.name}-${key}`;
    Object.assign(this, { control, part, key });
    if (control.kind === "button") {
      this.input = element("button", { type: "button", id }, control.label);
      this.input.addEventListener("click", () => part.move(key, part.state[key] + 1));
      this.node = element("div", { class: "live-control" }, this.input);
      return;
    }
    const options = Object.entries(control.texts ?? {}).map(([value, text]) =>
      element("option", { value }, text));
    this.input = control.kind === "select"
      ? element("select", { id }, ...options)
      : element("input", { id, type: control.kind });
    this.output = element("output", { for: id });
    const label = element("label", { for: id }, control.label);
    this.node = element(
      "div",
      { class: "live-control" },
      element("div", { class: "live-label" }, label, this.output),
      this.input,
    );
    const event = control.kind === "range" ? "input" : "change";
    this.input.addEventListener(event, () => part.move(key, this.#chosen()));
  }

  #chosen() {
    const { value } = this.input;
    return this.control.kind === "range" ? of(this.control.values, this.part.all())[value] : value;
  }

  show() {
    const { control, input } = this;
    const [state, value] = [this.part.all(), this.part.state[this.key]];
    if (control.kind === "range") {
      const values = of(control.values, state);
      made(input, { min: 0, max: values.length - 1, step: 1 }, []);
      input.value = values.indexOf(value);
      this.output.textContent = control.write(value);
      input.setAttribute("aria-valuetext", control.write(value));
    } else if (control.kind === "number") {
      made(input, { min: of(control.least, state), max: of(control.most, state), step: 1 }, []);
      input.value = value;
    } else if (control.kind === "select") input.value = value;
  }
}

// --- parts ---------------------------------------------------------------------------------------

const definitions = new Map();
const living = new Map();

/**
 * Say what a part is: its `controls` by key, and `show(state, { width })`, which returns
 *
 * - `drawing`: panels and other elements that a screen reader skips or that name themselves,
 * - `keys`: a legend, looks by name,
 * - `said`: the sentence that says what the drawing shows,
 * - `below`: elements below it, such as tables,
 * - `shown`: the numbers behind it, for tests.
 *
 * A part that `follows` another has its state, too. A `slow` one waits for the last of some moves.
 */
export const part = (name, definition) => definitions.set(name, definition);

/** What the address holds, without what cannot be decoded. */
const entries = () =>
  location.hash.slice(1).split("&").filter((entry) => entry.includes("=")).flatMap((entry) => {
    const [key, value] = entry.split("=");
    try {
      return [[key, decodeURIComponent(value)]];
    } catch {
      return [];
    }
  });

class Part {
  constructor(name, host) {
    this.name = name;
    this.host = host;
    this.definition = definitions.get(name);
    this.controls = Object.entries(this.definition.controls);
    this.figure = document.getElementById(host.dataset.figure);
    this.leader = living.get(this.definition.follows);
    this.state = {};
    this.read();
    this.fields = this.controls.map(([key, control]) => new Field(this, key, control));
    this.drawing = element("div", { class: "live-drawing" });
    this.keys = element("ul", { class: "live-keys", "aria-hidden": "true" });
    this.said = element("p", { class: "live-said", "aria-live": "polite" });
    this.below = element("div", { class: "live-below", role: "group", "aria-label": "In numbers" });
    const form = element("div", { class: "live-controls" }, ...this.fields.map((one) => one.node));
    host.append(form, this.keys, this.drawing, this.said, this.below);
  }

  /** The state with that of the part that this one follows. */
  all() {
    return { ...this.leader?.all(), ...this.state };
  }

  /** Take the state from the address, and what it does not name as it is at first. */
  read() {
    const known = Object.fromEntries(entries());
    for (const [key, control] of this.controls) {
      const value = known[`${this.name}.${key}`] ?? control.first;
      this.state[key] = nearest(control, value, this.all());
    }
  }

  move(key, value) {
    this.state[key] = value;
    for (const [other, control] of this.controls) {
      this.state[other] = nearest(control, this.state[other], this.all());
    }
    this.remember();
    this.update();
  }

  remember() {
    const others = entries().filter(([key]) => !key.startsWith(`${this.name}.`));
    const moved = this.controls
      .filter(([key, control]) => this.state[key] !== nearest(control, control.first, this.all()))
      .map(([key]) => [`${this.name}.${key}`, this.state[key]]);
    const all = [...others, ...moved].map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
    clearTimeout(this.again);
    try {
      const [page] = location.href.split("#");
      history.replaceState(null, "", all.length ? `${page}#${all.join("&")}` : page);
    } catch {
      this.again = setTimeout(() => this.remember(), TOO_OFTEN); // some browsers count and refuse
    }
  }

  update() {
    for (const field of this.fields) field.show();
    clearTimeout(this.waiting);
    if (this.definition.slow) {
      this.host.setAttribute("aria-busy", "true");
      this.waiting = setTimeout(() => this.render(), PATIENCE);
    } else this.render();
    for (const one of living.values()) if (one.leader === this) one.update();
  }

  render() {
    const width = this.drawing.clientWidth || this.host.clientWidth;
    const { drawing, keys = [], said, below = [], shown } =
      this.definition.show(this.all(), { width });
    this.drawing.replaceChildren(...drawing);
    this.keys.replaceChildren(...keys.map(key));
    this.said.replaceChildren(...[said].flat());
    this.below.replaceChildren(...below);
    this.below.removeAttribute("tabindex");
    if (this.below.scrollWidth > this.below.clientWidth) this.below.tabIndex = 0; // keys scroll it
    this.host.shown = shown;
    this.host.removeAttribute("aria-busy");
  }

  /** Take the place of the picture, on a screen. */
  start() {
    this.figure.prepend(this.host);
    this.figure.classList.add("live-figure");
    this.update();
    let { width } = this.host.getBoundingClientRect();
    new ResizeObserver(([{ contentRect }]) => {
      if (Math.abs(contentRect.width - width) > 1) this.render();
      ({ width } = contentRect);
    }).observe(this.host);
  }
}

/** Bring the page's parts to life; where that fails, the picture stays. */
export function start() {
  for (const host of document.querySelectorAll("div.live")) {
    const name = host.dataset.part;
    try {
      const one = new Part(name, host);
      living.set(name, one);
      one.start();
    } catch (error) {
      host.replaceChildren();
      host.parentElement.classList.remove("live-figure");
      living.delete(name);
      console.error(`${name}: ${error.message}`);
    }
  }
  addEventListener("hashchange", () => {
    const all = [...living.values()];
    const before = all.map((one) => JSON.stringify(one.state));
    all.forEach((one) => one.read());
    const moved = all.filter((one, i) => JSON.stringify(one.state) !== before[i]);
    for (const one of moved) if (!moved.includes(one.leader)) one.update();
  });
  const [named] = entries().map(([key]) => living.get(key.split(".")[0]));
  const [navigation] = performance.getEntriesByType("navigation");
  if (named && navigation?.type === "navigate") named.figure.scrollIntoView();
}

// --- drawings ------------------------------------------------------------------------------------

/** How things look: a colour of the theme, a line, a marker. Mechanisms come from the figures. */
const LINES = {
  solid: undefined, dashed: "7 4", dashdot: "8 3 2 3", dotted: "2 3",
};
const MARKERS = {
  pentagon: "M0 -5l4.8 3.5l-1.8 5.6h-6l-1.8 -5.6z",
  circle: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
  square: "M-3.5 -3.5h7v7h-7z",
  up: "M0 -4.5l4.3 8h-8.6z",
  down: "M0 4.5l4.3 -8h-8.6z",
  diamond: "M0 -5l5 5l-5 5l-5 -5z",
  dot: "M-1.7 0a1.7 1.7 0 1 0 3.4 0a1.7 1.7 0 1 0 -3.4 0z",
  hollow: "M0 -3.3l3.1 5.6h-6.2z",
  star: "M0 -6l1.5 4.2h4.4l-3.5 2.7l1.3 4.3l-3.7 -2.6l-3.7 2.6l1.3 -4.3l-3.5 -2.7h4.4z",
};
export const PLAIN = { color: "var(--live-text)", line: "solid", width: 2 };
export const PALE = { color: "var(--live-pale)", line: "solid", width: 6 };
export const FAINT = { color: "var(--live-faint)", line: "dotted", width: 1.5 };
export const BLUE = { color: "var(--live-blue)", line: "solid", width: 2.2 };
export const ORANGE = { color: "var(--live-orange)", line: "dashed", width: 2.2 };

/** The look of a mechanism, the same as in the figures. */
export function lookOf(name) {
  const { line, marker, slug } = LOOKS[name];
  return { color: `var(--live-${slug})`, line, marker, width: 2 };
}

const strokeOf = ({ color, line, width = 2 }) => ({
  fill: "none", style: `stroke: ${color}`, "stroke-width": width,
  "stroke-dasharray": LINES[line ?? "solid"],
});

function key([name, look]) {
  const marker = look.marker && drawn("path", {
    d: MARKERS[look.marker], transform: "translate(17 7)",
    style: look.hollow ? `fill: none; stroke: ${look.color}` : `fill: ${look.color}`,
  });
  const line = look.line && drawn("path", { d: "M1 7h32", ...strokeOf(look) });
  const swatch = drawn("svg", { width: 34, height: 14 }, ...[line, marker].filter(Boolean));
  return element("li", {}, swatch, ` ${name}`);
}

/** How many panels stand beside each other, and how wide each is. */
export function columns(width, most) {
  const fitting = Math.max(1, Math.floor((width + GAP) / (NARROWEST_PANEL + GAP)));
  const count = Math.min(most, fitting);
  return { count, width: (width - GAP * (count - 1)) / count };
}

function ticksOf({ from, to, log }) {
  if (log) {
    const decades = Math.log10(to / from);
    const step = Math.ceil(decades / 6);
    const digits = decades <= 2.2 ? [1, 2, 5] : [1];
    const first = Math.floor(Math.log10(from));
    const powers = Array.from({ length: Math.ceil(decades) + 2 }, (_, i) => first + i);
    const all = powers.filter((power) => power % step === 0)
      .flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)));
    return all.filter((tick) => tick >= from * 0.999 && tick <= to * 1.001);
  }
  const rough = (to - from) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((digit) => digit * power >= rough) * power;
  const first = Math.ceil(from / step - 1e-9);
  const count = Math.floor(to / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/**
 * A drawing with two axes, `{ from, to, log, label, ticks, write }`, as an SVG of its own.
 *
 * What lies outside the axes is cut. `node` is what goes into the page.
 */
export class Panel {
  constructor({ title, width, height = 240, x, y }) {
    const left = y.room ?? (y.label ? 62 : 44);
    const [right, top, bottom] = [20, title ? 26 : 10, x.label ? 44 : 26];
    const inner = { width: Math.max(width - left - right, 40), height: height - top - bottom };
    const position = ({ from, to, log }, size) => (value) => {
      if (log) return (size * Math.log(value / from)) / Math.log(to / from);
      return (size * (value - from)) / (to - from);
    };
    this.x = position(x, inner.width);
    const up = position(y, inner.height);
    this.y = (value) => Math.min(Math.max(inner.height - up(value), -1e4), 1e4);
    this.inner = inner;
    this.marks = drawn("svg", { x: left, y: top, ...inner, class: "live-marks" });
    const grid = [];
    for (const value of x.ticks ?? ticksOf(x)) {
      const at = left + this.x(value);
      grid.push(drawn("path", { d: `M${at} ${top}v${inner.height}`, class: "live-grid" }));
      const place = { x: at, y: top + inner.height + 16, "text-anchor": "middle" };
      grid.push(drawn("text", place, (x.write ?? tick)(value)));
    }
    for (const value of y.ticks ?? ticksOf(y)) {
      const at = top + this.y(value);
      grid.push(drawn("path", { d: `M${left} ${at}h${inner.width}`, class: "live-grid" }));
      const place = { x: left - 6, y: at + 4, "text-anchor": "end" };
      grid.push(drawn("text", place, (y.write ?? tick)(value)));
    }
    const middle = top + inner.height / 2;
    const texts = [
      [title, { x: left + inner.width / 2, y: 16, class: "live-title" }],
      [x.label, { x: left + inner.width / 2, y: height - 6 }],
      [y.label, { x: 14, y: middle, transform: `rotate(-90 14 ${middle})` }],
    ].filter(([text]) => text);
    const named = texts.map(([text, place]) =>
      drawn("text", { "text-anchor": "middle", ...place }, text));
    const view = { viewBox: `0 0 ${width} ${height}`, width, height };
    this.node = drawn("svg", { ...view, class: "live-panel", "aria-hidden": "true" },
      ...grid, ...named, this.marks);
  }

  add(tag, attributes, ...children) {
    this.marks.append(drawn(tag, attributes, ...children));
    return this;
  }

  /** A line through points, with a marker at every `every`-th if the look has one. */
  line(xs, ys, look, every = 0) {
    const points = this.#places(xs, ys);
    const path = points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");
    if (look.line && points.length) this.add("path", { d: `M${path}`, ...strokeOf(look) });
    const some = (values) => values.filter((_, i) => i % every === 0);
    return every && look.marker ? this.dots(some(xs), some(ys), look) : this;
  }

  #places(xs, ys) {
    return xs.map((x, i) => [this.x(x), this.y(ys[i])]).filter((p) => p.every(Number.isFinite));
  }

  /** Markers at points, hollow if the look is. */
  dots(xs, ys, look) {
    const [, left, top, shape] = MARKERS[look.marker].match(/^M(\S+) ([\d.]+|-[\d.]+)(.*)$/);
    const d = this.#places(xs, ys).map(([x, y]) =>
      `M${(x + Number(left)).toFixed(1)} ${(y + Number(top)).toFixed(1)}${shape}`);
    const [fill, stroke] = look.hollow ? ["none", look.color] : [look.color, "none"];
    return this.add("path", { d: d.join(""), style: `fill: ${fill}; stroke: ${stroke}` });
  }

  /** Bars from `low` to `high` along y, `half` the width of each along x. */
  bars(xs, lows, highs, half, look) {
    xs.forEach((x, i) => {
      const [left, right] = [this.x(x - half), this.x(x + half)];
      const [top, bottom] = [this.y(highs[i]), this.y(lows[i])];
      const box = { x: left, y: top, width: right - left, height: Math.max(bottom - top, 0) };
      this.add("rect", { ...box, style: `fill: ${look.color}` });
    });
    return this;
  }

  /** Error bars: from `low` to `high` at each x. */
  errors(xs, lows, highs, look) {
    const d = xs.map((x, i) => {
      const [at, top, bottom] = [this.x(x), this.y(highs[i]), this.y(lows[i])];
      return `M${at} ${bottom}V${top}M${at - 4} ${top}h8M${at - 4} ${bottom}h8`;
    });
    return this.#stroke(d, look);
  }

  /** The same lying down: from `low` to `high` at each y. */
  spans(ys, lows, highs, look) {
    const d = ys.map((y, i) => {
      const [at, left, right] = [this.y(y), this.x(lows[i]), this.x(highs[i])];
      return `M${left} ${at}H${right}M${left} ${at - 4}v8M${right} ${at - 4}v8`;
    });
    return this.#stroke(d, look);
  }

  #stroke(d, look) {
    return this.add("path", { d: d.join(""), ...strokeOf({ ...look, line: "solid", width: 1.6 }) });
  }

  /** A vertical or a horizontal line through the whole panel. */
  rule({ x, y }, look = FAINT) {
    const d = x === undefined
      ? `M0 ${this.y(y)}h${this.inner.width}`
      : `M${this.x(x)} 0v${this.inner.height}`;
    return this.add("path", { d, ...strokeOf(look) });
  }

  write(x, y, text, { anchor = "middle", color = "var(--live-text)", lift = 0 } = {}) {
    const place = { x: this.x(x), y: this.y(y) - lift, "text-anchor": anchor };
    return this.add("text", { ...place, style: `fill: ${color}` }, text);
  }
}

// --- the client ----------------------------------------------------------------------------------

/** A survey with one question, as the client reads it. */
export function surveyOf(entry) {
  return parseSurvey(JSON.stringify({ uldp: 2, id: "live", questions: [entry] }));
}

/** A mechanism by its name, over k values of which the first s are sensitive. */
export const planned = (name, k, s, epsilon) => surveyOf(plan(name, k, s, epsilon)).questions[0];

/** Random words that are the same for the same numbers: for pictures, never for an answer. */
export function seeded(...numbers) {
  const state = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 1];
  const word = () => {
    const sum = (state[0] + state[1] + state[3]) | 0; // sfc32
    state[3] = (state[3] + 1) | 0;
    state[0] = state[1] ^ (state[1] >>> 9);
    state[1] = (state[2] + (state[2] << 3)) | 0;
    state[2] = (((state[2] << 21) | (state[2] >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (const number of numbers) {
    state[0] ^= Math.imul(number + 1, 0x85ebca6b);
    for (let i = 0; i < 12; i++) word();
  }
  return word;
}

/** What `Coins` ask for: a function that fills an array with random words. */
export const filling = (word) => (words) => words.forEach((_, i) => (words[i] = word()));
