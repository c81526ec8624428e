// What live parts of the book are made of: controls, drawings, and a state that the address holds.
// A part is made as CONTRIBUTING.md says; book/_ext/live.py joins all of them into one script.

import { parseSurvey } from "../../client/uldp.mjs";
import { plan } from "./model.mjs";

const SVG = "http://www.w3.org/2000/svg";
const GAP = 24;
const NARROWEST_PANEL = 280;
const REST = 160; // milliseconds without a move, after which the hand rests
const TOO_OFTEN = 2000;
const SLACK = 8; // pixels across, below which a finger may be about to scroll

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

export const bold = (text, tone) => element("b", tone ? { class: `live-${tone}` } : {}, text);

/** A number as a reader wants it: three digits, and thousands apart. */
export function written(number) {
  const size = Math.abs(number);
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "none";
  if (size >= 1e7 || (size && size < 1e-3)) return number.toExponential(2).replace("e+", "e");
  if (size >= 1000) return thousands(Math.round(number));
  return Number(number.toPrecision(3)).toString();
}

/** A share in percent, with two digits of what is away from 0 and from 100. */
export function percent(share) {
  const rarer = 100 * Math.min(share, 1 - share);
  if (rarer > 0 && rarer < 0.01) return share < 0.5 ? "<0.01%" : ">99.99%";
  const digits = rarer > 0 && rarer < 9.95 ? 1 - Math.floor(Math.log10(rarer)) : 0;
  return `${(100 * share).toFixed(digits)}%`;
}

/** A number with its sign. */
export const signed = (number) => `${number > 0 ? "+" : ""}${number}`.replace("-", "−");

const grouped = new Intl.NumberFormat("en-US");
const compact = (compactDisplay) => new Intl.NumberFormat("en-US", {
  notation: "compact", compactDisplay, maximumSignificantDigits: 3,
});
const [named, short] = [compact("long"), compact("short")];
export const thousands = (number) => grouped.format(number);

/** A number of people: to the last one, or with three digits from a million on. */
export const heads = (number) => (number < 1e6 ? thousands(number) : named.format(number));
export const fewLetters = (number) => (number < 1e6 ? thousands(number) : short.format(number));

/** A tick: powers of ten from 10⁵ on, and below 10⁻³, as such. */
function tick(number) {
  const power = Math.round(Math.log10(number));
  const isRound = number > 0 && 10 ** power === number;
  if (!isRound || (power < 5 && power >= -3)) return written(number);
  return `10${[...String(power)].map((one) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[one] ?? "⁻").join("")}`;
}

/** A tick in percent. */
export const inPercent = (share) => `${Number((100 * share).toPrecision(3))}%`;

