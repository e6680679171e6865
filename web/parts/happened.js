// What happened in a span of time: what people did, alerts, instances that came, jobs that failed. Charts mark it, the
// page of a point lists it.
import { withQuery } from "../api.js";
import { h } from "../dom.js";
import { moment } from "../time.js";
import { instanceLink, jobLink } from "./related.js";
import { table } from "./table.js";

const PAGES = 5, ROWS = 200; // so far back is looked for the actions and executions of a span

// Rows that come newest first, until one is older than from_ms. whole: whether the span was reached.
async function since(read, route, from_ms, timeOf) {
  const found = [];
  let cursor = null;
  for (let i = 0; i < PAGES; i++) {
    const data = await read(withQuery(route, { limit: ROWS, cursor }));
    found.push(...data.items);
    cursor = data.next;
    const last = data.items[data.items.length - 1];
    if (!cursor || (last && timeOf(last) < from_ms)) return { rows: found.filter((row) => timeOf(row) >= from_ms), whole: true };
  }
  return { rows: found, whole: false };
}

const PAUSING = /pause|resume|silence/;
const ALERTS = { fired: "bad", resolved: "calm" };

// {rows: [{at_ms, tone, text, mark: whether a chart shows it, more}], whole: nothing was left out}, by time.
export async function happenings(read, from_ms, to_ms) {
  const [actions, alerts, jobs, instances] = await Promise.all([
    since(read, "/v1/actions", from_ms, (row) => row.at_ms),
    since(read, "/v1/alerts/history", from_ms, (row) => row.at_ms),
    since(read, withQuery("/v1/audit", { outcome: "dead", since_ms: from_ms }), from_ms, (row) => row.finished_ms),
    read("/v1/instances")]);
  const rows = [
    ...actions.rows.filter((row) => row.action === "deploy").map((row) => ({ at_ms: row.at_ms, tone: "good", mark: true, what: "deploy", text: `${row.actor}: ${row.detail}` })),
    ...actions.rows.filter((row) => row.action !== "deploy").map((row) => ({ at_ms: row.at_ms, tone: PAUSING.test(row.action) ? "warn" : "calm", mark: PAUSING.test(row.action), what: "action", text: `${row.actor}: ${row.action} ${row.detail || ""}` })),
    ...alerts.rows.map((row) => ({ at_ms: row.at_ms, tone: ALERTS[row.event] || "warn", mark: true, what: "alert", text: `${row.rule} ${row.event}` })),
    ...jobs.rows.map((row) => ({ at_ms: row.finished_ms, tone: "bad", what: "job", text: `job ${row.job_id} ${row.task || row.type} ${row.outcome}: ${row.error || "no error text"}`, link: jobLink(row.job_id) })),
    ...instances.items.map((row) => ({ at_ms: row.started_ms, tone: "calm", mark: true, what: "start", text: `${row.service} started on ${row.host}, process ${row.pid}`, link: instanceLink(row.id) })),
  ].filter((row) => row.at_ms >= from_ms && row.at_ms <= to_ms);
  return { rows: rows.sort((a, b) => a.at_ms - b.at_ms), whole: actions.whole && alerts.whole && jobs.whole };
}

const columns = [
  { name: "When", cell: (row) => moment(row.at_ms) },
  { name: "What", cell: (row) => h("span", { class: "badge " + row.tone }, row.what) },
  { name: "Which", cell: (row) => row.text, wide: true },
  { name: "Link", cell: (row) => row.link || "–" },
];

export const happenedTable = (rows) => table("What happened", columns, rows, (row) => row.at_ms + row.text, { fixed: true });
