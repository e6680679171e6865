// What happened to one thing, one after the other: a point in time or a span, each with what is known about it.
import { h, svg } from "../dom.js";
import { duration } from "../format.js";
import { instant, nowMs } from "../time.js";

const WIDTH = 1000, LEAST = 6;

function bar(row, first_ms, span_ms) {
  const x = ((row.at_ms - first_ms) / span_ms) * WIDTH;
  const width = Math.max(LEAST, ((row.end_ms - row.at_ms) / span_ms) * WIDTH);
  return svg("svg", { viewBox: `0 0 ${WIDTH} 10`, preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: row.tone, x: Math.min(x, WIDTH - LEAST).toFixed(1), y: 0, width: Math.min(width, WIDTH).toFixed(1), height: 10 }));
}

// rows: {what, at_ms, end_ms: of a span, tone, more: error, worker, links}; what is not known yet is left out.
// The bars of the spans share one scale, from the first to the last of them.
export function tale(rows) {
  const known = rows.filter((row) => row && row.at_ms).sort((a, b) => a.at_ms - b.at_ms || (a.end_ms || 0) - (b.end_ms || 0));
  const spans = known.filter((row) => row.end_ms), now_ms = nowMs();
  const first_ms = Math.min(...spans.map((row) => row.at_ms)), span_ms = Math.max(1, Math.max(...spans.map((row) => row.end_ms)) - first_ms);
  return h("ol", { class: "tale", "aria-label": "What happened", "data-key": "tale" }, known.map((row) =>
    h("li", { class: row.at_ms > now_ms ? "future" : null }, h("span", { class: "dot " + (row.tone || ""), "aria-hidden": "true" }),
      h("span", null, row.what, row.end_ms > row.at_ms && h("span", { class: "quiet" }, ` took ${duration(row.end_ms - row.at_ms)}`)),
      h("span", { class: "when" }, instant(row.at_ms)),
      spans.length > 1 && row.end_ms && bar(row, first_ms, span_ms),
      [].concat(row.more || []).filter(Boolean).map((more) => h("div", { class: "more" }, more)))));
}

// What people did that names the thing: the latest actions whose detail says one of words.
export function deedsOf(actions, ...words) {
  const wanted = words.filter(Boolean).map(String);
  const names = (detail) => wanted.some((word) => ` ${(detail || "").replace(/[=,;"':]/g, " ")} `.includes(` ${word.replace(/[=,;"':]/g, " ")} `));
  return actions.filter((row) => names(row.detail)).map((row) => ({ what: [h("strong", null, row.actor), ` did ${row.action}`], at_ms: row.at_ms, tone: "plain", more: row.detail }));
}
