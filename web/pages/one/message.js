// One message as a story: why it is where it is, what happened to it and who did what, its neighbours, what it carries.
import { drop, post } from "../../api.js";
import { h } from "../../dom.js";
import { number } from "../../format.js";
import { act, confirm } from "../../parts/dialog.js";
import { editPayload } from "../../parts/edit.js";
import { noteTable } from "../../parts/receptors.js";
import { actionsOf, eventAddress, instanceLink, link, streamLink, traceId } from "../../parts/related.js";
import { facts, table } from "../../parts/table.js";
import { deedsOf, tale } from "../../parts/tale.js";
import { whyBox } from "../../parts/why.js";
import { badge, empty, json, toneOf } from "../../states.js";
import { instant } from "../../time.js";
import { messageColumns, uncancel } from "../messages.js";

const NEIGHBOURS = 20;

function actions(row, again) {
  const button = (name, run, danger) => h("button", { type: "button", class: danger ? "danger" : null, onclick: async () => {
    await run();
    again();
  } }, name);
  const cancel = async () => {
    if (await confirm("Cancel this message?", row.state === "leased" ? "Its worker is asked to stop; it becomes a dead letter." : "It becomes a dead letter.", "Cancel the message"))
      await act(() => post(`/v1/messages/${row.id}/cancel`, { reason: "cancelled on the dashboard" }), "The message is cancelled.",
                async () => (await act(() => uncancel(row), "It goes on."), again()));
  };
  if (row.state === "dead") return h("div", { class: "actions", "data-key": "actions" }, button("Edit and retry…", () => editPayload(row)));
  return row.state !== "done" && h("div", { class: "actions", "data-key": "actions" }, button("Cancel", cancel, true));
}

// A message of a receptor on events carries an event: its cause.
const isEvent = (row) => Boolean(row.consumer && row.consumer.startsWith("event:") && row.causation_id);

function cause(row) {
  if (!row.causation_id) return null;
  return isEvent(row) ? h("a", { href: eventAddress(row.causation_id, row.headers?.stream, row.headers?.version) }, row.causation_id) : link("/ui/messages/", row.causation_id);
}

const times = (count) => (count === 1 ? "1 attempt has failed" : `${number(count)} attempts have failed`);

const attempt = (one) => ({ what: [h("strong", null, `Attempt ${one.attempt}`), " ", badge(one.outcome), " at ", instanceLink(one.lease_owner)], at_ms: one.started_ms,
                           end_ms: one.finished_ms, tone: toneOf(one.outcome), more: one.error });

function story(row, attempts, deeds, notes, pauses) {
  const paused = pauses.filter((one) => (one.scope === "stream" && one.name === row.stream) || (one.scope === "topic" && one.name === (row.topic || row.type)) || one.name === row.id);
  return tale([
    { what: ["Put into the ", row.kind, row.stream && [", stream ", streamLink(row.stream)]], at_ms: row.put_ms, tone: "calm" },
    ...attempts.filter((one) => one.kind === row.kind).map(attempt),
    row.claimed_by && { what: [`Attempt ${row.attempt} is running, at `, instanceLink(row.claimed_by)], at_ms: row.lease_until_ms, tone: "calm", more: "This is when its lease ends, unless it is renewed." },
    row.state === "scheduled" && { what: [row.attempts > 0 ? times(row.attempts) : "Set aside", "; the next is due"], at_ms: row.scheduled_ms, tone: "warn", more: [row.reason && `Reason: ${row.reason}`, row.error] },
    row.ended_ms && { what: [badge(row.state), row.attempts > 0 && ` after ${row.attempts === 1 ? "1 attempt" : number(row.attempts) + " attempts"}`, row.reason && `: ${row.reason}`], at_ms: row.ended_ms, tone: toneOf(row.state), more: row.error },
    ...paused.map((one) => ({ what: [`Its ${one.scope} was paused by `, h("strong", null, one.actor)], at_ms: one.since_ms, tone: "warn", more: one.reason })),
    ...notes.map((note) => ({ what: [h("strong", null, note.receptor), " ", badge(note.state), note.attempts > 1 && ` (${number(note.attempts)} attempts)`], at_ms: note.updated_ms, tone: toneOf(note.state), more: note.error })),
    ...deeds]);
}

