// Jobs that are not done: a list with filters, and cancelling all that fit as an operation.
import { confirm } from "../dialog.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { filtersOf, listPage } from "../list.js";
import { operationList, started } from "../operations.js";
import { JOB_STATES, badge } from "../states.js";
import { moment } from "../time.js";

const columns = [
  { name: "Job", cell: (row) => h("a", { href: "/ui/jobs/" + row.id }, row.id) },
  { name: "State", cell: (row) => badge(row.state) },
  { name: "Task or type", cell: (row) => row.task || row.type },
  { name: "Queue", cell: (row) => row.queue },
  { name: "Priority", cell: (row) => number(row.priority), right: true, wide: true },
  { name: "Attempts", cell: (row) => `${number(row.attempts)} of ${number(row.max_attempts)}`, right: true },
  { name: "Due", cell: (row) => moment(row.due_ms) },
  { name: "Error", cell: (row) => row.error || "–", wide: true },
];

const fields = [
  { name: "state", label: "State", choices: JOB_STATES },
  { name: "queue", label: "Queue" }, { name: "task", label: "Task" }, { name: "type", label: "Type" }, { name: "key", label: "Key" },
];

function bulk(view, again) {
  const filters = Object.fromEntries(Object.entries(filtersOf(view, fields)).filter(([, value]) => value));
  const filtered = Object.keys(filters).length > 0;
  const which = filtered ? "Every job that fits these filters" : "Every job that is not done";
  const dead = filters.state === "dead";
  const { state, ...rest } = filters;
  const body = Object.keys(rest).length > 0 ? rest : { all: true };
  const cancel = async () => {
    if (await confirm("Cancel jobs?", which + " will be cancelled; running ones are asked to stop. This cannot be taken back.", "Cancel jobs"))
      await started("/v1/jobs/cancel", filtered ? filters : { all: true });
    again();
  };
  const retry = async () => {
    if (await confirm("Retry jobs?", "Every dead job that fits will run again.", "Retry", false)) await started("/v1/jobs/retry", body);
    again();
  };
  const discard = async () => {
    if (await confirm("Delete jobs?", "Every dead job that fits will be given up. This cannot be taken back.", "Delete")) await started("/v1/jobs/delete", body);
    again();
  };
  return h("div", { class: "actions" }, dead
    ? [h("button", { type: "button", onclick: retry }, "Retry all that fit"), h("button", { type: "button", class: "danger", onclick: discard }, "Delete all that fit")]
    : h("button", { type: "button", class: "danger", onclick: cancel }, filtered ? "Cancel all that fit" : "Cancel all"));
}

export function showJobs(view) {
  const again = () => {
    list();
    operations();
  };
  const list = listPage(view, {
    path: "/ui/jobs",
    route: "/v1/jobs",
    label: "Jobs",
    fields,
    actions: view.operator && bulk(view, again),
    columns,
    keyOf: (row) => row.id,
    none: "No job waits or runs. pawl job enqueue puts one.",
    watch: { names: ["jobs", "dead"] },
  });
  const operations = operationList(view, "jobs");
}
