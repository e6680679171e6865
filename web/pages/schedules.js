// Schedules: when each fired last and will fire next; run now, pause, resume.
import { post } from "../api.js";
import { act, confirm } from "../parts/dialog.js";
import { h } from "../dom.js";
import { listPage } from "../parts/list.js";
import { link, taskLink } from "../parts/related.js";
import { badge } from "../states.js";
import { moment } from "../time.js";

const of = (verb) => (row) => post(`/v1/schedules/${encodeURIComponent(row.name)}/${verb}`);

export function scheduleActions(row, again) {
  const path = "/v1/schedules/" + encodeURIComponent(row.name);
  const run = async () => {
    await act(() => post(path + "/run"), (answer) => `Job ${answer.id} of ${row.name} is enqueued.`);
    again();
  };
  const change = async () => {
    if (row.paused) await act(() => post(path + "/resume"), `${row.name} fires again.`);
    else if (await confirm("Pause this schedule?", `${row.name} will not fire until it is resumed.`, "Pause", false))
      await act(() => post(path + "/pause"), `${row.name} is paused.`, async () => (await act(() => post(path + "/resume"), `${row.name} fires again.`), again()));
    again();
  };
  return h("div", { class: "actions" },
    h("button", { type: "button", "aria-label": "Run now: " + row.name, onclick: run }, "Run now"),
    h("button", { type: "button", "aria-label": (row.paused ? "Resume: " : "Pause: ") + row.name, onclick: change }, row.paused ? "Resume" : "Pause"));
}

export function showSchedules(view) {
  const columns = [
    { name: "Schedule", cell: (row) => link("/ui/schedules/", row.name) },
    { name: "State", cell: (row) => badge(row.paused ? "paused" : "active") },
    { name: "Task", cell: (row) => taskLink(row.task) },
    { name: "Rule", cell: (row) => [h("code", null, row.expr), row.zone && " " + row.zone] },
    { name: "Last", cell: (row) => moment(row.last_ms) },
    { name: "Next", cell: (row) => (row.paused ? "–" : moment(row.next_ms)) },
    ...(view.operator ? [{ name: "Actions", cell: (row) => scheduleActions(row, () => again()) }] : []),
  ];
  const again = listPage(view, {
    path: "/ui/schedules",
    route: "/v1/schedules",
    label: "Schedules",
    fields: [{ name: "task", label: "Task" }],
    columns,
    keyOf: (row) => row.name,
    none: ["No schedule yet. A task gets one when it is created with --cron, --every or --at:", "pawl task create report --pipeline report.yaml --cron '0 3 * * *'"],
    nameOf: (row) => "schedule " + row.name,
    verbs: () => [
      { name: "Pause", past: "paused", what: "schedules", fits: (row) => !row.paused, one: of("pause"), undo: { name: "Resume", past: "fire again", one: of("resume") } },
      { name: "Resume", past: "fire again", what: "schedules", fits: (row) => row.paused, one: of("resume"), undo: { name: "Pause", past: "paused", one: of("pause") } },
      { name: "Run now", past: "enqueued", what: "schedules", fits: () => true, one: of("run") },
    ],
    watch: { names: ["jobs"], every_ms: 5000 },
  });
}
