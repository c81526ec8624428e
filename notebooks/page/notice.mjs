// The script of notice.html: it says what the survey in survey.json promises.

import { parseSurvey } from "./uldp.mjs";
import { make, promiseOf, totalOf } from "./promise.mjs";

const say = (id, ...content) => document.getElementById(id).replaceChildren(...content);

const told = (question) => [
  make("p", {}, make("q", {}, question.text)),
  ...promiseOf(question, Infinity),
];

for (const link of document.links) {
  const isOurs = link.origin === location.origin; // nobody else gets the round and the token
  if (isOurs) link.search = location.search;
}

try {
  const survey = parseSurvey(await (await fetch("survey.json", { cache: "no-cache" })).arrayBuffer());
  say("questions", ...survey.questions.flatMap(told));
  say("total", totalOf(survey));
  say("digest", survey.digest);
} catch (error) {
  console.error(error);
  say("questions", "The survey cannot be read. Please do not answer it.");
}
