// Jobs that are not done: a list with filters; what is selected, or all that fit, is cancelled, retried, deleted.
import { drop, post } from "../api.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { listPage } from "../parts/list.js";
import { operationList } from "../parts/operations.js";
import { instanceLink, taskLink } from "../parts/related.js";
import { JOB_STATES, badge } from "../states.js";
import { moment } from "../time.js";

export const jobColumns = [
  { name: "Job", cell: (row) => h("a", { href: "/ui/jobs/" + row.id }, row.id) },
  { name: "State", cell: (row) => badge(row.state) },
  { name: "Task or type", cell: (row) => taskLink(row.task) || row.type },
  { name: "Queue", cell: (row) => row.queue },
  { name: "Attempts", cell: (row) => `${number(row.attempts)} of ${number(row.max_attempts)}`, right: true },
  { name: "Due", cell: (row) => moment(row.due_ms) },
  { name: "Error", cell: (row) => row.error || "–" },
  { name: "Priority", cell: (row) => number(row.priority), right: true },
  { name: "Key", cell: (row) => row.key || "–", extra: true },
  { name: "Instance", cell: (row) => instanceLink(row.instance) || "–", extra: true },
  { name: "Schedule", cell: (row) => row.schedule || "–", extra: true },
];

const fields = [
  { name: "state", label: "State", choices: JOB_STATES },
  { name: "queue", label: "Queue" }, { name: "task", label: "Task" }, { name: "type", label: "Type" }, { name: "key", label: "Key" },
  { name: "fingerprint", label: "Group of dead jobs" },
];

function verbs(filters) {
  const { state, ...rest } = filters, all = (body) => (Object.keys(body).length > 0 ? body : { all: true });
  const isDead = (row) => row.state === "dead", dead = state === "dead" ? all(rest) : null;
  return [
    { name: "Retry", past: "run again", what: "dead jobs", warning: "Each runs again.", fits: isDead, one: (row) => post(`/v1/jobs/${row.id}/retry`), route: "/v1/jobs/retry", body: dead },
    { name: "Delete", past: "given up", what: "dead jobs", warning: "They are given up. This cannot be taken back.", danger: true, fits: isDead, one: (row) => drop("/v1/jobs/" + row.id), route: "/v1/jobs/delete", body: dead },
    { name: "Cancel", past: "cancelled", what: "jobs", warning: "Running ones are asked to stop. This cannot be taken back.", danger: true, fits: (row) => !isDead(row),
      one: (row) => post(`/v1/jobs/${row.id}/cancel`), route: "/v1/jobs/cancel", body: dead ? null : all(filters) },
  ];
}

export function showJobs(view) {
  listPage(view, {
    path: "/ui/jobs",
    route: "/v1/jobs",
    label: "Jobs",
    fields,
    verbs,
    after: () => operations(),
    columns: jobColumns,
    keyOf: (row) => row.id,
    nameOf: (row) => "job " + row.id,
    none: ["No job waits or runs. To enqueue one:", "pawl job enqueue mail.send '{\"to\": \"a@example.org\"}'"],
    watch: { names: ["jobs", "dead"] },
  });
  const operations = view.operator ? operationList(view, "jobs") : () => {};
}
