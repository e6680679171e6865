// Tasks: what can be run, and running it now.
import { post } from "../api.js";
import { act } from "../parts/dialog.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { listPage } from "../parts/list.js";
import { taskLink } from "../parts/related.js";
import { moment } from "../time.js";

export async function runTask(name) {
  await act(() => post(`/v1/tasks/${encodeURIComponent(name)}/run`, {}), (answer) => `Job ${answer.id} of ${name} is enqueued.`);
}

export function showTasks(view) {
  listPage(view, {
    path: "/ui/tasks",
    route: "/v1/tasks",
    label: "Tasks",
    columns: [
      { name: "Task", cell: (row) => taskLink(row.name) },
      { name: "Queue", cell: (row) => row.queue || "default" },
      { name: "Priority", cell: (row) => number(row.priority), right: true },
      { name: "Attempts", cell: (row) => (row.max_attempts > 0 ? number(row.max_attempts) : "default"), right: true },
      { name: "Agent", cell: (row) => row.agent || "–" },
      { name: "Version", cell: (row) => number(row.version), right: true },
      { name: "Changed", cell: (row) => moment(row.updated_ms) },
      ...(view.operator ? [{ name: "Actions", cell: (row) =>
        h("button", { type: "button", "aria-label": "Run now: " + row.name, onclick: () => runTask(row.name) }, "Run now") }] : []),
    ],
    keyOf: (row) => row.name,
    none: ["No task yet. To make one of a pipeline:", "pawl task create report --pipeline report.yaml"],
    nameOf: (row) => "task " + row.name,
    verbs: () => [{ name: "Run now", past: "enqueued", what: "tasks", fits: () => true, one: (row) => post(`/v1/tasks/${encodeURIComponent(row.name)}/run`, {}) }],
    watch: { every_ms: 10000 },
  });
}
