// Audit: what people did, the latest first.
import { h } from "../dom.js";
import { number } from "../format.js";
import { listPage } from "../parts/list.js";
import { moment } from "../time.js";

export function showAudit(view) {
  listPage(view, {
    path: "/ui/audit",
    route: "/v1/actions",
    label: "Actions",
    columns: [
      { name: "Number", cell: (row) => number(row.number), right: true },
      { name: "When", cell: (row) => moment(row.at_ms) },
      { name: "Who", cell: (row) => row.actor },
      { name: "Action", cell: (row) => h("code", null, row.action) },
      { name: "Detail", cell: (row) => row.detail || "–", wide: true },
    ],
    keyOf: (row) => row.number,
    none: "No actions recorded yet. Everything that a person does here, on the command line or over HTTP is recorded.",
    watch: { every_ms: 5000 },
  });
}
