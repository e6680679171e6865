// One stream: its lane and owner, whether it is paused, and its waiting messages in order.
import { drop, post } from "../api.js";
import { act, confirm } from "../dialog.js";
import { h } from "../dom.js";
import { number, shortId } from "../format.js";
import { badge, empty } from "../states.js";
import { facts, table } from "../table.js";
import { messageColumns } from "./messages.js";

function pauseButton(view, place, again) {
  const change = async () => {
    if (place.paused)
      await act(() => drop("/v1/pauses/stream/" + encodeURIComponent(view.id)), "The stream goes on.");
    else if (await confirm("Pause this stream?", "Its messages wait until it is resumed.", "Pause", false))
      await act(() => post("/v1/pauses", { scope: "stream", name: view.id }), "The stream is paused.");
    again();
  };
  return h("div", { class: "actions" }, h("button", { type: "button", onclick: change }, place.paused ? "Resume" : "Pause"));
}

const owner = (id, instances) => {
  const known = instances.find((one) => one.id === id);
  return id && [h("a", { href: "/ui/instances", title: id }, h("code", null, shortId(id))), known && ` ${known.host}:${known.pid}`];
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
      ? [h("a", { href: "/ui/messages/" + first.get(row.kind).id }, h("code", null, shortId(first.get(row.kind).id))), " ", badge(first.get(row.kind).state)] : "–") },
];

export function showStream(view) {
  const name = encodeURIComponent(view.id);
  const again = view.watch(view.box, async (read) => {
    const [place, messages, instances] = await Promise.all([read("/v1/streams/" + name), read("/v1/messages?limit=50&stream=" + name), read("/v1/instances")]);
    return { place, messages, instances: instances.items };
  }, ({ place, messages, instances }) => [
    view.operator && pauseButton(view, place, () => again()),
    facts([["State", badge(place.paused ? "paused" : "active")],
           ["Partition", `${place.partition} of ${number(place.partition_count)}`],
           ["Lane", `${place.lane} of ${number(place.lane_count)}`], ["Outbox owner", owner(place.outbox_owner, instances)],
           ["Inbox owner", owner(place.inbox_owner, instances)], ["Perspective owner", owner(place.perspective_owner, instances)],
           ["Events", place.event_version > 0 && h("a", { href: "/ui/events?stream=" + name }, number(place.event_version))]]),
    h("h2", null, "Messages in order"),
    messages.items.length > 0 ? table("Messages in order", columns(blockers(messages.items)), messages.items, (row) => row.kind + row.seq)
                              : empty("No message of this stream waits."),
    messages.next && h("p", null, h("a", { href: "/ui/messages?stream=" + name }, "All messages of this stream")),
  ], { names: ["messages", "dead", "instances"], every_ms: 10000 });
}
