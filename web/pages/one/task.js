// One task: its pipeline as a graph, its last executions with the time each took.
import { h } from "../../dom.js";
import { counted, duration, number } from "../../format.js";
import { noExecution, pipelineGraph } from "../../parts/pipeline.js";
import { actionsOf, instanceLink, jobLink, link } from "../../parts/related.js";
import { deedsOf, tale } from "../../parts/tale.js";
import { advises, whyBox } from "../../parts/why.js";
import { badge, empty, json } from "../../states.js";
import { facts, table } from "../../parts/table.js";
import { instant, moment } from "../../time.js";
import { runTask } from "../tasks.js";

const executionColumns = [
  { name: "Job", cell: (row) => jobLink(row.job_id) },
  { name: "Attempt", cell: (row) => number(row.attempt), right: true },
  { name: "Outcome", cell: (row) => badge(row.outcome) },
  { name: "Started", cell: (row) => moment(row.started_ms) },
  { name: "Took", cell: (row) => (row.finished_ms ? duration(row.finished_ms - row.started_ms) : "–"), right: true },
  { name: "Worker", cell: (row) => instanceLink(row.lease_owner) || "–" },
  { name: "Error", cell: (row) => row.error || "–" },
];

export function showTask(view) {
  const name = encodeURIComponent(view.id);
  const again = view.watch(view.box, async (read) => {
    const [task, pipeline, executions, why, schedules, deeds] = await Promise.all([
      read("/v1/tasks/" + name), read(`/v1/tasks/${name}/steps`), read("/v1/audit?limit=20&task=" + name), read("/v1/why?kind=task&id=" + name), read("/v1/schedules?task=" + name), actionsOf(read)]);
    const jobs = executions.items.length > 0 ? [] : (await read("/v1/jobs?limit=10&task=" + name)).items;
    return { task, pipeline, executions, jobs, why, schedules: schedules.items, deeds };
  }, ({ task, pipeline, executions, jobs, why, schedules, deeds }) => [
    view.operator && !advises(why, "task run", view.id) && h("div", { class: "actions", "data-key": "run" }, h("button", { type: "button", onclick: async () => {
      await runTask(view.id);
      again();
    } }, "Run now")),
    whyBox(view, why, view.id, () => again()),
    facts([["Queue", task.queue || "default"], ["Priority", number(task.priority)], ["Attempts", task.max_attempts > 0 && number(task.max_attempts)], ["Agent", task.agent],
           ["Version", number(task.version)], ["Changed", instant(task.updated_ms)], ["Jobs", h("a", { href: "/ui/jobs?task=" + name }, "that are not done")],
           ["Schedules", schedules.length > 0 && schedules.map((row, i) => [i > 0 && ", ", link("/ui/schedules/", row.name)])]]),
    h("h2", null, "Pipeline"), pipelineGraph(pipeline, executions.items),
    executions.items.length > 0 && h("p", { class: "quiet" }, "How long each step took in the latest execution",
      executions.items.length > 1 && `; the mean is that of the ${counted(executions.items.length, "execution")} below`, "."),
    h("h2", null, "Executions"),
    executions.items.length > 0 ? table("Executions", executionColumns, executions.items, (row) => row.id) : empty(noExecution(jobs)),
    h("h2", null, "What happened"), tale([{ what: `Version ${task.version} was stored`, at_ms: task.updated_ms, tone: "calm" },
      ...schedules.map((row) => ({ what: ["Next run of schedule ", link("/ui/schedules/", row.name)], at_ms: row.paused ? null : row.next_ms, tone: "calm" })), ...deedsOf(deeds, view.id)]),
    task.params && [h("h2", null, "Parameters"), json(task.params)],
  ], { names: ["jobs"], every_ms: 10000 });
}
