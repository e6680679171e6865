// One job: its state and why, its payload, its executions and steps, and what can be done with it.
import { drop, post } from "../api.js";
import { act, confirm } from "../dialog.js";
import { h } from "../dom.js";
import { duration, number, shortId } from "../format.js";
import { badge, empty, json } from "../states.js";
import { pipelineGraph } from "../pipeline.js";
import { facts, table } from "../table.js";
import { moment, nowMs } from "../time.js";
import { timeline } from "../timeline.js";

const executionColumns = [
  { name: "Attempt", cell: (row) => number(row.attempt), right: true },
  { name: "Outcome", cell: (row) => badge(row.outcome) },
  { name: "Started", cell: (row) => moment(row.started_ms) },
  { name: "Took", cell: (row) => (row.finished_ms ? duration(row.finished_ms - row.started_ms) : "–"), right: true },
  { name: "Error", cell: (row) => row.error || "–" },
];

const stepColumns = [
  { name: "Step", cell: (row) => row.step },
  { name: "State", cell: (row) => badge(row.state) },
  { name: "Attempt", cell: (row) => number(row.attempt), right: true },
  { name: "Took", cell: (row) => duration(row.duration_ms), right: true },
  { name: "Finished", cell: (row) => moment(row.finished_ms) },
  { name: "Error", cell: (row) => row.error || "–" },
];

const EXECUTION_TONES = { success: "good", succeeded: "good", failed: "bad", dead: "bad", lost: "bad" };
const STEP_TONES = { done: "good", succeeded: "good", failed: "bad" };

// From when it was due to where it is now: waiting, attempts, and the steps of the latest one.
function history(job, steps, executions) {
  const rows = executions.map((row) => ({ name: `Attempt ${row.attempt}`, start_ms: row.started_ms, end_ms: row.finished_ms || nowMs(), tone: EXECUTION_TONES[row.outcome] || "calm", note: row.outcome }));
  for (const step of steps)
    rows.push({ name: `Step ${step.step}${step.index > 0 ? ` [${step.index}]` : ""}`, start_ms: step.finished_ms - step.duration_ms, end_ms: step.finished_ms, tone: STEP_TONES[step.state] || "calm", note: step.state });
  if (job && job.state === "ready" && job.due_ms) rows.push({ name: "Due, waits for a worker", start_ms: job.due_ms, end_ms: nowMs(), tone: "calm" });
  if (job && job.state === "later" && job.due_ms) rows.push({ name: "Waits until it is due", start_ms: nowMs(), end_ms: Math.max(nowMs(), job.due_ms), tone: "calm" });
  if (job && job.state === "running" && job.lease_until_ms) rows.push({ name: "Lease of the running attempt", start_ms: nowMs(), end_ms: job.lease_until_ms, tone: "calm", note: "until it ends or beats again" });
  if (job && job.deadline_ms) rows.push({ name: "Deadline", start_ms: job.deadline_ms, end_ms: job.deadline_ms, tone: "bad" });
  return rows.length > 0 && [h("h2", null, "Timeline"), timeline(rows)];
}

function story(why) {
  return h("section", { class: "why", "aria-label": "Why" }, h("h2", null, "Why"),
    h("p", null, why.explanation), h("p", null, why.next),
    facts([["Until", why.until_ms && moment(why.until_ms)], ["Jobs ahead", why.ahead > 0 && number(why.ahead)],
           ["Limit", why.limit > 0 && `${number(why.running)} of ${number(why.limit)} running`], ["Waits for", why.wait_key]]));
}

const ended = (last) => [
  h("section", { class: "why", "aria-label": "Why" }, h("h2", null, "Why"), h("p", null, `It has ended (${last.outcome}) and left the queue; how it ran is kept.`)),
  facts([["Outcome", badge(last.outcome)], ["Type", last.type], ["Task", last.task && h("a", { href: "/ui/tasks/" + encodeURIComponent(last.task) }, last.task)],
         ["Ended", moment(last.finished_ms)], ["Instance", last.lease_owner && h("code", { title: last.lease_owner }, shortId(last.lease_owner))], ["Error", last.error]]),
];

function actions(job, again) {
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
  return h("div", { class: "actions", "data-key": "actions" }, job.state === "dead"
    ? [button("Retry", false, () => act(() => post(path + "/retry"), "The job runs again.")), button("Delete", true, discard)]
    : button("Cancel", true, cancel));
}

// A job that is done has left the queue; what remains is its executions.
const orNull = (reading) => reading.catch((problem) => {
  if (problem.status === 404) return null;
  throw problem;
});

export function showJob(view) {
  const id = encodeURIComponent(view.id);
  const again = view.watch(view.box, async (read) => {
    const executions = (await read("/v1/audit?job_id=" + id)).items;
    const left = executions.length > 0 && ["succeeded", "cancelled"].includes(executions[0].outcome);
    const [job, why, steps] = left ? [null, null, null] : await Promise.all([
      orNull(read("/v1/jobs/" + id)), orNull(read(`/v1/jobs/${id}/why`)), orNull(read(`/v1/jobs/${id}/steps`))]);
    const task = (job && job.task) || (executions.length > 0 && executions[0].task);
    const pipeline = task && (await orNull(read(`/v1/tasks/${encodeURIComponent(task)}/steps`)));
    return { job, why, steps: steps ? steps.items : [], executions, pipeline };
  }, ({ job, why, steps, executions, pipeline }) => [
    job && view.operator && actions(job, () => again()),
    !job && executions.length === 0 && empty("This job is done, cancelled or was never enqueued.", h("a", { href: "/ui/jobs" }, "All jobs")),
    !job && executions.length > 0 && ended(executions[0]),
    job && why && story(why),
    job && facts([["State", badge(job.state)], ["Type", job.type], ["Task", job.task], ["Queue", job.queue], ["Key", job.key],
                  ["Priority", number(job.priority)], ["Attempts", `${number(job.attempts)} of ${number(job.max_attempts)}`],
                  ["Due", moment(job.due_ms)], ["Deadline", job.deadline_ms && moment(job.deadline_ms)], ["Instance", job.instance],
                  ["Lease until", job.lease_until_ms && moment(job.lease_until_ms)], ["Schedule", job.schedule], ["Reason", job.reason], ["Error", job.error]]),
    history(job, steps, executions),
    pipeline && [h("h2", null, "Pipeline"), pipelineGraph(pipeline, steps.length > 0 ? [{ steps }] : executions)],
    executions.length > 0 && [h("h2", null, "Attempts"), table("Attempts", executionColumns, executions, (row) => row.id)],
    steps.length > 0 && [h("h2", null, "Steps"), table("Steps", stepColumns, steps, (row) => row.step + row.index)],
    job && job.progress && [h("h2", null, "Progress"), json(job.progress)],
    job && [h("h2", null, "Payload"), json(job.payload)],
    !job && executions.length > 0 && executions[0].output !== null && [h("h2", null, "Output"), json(executions[0].output)],
  ], { names: ["jobs", "dead"], every_ms: 10000 });
}
