// Messages: a list by sequence number, with filters; dead ones that fit are redriven or discarded as an operation.
import { confirm } from "../dialog.js";
import { h } from "../dom.js";
import { number, shortId } from "../format.js";
import { filtersOf, listPage } from "../list.js";
import { operationList, started } from "../operations.js";
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

const fields = [kindField, { name: "state", label: "State", choices: ["ready", "leased", "scheduled", "blocked", "dead", "done"] },
                { name: "type", label: "Type" }, { name: "stream", label: "Stream" }, { name: "topic", label: "Topic" },
                { name: "lane", label: "Lane", number: true }, { name: "fingerprint", label: "Group of dead letters" }];

// Everything that fits, on this page or not. The server does not know how to choose dead letters by lane.
function bulk(view, again) {
  const { state, lane, ...filters } = Object.fromEntries(Object.entries(filtersOf(view, fields)).filter(([, value]) => value));
  if (state !== "dead" || lane) return null;
  const body = Object.keys(filters).length > 0 ? filters : { all: true };
  const button = (name, danger, text) => h("button", { type: "button", class: danger ? "danger" : null, onclick: async () => {
    if (await confirm(name + "?", text, name, danger)) await started("/v1/messages/" + name.toLowerCase(), body);
    again();
  } }, name + " all that fit");
  return h("div", { class: "actions" },
    button("Retry", false, "Every dead letter that fits these filters gets another round of attempts."),
    button("Delete", true, "Every dead letter that fits these filters is given up: their messages are lost. This cannot be taken back."));
}

export function showMessages(view) {
  const again = () => {
    list();
    if (operations) operations();
  };
  const actions = view.operator && bulk(view, again);
  const list = listPage(view, {
    path: "/ui/messages",
    route: "/v1/messages",
    label: "Messages",
    fields,
    actions,
    columns: messageColumns,
    keyOf: (row) => row.kind + row.seq,
    none: "No message waits: everything that was sent is done.",
    watch: { names: ["messages", "dead"] },
  });
  const operations = actions && operationList(view, "dead letters");
}
