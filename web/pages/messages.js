// Messages: a list by sequence number, with filters.
import { h } from "../dom.js";
import { number, shortId } from "../format.js";
import { listPage } from "../list.js";
import { badge } from "../states.js";
import { moment } from "../time.js";

export const messageColumns = [
  { name: "Message", cell: (row) => h("a", { href: "/ui/messages/" + row.id }, h("code", null, shortId(row.id))) },
  { name: "State", cell: (row) => badge(row.state) },
  { name: "Kind", cell: (row) => row.kind, wide: true },
  { name: "Type", cell: (row) => row.type },
  { name: "Stream", cell: (row) => (row.stream ? h("a", { href: "/ui/streams/" + encodeURIComponent(row.stream) }, row.stream) : "–") },
  { name: "Attempts", cell: (row) => number(row.attempts), right: true },
  { name: "Put", cell: (row) => moment(row.put_ms) },
  { name: "Error", cell: (row) => row.error || "–", wide: true },
];

export const kindField = { name: "kind", label: "Kind", choices: ["outbox", "inbox", "perspective"] };

export function showMessages(view) {
  listPage(view, {
    path: "/ui/messages",
    route: "/v1/messages",
    label: "Messages",
    fields: [kindField, { name: "state", label: "State", choices: ["ready", "leased", "scheduled", "blocked", "dead", "done"] },
             { name: "type", label: "Type" }, { name: "stream", label: "Stream" }, { name: "topic", label: "Topic" },
             { name: "lane", label: "Lane", number: true },
             { name: "fingerprint", label: "Group of dead letters" }],
    columns: messageColumns,
    keyOf: (row) => row.kind + row.seq,
    none: "No message waits: everything that was sent is done.",
    watch: { names: ["messages", "dead"] },
  });
}
