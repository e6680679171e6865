// Streams in which something waits: how much, what stands first, and who owns it. Any stream opens by its name.
import { withQuery } from "../api.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { filterForm } from "../list.js";
import { badge, empty } from "../states.js";
import { table } from "../table.js";
import { moment } from "../time.js";
import { kindField } from "./messages.js";

const READ = 100; // messages of each state: a stream with more is shown with so many
const STATES = ["dead", "blocked", "leased", "ready", "scheduled"];

// The messages in the order of their streams; the first that waits is what the others stand behind.
function streamsOf(messages) {
  const streams = new Map();
  for (const row of messages) {
    if (!row.stream) continue;
    const key = row.kind + " " + row.stream;
    const known = streams.get(key) || { key, kind: row.kind, stream: row.stream, counts: {}, first: row };
    known.counts[row.state] = (known.counts[row.state] || 0) + 1;
    if (row.seq < known.first.seq) known.first = row;
    streams.set(key, known);
  }
  const weight = (one) => (one.counts.blocked || 0) * 1000 + (one.counts.dead || 0);
  return [...streams.values()].sort((a, b) => weight(b) - weight(a) || a.key.localeCompare(b.key));
}

const columns = [
  { name: "Stream", cell: (row) => h("a", { href: "/ui/streams/" + encodeURIComponent(row.stream) }, row.stream) },
  { name: "Kind", cell: (row) => row.kind },
  { name: "First", cell: (row) => [badge(row.first.state), " ", h("a", { href: "/ui/messages/" + row.first.id }, row.first.type)] },
  { name: "Since", cell: (row) => moment(row.first.put_ms) },
  { name: "Blocked", cell: (row) => number(row.counts.blocked || 0), right: true },
  { name: "Dead", cell: (row) => number(row.counts.dead || 0), right: true },
  { name: "Ready or leased", cell: (row) => number((row.counts.ready || 0) + (row.counts.leased || 0)), right: true },
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
  view.watch(box, async (read) => {
    const kind = view.query.get("kind");
    const lists = await Promise.all(STATES.map((state) => read(withQuery("/v1/messages", { kind, state, limit: READ }))));
    return { streams: streamsOf(lists.flatMap((list) => list.items)), more: lists.some((list) => list.next) };
  }, ({ streams, more }) => [
    streams.length > 0 ? table("Streams", columns, streams, (row) => row.key) : empty("No message of a stream waits: everything that was sent is done."),
    more && h("p", { class: "quiet" }, `Counted among the first ${number(READ)} messages of each state; a stream's own page shows all of it.`),
  ], { names: ["messages", "dead"], every_ms: 5000 });
}
