// What happened one after the other, a bar for each, on one scale of time.
import { h, svg } from "./dom.js";
import { duration } from "./format.js";
import { moment } from "./time.js";

const WIDTH = 1000, LEAST = 6;

function bar(row, first_ms, span_ms) {
  const x = ((row.start_ms - first_ms) / span_ms) * WIDTH;
  const width = Math.max(LEAST, ((row.end_ms - row.start_ms) / span_ms) * WIDTH);
  return svg("svg", { viewBox: `0 0 ${WIDTH} 10`, preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: row.tone, x: Math.min(x, WIDTH - LEAST).toFixed(1), y: 0, width: Math.min(width, WIDTH).toFixed(1), height: 10 }));
}

// rows: {name, start_ms, end_ms, tone, note}; end_ms is now for what still goes on.
export function timeline(rows) {
  const sorted = [...rows].sort((a, b) => a.start_ms - b.start_ms || a.end_ms - b.end_ms);
  const first_ms = sorted[0].start_ms, span_ms = Math.max(1, ...sorted.map((row) => row.end_ms - first_ms));
  return h("ol", { class: "timeline", "aria-label": "Timeline" }, sorted.map((row) =>
    h("li", null, h("span", { class: "what" }, row.name), bar(row, first_ms, span_ms),
      h("span", { class: "quiet" }, moment(row.start_ms), row.end_ms > row.start_ms && `, ${duration(row.end_ms - row.start_ms)}`, row.note && `, ${row.note}`))));
}
