// Partitions: which instance owns each lane of partitions, and how often it changed hands.
import { withQuery } from "../api.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { filterForm } from "../parts/list.js";
import { instanceLink } from "../parts/related.js";
import { badge, empty } from "../states.js";
import { table } from "../parts/table.js";
import { kindField } from "./messages.js";

const SHADES = 8;

// The owners in the order of their ids: each has a number and a shade.
function numbersOf(lanes) {
  const owners = [...new Set(lanes.map((lane) => lane.owner).filter(Boolean))].sort();
  return new Map(owners.map((owner, i) => [owner, i]));
}

function legend(numbers, instances) {
  const names = new Map(instances.map((one) => [one.id, `${one.service}, ${one.host}:${one.pid}`]));
  return h("ul", { class: "owners", "aria-label": "Owners", "data-key": "owners" }, [...numbers].map(([owner, i]) =>
    h("li", null, h("span", { class: "number shade" + (i % SHADES) }, i + 1), " ", instanceLink(owner), " ", names.get(owner))));
}

function grid(kind, lanes, numbers) {
  return h("ul", { class: "lanes", "aria-label": `Lanes of ${kind}`, "data-key": "grid " + kind }, lanes.map((lane) => {
    const owner = numbers.get(lane.owner);
    const text = `Lane ${lane.lane}: ${lane.owner ? "instance " + (owner + 1) : "no owner"}${lane.draining ? ", draining" : ""}`;
    return h("li", { class: lane.owner ? "shade" + (owner % SHADES) : "free", title: text },
             h("span", { class: "hidden" }, text), h("span", { "aria-hidden": "true" }, lane.owner ? owner + 1 : "–"));
  }));
}

const columns = (numbers) => [
  { name: "Kind", cell: (row) => row.kind },
  { name: "Lane", cell: (row) => h("a", { href: `/ui/messages?kind=${row.kind}&lane=${row.lane}` }, String(row.lane)), right: true },
  { name: "Partitions", cell: (row) => number(row.partitions), right: true },
  { name: "Owner", cell: (row) => (row.owner ? [`${numbers.get(row.owner) + 1}: `, instanceLink(row.owner)] : "none") },
  { name: "State", cell: (row) => badge(row.draining ? "draining" : row.owner ? "owned" : "free") },
  { name: "Claims", cell: (row) => number(row.claims), right: true },
  { name: "Hand-overs", cell: (row) => number(row.moves), right: true },
];

export function showPartitions(view) {
  const box = h("section", { "aria-label": "Lanes" });
  view.box.append(filterForm(view, "/ui/partitions", [kindField]), box);
  view.watch(box, async (read) => {
    const [lanes, instances] = await Promise.all([read(withQuery("/v1/partitions", { kind: view.query.get("kind") })), read("/v1/instances")]);
    return { items: lanes.items, instances: instances.items };
  }, (data) => {
    if (data.items.length === 0) return empty("There are no lanes. Migrating makes them:", "pawl migrate");
    const numbers = numbersOf(data.items);
    return [
      legend(numbers, data.instances),
      [...new Set(data.items.map((lane) => lane.kind))].map((kind) =>
        [h("h2", null, kind), grid(kind, data.items.filter((lane) => lane.kind === kind), numbers)]),
      h("details", { "data-key": "every lane" }, h("summary", null, "Every lane, its claims and hand-overs"),
        table("Every lane", columns(numbers), data.items, (row) => row.kind + row.lane)),
    ];
  }, { names: ["instances"], every_ms: 5000 });
}
