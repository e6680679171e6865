// One stream: whether it is paused, its waiting messages in order and what each waits for, its events, who did what.
import { drop, post } from "../../api.js";
import { h } from "../../dom.js";
import { number } from "../../format.js";
import { act, confirm } from "../../parts/dialog.js";
import { actionsOf, eventAddress, instanceLink, messageLink } from "../../parts/related.js";
import { facts, table } from "../../parts/table.js";
import { deedsOf, tale } from "../../parts/tale.js";
import { badge, empty, toneOf } from "../../states.js";
import { moment } from "../../time.js";
import { messageColumns } from "../messages.js";

const SHOWN = 50, EVENTS = 20, TOLD = 10;

function pauseButton(view, place, again) {
  const resume = () => act(() => drop("/v1/pauses/stream/" + encodeURIComponent(view.id)), "The stream goes on.");
  const change = async () => {
    if (place.paused)
      await resume();
    else if (await confirm("Pause this stream?", "Its messages wait until it is resumed.", "Pause", false))
      await act(() => post("/v1/pauses", { scope: "stream", name: view.id, reason: "paused on the dashboard" }), "The stream is paused.", async () => (await resume(), again()));
    again();
  };
  return h("div", { class: "actions" }, h("button", { type: "button", onclick: change }, place.paused ? "Resume" : "Pause"));
}

const owner = (id, instances) => {
  const known = instances.find((one) => one.id === id);
  return id && [instanceLink(id), known && ` ${known.host}:${known.pid}`];
};

// Of each kind one message after the other: what is blocked waits for the first that is not done.
function blockers(messages) {
  const first = new Map();
  for (const row of messages) if (row.state !== "done" && !first.has(row.kind)) first.set(row.kind, row);
  return first;
}

const columns = (first) => [
  ...messageColumns.filter((column) => column.name !== "Stream"),
  { name: "Waits for", cell: (row) => (row.state === "blocked" && first.get(row.kind) !== row
      ? [messageLink(first.get(row.kind).id), " ", badge(first.get(row.kind).state)] : "–") },
];

const eventColumns = [
  { name: "Version", cell: (row) => h("a", { href: eventAddress(row.id, row.stream, row.version) }, number(row.version)), right: true },
  { name: "Type", cell: (row) => row.type },
  { name: "Appended", cell: (row) => moment(row.appended_ms) },
];

function story(pause, messages, events, actions, name) {
  return tale([
    pause && { what: ["Paused by ", h("strong", null, pause.actor)], at_ms: pause.since_ms, tone: "warn", more: pause.reason },
    ...messages.slice(0, TOLD).map((row) => ({ what: [messageLink(row.id), ` ${row.type} `, badge(row.state)], at_ms: row.ended_ms || row.put_ms, tone: toneOf(row.state), more: row.error })),
    ...events.slice(0, TOLD).map((row) => ({ what: ["Event ", h("a", { href: eventAddress(row.id, row.stream, row.version) }, `${row.type}, version ${row.version}`)], at_ms: row.appended_ms, tone: "good" })),
    ...deedsOf(actions, name)]);
}

export function showStream(view) {
  const name = encodeURIComponent(view.id);
  const again = view.watch(view.box, async (read) => {
    const [place, messages, instances, pauses, actions] = await Promise.all([read("/v1/streams/" + name), read(`/v1/messages?limit=${SHOWN}&stream=${name}`), read("/v1/instances"), read("/v1/pauses"), actionsOf(read)]);
    const events = place.event_version > 0 ? (await read(`/v1/events?backward=true&limit=${EVENTS}&stream=${name}`)).items : [];
    return { place, messages, instances: instances.items, pause: pauses.items.find((one) => one.scope === "stream" && one.name === view.id), actions, events };
  }, ({ place, messages, instances, pause, actions, events }) => [
    view.operator && pauseButton(view, place, () => again()),
    facts([["State", badge(place.paused ? "paused" : messages.items.some((row) => row.state === "blocked") ? "blocked" : "active")],
           ["Partition", `${place.partition} of ${number(place.partition_count)}`],
           ["Lane", `${place.lane} of ${number(place.lane_count)}`], ["Outbox owner", owner(place.outbox_owner, instances)],
           ["Inbox owner", owner(place.inbox_owner, instances)], ["Perspective owner", owner(place.perspective_owner, instances)],
           ["Events", place.event_version > 0 && h("a", { href: "/ui/events?stream=" + name }, number(place.event_version))]]),
    h("h2", null, "Messages in order"),
    messages.items.length > 0 ? table("Messages in order", columns(blockers(messages.items)), messages.items, (row) => row.kind + row.seq)
                              : empty("No message of this stream waits."),
    messages.next && h("p", null, h("a", { href: "/ui/messages?stream=" + name }, "All messages of this stream")),
    events.length > 0 && [h("h2", null, "Latest events"), table("Latest events", eventColumns, events, (row) => row.version)],
    (messages.items.length > 0 || events.length > 0) && [h("h2", null, "What happened"), story(pause, messages.items, events, actions, view.id)],
  ], { names: ["messages", "dead", "instances"], every_ms: 10000 });
}
