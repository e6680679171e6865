// One instance as a story: what it holds and runs now, what it ran before, when it was last heard of, who did what.
import { post, withQuery } from "../../api.js";
import { h } from "../../dom.js";
import { duration, number } from "../../format.js";
import { act, confirm } from "../../parts/dialog.js";
import { actionsOf, jobLink, taskLink } from "../../parts/related.js";
import { facts } from "../../parts/table.js";
import { deedsOf, tale } from "../../parts/tale.js";
import { whyBox } from "../../parts/why.js";
import { badge, json, toneOf } from "../../states.js";
import { instant, nowMs } from "../../time.js";

export async function evict(row, again) {
  if (await confirm("Evict this instance?", `All work is taken away from process ${row.pid} on ${row.host}, and it gets no more until it registers again.`, "Evict"))
    await act(() => post(`/v1/instances/${row.id}/evict`), "The instance is evicted; others take its work.");
  again();
}

const execution = (row) => ({ what: ["Job ", jobLink(row.job_id), " ", taskLink(row.task) || row.type, " ", badge(row.outcome)], at_ms: row.started_ms, end_ms: row.finished_ms || nowMs(), tone: toneOf(row.outcome), more: row.error });

export function showInstance(view) {
  const path = "/v1/instances/" + encodeURIComponent(view.id);
  const again = view.watch(view.box, async (read) => {
    const [one, all, why, duties, deeds] = await Promise.all([read(path), read("/v1/instances"), read(withQuery("/v1/why", { kind: "instance", id: view.id })), read("/v1/duties"), actionsOf(read)]);
    return { one, row: all.items.find((row) => row.id === view.id), why, duties: duties.items.filter((duty) => duty.instance === view.id), deeds };
  }, ({ one, row, why, duties, deeds }) => [
    view.operator && row && row.state !== "evicted" && h("div", { class: "actions", "data-key": "actions" }, h("button", { type: "button", class: "danger", onclick: () => evict(row, () => again()) }, "Evict")),
    whyBox(view, why, view.id, () => again()),
    facts([["State", badge(one.state)], ["Service", one.service], ["Process", `${one.host}:${one.pid}`], ["Started", instant(one.started_ms)], ["Last heard of", one.last_seen_ms && instant(one.last_seen_ms)],
           ["Claims", row && number(row.claims)], ["In flight", number(one.in_flight)], ["Jobs", number(one.jobs)], ["Lanes", row && h("a", { href: "/ui/partitions" }, number(row.outbox_lanes + row.inbox_lanes + row.perspective_lanes))],
           ["Executed", number(one.tasks_processed)], ["Failed", number(one.tasks_failed)], ["Mean duration", one.avg_duration_ms !== null && duration(one.avg_duration_ms)],
           ["Duties", duties.length > 0 && duties.map((duty) => duty.name).join(", "), true]]),
    h("h2", null, "What happened"),
    tale([{ what: "Started", at_ms: one.started_ms, tone: "good" }, ...(one.recent_executions || []).map(execution), ...deedsOf(deeds, view.id),
      one.last_seen_ms && { what: "Last heard of", at_ms: one.last_seen_ms, tone: toneOf(one.state) }]),
    (one.current_leases || []).length > 0 && [h("h2", null, "What it holds"), json(one.current_leases, "What it holds")],
    row && row.metadata && [h("h2", null, "Metadata"), json(row.metadata, "Metadata")],
  ], { names: ["instances", "jobs"], every_ms: 3000 });
}
