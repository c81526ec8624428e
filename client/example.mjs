// The script of example.html: it asks the questions of survey.json, and sends one message for each
// that is answered. A message is kept until the server has named its digest, and none is made twice.

import { parseSurvey, sha256, SurveyError } from "./uldp.mjs";
import { make, promiseOf, totalOf } from "./promise.mjs";

const MOST_EPSILON = 5; // a survey that tells more of a person is not asked
const PATIENCE = 20_000; // milliseconds that the server has to take a message
const KNOCK = 5_000; // milliseconds that it has to say that it does not know a link
const MOST_BUTTONS = 8; // among more answers one chooses from a menu
const TAKEN = "taken";
const [MALFORMED, FORBIDDEN] = [400, 403]; // of the statuses of HTTP
const SAID = {
  wait: "One moment ...",
  sent: "Sent. Thank you!",
  answered: "You have answered. Thank you!",
  again: "You have answered. Nothing new was sent.",
  elsewhere: "You have answered in another tab. Thank you!",
  silent: "You are not asked this time. Thank you!",
  nothing: "Nothing is chosen, and nothing was sent.",
  waiting:
    "Not everything was sent. It is kept on this device, and sent when you open this page again " +
    "or press Send.",
  refused:
    "The server does not accept what was sent: the survey may have changed since. Please tell those " +
    "who invited you. It is kept on this device.",
  unknown: "The server does not know this link. Please use the one that you were given.",
  link:
    "This browser has been used for this survey with another link. If that was your link, please " +
    "open it again. If not, please use a device of your own. Nothing was sent.",
  old:
    "This browser is too old for this page. Please use a newer one, or another device. Nothing was " +
    "sent.",
  insecure:
    "This address does not begin with https, so that others could read and change what you see. " +
    "Nothing was sent.",
  unreachable: "The survey cannot be reached. Please come back later. Nothing was sent.",
  round:
    "This link does not say which time you are asked. Please use the one that you were given. " +
    "Nothing was sent.",
  storage:
    "This browser keeps nothing for the page: its storage is full or blocked, as in some private " +
    "windows. So that you answer only once, nothing was sent that it could not keep.",
  other: "You cannot answer here. Nothing more was sent.",
};

