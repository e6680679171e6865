// Streams with waiting messages: how many, the first one, and what it waits for. Any stream can be opened by name.
import { withQuery } from "../api.js";
import { h } from "../dom.js";
import { counted, number } from "../format.js";
import { filterForm } from "../parts/list.js";
import { streamLink } from "../parts/related.js";
import { table } from "../parts/table.js";
import { badge, empty } from "../states.js";
import { moment } from "../time.js";
import { kindField } from "./messages.js";

const ROWS = 50;
const LOOKS = [500, 5000, 50000]; // messages of each state; a stream may have more than were counted then

const atLeast = (row, count) => number(count) + (row.complete ? "" : "+");

const columns = [
  { name: "Stream", cell: (row) => streamLink(row.stream) },
  { name: "Kind", cell: (row) => row.kind },
  { name: "First", cell: (row) => [badge(row.first_state), " ", h("a", { href: "/ui/messages/" + row.first_id }, row.first_type)] },
  { name: "Since", cell: (row) => moment(row.first_put_ms) },
  { name: "Blocked", cell: (row) => atLeast(row, row.blocked), right: true },
  { name: "Dead", cell: (row) => atLeast(row, row.dead), right: true },
  { name: "Ready", cell: (row) => atLeast(row, row.ready), right: true },
  { name: "Leased", cell: (row) => atLeast(row, row.leased), right: true },
  { name: "Scheduled", cell: (row) => atLeast(row, row.scheduled), right: true },
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

// The answer is whole: its pages are made here.
function pages(filters, page, count) {
  const last = Math.max(0, Math.ceil(count / ROWS) - 1);
  const to = (place, name) => h("a", { href: withQuery("/ui/streams", { ...filters, page: place || null }) }, name);
  return last > 0 && h("nav", { class: "pager", "aria-label": "Pages" }, page > 0 && to(page - 1, "Previous page"),
    h("span", { class: "quiet" }, `${number(page * ROWS + 1)} to ${number(Math.min(count, (page + 1) * ROWS))} of ${counted(count, "stream")}`), page < last && to(page + 1, "Next page"));
}

export function showStreams(view) {
  const box = h("section", { "aria-label": "Streams that wait" });
  const filters = { kind: view.query.get("kind"), look: view.query.get("look") }, look = Number(filters.look) || LOOKS[0];
  const page = Number(view.query.get("page")) || 0, more = LOOKS.find((one) => one > look);
  view.box.append(opener(view), filterForm(view, "/ui/streams", [kindField]), box);
  view.watch(box, (read) => read(withQuery("/v1/streams", { kind: filters.kind, look })), (data) => (data.items.length > 0
    ? [table("Streams", columns, data.items.slice(page * ROWS, (page + 1) * ROWS), (row) => row.kind + row.stream), pages(filters, page, data.items.length),
       !data.items[0].complete && h("p", { class: "quiet" }, `More than ${number(look)} messages of a state wait, and these streams are those of the first: + means that there may be more of that stream. Its own page shows all of it. `,
         more && h("a", { href: withQuery("/ui/streams", { ...filters, look: more }) }, `Look at ${number(more)}`))]
    : empty("No message of a stream waits: everything that was sent is done.", "pawl send order.created '{\"id\": 1}' --stream customer-1")), { names: ["messages", "dead"], every_ms: 5000 });
}
