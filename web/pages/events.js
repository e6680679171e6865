// Events: of all streams by position, the latest first, or of one stream by version.
import { h } from "../dom.js";
import { number } from "../format.js";
import { listPage } from "../parts/list.js";
import { eventAddress, streamLink } from "../parts/related.js";
import { json } from "../states.js";
import { moment } from "../time.js";

const place = (name, value) => ({ name, cell: (row) => h("a", { href: eventAddress(row.id, row.stream, row.version) }, number(value(row))), right: true });

const columns = (stream) => [
  stream ? place("Version", (row) => row.version) : place("Position", (row) => row.position),
  { name: "Type", cell: (row) => row.type },
  { name: "Stream", cell: (row) => streamLink(row.stream) },
  { name: "Appended", cell: (row) => moment(row.appended_ms) },
  { name: "Payload", cell: (row) => h("details", null, h("summary", null, "Show"), json(row.payload)) },
];

export function showEvents(view) {
  const stream = view.query.get("stream");
  listPage(view, {
    path: "/ui/events",
    route: "/v1/events",
    label: "Events",
    fields: [{ name: "stream", label: "Stream" }],
    fixed: { backward: true },
    columns: columns(stream),
    keyOf: (row) => row.stream + "@" + row.version,
    none: ["No event yet. To append one:", "pawl event append order-1 OrderCreated '{\"id\": 1}'"],
    watch: { names: ["messages"], every_ms: 5000 },
  });
}
