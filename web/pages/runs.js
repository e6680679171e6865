// Runs: how far each is, how fast, and how long it will take.
import { post } from "../api.js";
import { h } from "../dom.js";
import { duration, number, rate } from "../format.js";
import { listPage } from "../parts/list.js";
import { badge } from "../states.js";
import { moment } from "../time.js";

export const ENDED = ["completed", "failed", "cancelled"];

// What has ended has no time left, however far it came.
export const timeLeft = (run) => (run.eta_ms !== null && run.permille < 1000 && !ENDED.includes(run.state) && !run.paused ? duration(run.eta_ms) : null);

export const progressOf = (run) => [
  h("progress", { max: "1000", value: String(run.permille), "aria-label": "Progress of " + run.name }),
  h("span", { class: "quiet" }, ` ${Math.floor(run.permille / 10)} %`, timeLeft(run) && `, ${timeLeft(run)} left`),
];

export const speedOf = (run) => rate(run.items_per_1000s / 1000);

const columns = [
  { name: "Run", cell: (run) => h("a", { href: "/ui/runs/" + run.id }, String(run.id)) },
  { name: "Name", cell: (run) => run.name },
  { name: "State", cell: (run) => [badge(run.state), run.paused && [" ", badge("paused")]] },
  { name: "Progress", cell: progressOf },
  { name: "Partitions", cell: (run) => `${number(run.done)} of ${number(run.partitions)}`, right: true },
  { name: "Failed", cell: (run) => number(run.failed), right: true },
  { name: "Items", cell: (run) => number(run.items), right: true },
  { name: "Speed", cell: speedOf, right: true },
  { name: "Started", cell: (run) => moment(run.started_ms) },
];

export function showRuns(view) {
  listPage(view, {
    path: "/ui/runs",
    route: "/v1/runs",
    label: "Runs",
    fields: [
      { name: "state", label: "State", choices: ["running", "consolidating", "nested", "repair", "completed", "failed", "cancelled"] },
      { name: "name", label: "Name" },
      { name: "parent", label: "Parent", number: true },
    ],
    columns,
    keyOf: (run) => run.id,
    none: ["No run yet. A document says what to fetch:", "pawl run start catalogue.yaml"],
    verbs: () => [
      { name: "Pause", past: "paused", what: "runs", fits: (run) => !ENDED.includes(run.state) && !run.paused, one: (run) => post(`/v1/runs/${run.id}/pause`), undo: { name: "Resume", past: "go on", one: (run) => post(`/v1/runs/${run.id}/resume`) } },
      { name: "Resume", past: "go on", what: "runs", fits: (run) => !ENDED.includes(run.state) && run.paused, one: (run) => post(`/v1/runs/${run.id}/resume`) },
      { name: "Retry what failed", past: "tried again", what: "runs", fits: (run) => run.failed > 0 || run.state === "failed", one: (run) => post(`/v1/runs/${run.id}/retry`) },
      { name: "Cancel", past: "cancelled", what: "runs", warning: "They end for good. What they have stored stays.", danger: true, fits: (run) => !ENDED.includes(run.state), one: (run) => post(`/v1/runs/${run.id}/cancel`) },
    ],
    nameOf: (run) => "run " + run.id,
    watch: { names: ["jobs"], every_ms: 3000 },
  });
}
