// Steps that wait for one another, drawn from left to right: a column holds what can run at the same time.
import { svg } from "../dom.js";

const BOX_WIDTH = 150, BOX_HEIGHT = 62, GAP_X = 46, GAP_Y = 14, EDGE = 4, TEXT_MAX = 21;

// How many steps come before each, on the longest way; steps stand after what they wait for.
function columnsOf(steps) {
  const depth = new Map();
  for (const step of steps) depth.set(step.step, Math.max(-1, ...step.needs.map((need) => depth.get(need) ?? -1)) + 1);
  return depth;
}

const cut = (text) => (text.length > TEXT_MAX ? text.slice(0, TEXT_MAX - 1) + "…" : text);

// steps: {step, uses, needs, time, tone}: time is how long it took, in words; tone how it ended.
export function graph(label, steps) {
  const depth = columnsOf(steps), filled = [], places = new Map();
  for (const step of steps) {
    const column = depth.get(step.step);
    filled[column] = (filled[column] || 0) + 1;
    places.set(step.step, { x: EDGE + column * (BOX_WIDTH + GAP_X), y: EDGE + (filled[column] - 1) * (BOX_HEIGHT + GAP_Y) });
  }
  const width = filled.length * (BOX_WIDTH + GAP_X) - GAP_X + 2 * EDGE;
  const height = Math.max(...filled) * (BOX_HEIGHT + GAP_Y) - GAP_Y + 2 * EDGE;
  const lines = steps.flatMap((step) => step.needs.filter((need) => places.has(need)).map((need) => {
    const from = places.get(need), to = places.get(step.step);
    const x1 = from.x + BOX_WIDTH, y1 = from.y + BOX_HEIGHT / 2, y2 = to.y + BOX_HEIGHT / 2, middle = (x1 + to.x) / 2;
    return svg("path", { class: "way", d: `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${to.x} ${y2}` });
  }));
  const boxes = steps.map((step) => {
    const { x, y } = places.get(step.step);
    return svg("g", { class: step.tone || null }, svg("rect", { x, y, width: BOX_WIDTH, height: BOX_HEIGHT, rx: 8 }),
      svg("text", { x: x + 10, y: y + 19 }, cut(step.step)), svg("text", { class: "small", x: x + 10, y: y + 36 }, cut(step.uses)),
      svg("text", { class: "small", x: x + 10, y: y + 53 }, cut(step.time)));
  });
  const words = steps.map((step) => `${step.step} (${step.uses}, ${step.time})` + (step.needs.length > 0 ? " after " + step.needs.join(" and ") : "")).join("; ");
  return svg("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${label}: ${words}` }, lines, boxes);
}
