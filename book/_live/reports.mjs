// One user's report, with uRR and with uRAP, as ε moves.

import { Coins, rehearse } from "../../client/uldp.mjs";
import { likelihoods, revealedShare, supportOf } from "./model.mjs";
import {
  button, choice, element, filling, part, percent, privacy, seeded, surveyOf,
} from "./kit.mjs";

const VALUES = ["x1", "x2", "x3", "x4", "x5"];
const S = 2;
const CLASSES = VALUES.map((_, x) => (x < S ? "sensitive" : "other"));

function grid(caption, rows, value) {
  const cell = (chance, column) => {
    const share = (40 * chance).toFixed(0);
    const color = `var(--${CLASSES[column]}) ${share}%`;
    const style = `background: color-mix(in srgb, ${color}, transparent)`;
    return element("td", chance ? { style } : {}, chance ? chance.toFixed(2) : "");
  };
  const head = VALUES.map((one) => element("th", { scope: "col" }, one));
  return element("table", { class: "live-table live-matrix" },
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, element("td"), ...head)),
    element("tbody", {}, ...rows.map((row, x) => element("tr",
      VALUES[x] === value ? { class: "live-chosen" } : {},
      element("th", { scope: "row" }, VALUES[x]), ...row.map(cell)))));
}

part("reports", {
  controls: {
    value: choice("She holds; blue values are sensitive",
      Object.fromEntries(VALUES.map((one) => [one, one])), "x4",
      { tones: Object.fromEntries(VALUES.map((one, x) => [one, CLASSES[x]])) }),
    epsilon: privacy(1),
    throws: button("Throw the coins again"),
  },
  show({ value, epsilon, throws }) {
    const [uRR, uRAP] = ["uRR", "uRAP"].map((mechanism) =>
      surveyOf({ name: "x", labels: VALUES, sensitive: VALUES.slice(0, S), mechanism, epsilon }));
    const columns = VALUES.map((_, y) => likelihoods(uRR.questions[0], Uint8Array.of(y)));
    const matrix = VALUES.map((_, x) => columns.map((column) => column[x]));
    const [inS, inN] = supportOf(uRAP.questions[0]);
    const bits = VALUES.map((_, x) => VALUES.map((_, j) => {
      const law = j < S ? inS : inN;
      return x === j ? law.own : law.other;
    }));
    const [one, other] = [uRR, uRAP].map((survey, i) => {
      const coins = new Coins(filling(seeded(throws, i)));
      return survey.open(rehearse(survey, "x", value, coins)).reports;
    });
    const sent = VALUES.map((_, x) =>
      x < S ? (other[0] >> x) & 1 : Number(other[1] === x - S + 1));
    const revealed = [uRR, uRAP].map(({ questions }) => revealedShare(questions[0]));
    const about = VALUES.indexOf(value) < S
      ? `${value} is sensitive: no report reveals it.`
      : `${value} is revealed with probability ${percent(revealed[0])} by uRR and ` +
        `${percent(revealed[1])} by uRAP.`;
    return {
      drawing: [element("div", { class: "live-pair" },
        grid("uRR: the chance of each report, by who holds what", matrix, value),
        grid("uRAP: the chance that each bit is 1", bits, value))],
      said: `At ε = ${epsilon}: ${about} This time uRR sends ${VALUES[one[0]]}, ` +
        `and uRAP the bits ${sent.slice(0, S).join(" ")} | ${sent.slice(S).join(" ")}.`,
      shown: { matrix, bits, revealed, sent, report: one[0] },
    };
  },
});
