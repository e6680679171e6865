// History: charts of one series over a chosen time, marked with what happened, and what happened around a point.
import { withQuery } from "../api.js";
import { h } from "../dom.js";
import { chart } from "../parts/chart.js";
import { happenedTable, happenings } from "../parts/happened.js";
import { empty } from "../states.js";
import { instant, nowMs } from "../time.js";

const MIN = 60000, H = 60 * MIN;
const RANGES = [["10 min", 10 * MIN], ["1 h", H], ["6 h", 6 * H], ["24 h", 24 * H], ["7 d", 7 * 24 * H], ["30 d", 30 * 24 * H]];
const AROUND_MS = 5 * MIN; // before and after a point
const NAMES_MS = 10000; // every series that there is comes with any range: a short one is read fast

// The span that the address asks for.
function spanOf(query) {
  const at = Number(query.get("at")), from = Number(query.get("from")), to = Number(query.get("to")), now_ms = nowMs();
  if (from > 0 && to > from) return { from_ms: from, to_ms: to };
  if (at > 0) return { from_ms: at - AROUND_MS, to_ms: Math.max(at + MIN, Math.min(now_ms, at + AROUND_MS)), at_ms: at };
  const last_ms = Number(query.get("last")) || H;
  return { from_ms: now_ms - last_ms, to_ms: now_ms, last_ms };
}

const nameOf = (row) => (row.of === "kind" ? row.kind : `${row.of} ${row.name || "(the others)"}`);
const keyOf = (row) => `${row.of}/${row.kind || ""}/${row.name || ""}`;

// What the series add up to: counts are added, gauges of the same moment too; of ages the highest counts.
function together(rows) {
  const each = (name, add) => rows[0].points.at_ms.map((_, i) => rows.map((row) => row.points[name][i]).filter((value) => value !== null)
    .reduce((sum, value) => (sum === null ? value : add(sum, value)), null));
  const sum = (a, b) => a + b;
  return { done: each("done", sum), failed: each("failed", sum), ready: each("ready", sum), dead: each("dead", sum), oldest_age_ms: each("oldest_age_ms", Math.max) };
}

const QUANTILES = ["p50", "p95", "p99"];

// One series has all its quantiles, several have one each.
const times = (rows, what) => (rows.length === 1
  ? QUANTILES.map((name) => ({ name, values: rows[0].points[`${what}_${name}_ms`] }))
  : rows.filter((row) => row.points[what + "_p95_ms"].some((value) => value !== null)).map((row) => ({ name: nameOf(row), values: row.points[what + "_p95_ms"] })));

function charts(view, rows, span, marks) {
  const sums = together(rows), step_s = rows[0].step_ms / 1000, one = rows.length === 1;
  const perSecond = (counts) => counts.map((count) => (count === null ? null : count / step_s));
  const share = sums.done.map((done, i) => (done === null && sums.failed[i] === null ? null : (done || 0) + (sums.failed[i] || 0) > 0 ? (sums.failed[i] || 0) / ((done || 0) + (sums.failed[i] || 0)) : 0));
  const here = Object.fromEntries(["of", "kind", "name"].map((name) => [name, view.query.get(name)]));
  const draw = (title, unit, lines) => lines.length > 0 && chart({ title, unit, lines, at: rows[0].points.at_ms, ...span, marks, go: view.go, hrefOf: (ms) => withQuery("/ui/history", { ...here, at: ms }),
    onRange: (from, to) => view.go(withQuery("/ui/history", { ...here, from, to })) });
  return h("div", { class: "charts", "data-key": "charts" },
    draw("Throughput", "rate", [{ name: "done", values: perSecond(sums.done) }, { name: "failed", values: perSecond(sums.failed) }]),
    draw("Error rate", "percent", [{ name: "failed attempts", values: share }]),
    draw("Backlog", "count", [{ name: "ready", values: sums.ready }]),
    draw("Oldest age", "ms", [{ name: "oldest", values: sums.oldest_age_ms }]),
    draw(one ? "Handler time" : "Handler time, p95", "ms", times(rows, "handle")),
    draw(one ? "Wait time" : "Wait time, p95", "ms", times(rows, "wait")),
    draw("Dead letters", "count", [{ name: "dead", values: sums.dead }]));
}

// Which range, and whose series.
function choices(view, span, known, chosen) {
  const range = view.query.get("from") ? { from: view.query.get("from"), to: view.query.get("to") } : { at: view.query.get("at"), last: view.query.get("last") };
  const here = Object.fromEntries(["of", "kind", "name"].map((name) => [name, view.query.get(name)]));
  const choose = (event) => {
    const row = known.find((one) => keyOf(one) === event.target.value);
    view.go(withQuery("/ui/history", { ...range, of: row && row.of, kind: row && row.of === "kind" ? row.kind : null, name: row && row.name }));
  };
  return h("div", { class: "filters", "data-key": "choices" },
    h("div", { class: "field" }, h("label", { for: "series" }, "Of"), h("select", { id: "series", onchange: choose }, h("option", { value: "" }, "everything"),
      known.map((row) => h("option", { value: keyOf(row), selected: chosen.length === 1 && keyOf(row) === keyOf(chosen[0]) }, nameOf(row))))),
    h("div", { class: "actions", role: "group", "aria-label": "Range" }, RANGES.map(([name, ms]) =>
      h("a", { class: "button", href: withQuery("/ui/history", { ...here, last: ms }), "aria-current": span.last_ms === ms ? "true" : null }, name))));
}

export function showHistory(view) {
  const fixed = view.query.get("at") || view.query.get("to");
  view.watch(view.box, async (read) => {
    const span = spanOf(view.query), range = { from_ms: span.from_ms, to_ms: span.to_ms };
    const wanted = { of: view.query.get("of") || "kind", kind: view.query.get("kind"), name: view.query.get("name") };
    const [series, known, happened] = await Promise.all([read(withQuery("/v1/series", { ...range, ...wanted })),
      read(withQuery("/v1/series", { of: "any", from_ms: nowMs() - NAMES_MS })), happenings(read, span.from_ms, span.to_ms)]);
    return { span, rows: series.items, known: known.items, happened };
  }, ({ span, rows, known, happened }) => [
    choices(view, span, known, view.query.get("of") ? rows : []),
    h("p", null, span.at_ms ? ["Around ", instant(span.at_ms)] : ["From ", instant(span.from_ms), " to ", instant(span.to_ms)], ". Drag over a chart to look closer; click a point, or press Enter on it, to see what happened then."),
    rows.length > 0 ? charts(view, rows, span, happened.rows.filter((row) => row.mark)) : empty("Nothing was counted in this time. A worker counts while it runs; 30 days are kept."),
    h("h2", null, "What happened"),
    happened.rows.length > 0 ? happenedTable([...happened.rows].reverse()) : empty("Nothing was done, fired or given up in this time."),
    !happened.whole && h("p", { class: "quiet" }, "More happened than was looked at: narrow the range."),
  ], fixed ? {} : { every_ms: 10000 });
}
