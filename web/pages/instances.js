// Instances: one per running worker process; what each owns, when it was last seen; the duties.
import { h } from "../dom.js";
import { duration, number } from "../format.js";
import { instanceLink } from "../parts/related.js";
import { table } from "../parts/table.js";
import { badge, empty } from "../states.js";
import { moment } from "../time.js";
import { evict } from "./one/instance.js";

const columns = (view, again) => [
  { name: "Instance", cell: (row) => instanceLink(row.id) },
  { name: "State", cell: (row) => badge(row.state) },
  { name: "Service", cell: (row) => row.service },
  { name: "Process", cell: (row) => `${row.host}:${row.pid}` },
  { name: "Lanes", cell: (row) => number(row.outbox_lanes + row.inbox_lanes + row.perspective_lanes), right: true },
  { name: "In flight", cell: (row) => number(row.in_flight), right: true },
  { name: "Jobs", cell: (row) => number(row.jobs), right: true },
  { name: "Last heard of", cell: (row) => duration(row.beat_age_ms) + " ago", right: true },
  { name: "Started", cell: (row) => moment(row.started_ms) },
  ...(view.operator ? [{ name: "Actions", cell: (row) => row.state !== "evicted" &&
      h("button", { type: "button", class: "danger", "aria-label": "Evict " + row.id, onclick: () => evict(row, again) }, "Evict") }] : []),
];

const dutyColumns = [
  { name: "Duty", cell: (row) => row.name },
  { name: "Instance", cell: (row) => instanceLink(row.instance) || "no one" },
  { name: "Lease until", cell: (row) => moment(row.lease_until_ms) },
];

export function showInstances(view) {
  const again = view.watch(view.box, async (read) => {
    const [instances, duties] = await Promise.all([read("/v1/instances"), read("/v1/duties")]);
    return { instances, duties };
  }, ({ instances, duties }) => [
    instances.items.length > 0 ? table("Instances", columns(view, () => again()), instances.items, (row) => row.id)
                               : empty("No worker runs, so nothing is handled. To start one:", "pawl worker --on '*=exec:./handle.sh'"),
    h("p", null, h("a", { href: "/ui/partitions" }, "Who owns which partitions")),
    duties.items.length > 0 && [h("h2", null, "Duties"), h("p", { class: "quiet" }, "What exactly one instance does at a time."),
                                table("Duties", dutyColumns, duties.items, (row) => row.name)],
  ], { names: ["instances"], every_ms: 3000 });
}
