// Messages: a list by sequence number, with filters; what is selected, or all that fit, is retried, deleted, cancelled.
import { drop, post } from "../api.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { listPage } from "../parts/list.js";
import { operationList } from "../parts/operations.js";
import { messageLink, streamLink } from "../parts/related.js";
import { badge } from "../states.js";
import { moment } from "../time.js";

export const messageColumns = [
  { name: "Message", cell: (row) => messageLink(row.id) },
  { name: "State", cell: (row) => badge(row.state) },
  { name: "Type", cell: (row) => row.type },
  { name: "Stream", cell: (row) => streamLink(row.stream) || "–" },
  { name: "Attempts", cell: (row) => number(row.attempts), right: true },
  { name: "Put", cell: (row) => moment(row.put_ms) },
  { name: "Error", cell: (row) => row.error || "–" },
  { name: "Kind", cell: (row) => row.kind },
  { name: "Topic", cell: (row) => row.topic || "–", extra: true },
  { name: "Lane", cell: (row) => number(row.lane), right: true, extra: true },
  { name: "Bytes", cell: (row) => number(row.payload_bytes), right: true, extra: true },
];

export const kindField = { name: "kind", label: "Kind", choices: ["outbox", "inbox", "perspective"] };

const fields = [kindField, { name: "state", label: "State", choices: ["ready", "leased", "scheduled", "blocked", "dead", "done"], none: "any but done" },
                { name: "type", label: "Type" }, { name: "stream", label: "Stream" }, { name: "topic", label: "Topic" },
                { name: "lane", label: "Lane", number: true }, { name: "fingerprint", label: "Group of dead letters" }];

const at = (row) => "/v1/messages/" + row.id;

// A cancelled message goes on when the mark is removed; when it has ended already, it gets another round.
export async function uncancel(row) {
  try {
    await drop("/v1/pauses/message/" + row.id);
  } catch (problem) {
    if (problem.status !== 404) throw problem;
    await post(at(row) + "/retry");
  }
}

// The server does not know how to choose dead letters by lane.
function verbs({ state, lane, ...filters }) {
  const body = state === "dead" && !lane ? (Object.keys(filters).length > 0 ? filters : { all: true }) : null;
  const dead = (row) => row.state === "dead", what = "dead letters";
  return [
    { name: "Retry", past: "get another round", what, warning: "Each gets another round of attempts.", fits: dead, one: (row) => post(at(row) + "/retry"), route: "/v1/messages/retry", body },
    { name: "Delete", past: "given up", what, warning: "Their messages are lost. This cannot be taken back.", danger: true, fits: dead, one: (row) => drop(at(row)), route: "/v1/messages/delete", body },
    { name: "Cancel", past: "cancelled", what: "messages", warning: "They become dead letters; running ones are asked to stop.", danger: true,
      fits: (row) => !["dead", "done"].includes(row.state), one: (row) => post(at(row) + "/cancel", { reason: "cancelled on the dashboard" }),
      undo: { name: "Let go on", past: "go on", one: uncancel } },
  ];
}

export function showMessages(view) {
  listPage(view, {
    path: "/ui/messages",
    route: "/v1/messages",
    label: "Messages",
    fields,
    verbs,
    after: () => operations(),
    columns: messageColumns,
    keyOf: (row) => row.kind + row.seq,
    nameOf: (row) => row.id,
    none: ["No message waits: everything that was sent is done. To send one:", "pawl send order.created '{\"id\": 1}' --stream customer-1"],
    watch: { names: ["messages", "dead"] },
  });
  const operations = view.operator ? operationList(view, "dead letters") : () => {};
}
