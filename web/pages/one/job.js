// One job as a story: why it waits, every attempt with its error, worker and duration, its steps as a graph with times.
import { drop, post } from "../../api.js";
import { h } from "../../dom.js";
import { duration, number } from "../../format.js";
import { act, confirm } from "../../parts/dialog.js";
import { pipelineGraph } from "../../parts/pipeline.js";
import { actionsOf, instanceLink, link, orNull, taskLink } from "../../parts/related.js";
import { facts, table } from "../../parts/table.js";
import { deedsOf, tale } from "../../parts/tale.js";
import { advises, whyBox } from "../../parts/why.js";
import { badge, empty, json, toneOf } from "../../states.js";
import { instant, moment, nowMs } from "../../time.js";

const stepColumns = [
  { name: "Step", cell: (row) => row.step },
  { name: "State", cell: (row) => badge(row.state) },
  { name: "Attempt", cell: (row) => number(row.attempt), right: true },
  { name: "Took", cell: (row) => duration(row.duration_ms), right: true },
  { name: "Finished", cell: (row) => moment(row.finished_ms) },
  { name: "Error", cell: (row) => row.error || "–" },
];

const LOST = "Its worker was lost, or its lease ended: what it reports afterwards is refused.";

const attempt = (row) => ({ what: [h("strong", null, `Attempt ${row.attempt}`), " ", badge(row.outcome), row.lease_owner && [" at ", instanceLink(row.lease_owner)]], at_ms: row.started_ms,
                            end_ms: row.finished_ms || nowMs(), tone: toneOf(row.outcome), more: [row.outcome === "lost" && LOST, row.error] });

const step = (row) => ({ what: [`Step ${row.step}${row.index > 0 ? ` [${row.index}]` : ""} `, badge(row.state), row.attempt > 1 && ` (attempt ${row.attempt})`], at_ms: row.finished_ms - row.duration_ms,
                         end_ms: row.finished_ms, tone: toneOf(row.state), more: row.error });

// From when it was due to where it is now: attempts, steps, who did what, and what comes next.
function story(job, steps, executions, deeds) {
  const rows = [...executions.map(attempt), ...steps.map(step), ...deeds];
  if (job && job.due_ms) rows.push({ what: job.state === "ready" ? "Due; it waits for a worker" : "Due", at_ms: job.due_ms, tone: "calm" });
  if (job && job.state === "running" && job.lease_until_ms) rows.push({ what: ["It runs at ", instanceLink(job.instance), "; the lease ends"], at_ms: job.lease_until_ms, tone: "calm", more: "unless it ends or sends a heartbeat before" });
  if (job && job.deadline_ms) rows.push({ what: "Deadline", at_ms: job.deadline_ms, tone: "bad" });
  if (job && job.died_ms) rows.push({ what: ["Given up: ", badge("dead")], at_ms: job.died_ms, tone: "bad", more: job.error });
  return rows.length > 0 && [h("h2", null, "What happened"), tale(rows)];
}

const ended = (last) => [
  h("section", { class: "why", "aria-label": "Why", "data-key": "why" }, h("h2", null, "Why"), h("p", null, `It has ended (${last.outcome}) and left the queue; how it ran is kept.`)),
  facts([["Outcome", badge(last.outcome)], ["Type", last.type], ["Task", taskLink(last.task)], ["Ended", instant(last.finished_ms)], ["Instance", instanceLink(last.lease_owner)],
         ["Receipt", last.hash && h("code", { title: last.hash }, last.hash.slice(0, 16) + "…")], ["Error", last.error, true]]),
];

function actions(job, why, again) {
  const path = "/v1/jobs/" + job.id;
  const button = (name, danger, run) => h("button", { type: "button", class: danger ? "danger" : null, onclick: async () => {
    await run();
    again();
  } }, name);
  const cancel = async () => {
    if (await confirm("Cancel this job?", job.state === "running" ? "Its worker is asked to stop it." : "It will not run. This cannot be taken back.", "Cancel the job"))
      await act(() => post(path + "/cancel"), "The job is cancelled.");
  };
  const discard = async () => {
    if (await confirm("Delete this job?", "It is given up. This cannot be taken back.", "Delete"))
      await act(() => drop(path), "The job is given up.");
  };
  if (job.state !== "dead") return h("div", { class: "actions", "data-key": "actions" }, button("Cancel", true, cancel));
  const both = advises(why, "job retry", job.id) && advises(why, "job delete", job.id);
  return !both && h("div", { class: "actions", "data-key": "actions" },
    button("Retry", false, () => act(() => post(path + "/retry"), "The job runs again.")), button("Delete", true, discard));
}

// A job that is done has left the queue; what remains is its executions.
export function showJob(view) {
  const id = encodeURIComponent(view.id);
  const again = view.watch(view.box, async (read) => {
    const [audit, deeds] = await Promise.all([read("/v1/audit?job_id=" + id), actionsOf(read)]);
    const executions = audit.items, left = executions.length > 0 && ["succeeded", "cancelled"].includes(executions[0].outcome);
    const [job, why, steps] = left ? [null, null, null] : await Promise.all([
      orNull(read("/v1/jobs/" + id)), orNull(read(`/v1/jobs/${id}/why`)), orNull(read(`/v1/jobs/${id}/steps`))]);
    const task = (job && job.task) || (executions.length > 0 && executions[0].task);
    const pipeline = task && (await orNull(read(`/v1/tasks/${encodeURIComponent(task)}/steps`)));
    return { job, why, steps: steps ? steps.items : [], executions, pipeline, deeds: deeds.filter((deed) => deed.action.startsWith("job.")) };
  }, ({ job, why, steps, executions, pipeline, deeds }) => [
    job && view.operator && actions(job, why || {}, () => again()),
    !job && executions.length === 0 && empty("This job is done, cancelled or was never enqueued.", h("a", { href: "/ui/jobs" }, "All jobs")),
    !job && executions.length > 0 && ended(executions[0]),
    job && why && whyBox(view, why, view.id, () => again()),
    job && facts([["State", badge(job.state)], ["Type", job.type], ["Task", taskLink(job.task)], ["Queue", h("a", { href: "/ui/jobs?queue=" + encodeURIComponent(job.queue) }, job.queue)],
                  ["Key", job.key && h("a", { href: "/ui/jobs?key=" + encodeURIComponent(job.key) }, job.key)],
                  ["Priority", number(job.priority)], ["Attempts", `${number(job.attempts)} of ${number(job.max_attempts)}`],
                  ["Due", instant(job.due_ms)], ["Deadline", job.deadline_ms && instant(job.deadline_ms)], ["Instance", instanceLink(job.instance)],
                  ["Schedule", link("/ui/schedules/", job.schedule)], ["Agent", job.agent], ["Reason", job.reason], ["Error", job.error, true]]),
    pipeline && [h("h2", null, "Pipeline"), pipelineGraph(pipeline, steps.length > 0 ? [{ steps }] : executions)],
    story(job, steps, executions, deedsOf(deeds, view.id)),
    steps.length > 0 && [h("h2", null, "Steps"), table("Steps", stepColumns, steps, (row) => row.step + row.index)],
    job && job.progress && [h("h2", null, "Progress"), json(job.progress, "Progress")],
    job && [h("h2", null, "Payload"), json(job.payload, "Payload")],
    !job && executions.length > 0 && executions[0].output !== null && [h("h2", null, "Output"), json(executions[0].output, "Output")],
  ], { names: ["jobs", "dead"], every_ms: 10000 });
}