/** A table: texts by row, of which the first in each names the row. On a phone cells name their columns. */
export function table(caption, head, rows) {
  const label = (column) => element("span", { class: "label" }, `${head[column]}: `);
  const cell = (text, column) =>
    column ? element("td", {}, label(column), text) : element("th", { scope: "row" }, text);
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
//
// Each takes, last, what else is known of it: `at`, its place ("top", "after" or "folded"); `when`,
// whether a state needs it; `ends`, what a slider's ends mean; `tones`, which of a choice's texts
// are sensitive; `style`, a class.

/** One of `values` in their order, or of those that a function of the state returns. */
export const slider = (label, values, first, write = String, more = {}) => ({
  kind: "range", label, values, first, write, ...more,
});

/** A whole number from `least` to `most`, each a number or a function of the state. */
export const whole = (label, least, most, first, more = {}) => ({
  kind: "number", label, least, most, first, write: thousands, ...more,
});

/** A whole number, too, on a slider that stops at some of them. */
export const stepped = (label, stops, most, first, write, more = {}) => ({
  kind: "range", label, values: stops, least: 1, most, first, write, ...more,
});

/** One of some texts, by their keys. */
export const choice = (label, texts, first, more = {}) => ({
  kind: "radio", label, texts, first, write: (key) => texts[key], ...more,
});

/** How often it was pressed. */
export const button = (label) => ({ kind: "button", label, first: 0, least: 0, most: 1e6 });

const of = (value, state) => (typeof value === "function" ? value(state) : value);
const closest = (numbers, to) =>
  numbers.reduce((a, b) => (Math.abs(b - to) < Math.abs(a - to) ? b : a));

/** The possible value that is next to another one. */
function nearest(control, value, state) {
  if (control.kind === "radio") {
    return Object.hasOwn(control.texts, value) ? String(value) : control.first;
  }
  const number = Number(value);
  if (value === "" || Number.isNaN(number)) return nearest(control, control.first, state);
  if (control.most === undefined) return closest(of(control.values, state), number);
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
const ENDS = ["← private", "exact →"];

/** ε, on a slider and along an axis. */
export const privacy = (first, values = EPSILONS, more = {}) =>
  slider("Privacy", values, first, (epsilon) => `ε = ${epsilon}`, { ends: ENDS, ...more });
export const alongEpsilon = (grid = EPSILONS) => ({
  from: grid[0], to: grid.at(-1), log: true, label: "ε", ends: ENDS, say: (one) => `ε = ${one}`,
});

class Field {
  constructor(part, key, control) {
    const id = `live-${part.name}-${key}`;
    Object.assign(this, { control, part, key });
    this.note = element("p", { class: "live-note", id: `${id}-note`, role: "status" });
    if (control.kind === "button") {
      this.node = element("button", { type: "button", id, class: "live-first" }, control.label);
      this.node.addEventListener("click", () => part.move(key, part.state[key] + 1));
      return;
    }
    if (control.kind === "radio") {
      const idOf = (value) => `${id}-${value.replace(/\W/g, "-")}`;
      this.inputs = Object.keys(control.texts).map((value) =>
        element("input", { type: "radio", name: id, id: idOf(value), value }));
      const texts = this.inputs.map((input) => element("label",
        { class: `live-pill live-${control.tones?.[input.value] ?? "plain"}` },
        input, element("span", {}, control.texts[input.value])));
      const style = `live-control live-choice ${control.style ?? ""}`;
      this.node = element("fieldset", { class: style, id },
        element("legend", {}, control.label), element("div", { class: "live-pills" }, ...texts),
        this.note);
      this.node.addEventListener("change", ({ target }) => part.move(key, target.value));
      return;
    }
    this.input = element("input", { id, type: control.kind, "aria-describedby": this.note.id });
    this.output = element("output", { for: id });
    const label = element("label", { for: id }, control.label);
    const ends = (control.ends ?? []).map((text) => element("span", {}, text));
    this.node = element(
      "div",
      { class: "live-control" },
      element("div", { class: "live-label" }, label, this.output),
      this.input,
      element("div", { class: "live-ends", "aria-hidden": "true" }, ...ends),
      this.note,
    );
    const [event, take] = control.kind === "range"
      ? ["input", () => part.move(key, this.#stops()[this.input.value])]
      : ["change", () => this.#take(this.input.value)];
    this.input.addEventListener(event, take);
    // A finger that turns out to scroll has moved nothing.
    this.input.addEventListener("pointerdown", () => (this.before = part.state[key]));
    this.input.addEventListener("pointercancel", () => part.move(key, this.before));
  }

  #stops() {
    return of(this.control.values, this.part.all());
  }

  /** A number that was typed, or a word on why nothing has changed. */
  #take(text) {
    const { control, part, key } = this;
    const value = nearest(control, text, part.all());
    if (text !== "" && value === Number(text)) return part.move(key, value);
    const [least, most] = [of(control.least, part.all()), of(control.most, part.all())];
    this.input.setAttribute("aria-invalid", "true");
    this.note.textContent = `Only whole numbers from ${thousands(least)} to ${thousands(most)}. ` +
      `Shown is still ${thousands(part.state[key])}.`;
    return undefined;
  }

  show() {
    const { control, input } = this;
    const [state, value] = [this.part.all(), this.part.state[this.key]];
    this.node.hidden = !(control.when?.(state) ?? true);
    this.note.textContent = this.part.notes[this.key] ?? "";
    for (const one of this.inputs ?? []) one.checked = one.value === value;
    if (!input) return;
    const text = control.write(value, state);
    input.removeAttribute("aria-invalid");
    if (control.kind === "range") {
      const values = this.#stops();
      made(input, { min: 0, max: values.length - 1, step: 1, "aria-valuetext": text }, []);
      input.value = values.indexOf(closest(values, value));
      this.output.textContent = text;
    } else {
      made(input, { min: of(control.least, state), max: of(control.most, state), step: 1 }, []);
      input.value = value;
    }
  }
}

// --- parts ---------------------------------------------------------------------------------------

const definitions = new Map();
const living = new Map();

/**
 * Say what a part is: its `controls` by key, and `show(state, { width, draft, still })`, which
 * returns
 *
 * - `drawing`: panels and other elements that a screen reader skips or that name themselves,
 * - `keys`: a legend, looks by name,
 * - `said`: the sentence that says what the drawing shows,
 * - `below`: elements below it,
 * - `folds`: functions by the text of what a click opens; each returns elements, such as tables,
 * - `shown`: the numbers behind it, for tests.
 *
 * While a hand moves a control, `draft` is true: then fewer points will do, `below`, `folds` and
 * `shown` are not used, and `still(axis)` returns the axis of the last drawing at rest. A part that
 * `follows` another has its state, too. `saidFirst` puts the sentence above the controls. `probes`
 * are parts of states for whose texts there is room in all of them, or a function of the state.
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
    this.notes = {};
    this.axes = {};
    this.folds = [];
    this.heights = new Map();
    this.read();
    this.fields = this.controls.map(([key, control]) => new Field(this, key, control));
    this.keys = element("ul", { class: "live-keys", "aria-hidden": "true" });
    this.drawing = element("div", { class: "live-drawing" });
    this.readout = element("p", { class: "live-readout", "aria-hidden": "true" });
    this.said = element("p", { class: "live-said", "aria-live": "polite" });
    this.below = element("div", { class: "live-below" });
    this.folded = element("div", { class: "live-folds" });
    const [inTurn, moved] = [[this.said, this.#form()], this.#form("folded")];
    if (!this.definition.saidFirst) inTurn.reverse();
    if (moved) this.#fold("Other numbers", moved);
    const all = [
      this.#form("top"), ...inTurn, this.drawing, this.keys, this.readout, this.#form("after"),
      this.below, this.folded, this.#actions(),
    ];
    host.append(...all.filter(Boolean));
  }

  #form(place) {
    const here = this.fields.filter(({ control }) =>
      control.at === place && control.kind !== "button");
    return here.length &&
      element("div", { class: `live-controls live-${place}` }, ...here.map(({ node }) => node));
  }

  #actions() {
    const act = (text, action) => {
      const node = element("button", { type: "button" }, text);
      node.addEventListener("click", () => action(node));
      return node;
    };
    const copy = async (node) => {
      const isCopied = await copied(location.href);
      node.textContent = isCopied ? "Copied" : "The address above is the link";
      setTimeout(() => (node.textContent = "Copy link to this state"), TOO_OFTEN);
    };
    const own = this.fields.filter(({ control }) => control.kind === "button");
    return element("div", { class: "live-actions" }, ...own.map(({ node }) => node),
      act("Reset", () => this.reset()), act("Copy link to this state", copy));
  }

  #fold(text, ...content) {
    const body = element("div", { class: "live-fold" }, ...content);
    const summary = element("summary", {}, text);
    const node = element("details", {}, summary, body);
    this.folded.append(node);
    return { node, summary, body };
  }

  /** The state with that of the part that this one follows. */
  all() {
    return { ...this.leader?.all(), ...this.state };
  }

  /** Take the state from the address, and what it does not name as it is at first. */
  read() {
    const known = Object.fromEntries(entries());
    this.notes = {};
    for (const [key, control] of this.controls) {
      const asked = known[`${this.name}.${key}`] ?? control.first;
      const value = nearest(control, asked, this.all());
      this.state[key] = value;
      if (String(value) !== String(asked) && value !== Number(asked)) this.#tell(key, asked);
    }
  }

  /** Say that a number is not possible, and which is shown instead. */
  #tell(key, asked) {
    const { write } = this.definition.controls[key];
    const shown = write?.(this.state[key], this.all()) ?? this.state[key];
    this.notes[key] = `${String(asked).slice(0, 20)} is not possible here; shown is ${shown}.`;
  }

  move(key, value) {
    this.notes = {};
    this.isMoved = true;
    for (const field of this.fields) field.node.classList.toggle("live-moved", field.key === key);
    this.state[key] = nearest(this.definition.controls[key], value, this.all());
    for (const [other, control] of this.controls) {
      const before = this.state[other];
      this.state[other] = nearest(control, before, this.all());
      if (this.state[other] !== before) this.#tell(other, before);
    }
    this.update(true);
  }

  /** Move a slider by so many stops. */
  step(key, by) {
    const values = of(this.definition.controls[key].values, this.all());
    const to = values.indexOf(closest(values, this.state[key])) + by;
    this.move(key, values[Math.min(Math.max(to, 0), values.length - 1)]);
  }

  reset() {
    this.notes = {};
    this.isMoved = true;
    for (const [key, { first }] of this.controls) this.state[key] = first;
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

  /** Draw: while a hand moves once a frame, what can be drawn quickly; all of it when it rests. */
  update(isMoving = false) {
    for (const field of this.fields) field.show();
    this.host.setAttribute("aria-busy", "true");
    clearTimeout(this.resting);
    if (isMoving) {
      this.frame ??= requestAnimationFrame(() => this.render(true));
      this.resting = setTimeout(() => this.rest(), REST);
    } else this.rest();
    if (isMoving) for (const one of this.followers()) one.host.setAttribute("aria-busy", "true");
  }

  rest() {
    if (this.isMoved) this.remember();
    this.render();
    for (const one of this.followers()) one.update();
  }

  followers() {
    return [...living.values()].filter((one) => one.leader === this);
  }

  render(draft = false) {
    cancelAnimationFrame(this.frame);
    this.frame = undefined;
    const width = this.drawing.clientWidth || this.host.clientWidth;
    const still = (axis, key = "y") => {
      if (!draft) this.axes[key] = axis;
      return this.axes[key] ?? axis;
    };
    this.#reserve(width);
    const { drawing, keys = [], said, below = [], folds = {}, shown } =
      this.definition.show(this.all(), { width, draft, still });
    this.#draw(drawing);
    this.said.replaceChildren(...[said].flat());
    if (!draft) {
      this.keys.replaceChildren(...keys.map(key));
      this.below.replaceChildren(...below);
      Object.entries(folds).forEach(([text, content], i) => this.#refold(i, text, content));
      this.host.shown = shown;
      this.host.removeAttribute("aria-busy");
    }
    this.#keepHeights();
  }

  /** Draw into the same places, so that what has the focus keeps it. */
  #draw(drawing) {
    const caption = this.figure.querySelector("figcaption");
    caption.id ||= `live-${this.name}-caption`;
    drawing.forEach((one, i) => {
      if (one.node) made(one.node, { role: "img", "aria-labelledby": caption.id }, []);
      const place = this.drawing.children[i] ?? this.drawing.appendChild(element("div"));
      place.replaceChildren(one.node ?? one);
      place.classList.toggle("live-wide", !one.node);
      if (one.reading) {
        place.reader ??= new Reader(this, place);
        place.reader.read(one);
      }
    });
    while (this.drawing.children.length > drawing.length) this.drawing.lastChild.remove();
  }

  #refold(i, text, content) {
    this.folds[i] ??= this.#fold(text);
    const fold = this.folds[i];
    fold.summary.textContent = text;
    const fill = () => {
      fold.body.replaceChildren(...content());
      fold.body.removeAttribute("tabindex");
      if (fold.body.scrollWidth > fold.body.clientWidth) fold.body.tabIndex = 0; // keys scroll it
    };
    fold.node.ontoggle = () => fold.node.open && fill();
    if (fold.node.open) fill();
  }

  /** Room for what is said in some other states, too. */
  #reserve(width) {
    const probes = of(this.definition.probes ?? [], this.all());
    const room = JSON.stringify([width, probes]);
    if (room === this.room) return;
    this.room = room;
    this.heights.clear();
    for (const one of this.#growing()) one.style.minHeight = "";
    for (const probe of probes) {
      const state = { ...this.all(), ...probe };
      const { said, below = [] } =
        this.definition.show(state, { width, draft: false, still: (axis) => axis });
      this.said.replaceChildren(...[said].flat());
      this.below.replaceChildren(...below);
      this.#keepHeights();
    }
  }

  #growing() {
    return [this.said, this.readout, this.below];
  }

  /** What stands below does not jump: nothing becomes lower again at the same width. */
  #keepHeights() {
    for (const one of this.#growing()) {
      const height = Math.ceil(one.getBoundingClientRect().height);
      if (height > (this.heights.get(one) ?? 0)) {
        this.heights.set(one, height);
        one.style.minHeight = `${height}px`;
      }
    }
  }

  /** Take the place of the picture, on a screen. */
  start() {
    if (!this.figure.contains(this.host)) this.figure.prepend(this.host);
    this.figure.classList.add("live-figure");
    this.update();
    let { width } = this.host.getBoundingClientRect();
    new ResizeObserver(([{ contentRect }]) => {
      if (Math.abs(contentRect.width - width) > 1) this.render();
      ({ width } = contentRect);
    }).observe(this.host);
  }
}

