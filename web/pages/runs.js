// Runs: how far each is, how fast, and how long it will take.
import { h } from "../dom.js";
import { duration, number, rate } from "../format.js";
import { listPage } from "../list.js";
import { badge } from "../states.js";
import { moment } from "../time.js";

export const progressOf = (run) => [
  h("progress", { max: "1000", value: String(run.permille), "aria-label": "Progress of " + run.name }),
  h("span", { class: "quiet" }, ` ${Math.floor(run.permille / 10)} %`, run.eta_ms !== null && run.permille < 1000 && `, ${duration(run.eta_ms)} left`),
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
  { name: "Speed", cell: speedOf, right: true, wide: true },
  { name: "Started", cell: (run) => moment(run.started_ms), wide: true },
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
    none: "No run yet. pawl run start begins one.",
    watch: { names: ["jobs"], every_ms: 3000 },
  });
}
