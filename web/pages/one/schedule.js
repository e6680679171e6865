// One schedule as a story: its rule, its last run and the next ones, why it waits, who did what.
import { withQuery } from "../../api.js";
import { h } from "../../dom.js";
import { actionsOf, instanceLink, jobLink, orNull, taskLink } from "../../parts/related.js";
import { facts } from "../../parts/table.js";
import { deedsOf, tale } from "../../parts/tale.js";
import { whyBox } from "../../parts/why.js";
import { badge, toneOf } from "../../states.js";
import { instant, nowMs } from "../../time.js";
import { scheduleActions } from "../schedules.js";

const NEXT = 5, LAST = 10;

const execution = (row) => ({ what: ["Job ", jobLink(row.job_id), " of its task ", badge(row.outcome), row.lease_owner && [" at ", instanceLink(row.lease_owner)]],
                              at_ms: row.started_ms, end_ms: row.finished_ms || nowMs(), tone: toneOf(row.outcome), more: row.error });

export function showSchedule(view) {
  const name = encodeURIComponent(view.id);
  const again = view.watch(view.box, async (read) => {
    const [row, why, next, deeds] = await Promise.all([read("/v1/schedules/" + name), read("/v1/why?kind=schedule&id=" + name), orNull(read(withQuery("/v1/schedules/preview", { name: view.id, limit: NEXT }))), actionsOf(read)]);
    const executions = (await read(`/v1/audit?limit=${LAST}&task=` + encodeURIComponent(row.task))).items;
    return { row, why, next: next ? next.items : [], executions, deeds };
  }, ({ row, why, next, executions, deeds }) => [
    view.operator && scheduleActions(row, () => again()),
    whyBox(view, why, view.id, () => again()),
    facts([["State", badge(row.paused ? "paused" : "active")], ["Task", taskLink(row.task)], ["Rule", h("code", null, row.expr)], ["Zone", row.zone],
           ["Last", row.last_ms && instant(row.last_ms)], ["Next", row.paused ? "not while it is paused" : instant(row.next_ms)]]),
    h("h2", null, "What happened, and what comes"),
    tale([row.last_ms && { what: "It fired last", at_ms: row.last_ms, tone: "good" }, ...executions.map(execution), ...deedsOf(deeds, view.id),
      ...(row.paused ? [] : next.map((one, i) => ({ what: i === 0 ? "It fires next" : "And then", at_ms: one.instant_ms, tone: "calm" })))]),
  ], { names: ["jobs"], every_ms: 5000 });
}