/** Put a text on the clipboard, and say whether that was allowed. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = element("textarea", {}, text);
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    return isCopied;
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
      host.closest("figure").classList.remove("live-figure");
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
  const [first] = entries().map(([key]) => living.get(key.split(".")[0]));
  const [navigation] = performance.getEntriesByType("navigation");
  if (first && navigation?.type === "navigate") first.figure.scrollIntoView();
}

// --- values under the hand -----------------------------------------------------------------------

/** Reads a panel's values under finger, pointer and arrow keys, and moves a control if it can. */
class Reader {
  constructor(part, place) {
    Object.assign(this, { part, place });
    place.classList.add("live-plot");
    made(place, { tabindex: 0, role: "slider", "aria-valuemin": 0 }, []);
    const at = ({ clientX, clientY }) => {
      const { left, top, width } = place.firstChild.getBoundingClientRect();
      const scale = this.panel.width / width;
      return this.panel.reading.nearest(...this.panel.inside(
        scale * (clientX - left), scale * (clientY - top)));
    };
    const follow = (event, isPressed) => {
      const { moves, reading } = this.panel;
      const index = at(event);
      if (isPressed && moves) part.move(moves, reading.values[index]);
      else this.#at(index);
    };
    let from; // where a finger that scrolls begins, too
    place.addEventListener("pointerdown", ({ clientX, pointerId }) => {
      from = clientX;
      place.setPointerCapture(pointerId);
    });
    place.addEventListener("pointermove", (event) => {
      const { buttons, clientX, pointerId } = event;
      const isPressed = buttons > 0 && place.hasPointerCapture(pointerId);
      follow(event, isPressed && Math.abs(clientX - from) > SLACK);
    });
    place.addEventListener("click", (event) => follow(event, true));
    place.addEventListener("pointerleave", () => this.#leave());
    place.addEventListener("focusout", () => this.#leave());
    place.addEventListener("focusin", () => this.#at(this.index));
    place.addEventListener("keydown", (event) => {
      const by = {
        ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity,
      }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      if (this.panel.moves) part.step(this.panel.moves, by);
      else this.#at(Math.min(Math.max(this.index + by, 0), this.panel.reading.count - 1));
    });
  }

  /** Take a new drawing; the reading stands where the state is, or stays where it was. */
  read(panel) {
    const { count, at, name } = panel.reading;
    this.panel = panel;
    this.index = Math.min(at ?? this.index ?? 0, count - 1);
    made(this.place, { "aria-label": `Values: ${name}`, "aria-valuemax": count - 1 }, []);
    const isRead = this.isRead || this.place === document.activeElement;
    if (isRead) this.#at(this.index);
    else this.#stand();
    if (!this.part.readout.textContent) this.#hint();
  }

  #at(index) {
    this.index = index;
    this.isRead = true;
    const text = this.panel.reading.text(index);
    made(this.place, { "aria-valuenow": index, "aria-valuetext": text }, []);
    this.part.readout.textContent = text;
    this.panel.mark(index);
  }

  /** Stand where the state is. */
  #stand() {
    this.isRead = false;
    const { text, at } = this.panel.reading;
    this.index = at ?? this.index;
    made(this.place, { "aria-valuenow": this.index, "aria-valuetext": text(this.index) }, []);
    this.panel.mark();
  }

  #leave() {
    this.#stand();
    this.#hint();
  }

