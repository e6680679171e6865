// One job: its state and why, its payload, its executions and steps, and what can be done with it.
import { post } from "../api.js";
import { act, confirm } from "../dialog.js";
import { h } from "../dom.js";
import { duration, number } from "../format.js";
import { badge, empty, json } from "../states.js";
import { facts, table } from "../table.js";
import { moment } from "../time.js";

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

function story(why) {
  return h("section", { class: "why", "aria-label": "Why" }, h("h2", null, "Why"),
    h("p", null, why.explanation), h("p", null, why.next),
    facts([["Until", why.until_ms && moment(why.until_ms)], ["Jobs ahead", why.ahead > 0 && number(why.ahead)],
           ["Limit", why.limit > 0 && `${number(why.running)} of ${number(why.limit)} running`], ["Waits for", why.wait_key]]));
}

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
    if (await confirm("Discard this job?", "It is given up. This cannot be taken back.", "Discard"))
      await act(() => post(path + "/discard"), "The job is given up.");
  };
  return h("div", { class: "actions", "data-key": "actions" }, job.state === "dead"
    ? [button("Retry", false, () => act(() => post(path + "/retry"), "The job runs again.")), button("Discard", true, discard)]
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
    const [job, why, steps, executions] = await Promise.all([
      orNull(read("/v1/jobs/" + id)), orNull(read(`/v1/jobs/${id}/why`)), orNull(read(`/v1/jobs/${id}/steps`)),
      orNull(read("/v1/executions?job_id=" + id))]);
    return { job, why, steps, executions };
  }, ({ job, why, steps, executions }) => [
    job && view.operator && actions(job, () => again()),
    !job && empty("This job is done, cancelled or was never enqueued.", h("a", { href: "/ui/jobs" }, "All jobs")),
    job && why && story(why),
    job && facts([["State", badge(job.state)], ["Type", job.type], ["Task", job.task], ["Queue", job.queue], ["Key", job.key],
                  ["Priority", number(job.priority)], ["Attempts", `${number(job.attempts)} of ${number(job.max_attempts)}`],
                  ["Due", moment(job.due_ms)], ["Deadline", job.deadline_ms && moment(job.deadline_ms)], ["Instance", job.instance],
                  ["Lease until", job.lease_until_ms && moment(job.lease_until_ms)], ["Schedule", job.schedule], ["Error", job.error]]),
    executions && executions.items.length > 0 && [h("h2", null, "Attempts"), table("Attempts", executionColumns, executions.items, (row) => row.id)],
    steps && steps.items.length > 0 && [h("h2", null, "Steps"), table("Steps", stepColumns, steps.items, (row) => row.step + row.index)],
    job && job.progress && [h("h2", null, "Progress"), json(job.progress)],
    job && [h("h2", null, "Payload"), json(job.payload)],
  ], { names: ["jobs", "dead"], every_ms: 10000 });
}
