// Overview: throughput, backlog and its age, failures, workers.
import { get } from "../api.js";
import { sparkline } from "../chart.js";
import { h, render } from "../dom.js";
import { compact, counted, duration, fine, number, percent, rate } from "../format.js";
import { onSample } from "../live.js";
import { JOB_STATES, failure, loading } from "../states.js";
import { table } from "../table.js";
import { moment } from "../time.js";
import { valueOf } from "./alerts.js";

const KEPT = 300; // points of a line

const sum = (rows, name) => rows.reduce((total, row) => total + (row[name] || 0), 0);

function pointOf(sample) {
  const rows = [...sample.kinds, ...sample.queues];
  return { at_ms: sample.now_ms, ready: sum(rows, "ready"), dead: sum(rows, "dead"), done: sum(rows, "done"),
           failed: sum(rows, "failed"), oldest_age_ms: Math.max(0, ...rows.map((row) => row.oldest_age_ms)),
           handle_p95_ms: sample.latency.handle.p95_ms, wait_p95_ms: sample.latency.wait.p95_ms };
}

function pointsOf(series) {
  return series.at_ms.map((at_ms, i) => Object.fromEntries(Object.keys(series).map((name) => [name, series[name][i]])));
}

// What happened between each point and the one before.
function steps(points, value) {
  return points.slice(1).map((point, i) => value(point, points[i], (point.at_ms - points[i].at_ms) / 1000));
}

function tile(name, value, line, show, detail, href) {
  return h("section", { class: "tile", "aria-label": name },
    h("h2", null, href ? h("a", { href }, name) : name),
    h("p", { class: "value" }, value),
    line && sparkline(name, line, show),
    h("p", { class: "quiet" }, detail || "\u00a0"));
}

function tiles(sample, points) {
  const rows = [...sample.kinds, ...sample.queues], now = pointOf(sample);
  const done = steps(points, (a, b, s) => (s > 0 ? Math.max(0, a.done - b.done) / s : null));
  const share = (failed, all) => (all > 0 ? failed / all : 0);
  const errors = steps(points, (a, b) => share(Math.max(0, a.failed - b.failed), Math.max(0, a.done - b.done + a.failed - b.failed)));
  const first = points[Math.max(0, points.length - 61)] || now;
  const lately = share(now.failed - first.failed, now.done - first.done + now.failed - first.failed);
  return h("div", { class: "tiles" },
    tile("Throughput", rate(sum(rows, "done_per_s")), done, rate, `${rate(sum(rows, "put_per_s"))} come in`),
    tile("Backlog", compact(now.ready), points.map((point) => point.ready), number,
         `${compact(sum(sample.kinds, "leased") + sum(sample.queues, "running"))} under way`, "/ui/messages"),
    tile("Oldest age", duration(now.oldest_age_ms), points.map((point) => point.oldest_age_ms), duration, "of what is ready"),
    tile("Handler time, p95", fine(sample.latency.handle.p95_ms), points.map((point) => point.handle_p95_ms), fine,
         `p50 ${fine(sample.latency.handle.p50_ms)}, p99 ${fine(sample.latency.handle.p99_ms)}`),
    tile("Wait time, p95", fine(sample.latency.wait.p95_ms), points.map((point) => point.wait_p95_ms), fine,
         `p50 ${fine(sample.latency.wait.p50_ms)}, p99 ${fine(sample.latency.wait.p99_ms)}`),
    tile("Error rate", percent(lately), errors, percent, "in the last minute"),
    tile("Dead letters", compact(now.dead), points.map((point) => point.dead), number, "wait for a decision", "/ui/dead"),
    tile("Workers", number(sample.instances_active), null, number,
         sample.instances_silent > 0 ? `${number(sample.instances_silent)} silent` : `${counted(sample.in_flight, "message")} in hand`, "/ui/instances"));
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
];

const queueColumns = [
  { name: "Queue", cell: (row) => h("a", { href: "/ui/jobs?queue=" + encodeURIComponent(row.queue) }, row.queue) },
  ...JOB_STATES.map((state) => ({ name: state[0].toUpperCase() + state.slice(1), cell: (row) => number(row[state]), right: true })),
  ...ages,
];

const quantiles = (what) => ["p50", "p95", "p99"].map((name) => (
  { name: `${what === "handle" ? "Handler" : "Wait"} ${name}`, cell: (row) => fine(row[what][name + "_ms"]), right: true }));

const latencyColumns = [
  { name: "Kind", cell: (row) => row.kind },
  { name: "Handled", cell: (row) => number(row.handle.count), right: true },
  ...quantiles("handle"), ...quantiles("wait"),
];

// The alerts that fire, above everything else; nothing when none does.
function alarms(firing) {
  return firing.length > 0 && h("section", { class: "alarms", role: "status", "aria-label": "Firing alerts", "data-key": "alarms" },
    h("h2", null, h("a", { href: "/ui/alerts" }, firing.length === 1 ? "1 alert fires" : `${number(firing.length)} alerts fire`)),
    h("ul", null, firing.map((rule) => h("li", { "data-key": rule.name }, h("strong", null, rule.name),
      `: ${valueOf(rule.metric, rule.value)}, ${rule.side} ${valueOf(rule.metric, rule.threshold)}, fired `, moment(rule.since_ms)))));
}

function draw(box, sample, points, firing) {
  render(box, alarms(firing), tiles(sample, points),
    h("h2", null, "Messages and events"), table("Kinds", kindColumns, sample.kinds, (row) => row.kind),
    h("h2", null, "Job queues"),
    sample.queues.length > 0 ? table("Queues", queueColumns, sample.queues, (row) => row.queue)
                             : h("p", { class: "quiet" }, "No job was ever enqueued."),
    h("h2", null, "Latency in the last minute"),
    table("Latency", latencyColumns, sample.latency.kinds, (row) => row.kind),
    h("p", { class: "quiet" }, "As of ", moment(sample.now_ms), "."));
}

const ALERTS_MS = 5000; // between two looks at the rules

async function firingOf(signal) {
  const rules = await get("/v1/alerts", signal);
  return rules.items.filter((rule) => rule.state === "firing");
}

export async function showOverview(view) {
  let points = [], firing = [], looked_ms = Date.now();
  render(view.box, loading());
  try {
    const [overview, alerts] = await Promise.all([get("/v1/overview", view.signal), firingOf(view.signal)]);
    points = pointsOf(overview.series);
    firing = alerts;
    if (overview.latest) draw(view.box, overview.latest, points, firing);
  } catch (problem) {
    if (!view.signal.aborted) render(view.box, failure(problem, () => showOverview(view)));
    return;
  }
  onSample((sample) => {
    const point = pointOf(sample), last = points[points.length - 1];
    if (!last || point.at_ms > last.at_ms) points = [...points, point].slice(-KEPT);
    draw(view.box, sample, points, firing);
    if (Date.now() - looked_ms < ALERTS_MS) return;
    looked_ms = Date.now();
    firingOf(view.signal).then((alerts) => (firing = alerts), () => {}); // a failure is told by what fails besides
  }, view.signal);
}