const form = document.querySelector("form");
const say = (text) => {
  document.querySelector("[role=status]").textContent = text;
};
for (const link of document.links) {
  const isOurs = link.origin === location.origin; // nobody else gets the round and the token
  if (isOurs) link.search = location.search;
}
const inOneTab = (action) => navigator.locks.request("survey", action);
const address = new URLSearchParams(location.search);
const token = address.get("token"); // the first one, here as in all that is sent
const digestOf = (bytes) =>
  [...sha256(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// --- questions -----------------------------------------------------------------------------------

const labelsOf = ({ labels }) => (Array.isArray(labels) ? labels : [...Array(labels).keys()]);
const nameOf = ({ number }, part) => `question ${number} ${part}`; // no property of the form

/** What is to be chosen: an answer, or one of each factor; and, with tags, whether it is private. */
function partsOf(question) {
  const { factors, tags } = question;
  const parts = factors ?? [{ labels: labelsOf(question) }];
  if (!tags.length) return parts;
  const labels = ["no", ...tags.map((tag) => `yes: ${tag}`)];
  return [...parts, { name: "Is this answer private to you?", labels }];
}

function choices(name, heading, labels) {
  if (labels.length > MOST_BUTTONS) {
    const options = labels.map((label, value) => make("option", { value }, `${label}`));
    return [make("select", { name, ariaLabel: heading }, make("option", { value: "" }), ...options)];
  }
  return labels.map((label, value) =>
    make("label", {}, make("input", { type: "radio", name, value }), `${label}`),
  );
}

function fieldset(question) {
  const parts = partsOf(question).map(({ name, labels }, part) => {
    const shown = choices(nameOf(question, part), name ?? question.text, labels);
    const tag = name === undefined ? "div" : "fieldset";
    return make(tag, {}, ...(name === undefined ? [] : [make("legend", {}, name)]), ...shown);
  });
  return make("fieldset", {}, make("legend", {}, question.text), ...parts, ...promiseOf(question));
}

/** What is chosen for a question: how much of it, the answer, and whether that is private. */
function chosenFor(question, data) {
  const parts = partsOf(question);
  const places = parts.map((_, part) => data.get(nameOf(question, part)) || undefined);
  const given = places.filter((place) => place !== undefined).length;
  const tag = question.tags.length ? question.tags[places.pop() - 1] : undefined;
  const cell = places.reduce((at, place, part) => at * parts[part].labels.length + Number(place), 0);
  const answer = labelsOf(question)[cell];
  const secrets = new Map(tag === undefined ? [] : [[answer, tag]]);
  return { question, answer, secrets, isBegun: given > 0, isWhole: given === parts.length };
}

// --- messages ------------------------------------------------------------------------------------

/**
 * What was made for each round and question: the bytes of a message, or that it was taken.
 *
 * It belongs to the link under which the first was made, of which it keeps the token's hash. Under
 * another link it is closed: nothing is shown of it, sent from it or put into it.
 */
class Outbox {
  constructor(survey) {
    this.survey = survey;
    this.key = `outbox ${survey.id}`;
    this.link = sha256(new TextEncoder().encode(token ?? "")).join();
  }

  get content() {
    return JSON.parse(localStorage.getItem(this.key)) ?? { link: this.link, made: {} };
  }

  get isOfAnotherLink() {
    return this.content.link !== this.link;
  }

  get made() {
    return this.isOfAnotherLink ? {} : this.content.made;
  }

  get waiting() {
    return Object.entries(this.made).filter(([, content]) => content !== TAKEN);
  }

  put(slot, content) {
    const { link, made } = this;
    localStorage.setItem(this.key, JSON.stringify({ link, made: { ...made, [slot]: content } }));
  }

  /** Bind it to this link, before the client keeps anything. */
  claim() {
    localStorage.setItem(this.key, JSON.stringify(this.content));
  }

  /** Forget a message that the server has, but not that it was made. */
  confirm(slot) {
    const [round, question] = slot.split(" ");
    const { keep, rounds } = this.survey.repeat ?? {};
    if (keep !== "first") this.empty(slot);
    else if (Number(round) === rounds) this.empty(`1 ${question}`); // no later one sends it again
    this.put(slot, TAKEN);
  }

  /** Take a report out of the client's storage; its place is kept, so that none is made again. */
  empty(slot) {
    const key = `uldp ${this.survey.id}`;
    const kept = JSON.parse(localStorage.getItem(key));
    kept.reports[slot] = [];
    localStorage.setItem(key, JSON.stringify(kept));
  }
}

/** Post to the server with the token of this link; return its answer, if that comes in time. */
async function post(body, patience, round) {
  const query = new URLSearchParams();
  if (token !== null) query.set("token", token);
  if (round) query.set("round", round);
  const waiting = new AbortController(); // AbortSignal.timeout is younger than all else here
  const timer = setTimeout(() => waiting.abort(), patience);
  const how = { method: "POST", body, redirect: "error", signal: waiting.signal };
  const ask = async () => {
    const answer = await fetch(`messages?${query}`, how);
    return { status: answer.status, said: await answer.text() };
  };
  const answer = await ask().catch(() => ({}));
  clearTimeout(timer);
  return answer;
}

/** Whether the server says that it does not know this link: before anything is made under it. */
const isUnknown = async (round) => (await post("", KNOCK, round)).status === FORBIDDEN;

/** Send the messages that wait; return the statuses. An answer with a message's digest confirms it. */
async function deliver(survey, outbox) {
  const sent = outbox.waiting.map(async ([slot, content]) => {
    const message = Uint8Array.from(content);
    const round = survey.repeat && slot.split(" ")[0];
    const { status, said } = await post(message, PATIENCE, round);
    if (said === digestOf(message)) outbox.confirm(slot);
    return status;
  });
  return Promise.all(sent);
}

// --- the page ------------------------------------------------------------------------------------

function explain(error) {
  console.error(error); // it names places and reasons, never an answer
  if (error instanceof SurveyError) return `${SAID.other} (${error.message})`;
  return error instanceof DOMException ? SAID.storage : SAID.other;
}

async function start() {
  say(SAID.wait);
  if (!isSecureContext) return say(SAID.insecure);
  if (!navigator.locks || !Object.hasOwn) return say(SAID.old); // before 2022
  const response = await fetch("survey.json", { cache: "no-cache" }).catch(console.error);
  if (!response?.ok) return say(SAID.unreachable);
  const survey = parseSurvey(await response.arrayBuffer(), { mostEpsilon: MOST_EPSILON });
  const round = survey.repeat ? Number(address.get("round")) : 1;
  if (!(round >= 1 && round <= (survey.repeat?.rounds ?? 1))) return say(SAID.round);
  const time = { storage: localStorage, ...(survey.repeat && { round }) };
  const outbox = new Outbox(survey);
  if (outbox.isOfAnotherLink) return say(SAID.link);
  const isAsked = await inOneTab(() => survey.takesPart(time));
  const sets = new Map(survey.questions.map((question) => [question, fieldset(question)]));
  const slotOf = ({ number }) => `${round} ${number}`;
  const open = () => survey.questions.filter((question) => !sets.get(question).disabled);

  /** Close the questions that are answered; return how many were open until now. */
  const close = () => {
    const { made } = outbox;
    const news = open().filter((question) => slotOf(question) in made);
    for (const question of news) sets.get(question).disabled = true;
    form.hidden = !isAsked || !(open().length || outbox.waiting.length);
    return news.length;
  };
  /** Send the messages that wait, and say whether they were taken; the text, if all were. */
  const finish = async (text) => {
    const statuses = await deliver(survey, outbox);
    close();
    if (statuses.includes(FORBIDDEN)) return say(SAID.unknown);
    if (statuses.includes(MALFORMED)) return say(SAID.refused);
    if (outbox.waiting.length) return say(SAID.waiting);
    const left = open().map((question) => `“${question.text}”`);
    const isPart = isAsked && left.length > 0 && left.length < sets.size;
    say(isPart ? `${text} You may still answer ${left.join(", ")}, or leave it out.` : text);
  };
  const submit = async () => {
    form.hidden = outbox.isOfAnotherLink;
    if (form.hidden) return say(SAID.link);
    const isElsewhere = close() > 0;
    const data = new FormData(form);
    const begun = open().map((question) => chosenFor(question, data)).filter((one) => one.isBegun);
    const half = begun.find((one) => !one.isWhole);
    if (half) return say(`Please complete “${half.question.text}”. Nothing was sent.`);
    if (!begun.length && !outbox.waiting.length) {
      if (open().length === sets.size) return say(SAID.nothing);
      return finish(isElsewhere ? SAID.elsewhere : SAID.again);
    }
    say(SAID.wait);
    form.hidden = true;
    let text = SAID.sent;
    try {
      outbox.claim();
      for (const { question, answer, secrets } of begun) {
        const message = survey.privatize(question.name, answer, { ...time, secrets });
        outbox.put(slotOf(question), [...message]);
      }
    } catch (error) {
      text = explain(error);
    }
    form.reset();
    await finish(text);
  };
  const inTurn = (action) => inOneTab(action).catch((error) => say(explain(error)));
  document.querySelector("form > div").append(...sets.values());
  document.querySelector("form > p").textContent = totalOf(survey);
  let isSending = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isSending) return; // the second tap of two
    isSending = true;
    await inTurn(submit);
    isSending = false;
  });
  addEventListener("storage", () => close() && say(SAID.elsewhere));
  addEventListener("online", () => outbox.waiting.length && inTurn(() => finish(SAID.sent)));
  const made = Object.keys(outbox.made);
  if (isAsked && !made.length && (await isUnknown(survey.repeat && round))) return say(SAID.unknown);
  const isAnswered = close() > 0;
  const greeting = isAnswered ? SAID.answered : "";
  say(greeting);
  await inTurn(() => finish(isAsked ? greeting : SAID.silent));
}

start().catch((error) => say(explain(error)));
