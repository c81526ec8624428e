// How far one protected report can move a suspicion.

import { suspicion } from "./model.mjs";
import { BLUE, FAINT, ORANGE, PLAIN, Panel, EPSILONS, part, percent, slider } from "./kit.mjs";

const BEFORE = Array.from({ length: 99 }, (_, i) => (i + 1) / 100);

part("belief", {
  controls: {
    epsilon: slider("ε", EPSILONS, 1),
    before: slider("Believed before", BEFORE, 0.5, percent),
  },
  show({ epsilon, before }, { width }) {
    const bounds = [epsilon, -epsilon].map((level) => BEFORE.map((one) => suspicion(one, level)));
    const [most, least] = [suspicion(before, epsilon), suspicion(before, -epsilon)];
    const axis = { from: 0, to: 1, write: percent };
    const panel = new Panel({
      width: Math.min(width, 460), height: 330,
      x: { ...axis, label: "probability before" },
      y: { ...axis, label: "after a protected report" },
    });
    const ends = (line, level) => [suspicion(0, level), ...line, 1];
    panel.line([0, 1], [0, 1], FAINT);
    panel.line([0, ...BEFORE, 1], ends(bounds[0], epsilon), ORANGE);
    panel.line([0, ...BEFORE, 1], ends(bounds[1], -epsilon), BLUE);
    panel.errors([before], [least], [most], PLAIN);
    panel.dots([before], [before], { ...PLAIN, marker: "circle" });
    const said = `At ε = ${epsilon} one protected report moves a suspicion of ${percent(before)} ` +
      `to ${percent(most)} at most and to ${percent(least)} at least: ` +
      `its odds change by a factor of at most ${Math.exp(epsilon).toPrecision(3)}.`;
    return {
      drawing: [panel.node],
      keys: [["at most", ORANGE], ["as before", FAINT], ["at least", BLUE]],
      said,
      shown: { before, most, least, curves: { most: bounds[0], least: bounds[1] } },
    };
  },
});
