// Pauses: topics, streams, handlers and queues whose work waits until they are resumed.
import { drop, post } from "../api.js";
import { act } from "../parts/dialog.js";
import { h } from "../dom.js";
import { listPage } from "../parts/list.js";
import { moment } from "../time.js";

const SCOPES = ["topic", "stream", "handler", "queue"];
const at = (row) => `/v1/pauses/${row.scope}/${encodeURIComponent(row.name)}`;

function pauser(again) {
  const submit = async (event) => {
    event.preventDefault();
    const { scope, name, reason } = event.target.elements, row = { scope: scope.value, name: name.value };
    if (await act(() => post("/v1/pauses", { ...row, reason: reason.value || "paused on the dashboard" }), `${row.scope} ${row.name} is paused.`, async () => (await act(() => drop(at(row)), "It goes on."), again())))
      name.value = reason.value = "";
    again();
  };
  const field = (id, label, control) => h("div", { class: "field" }, h("label", { for: id }, label), control);
  return h("form", { class: "filters", "aria-label": "Pause something", onsubmit: submit },
    field("scope", "What", h("select", { id: "scope", name: "scope" }, SCOPES.map((scope) => h("option", { value: scope }, scope)))),
    field("pause-name", "Its name (a handler: its pattern)", h("input", { id: "pause-name", name: "name", required: true, autocomplete: "off", spellcheck: "false" })),
    field("pause-reason", "Why", h("input", { id: "pause-reason", name: "reason", autocomplete: "off" })),
    h("div", { class: "field buttons" }, h("button", { type: "submit" }, "Pause")));
}

export function showPauses(view) {
  if (view.operator) view.box.append(pauser(() => again()));
  const resume = async (row) => {
    await act(() => drop(at(row)), `${row.name} goes on.`, async () => (await act(() => post("/v1/pauses", { scope: row.scope, name: row.name, reason: row.reason }), `${row.name} is paused again.`), again()));
    again();
  };
  const again = listPage(view, {
    path: "/ui/pauses",
    route: "/v1/pauses",
    label: "Pauses",
    fixed: { limit: null }, // they are few: the list is whole
    columns: [
      { name: "What", cell: (row) => row.scope },
      { name: "Name", cell: (row) => (row.scope === "stream" ? h("a", { href: "/ui/streams/" + encodeURIComponent(row.name) }, row.name) : row.name) },
      { name: "Since", cell: (row) => moment(row.since_ms) },
      { name: "By", cell: (row) => row.actor },
      { name: "Reason", cell: (row) => row.reason || "–" },
      ...(view.operator ? [{ name: "Actions", cell: (row) =>
        h("button", { type: "button", "aria-label": `Resume: ${row.scope} ${row.name}`, onclick: () => resume(row) }, "Resume") }] : []),
    ],
    keyOf: (row) => row.scope + row.name,
    nameOf: (row) => `${row.scope} ${row.name}`,
    verbs: () => [{ name: "Resume", past: "go on", what: "pauses", fits: () => true, one: (row) => drop(at(row)), undo: { name: "Pause", past: "paused again", one: (row) => post("/v1/pauses", { scope: row.scope, name: row.name, reason: row.reason }) } }],
    none: ["Nothing is paused. What is paused waits, and nothing is lost. On the command line:", "pawl pause topic letters --reason 'the printer is broken'"],
    watch: { every_ms: 5000 },
  });
}