  #hint() {
    const [act, keys] = matchMedia("(hover: none)").matches
      ? ["Tap", ""] : ["Point at", ", or press ← and → there,"];
    this.part.readout.textContent = this.panel.moves
      ? `Drag in the picture${keys}`.replace(/,?$/, ".")
      : `${act} the picture${keys} to read its values.`;
  }
}

// --- drawings ------------------------------------------------------------------------------------

/** How things look: a colour of the theme, a line, a marker. Mechanisms come from the figures. */
const LINES = {
  solid: undefined, dashed: "7 4", dashdot: "8 3 2 3", dotted: "2 3",
};
const MARKERS = {
  circle: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
  square: "M-3.5 -3.5h7v7h-7z",
  dot: "M-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z",
  up: "M0 -4.5l4 8h-8z",
  down: "M0 4.5l4 -8h-8z",
  left: "M-4.5 0l8 4v-8z",
  right: "M4.5 0l-8 4v-8z",
  upright: "M-1 -14h2v28h-2z",
  star: "M0 -6l1.5 4.2h4.4l-3.5 2.7l1.3 4.3l-3.7 -2.6l-3.7 2.6l1.3 -4.3l-3.5 -2.7h4.4z",
};
export const PLAIN = { color: "var(--ink)", line: "solid", width: 2 };
export const ACCENT = { color: "var(--accent)", line: "solid", width: 2.2 };
export const PALE = {
  color: "color-mix(in srgb, var(--muted) 70%, var(--page))", line: "solid", width: 6,
};
export const BEFORE = { color: "var(--shade-light)", marker: "square" };
export const FAINT = { color: "var(--muted)", line: "dotted", width: 1.5 };
export const HIDDEN = { color: "var(--sensitive)", marker: "dot" };
export const OTHER = { color: "var(--other)", marker: "dot" };

