// Schedules: when each fired last and will fire next; run now, pause, resume.
import { post } from "../api.js";
import { act, confirm } from "../dialog.js";
import { h } from "../dom.js";
import { listPage } from "../list.js";
import { badge } from "../states.js";
import { moment } from "../time.js";

function actions(row, again) {
  const path = "/v1/schedules/" + encodeURIComponent(row.name);
  const run = async () => {
    await act(() => post(path + "/run"), (answer) => `Job ${answer.id} of ${row.name} is enqueued.`);
    again();
  };
  const change = async () => {
    if (row.paused) await act(() => post(path + "/resume"), `${row.name} fires again.`);
    else if (await confirm("Pause this schedule?", `${row.name} will not fire until it is resumed.`, "Pause", false))
      await act(() => post(path + "/pause"), `${row.name} is paused.`);
    again();
  };
  return h("div", { class: "actions" },
    h("button", { type: "button", "aria-label": "Run now: " + row.name, onclick: run }, "Run now"),
    h("button", { type: "button", "aria-label": (row.paused ? "Resume: " : "Pause: ") + row.name, onclick: change }, row.paused ? "Resume" : "Pause"));
}

export function showSchedules(view) {
  const columns = [
    { name: "Schedule", cell: (row) => row.name },
    { name: "State", cell: (row) => badge(row.paused ? "paused" : "active") },
    { name: "Task", cell: (row) => h("a", { href: "/ui/tasks/" + encodeURIComponent(row.task) }, row.task) },
    { name: "Rule", cell: (row) => [h("code", null, row.expr), row.zone && " " + row.zone] },
    { name: "Last", cell: (row) => moment(row.last_ms) },
    { name: "Next", cell: (row) => (row.paused ? "–" : moment(row.next_ms)) },
    ...(view.operator ? [{ name: "Actions", cell: (row) => actions(row, () => again()) }] : []),
  ];
  const again = listPage(view, {
    path: "/ui/schedules",
    route: "/v1/schedules",
    label: "Schedules",
    fields: [{ name: "task", label: "Task" }],
    columns,
    keyOf: (row) => row.name,
    none: "No schedule yet. pawl task create with --cron, --every or --at makes one.",
    watch: { names: ["jobs"], every_ms: 5000 },
  });
}
