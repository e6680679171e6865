// Streams with waiting messages: how many, the first one, and the owner. Any stream can be opened by name.
import { withQuery } from "../api.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { filterForm } from "../list.js";
import { badge, empty } from "../states.js";
import { table } from "../table.js";
import { moment } from "../time.js";
import { kindField } from "./messages.js";

const READ = 500; // messages of each state; a stream may have more than were counted then

const atLeast = (row, count) => number(count) + (row.complete ? "" : "+");

const columns = [
  { name: "Stream", cell: (row) => h("a", { href: "/ui/streams/" + encodeURIComponent(row.stream) }, row.stream) },
  { name: "Kind", cell: (row) => row.kind },
  { name: "First", cell: (row) => [badge(row.first_state), " ", h("a", { href: "/ui/messages/" + row.first_id }, row.first_type)] },
  { name: "Since", cell: (row) => moment(row.first_put_ms) },
  { name: "Blocked", cell: (row) => atLeast(row, row.blocked), right: true },
  { name: "Dead", cell: (row) => atLeast(row, row.dead), right: true },
  { name: "Ready", cell: (row) => atLeast(row, row.ready), right: true },
  { name: "Leased", cell: (row) => atLeast(row, row.leased), right: true },
  { name: "Scheduled", cell: (row) => atLeast(row, row.scheduled), right: true, wide: true },
];

function opener(view) {
  const submit = (event) => {
    event.preventDefault();
    view.go("/ui/streams/" + encodeURIComponent(event.target.elements.stream.value));
  };
  return h("form", { class: "filters", "aria-label": "Open a stream", onsubmit: submit },
    h("div", { class: "field" }, h("label", { for: "stream" }, "Stream"), h("input", { id: "stream", name: "stream", required: true, autocomplete: "off", spellcheck: "false" })),
    h("div", { class: "field buttons" }, h("button", { type: "submit" }, "Open")));
}

export function showStreams(view) {
  const box = h("section", { "aria-label": "Streams that wait" });
  view.box.append(opener(view), filterForm(view, "/ui/streams", [kindField]), box);
  view.watch(box, (read) => read(withQuery("/v1/streams", { kind: view.query.get("kind"), look: READ })), (data) => (data.items.length > 0
    ? [table("Streams", columns, data.items, (row) => row.kind + row.stream),
       !data.items[0].complete && h("p", { class: "quiet" }, `More than ${number(READ)} messages of a state wait: + means that there may be more of that stream. Its own page shows all of it.`)]
    : empty("No message of a stream waits: everything that was sent is done.")), { names: ["messages", "dead"], every_ms: 5000 });
}