/** The look of a mechanism, the same as in the figures. */
export function lookOf(name) {
  return { ...LOOKS[name], width: 2 };
}

const strokeOf = ({ color, line, width = 2 }) => ({
  fill: "none", style: `stroke: ${color}`, "stroke-width": width,
  "stroke-dasharray": LINES[line ?? "solid"],
});

function key([name, look]) {
  const marker = look.marker && drawn("path", {
    d: MARKERS[look.marker], transform: "translate(17 7)", style: `fill: ${look.color}`,
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

const widths = new Map();
let pen;

/** How wide a text is in a drawing. */
function widthOf(text) {
  if (!pen) {
    pen = document.createElement("canvas").getContext("2d");
    pen.font = `600 13px ${getComputedStyle(document.querySelector("div.live")).fontFamily}`;
  }
  if (!widths.has(text)) widths.set(text, pen.measureText(text).width);
  return widths.get(text);
}

const widest = (texts) => Math.max(0, ...texts.map(widthOf));

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

/** Where a value stands on an axis, as a share of its length. */
const along = ({ from, to, log, shift = 0 }) => (value) => (log
  ? Math.log((value + shift) / (from + shift)) / Math.log((to + shift) / (from + shift))
  : (value - from) / (to - from));

/**
 * A drawing with two axes, `{ from, to, log, shift, label, ticks, write, say, ends, tone }`, as an
 * SVG of its own. What lies outside the axes is cut. `node` is what goes into the page.
 *
 * `at` is where the state is along x, and `moves` the key of the control that has x.
 */
export class Panel {
  constructor({ title, note, width, height = 240, x, y, at, moves, names = [] }) {
    const written = (axis) =>
      (axis.ticks ?? ticksOf(axis)).map((value) => [value, (axis.write ?? tick)(value)]);
    const [xs, ys] = [written(x), written(y)];
    const lines = [[title, "live-title"], [note ?? y.label, "live-quiet"]].filter(([text]) => text);
    const left = Math.ceil(widest(ys.map(([, text]) => text))) + 10;
    const room = Math.ceil(widest(names)) + (names.length && 18);
    const right = Math.max(10, room, Math.ceil(widthOf(xs.at(-1)?.[1] ?? "") / 2) + 2);
    const [top, bottom] = [18 * lines.length + 10, x.label || x.ends ? 44 : 26];
    const inner = { width: Math.max(width - left - right, 40), height: height - top - bottom };
    const [across, up] = [along(x), along(y)];
    Object.assign(this, { inner, width, at, moves, room, axes: { x, y }, curves: [] });
    this.x = (value) => inner.width * across(value);
    this.y = (value) => Math.min(Math.max(inner.height * (1 - up(value)), -1e4), 1e4);
    this.inside = (px, py) => [px - left, py - top];
    this.marks = drawn("svg", { x: left, y: top, ...inner, class: "live-marks" });
    this.front = drawn("g", { transform: `translate(${left} ${top})` });
    const frame = [drawn("path", {
      d: `M${left} ${top + inner.height}h${inner.width}`, class: "live-axis" })];
    let free = -Infinity;
    for (const [value, text] of xs) {
      const at = left + this.x(value);
      const half = widthOf(text) / 2;
      frame.push(drawn("path", { d: `M${at} ${top + inner.height}v4`, class: "live-axis" }));
      if (at - half < free) continue;
      free = at + half + 6;
      const middle = Math.min(Math.max(at, half), width - half);
      const place = { x: middle, y: top + inner.height + 18, "text-anchor": "middle" };
      frame.push(drawn("text", place, text));
    }
    for (const [value, text] of ys) {
      const at = top + this.y(value);
      const line = { d: `M${left} ${at}h${inner.width}`, class: "live-grid" };
      if (!y.tone) frame.push(drawn("path", line));
      const place = { x: left - 8, y: at + 4, "text-anchor": "end", class: y.tone?.(value) };
      frame.push(drawn("text", place, text));
    }
    lines.forEach(([text, name], i) =>
      frame.push(drawn("text", { x: 0, y: 14 + 18 * i, class: name }, text)));
    const row = height - 6;
    const [first, last] = x.ends ?? [];
    if (first) frame.push(drawn("text", { x: left, y: row, class: "live-quiet" }, first));
    if (x.label) {
      const place = { x: left + inner.width / 2, y: row, "text-anchor": "middle" };
      frame.push(drawn("text", { ...place, class: "live-quiet" }, x.label));
    }
    if (last) {
      const place = { x: left + inner.width, y: row, "text-anchor": "end", class: "live-quiet" };
      frame.push(drawn("text", place, last));
    }
    this.node = drawn("svg", {
      viewBox: `0 0 ${width} ${height}`, width, height, class: "live-panel",
    }, ...frame, this.marks, this.front);
  }

  add(tag, attributes, ...children) {
    this.marks.append(drawn(tag, attributes, ...children));
    return this;
  }

  /** A line through points; if it has a name, its values can be read. */
  line(xs, ys, look, name) {
    const points = this.#places(xs, ys);
    const path = points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");
    if (look.line && points.length) this.add("path", { d: `M${path}`, ...strokeOf(look) });
    if (name) {
      this.curves.push({ name, xs, ys, look });
      this.reading ??= this.#readingOf(xs);
    }
    return this;
  }

  #places(xs, ys) {
    return xs.map((x, i) => [this.x(x), this.y(ys[i])]).filter((p) => p.every(Number.isFinite));
  }

  #readingOf(xs) {
    const { x, y } = this.axes;
    const say = (axis, value) => (axis.say ?? axis.write ?? written)(value);
    const inX = (px) => xs.reduce((a, b, i) =>
      (Math.abs(this.x(b) - px) < Math.abs(this.x(xs[a]) - px) ? i : a), 0);
    return {
      name: y.label ?? this.axes.x.label,
      count: xs.length,
      values: xs,
      at: this.at === undefined ? undefined : inX(this.x(this.at)),
      nearest: inX,
      places: (i) => this.curves.map(({ ys, look }) => [this.x(xs[i]), this.y(ys[i]), look.color]),
      text: (i) => `${say(x, xs[i])}: ${this.curves.filter(({ ys }) => !Number.isNaN(ys[i]))
        .map(({ name, ys }) => `${name} ${say(y, ys[i])}`).join(", ")}.`,
    };
  }

  /** Show which values are read, or none. */
  mark(index) {
    this.hand?.remove();
    if (index === undefined) return;
    const places = this.reading.places(index)
      .filter(([, y]) => Number.isFinite(y) && y >= 0 && y <= this.inner.height);
    const line = places.length > 0 && !this.reading.isPoints &&
      drawn("path", { d: `M${places[0][0]} 0v${this.inner.height}`, ...strokeOf(FAINT) });
    const rings = places.map(([x, y, color]) =>
      drawn("circle", { cx: x, cy: y, r: 5, ...strokeOf({ color }) }));
    this.hand = drawn("g", {}, ...[line, ...rings].filter(Boolean));
    this.front.append(this.hand);
  }

  /** Markers at points; where a point lies outside, an arrow at the edge. */
  dots(xs, ys, look) {
    const { width, height } = this.inner;
    const paths = {};
    for (const [x, y] of this.#places(xs, ys)) {
      const out = (y < 0 && "up") || (y > height && "down") ||
        (x < 0 && "left") || (x > width && "right");
      const [px, py] = [Math.min(Math.max(x, 5), width - 5), Math.min(Math.max(y, 5), height - 5)];
      (paths[out || look.marker] ??= []).push(out ? [px, py] : [x, y]);
    }
    for (const [marker, places] of Object.entries(paths)) {
      const [, left, top, shape] = MARKERS[marker].match(/^M(\S+) ([\d.]+|-[\d.]+)(.*)$/);
      const d = places.map(([x, y]) =>
        `M${(x + Number(left)).toFixed(1)} ${(y + Number(top)).toFixed(1)}${shape}`);
      const opacity = look.opacity ?? 1;
      this.add("path", { d: d.join(""), opacity, style: `fill: ${look.color}` });
    }
    return this;
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

  write(x, y, text, { anchor, lift }) {
    return this.add("text", { x: this.x(x), y: this.y(y) - lift, "text-anchor": anchor }, text);
  }

  /** Texts `[text, y, look, lower]` one below the other, as near to their heights, so many pixels lower,
   *  as they can be. */
  #apart(all) {
    const { height } = this.inner;
    const arrow = (y) => (y < -0.5 ? " ↑" : "") || (y > height + 0.5 ? " ↓" : "");
    let free = 11;
    const inTurn = all.filter(([, y]) => Number.isFinite(this.y(y)))
      .sort((a, b) => this.y(a[1]) - this.y(b[1]))
      .map(([text, value, look, lower = 0]) => {
        const y = this.y(value);
        const at = Math.max(Math.min(y, height) + 4 + lower, free);
        free = at + 15;
        return { words: text + arrow(y), y, at, look };
      });
    free = height - 4;
    for (const one of [...inTurn].reverse()) {
      one.at = Math.min(one.at, free);
      free = one.at - 15;
    }
    return inTurn;
  }

  /** Texts `[text, y, look]` apart from each other: beside their points at one x or, in a panel that has
   *  room for `names`, in a column at its right edge. */
  names(x, all) {
    const { width, height } = this.inner;
    const inTurn = this.#apart(all);
    const px = Math.min(this.x(x), width);
    const room = px + 22 + widest(inTurn.map(({ words }) => words));
    const isLeft = !this.room && room > width && px > width / 2;
    const from = this.room ? width : px;
    const side = isLeft ? -1 : 1;
    for (const { words, y, at, look } of inTurn) {
      if (y >= 0 && y <= height) {
        this.front.append(drawn("circle", { cx: px, cy: y, r: 3.5, style: `fill: ${look.color}` }));
      }
      const place = { x: from + 14 * side, y: at, "text-anchor": isLeft ? "end" : "start" };
      const style = `fill: ${look.color}`;
      const long = widthOf(words) + 4;
      const d = `M${px} ${Math.min(Math.max(y, 0), height)}H${from}L${from + 11 * side} ${at - 4}`;
      this.front.append(
        drawn("path", { d, opacity: 0.6, ...strokeOf({ color: look.color, width: 1 }) }),
        drawn("rect", { x: place.x - (isLeft ? long - 2 : 2), y: at - 11, width: long, height: 14,
          class: "live-plate" }),
        drawn("text", { ...place, class: "live-name", style }, words),
      );
    }
    return this;
  }
}

// --- the client ----------------------------------------------------------------------------------

/** A survey with one question, as the client reads it. */
export function surveyOf(entry) {
  return parseSurvey(JSON.stringify({ uldp: 3, id: "live", questions: [entry] }));
}

/** A mechanism by its name, over k values of which the first s are sensitive. */
export const planned = (name, k, s, epsilon) => surveyOf(plan(name, k, s, epsilon)).questions[0];

/** Random words that are the same for the same numbers: for pictures, never for an answer. */
export function seeded(...numbers) {
  let [a, b, c, counter] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 1];
  const word = () => {
    const sum = (a + b + counter) | 0; // sfc32
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (const number of numbers) {
    a ^= Math.imul(number + 1, 0x85ebca6b);
    for (let i = 0; i < 12; i++) word();
  }
  return word;
}

/** What `Coins` ask for: a function that fills an array with random words. */
export const filling = (word) => (words) => words.forEach((_, i) => (words[i] = word()));