// Those of its stream which are not done, and whether they belong to the same conversation.
function neighbours(row, rows) {
  if (!row.stream || rows.length < 2) return null;
  const columns = [messageColumns[0], { name: "Place", cell: (other) => (other.id === row.id ? "this one" : other.seq < row.seq ? "before it" : "after it") },
                   ...messageColumns.slice(1).filter((column) => column.name !== "Stream"),
                   { name: "Correlation", cell: (other) => (other.correlation_id && other.correlation_id === row.correlation_id ? "the same" : "–") }];
  return [h("h2", null, "Beside it in ", streamLink(row.stream)), table("Stream neighbours", columns, rows, (other) => other.kind + other.seq)];
}

function one(view, row, data, again) {
  return h("section", { "data-key": row.kind + row.seq, "aria-label": "In the " + row.kind },
    view.operator && actions(row, again),
    h("h2", null, "What happened"), story(row, data.attempts.items, deedsOf(data.actions, row.id, row.stream), data.receptors.items, data.pauses),
    h("h2", null, "Facts"),
    facts([["State", badge(row.state)], ["Kind", row.kind], ["Type", h("a", { href: "/ui/messages?type=" + encodeURIComponent(row.type) }, row.type)], ["Stream", streamLink(row.stream)],
           ["Topic", row.topic && h("a", { href: "/ui/messages?topic=" + encodeURIComponent(row.topic) }, row.topic)], ["Sequence", row.seq], ["Attempts", number(row.attempts)], ["Put", instant(row.put_ms)],
           ["Scheduled", row.scheduled_ms && instant(row.scheduled_ms)], ["Ended", row.ended_ms && instant(row.ended_ms)], ["Reason", row.reason],
           ["Partition", row.partition], ["Lane", h("a", { href: `/ui/messages?kind=${row.kind}&lane=${row.lane}` }, String(row.lane))],
           ["Claimed by", instanceLink(row.claimed_by)], ["Token", row.token && String(row.token)], ["Consumer", row.consumer],
           ["Group", row.fingerprint && h("a", { href: "/ui/messages?state=dead&fingerprint=" + encodeURIComponent(row.fingerprint) }, "dead letters with this error")],
           ["Correlation", row.correlation_id], ["Cause", cause(row)], ["Trace", traceId(row.traceparent)], ["Error", row.error, true]]),
    neighbours(row, data.streams.get(row.stream) || []),
    row.headers && [h("h2", null, "Headers"), json(row.headers, "Headers")],
    h("h2", null, "Payload"), json(row.payload, "Payload"));
}

// What is left of a message that is done and not kept: what people did to it.
function gone(view, actions, attempts) {
  const deeds = [...attempts.items.map(attempt), ...deedsOf(actions, view.id)];
  return [empty("There is no message with this id: it may be done and no longer kept. To keep completed messages from now on:", "pawl setting set --history 7d"),
          deeds.length > 0 && [h("h2", null, "What happened"), tale(deeds)]];
}

export function showMessage(view) {
  const id = encodeURIComponent(view.id);
  const again = view.watch(view.box, async (read) => {
    const found = await read("/v1/messages?id=" + id);
    if (found.items.length === 0) return { found, deeds: await actionsOf(read), attempts: await read(`/v1/messages/${id}/attempts`) };
    const [attempts, why, actions, pauses] = await Promise.all([read(`/v1/messages/${id}/attempts`), read(`/v1/messages/${id}/why`), actionsOf(read), read("/v1/pauses")]);
    const event = found.items.find(isEvent);
    const receptors = await read(event ? `/v1/events/${event.causation_id}/receptors` : `/v1/messages/${id}/receptors`);
    const streams = new Map();
    for (const name of new Set(found.items.map((row) => row.stream).filter(Boolean)))
      streams.set(name, (await read(`/v1/messages?limit=${NEIGHBOURS}&stream=${encodeURIComponent(name)}`)).items);
    return { found, attempts, why, receptors, actions, streams, pauses: pauses.items };
  }, (data) => (data.deeds ? gone(view, data.deeds, data.attempts) : [
    whyBox(view, data.why, view.id, () => again()),
    data.found.items.map((row) => one(view, row, data, () => again())),
    data.receptors.items.length > 0 && [h("h2", null, "Receptors"), noteTable(data.receptors.items)],
  ]), { names: ["messages", "dead"], every_ms: 10000 });
}
