// Overview: what fires, the numbers of now, the last minutes as charts, kinds and queues.
import { get, withQuery } from "../api.js";
import { h, render } from "../dom.js";
import { compact, counted, duration, fine, number, percent, rate } from "../format.js";
import { onSample } from "../live.js";
import { chart } from "../parts/chart.js";
import { happenings } from "../parts/happened.js";
import { table } from "../parts/table.js";
import { JOB_STATES, failure, loading } from "../states.js";
import { moment } from "../time.js";
import { alertSentence, byUrgency, firedValues } from "../words.js";

const SPAN_MS = 10 * 60000, SPAN_MIN_MS = 60000, KEPT = 700; // of the charts, and at least that; points that are kept
const ALERTS_MS = 5000; // between two looks at the rules

const sum = (rows, name) => rows.reduce((total, row) => total + (row[name] || 0), 0);

function pointOf(sample) {
  const rows = [...sample.kinds, ...sample.queues];
  return { at_ms: sample.now_ms, ready: sum(rows, "ready"), dead: sum(rows, "dead"), done: sum(rows, "done"),
           failed: sum(rows, "failed"), oldest_age_ms: Math.max(0, ...rows.map((row) => row.oldest_age_ms)),
           handle_p95_ms: sample.latency.handle.p95_ms, wait_p95_ms: sample.latency.wait.p95_ms };
}

const pointsOf = (series) => series.at_ms.map((at_ms, i) => Object.fromEntries(Object.keys(series).map((name) => [name, series[name][i]])));

// What happened between each point and the one before, per second.
const perSecond = (points, name) => points.map((point, i) => {
  const before = points[i - 1], s = before ? (point.at_ms - before.at_ms) / 1000 : 0;
  return s > 0 ? Math.max(0, point[name] - before[name]) / s : null;
});

const tile = (name, value, detail, href) => h("section", { class: "tile", "aria-label": name },
  h("h2", null, href ? h("a", { href }, name) : name), h("p", { class: "value" }, value), h("p", { class: "quiet" }, detail || "\u00a0"));

const share = (failed, all) => (all > 0 ? failed / all : 0);

function tiles(sample, points) {
  const rows = [...sample.kinds, ...sample.queues], now = pointOf(sample);
  const first = points.find((point) => point.at_ms >= now.at_ms - 60000) || now;
  const lately = share(now.failed - first.failed, now.done - first.done + now.failed - first.failed);
  return h("div", { class: "tiles", "data-key": "tiles" },
    tile("Throughput", rate(sum(rows, "done_per_s")), `${rate(sum(rows, "put_per_s"))} come in`),
    tile("Backlog", compact(now.ready), `${compact(sum(sample.kinds, "leased") + sum(sample.queues, "running"))} under way`, "/ui/messages"),
    tile("Oldest age", now.ready > 0 ? duration(now.oldest_age_ms) : "none", "of what is ready"),
    tile("Error rate", percent(lately), "in the last minute"),
    tile("Dead letters", compact(now.dead), "wait for a decision", "/ui/dead"),
    tile("Workers", number(sample.instances_active), sample.instances_silent > 0 ? `${number(sample.instances_silent)} silent` : `${counted(sample.in_flight, "message")} in hand`, "/ui/instances"));
}

function charts(view, points, marks) {
  const to_ms = points.length > 0 ? points[points.length - 1].at_ms : Date.now(), first_ms = points.length > 0 ? points[0].at_ms : to_ms;
  const from_ms = Math.max(to_ms - SPAN_MS, Math.min(first_ms, to_ms - SPAN_MIN_MS));
  const near = points.filter((point) => point.at_ms >= from_ms - 15000), at = near.map((point) => point.at_ms);
  const draw = (title, unit, lines) => chart({ title, unit, lines, at, from_ms, to_ms, marks, go: view.go, hrefOf: (ms) => "/ui/history?at=" + ms,
    onRange: (from, to) => view.go(`/ui/history?from=${from}&to=${to}`) });
  const of = (name) => near.map((point) => point[name] ?? null);
  return h("div", { class: "charts", "data-key": "charts" },
    draw("Throughput", "rate", [{ name: "done", values: perSecond(near, "done") }, { name: "failed", values: perSecond(near, "failed") }]),
    draw("Backlog", "count", [{ name: "ready", values: of("ready") }]),
    draw("Handler and wait time, p95", "ms", [{ name: "handler", values: of("handle_p95_ms") }, { name: "wait", values: of("wait_p95_ms") }]),
    draw("Dead letters", "count", [{ name: "dead", values: of("dead") }]));
}

