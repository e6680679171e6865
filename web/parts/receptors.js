// Receptors on events with their actions, and receptor results for one event or message.
import { drop, post } from "../api.js";
import { act, confirm } from "./dialog.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { started } from "./operations.js";
import { badge } from "../states.js";
import { table } from "./table.js";
import { moment } from "../time.js";

const noteColumns = [
  { name: "Receptor", cell: (row) => row.receptor },
  { name: "State", cell: (row) => badge(row.state) },
  { name: "Attempts", cell: (row) => number(row.attempts), right: true },
  { name: "Updated", cell: (row) => moment(row.updated_ms) },
  { name: "Error", cell: (row) => row.error || "–" },
];

export const noteTable = (rows) => table("Receptors", noteColumns, rows, (row) => row.receptor);

// A receptor's work is inbox messages with a topic of its own.
const messagesOf = (row, state) => `/ui/messages?kind=inbox&topic=${encodeURIComponent(row.topic)}` + (state ? "&state=" + state : "");

// Its topic is paused, or the handler of its name.
async function resume(row) {
  try {
    await drop("/v1/pauses/topic/" + encodeURIComponent(row.topic));
  } catch (problem) {
    if (problem.status !== 404) throw problem;
    await drop("/v1/pauses/handler/" + encodeURIComponent(row.receptor));
  }
}

function actions(row, again) {
  const change = async () => {
    if (row.paused) await act(() => resume(row), `${row.receptor} goes on.`);
    else if (await confirm("Pause this receptor?", `${row.receptor} will handle no events until it is resumed.`, "Pause", false))
      await act(() => post("/v1/pauses", { scope: "topic", name: row.topic, reason: "paused on the dashboard" }), `${row.receptor} is paused.`, async () => (await act(() => resume(row), `${row.receptor} goes on.`), again()));
    again();
  };
  const redrive = async () => {
    if (await confirm("Retry?", `Every dead letter of ${row.receptor} gets another round of attempts.`, "Retry", false))
      await started("/v1/messages/retry", { kind: "inbox", topic: row.topic });
    again();
  };
  const remove = async () => {
    if (await confirm("Remove this receptor?", `${row.receptor} gets no more events. Its messages stay.`, "Remove"))
      await act(() => drop("/v1/receptors/" + encodeURIComponent(row.receptor)), `${row.receptor} gets no more events.`);
    again();
  };
  const button = (name, run, danger) => h("button", { type: "button", class: danger ? "danger" : null, "aria-label": `${name}: ${row.receptor}`, onclick: run }, name);
  return h("div", { class: "actions" }, button(row.paused ? "Resume" : "Pause", change), button("Retry dead", redrive), button("Remove", remove, true));
}

const columns = (view, again) => [
  { name: "Receptor", cell: (row) => row.receptor },
  { name: "State", cell: (row) => badge(row.paused ? "paused" : "active") },
  { name: "Gets", cell: (row) => row.on },
  { name: "Lag", cell: (row) => (row.behind > 0 ? `${number(row.behind)} behind` : "none"), right: true },
  { name: "Messages", cell: (row) => h("a", { href: messagesOf(row) }, number(row.messages)), right: true },
  { name: "Failed", cell: (row) => h("a", { href: messagesOf(row, "dead") }, "dead letters") },
  { name: "Registered", cell: (row) => moment(row.registered_ms) },
  ...(view.operator ? [{ name: "Actions", cell: (row) => actions(row, again) }] : []),
];

export const receptorTable = (view, rows, again) => table("Receptors on events", columns(view, again), rows, (row) => row.receptor);
