// History: charts over a chosen time, marked with what happened, and what happened around a point of them.
import { withQuery } from "../api.js";
import { h } from "../dom.js";
import { chart } from "../parts/chart.js";
import { happenedTable, happenings } from "../parts/happened.js";
import { empty } from "../states.js";
import { instant, nowMs } from "../time.js";

const MIN = 60000, H = 60 * MIN;
const RANGES = [["10 min", 10 * MIN], ["1 h", H], ["6 h", 6 * H], ["24 h", 24 * H], ["7 d", 7 * 24 * H], ["30 d", 30 * 24 * H]];
const AROUND_MS = 5 * MIN; // before and after a point

// The span that the address asks for.
function spanOf(query) {
  const at = Number(query.get("at")), from = Number(query.get("from")), to = Number(query.get("to")), now_ms = nowMs();
  if (from > 0 && to > from) return { from_ms: from, to_ms: to };
  if (at > 0) return { from_ms: at - AROUND_MS, to_ms: Math.min(now_ms, at + AROUND_MS), at_ms: at };
  const last_ms = Number(query.get("last")) || H;
  return { from_ms: now_ms - last_ms, to_ms: now_ms, last_ms };
}

const ranges = (span) => h("div", { class: "actions", role: "group", "aria-label": "Range" }, RANGES.map(([name, ms]) =>
  h("a", { class: "button", href: withQuery("/ui/history", { last: ms }), "aria-current": span.last_ms === ms ? "true" : null }, name)));

function charts(view, series, span, marks) {
  const at = series.at_ms, near = at.map((ms, i) => i).filter((i) => at[i] >= span.from_ms && at[i] <= span.to_ms);
  const of = (name) => near.map((i) => (series[name] ? series[name][i] : null));
  const per = (name) => near.map((i) => (i > 0 && at[i] > at[i - 1] ? Math.max(0, series[name][i] - series[name][i - 1]) / ((at[i] - at[i - 1]) / 1000) : null));
  const draw = (title, unit, lines) => chart({ title, unit, lines, at: near.map((i) => at[i]), ...span, marks, go: view.go, hrefOf: (ms) => "/ui/history?at=" + ms,
    onRange: (from, to) => view.go(`/ui/history?from=${from}&to=${to}`) });
  return h("div", { class: "charts", "data-key": "charts" },
    draw("Throughput", "rate", [{ name: "done", values: per("done") }, { name: "failed", values: per("failed") }]),
    draw("Backlog", "count", [{ name: "ready", values: of("ready") }]),
    draw("Oldest age", "ms", [{ name: "oldest", values: of("oldest_age_ms") }]),
    draw("Handler and wait time, p95", "ms", [{ name: "handler", values: of("handle_p95_ms") }, { name: "wait", values: of("wait_p95_ms") }]),
    draw("Dead letters", "count", [{ name: "dead", values: of("dead") }]));
}

export function showHistory(view) {
  view.watch(view.box, async (read) => {
    const span = spanOf(view.query);
    const [overview, happened] = await Promise.all([read("/v1/overview"), happenings(read, span.from_ms, span.to_ms)]);
    return { span, series: overview.series, happened };
  }, ({ span, series, happened }) => [
    ranges(span),
    h("p", null, span.at_ms ? ["Around ", instant(span.at_ms)] : ["From ", instant(span.from_ms), " to ", instant(span.to_ms)], ". Drag over a chart to look closer; click a point, or press Enter on it, to see what happened then."),
    charts(view, series, span, happened.rows.filter((row) => row.mark)),
    h("h2", null, "What happened"),
    happened.rows.length > 0 ? happenedTable([...happened.rows].reverse()) : empty("Nothing was done, fired or given up in this time."),
    !happened.whole && h("p", { class: "quiet" }, "More happened than was looked at: narrow the range."),
  ], view.query.get("at") || view.query.get("to") ? {} : { every_ms: 10000 });
}
