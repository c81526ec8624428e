// The script of notice.html: it says what the survey in survey.json promises.

import { parseSurvey } from "./uldp.mjs";
import { promiseOf, totalOf } from "./promise.mjs";

const say = (id, ...content) => document.getElementById(id).replaceChildren(...content);

function paragraph(question) {
  const element = document.createElement("p");
  const text = document.createElement("q");
  text.textContent = question.text;
  element.append(text, ` ${promiseOf(question, Infinity)}`);
  return element;
}

for (const link of document.links) {
  const isOurs = link.origin === location.origin; // nobody else gets the round and the token
  if (isOurs) link.search = location.search;
}

try {
  const survey = parseSurvey(await (await fetch("survey.json", { cache: "no-cache" })).arrayBuffer());
  say("questions", ...survey.questions.map(paragraph));
  say("total", totalOf(survey));
} catch (error) {
  console.error(error);
  say("questions", "The survey cannot be read. Please do not answer it.");
}
