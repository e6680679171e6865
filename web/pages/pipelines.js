// Pipelines: every task's steps as a graph, with how long each took lately.
import { withQuery } from "../api.js";
import { h } from "../dom.js";
import { duration } from "../format.js";
import { pager } from "../parts/list.js";
import { noExecution, pipelineGraph } from "../parts/pipeline.js";
import { badge, empty } from "../states.js";
import { moment } from "../time.js";

const SHOWN = 10, EXECUTIONS = 10;

function latest(executions, jobs) {
  const last = executions.items[0];
  if (!last) return noExecution(jobs);
  return ["Latest execution: ", badge(last.outcome), " ", h("a", { href: "/ui/jobs/" + last.job_id }, "job " + last.job_id), ", ", moment(last.started_ms),
          last.finished_ms && `, took ${duration(last.finished_ms - last.started_ms)}`];
}

const one = ({ task, pipeline, executions, jobs }) => h("section", { "data-key": task.name, "aria-label": "Pipeline of " + task.name },
  h("h2", null, h("a", { href: "/ui/tasks/" + encodeURIComponent(task.name) }, task.name)),
  pipelineGraph(pipeline, executions.items), h("p", { class: "quiet" }, latest(executions, jobs)));

export function showPipelines(view) {
  view.watch(view.box, async (read) => {
    const tasks = await read(withQuery("/v1/tasks", { limit: SHOWN, cursor: view.query.get("cursor") }));
    const found = await Promise.all(tasks.items.map(async (task) => {
      const name = encodeURIComponent(task.name);
      const [pipeline, executions] = await Promise.all([read(`/v1/tasks/${name}/steps`), read(`/v1/audit?limit=${EXECUTIONS}&task=${name}`)]);
      const jobs = executions.items.length > 0 ? [] : (await read(`/v1/jobs?limit=${EXECUTIONS}&task=${name}`)).items;
      return { task, pipeline, executions, jobs };
    }));
    return { found, next: tasks.next };
  }, ({ found, next }) => [
    found.length > 0 ? found.map(one) : empty("No task yet, so no pipeline. To make one:", "pawl task create report --pipeline report.yaml"),
    pager(view, "/ui/pipelines", {}, next),
  ], { names: ["jobs"], every_ms: 10000 });
}
