// One message: why it is where it is, what it carries, how its receptors ended.
import { drop, post } from "../api.js";
import { act, confirm } from "../dialog.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { noteTable } from "../receptors.js";
import { badge, json } from "../states.js";
import { facts } from "../table.js";
import { moment } from "../time.js";
import { eventAddress } from "./event.js";

function actions(view, id, again) {
  const redrive = async () => {
    await act(() => post(`/v1/messages/${id}/retry`), "The message gets another round of attempts.");
    again();
  };
  const discard = async () => {
    if (await confirm("Delete this message?", "It will never be handled. This cannot be taken back.", "Delete"))
      await act(() => drop(`/v1/messages/${id}`), "The message is given up.");
    again();
  };
  return h("div", { class: "actions", "data-key": "actions" },
    h("button", { type: "button", onclick: redrive }, "Retry"),
    h("button", { type: "button", class: "danger", onclick: discard }, "Delete"));
}

// A message of a receptor on events carries an event: its cause.
const isEvent = (row) => Boolean(row.consumer && row.consumer.startsWith("event:") && row.causation_id);

function cause(row) {
  return isEvent(row) ? h("a", { href: eventAddress(row.causation_id, row.headers?.stream, row.headers?.version) }, row.causation_id) : row.causation_id;
}

const link = (path, text) => (text ? h("a", { href: path + encodeURIComponent(text) }, text) : null);

function story(why) {
  return h("section", { class: "why", "aria-label": "Why" },
    h("h2", null, "Why"), h("p", null, why.explanation), why.next && h("p", null, why.next),
    why.blocker_id && h("p", null, "It is waiting for ", link("/ui/messages/", why.blocker_id), "."));
}

function one(row) {
  return [
    facts([["State", badge(row.state)], ["Kind", row.kind], ["Type", row.type], ["Stream", link("/ui/streams/", row.stream)],
           ["Topic", row.topic], ["Sequence", row.seq], ["Attempts", number(row.attempts)], ["Put", moment(row.put_ms)],
           ["Scheduled", row.scheduled_ms && moment(row.scheduled_ms)], ["Ended", row.ended_ms && moment(row.ended_ms)],
           ["Reason", row.reason], ["Error", row.error], ["Partition", row.partition], ["Lane", row.lane],
           ["Claimed by", row.claimed_by], ["Lease until", row.lease_until_ms && moment(row.lease_until_ms)],
           ["Consumer", row.consumer], ["Correlation", row.correlation_id], ["Cause", cause(row)], ["Trace", row.traceparent]]),
    row.headers && [h("h2", null, "Headers"), json(row.headers)],
    h("h2", null, "Payload"), json(row.payload),
  ];
}

export function showMessage(view) {
  const id = encodeURIComponent(view.id);
  const again = view.watch(view.box, async (read) => {
    const [found, why] = await Promise.all([read("/v1/messages?id=" + id), read(`/v1/messages/${id}/why`)]);
    const event = found.items.find(isEvent);
    const receptors = await read(event ? `/v1/events/${event.causation_id}/receptors` : `/v1/messages/${id}/receptors`);
    return { found, why, receptors };
  }, ({ found, why, receptors }) => [
    view.operator && found.items.some((row) => row.state === "dead") && actions(view, id, () => again()),
    story(why),
    found.items.map(one),
    receptors.items.length > 0 && [h("h2", null, "Receptors"), noteTable(receptors.items)],
  ], { names: ["messages", "dead"], every_ms: 10000 });
}