const ages = [
  { name: "Oldest", cell: (row) => (row.ready > 0 ? duration(row.oldest_age_ms) : "–"), right: true },
  { name: "In", cell: (row) => rate(row.put_per_s), right: true },
  { name: "Done", cell: (row) => rate(row.done_per_s), right: true },
  { name: "Failed", cell: (row) => rate(row.failed_per_s), right: true },
];

const kindColumns = [
  { name: "Kind", cell: (row) => h("a", { href: "/ui/messages?kind=" + row.kind }, row.kind) },
  { name: "Ready", cell: (row) => number(row.ready), right: true },
  { name: "Leased", cell: (row) => number(row.leased), right: true },
  { name: "Aside", cell: (row) => number(row.aside), right: true },
  { name: "Dead", cell: (row) => number(row.dead), right: true },
  ...ages,
  { name: "Over time", cell: (row) => h("a", { href: "/ui/history?of=kind&kind=" + row.kind, "aria-label": "History of " + row.kind }, "History") },
];

const queueColumns = [
  { name: "Queue", cell: (row) => h("a", { href: "/ui/jobs?queue=" + encodeURIComponent(row.queue) }, row.queue) },
  ...JOB_STATES.map((state) => ({ name: state[0].toUpperCase() + state.slice(1), cell: (row) => number(row[state]), right: true })),
  ...ages,
  { name: "Over time", cell: (row) => h("a", { href: withQuery("/ui/history", { of: "queue", name: row.queue }), "aria-label": "History of queue " + row.queue }, "History") },
];

const quantiles = (what) => ["p50", "p95", "p99"].map((name) => (
  { name: `${what === "handle" ? "Handler" : "Wait"} ${name}`, cell: (row) => fine(row[what][name + "_ms"]), right: true }));

const latencyColumns = [
  { name: "Kind", cell: (row) => row.kind },
  { name: "Handled", cell: (row) => number(row.handle.count), right: true },
  ...quantiles("handle"), ...quantiles("wait"),
];

// The alerts that fire, above everything else; nothing when none does.
function alarms({ firing, fired }) {
  return firing.length > 0 && h("section", { class: "alarms", role: "status", "aria-label": "Firing alerts", "data-key": "alarms" },
    h("h2", null, h("a", { href: "/ui/alerts" }, firing.length === 1 ? "1 alert fires" : `${number(firing.length)} alerts fire`)),
    h("ul", null, firing.map((rule) => h("li", { "data-key": rule.name }, h("strong", null, rule.name), `: ${alertSentence(rule, fired.get(rule.name))}`))));
}

function draw(view, sample, points, { alerts, marks }) {
  render(view.box, alarms(alerts), tiles(sample, points), charts(view, points, marks),
    h("h2", null, "Messages and events"), table("Kinds", kindColumns, sample.kinds, (row) => row.kind, { fixed: true }),
    h("h2", null, "Job queues"),
    sample.queues.length > 0 ? table("Queues", queueColumns, sample.queues, (row) => row.queue, { fixed: true })
                             : h("p", { class: "quiet" }, "No job was ever enqueued."),
    h("h2", null, "Latency in the last minute"),
    table("Latency", latencyColumns, sample.latency.kinds, (row) => row.kind, { fixed: true }),
    h("p", { class: "quiet" }, "As of ", moment(sample.now_ms), "."));
}

// What is read besides the samples: rules, and what the charts mark.
async function aroundOf(signal) {
  const read = (path) => get(path, signal), now_ms = Date.now();
  const [rules, changes, happened] = await Promise.all([read("/v1/alerts"), read("/v1/alerts/history?limit=50"), happenings(read, now_ms - SPAN_MS, now_ms + SPAN_MS)]);
  return { alerts: { firing: rules.items.filter((rule) => rule.state === "firing").sort(byUrgency), fired: firedValues(changes.items) }, marks: happened.rows.filter((row) => row.mark) };
}

export async function showOverview(view) {
  let points = [], around = null, latest = null, looked_ms = Date.now();
  const again = () => latest && around && draw(view, latest, points, around);
  render(view.box, loading());
  try {
    const [overview, found] = await Promise.all([get("/v1/overview", view.signal), aroundOf(view.signal)]);
    points = pointsOf(overview.series);
    latest = overview.latest;
    around = found;
    again();
  } catch (problem) {
    if (!view.signal.aborted && problem.status !== 401) render(view.box, failure(problem, () => showOverview(view)));
    return;
  }
  document.addEventListener("redraw", again, { signal: view.signal });
  onSample((sample) => {
    const point = pointOf(sample), last = points[points.length - 1];
    if (!last || point.at_ms > last.at_ms) points = [...points, point].slice(-KEPT);
    latest = sample;
    again();
    if (Date.now() - looked_ms < ALERTS_MS) return;
    looked_ms = Date.now();
    aroundOf(view.signal).then((found) => (around = found), () => {}); // a failure is told by what fails besides
  }, view.signal);
}
