// How far one protected report can move a suspicion.

import { suspicion } from "./model.mjs";
import {
  ACCENT, FAINT, PLAIN, Panel, inPercent, part, percent, privacy, slider,
} from "./kit.mjs";

const BEFORE = Array.from({ length: 99 }, (_, i) => (i + 1) / 100);
const LEAST = { ...PLAIN, line: "dashed" };

part("belief", {
  controls: {
    epsilon: privacy(1),
    before: slider("Believed before", BEFORE, 0.5, inPercent),
  },
  show({ epsilon, before }, { width }) {
    const bounds = [epsilon, -epsilon].map((level) => BEFORE.map((one) => suspicion(one, level)));
    const [most, least] = [suspicion(before, epsilon), suspicion(before, -epsilon)];
    const axis = { from: 0, to: 1, write: inPercent, say: percent };
    const panel = new Panel({
      width: Math.min(width, 460), height: 350, at: before, moves: "before",
      x: { ...axis, label: "believed before", say: (one) => `Before ${percent(one)}` },
      y: { ...axis, label: "believed after a protected report" },
    });
    panel.line([0, 1], [0, 1], FAINT);
    bounds.forEach((bound, i) => {
      const look = [ACCENT, LEAST][i];
      panel.line([0, ...BEFORE, 1], [0, ...bound, 1], look);
      panel.line(BEFORE, bound, { color: look.color }, ["at most", "at least"][i]);
    });
    panel.errors([before], [least], [most], PLAIN);
    panel.names(before, [
      [`at most ${percent(most)}`, most, ACCENT], ["before", before, FAINT],
      [`at least ${percent(least)}`, least, LEAST],
    ]);
    return {
      drawing: [panel],
      said: `At ε = ${epsilon} one protected report moves a suspicion of ${percent(before)} to ` +
        `${percent(most)} at most and to ${percent(least)} at least: its odds change by a factor ` +
        `of at most ${Math.exp(epsilon).toPrecision(3)}.`,
      shown: { before, most, least, curves: { most: bounds[0], least: bounds[1] } },
    };
  },
});
