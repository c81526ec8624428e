// The script of example.html: it asks the questions of survey.json, and sends a message for each
// that is answered. What was made is kept until the server has taken it, and never made again.

import { parseSurvey } from "./uldp.mjs";

const TAKEN = "taken";
const form = document.querySelector("form");

const say = (text) => {
  document.querySelector("[role=status]").textContent = text;
};

const inOneTab = (action) => navigator.locks.request("survey", action);
const labelsOf = ({ labels }) => (Array.isArray(labels) ? labels : [...Array(labels).keys()]);
const nameOf = (number) => `question ${number}`; // no name of a property of the form

function fieldset(question) {
  const set = document.createElement("fieldset");
  const legend = document.createElement("legend");
  legend.textContent = question.name;
  set.append(legend);
  labelsOf(question).forEach((text, place) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    Object.assign(input, { type: "radio", name: nameOf(question.number), value: place });
    label.append(input, ` ${text}`);
    set.append(label);
  });
  return set;
}

/** What was made for a survey and a round, by the number of its question: a message, or "taken". */
class Outbox {
  constructor(survey, round) {
    this.key = JSON.stringify(["uldp example", survey.id, round]);
  }

  get made() {
    return JSON.parse(localStorage.getItem(this.key) ?? "{}");
  }

  put(number, content) {
    localStorage.setItem(this.key, JSON.stringify({ ...this.made, [number]: content }));
  }

  get waiting() {
    return Object.entries(this.made).filter(([, content]) => content !== TAKEN);
  }

  get isOver() {
    return Object.keys(this.made).length > 0 && this.waiting.length === 0;
  }
}

async function send(survey, time, outbox, chosen) {
  for (const question of survey.questions) {
    const place = chosen.get(nameOf(question.number));
    if (place === null || question.number in outbox.made) continue;
    const answer = labelsOf(question)[place];
    const message = survey.privatize(question.name, answer, time);
    outbox.put(question.number, [...message]);
  }
  const address = survey.repeat ? `messages?round=${time.round}` : "messages";
  for (const [number, message] of outbox.waiting) {
    const body = Uint8Array.from(message);
    const posted = fetch(address, { method: "POST", body });
    const isTaken = await posted.then(({ ok }) => ok, () => false);
    if (isTaken) outbox.put(number, TAKEN);
  }
}

async function start() {
  const response = await fetch("survey.json");
  const survey = parseSurvey(await response.arrayBuffer());
  const asked = new URLSearchParams(location.search).get("round");
  const round = survey.repeat ? Number(asked) : null;
  const time = { storage: localStorage, ...(survey.repeat && { round }) };
  if (!(await inOneTab(() => survey.takesPart(time)))) {
    return say("You are not asked this time. Thank you!");
  }
  const outbox = new Outbox(survey, round);
  const sets = survey.questions.map(fieldset);
  const show = (text) => {
    sets.forEach((set, number) => {
      set.disabled = number in outbox.made;
    });
    form.hidden = outbox.isOver;
    const isLeft = outbox.waiting.length > 0;
    say(isLeft ? "Not everything was sent. Please press Send again." : text);
  };
  const submit = async () => {
    if (outbox.isOver) return show("You have answered. Thank you!");
    const chosen = new FormData(form);
    form.hidden = true;
    say("One moment ...");
    let text = "Nothing is chosen, and nothing was sent.";
    try {
      await send(survey, time, outbox, chosen);
    } catch (error) {
      console.error(error);
      text = "Your answer cannot be protected here, and nothing was sent.";
    }
    form.reset();
    show(outbox.isOver ? "Sent. Thank you!" : text);
  };
  document.querySelector("form > div").append(...sets);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    inOneTab(submit).catch(console.error);
  });
  show(outbox.isOver ? "You have answered. Thank you!" : "");
}

start().catch((error) => {
  console.error(error);
  say("You cannot answer here. Nothing was sent.");
});
