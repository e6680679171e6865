// One stream: where it belongs, who owns it, whether it is paused, what waits in it, in its order.
import { drop, post } from "../api.js";
import { act, confirm } from "../dialog.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { badge, empty } from "../states.js";
import { facts, table } from "../table.js";
import { messageColumns } from "./messages.js";

function pauseButton(view, place, again) {
  const change = async () => {
    if (place.paused)
      await act(() => drop("/v1/pauses/stream/" + encodeURIComponent(view.id)), "The stream goes on.");
    else if (await confirm("Pause this stream?", "Its messages wait until somebody resumes it.", "Pause", false))
      await act(() => post("/v1/pauses", { scope: "stream", name: view.id }), "The stream is paused.");
    again();
  };
  return h("div", { class: "actions" }, h("button", { type: "button", onclick: change }, place.paused ? "Resume" : "Pause"));
}

const owner = (id) => id && h("a", { href: "/ui/instances" }, h("code", null, id));

export function showStream(view) {
  const name = encodeURIComponent(view.id);
  const again = view.watch(view.box, async (read) => {
    const [place, messages] = await Promise.all([read("/v1/streams/" + name), read("/v1/messages?limit=50&stream=" + name)]);
    return { place, messages };
  }, ({ place, messages }) => [
    view.operator && pauseButton(view, place, () => again()),
    facts([["State", badge(place.paused ? "paused" : "active")],
           ["Partition", `${place.partition} of ${number(place.partition_count)}`],
           ["Lane", `${place.lane} of ${number(place.lane_count)}`], ["Outbox owner", owner(place.outbox_owner)],
           ["Inbox owner", owner(place.inbox_owner)], ["Perspective owner", owner(place.perspective_owner)],
           ["Events", place.event_version > 0 && h("a", { href: "/ui/events?stream=" + name }, number(place.event_version))]]),
    h("h2", null, "Messages in order"),
    messages.items.length > 0 ? table("Messages in order", messageColumns, messages.items, (row) => row.kind + row.seq)
                              : empty("No message of this stream waits."),
  ], { names: ["messages", "dead", "instances"], every_ms: 10000 });
}
