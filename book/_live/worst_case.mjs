// For which share of sensitive answers the loss is largest, and how often reports support a value.

import { lossesWithin, supportOf, worstMass } from "./model.mjs";
import {
  FAINT, PALE, Panel, choice, columns, inPercent, lookOf, part, percent, planned, privacy, slider,
  written,
} from "./kit.mjs";

const K = 10;
const MASSES = Array.from({ length: 101 }, (_, i) => i / 100);
const LOSSES = { l1: "ℓ₁: absolute errors", l2: "ℓ₂: squared errors" };

part("worst-case", {
  controls: {
    mechanism: choice("Mechanism", { uRR: "uRR", uRAP: "uRAP" }, "uRR"),
    loss: choice("Loss", LOSSES, "l1"),
    sensitive: slider("Sensitive of ten values", [1, 2, 3, 4, 5, 6, 7, 8, 9], 4),
    epsilon: privacy(3.5),
    mass: slider("Share of sensitive answers", MASSES, 0.33, inPercent),
  },
  show({ mechanism, loss, sensitive: s, epsilon, mass }, { width, still }) {
    const question = planned(mechanism, K, s, epsilon);
    const at = (one) => lossesWithin(question, one, 1)[loss];
    const first = at(0);
    const worst = worstMass(question, loss);
    const curve = MASSES.map((one) => at(one) / first);
    const [here, most] = [at(mass) / first, at(worst) / first];
    const supports = supportOf(question).map(({ other, gain }, ofOthers) => ({
      other, level: other + (gain * (ofOthers ? 1 - mass : mass)) / (ofOthers ? K - s : s),
    }));
    const size = columns(width, 2);
    const low = Math.min(...curve);
    const highest = Math.max(...supports.map(({ level }) => level));
    const look = lookOf(mechanism);
    const left = new Panel({
      title: "Loss / loss at 0%", width: size.width, height: 260,
      at: mass, moves: "mass",
      x: { from: 0, to: 1, write: inPercent, label: "share of sensitive answers",
        say: (one) => `Share ${inPercent(one)}` },
      y: still({ from: low - 0.03 * (most - low), to: most + 0.08 * (most - low),
        write: (one) => written(one), say: percent }),
    });
    left.rule({ x: mass }).line(MASSES, curve, look, mechanism);
    left.dots([worst], [most], { ...look, marker: "star" });
    const right = new Panel({
      title: "How often a value is supported", width: size.width, height: 260,
      x: { from: 0.4, to: K + 0.6, ticks: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], label: "value" },
      y: still({ from: 0, to: Math.ceil(4 * highest) / 4 }, "right"),
    });
    supports.forEach(({ other, level }, ofOthers) => {
      const values = MASSES.slice(1, K + 1).map((_, i) => i + 1)
        .filter((value) => value > s === Boolean(ofOthers));
      const same = (height) => values.map(() => height);
      right.bars(values, same(0), same(other), 0.4, PALE);
      right.bars(values, same(other), same(level), 0.4, look);
    });
    const levels = supports.map(({ level }) => written(level));
    return {
      drawing: [left, right],
      keys: [["here", FAINT],
        ["the worst case", { ...look, line: undefined, marker: "star" }],
        ["reports of those who hold another value", { color: PALE.color, marker: "square" }],
        ["of the holders", { color: look.color, marker: "square" }]],
      said: `If ${inPercent(mass)} hold a sensitive answer, the ${LOSSES[loss].slice(0, 2)} loss ` +
        `is ${written(100 * (here / most))}% of the largest, which is at ` +
        `${(100 * worst).toFixed(1)}%. Reports support a sensitive value with probability ` +
        `${levels[0]}, and another one with ${levels[1]}.`,
      shown: { worst, here, most, curve, supports },
    };
  },
});
