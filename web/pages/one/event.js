// One event: its contents and the results of its receptors. The address contains its stream and version.
import { withQuery } from "../../api.js";
import { h } from "../../dom.js";
import { number } from "../../format.js";
import { noteTable } from "../../parts/receptors.js";
import { tale } from "../../parts/tale.js";
import { empty, json } from "../../states.js";
import { eventAddress, link, streamLink, traceId } from "../../parts/related.js";
import { facts } from "../../parts/table.js";
import { instant } from "../../time.js";

const place = (row) => facts([
  ["Type", row.type], ["Stream", streamLink(row.stream)], ["Version", number(row.version)],
  ["Position", row.position && number(row.position)], ["Appended", instant(row.appended_ms)],
  ["Correlation", row.correlation_id], ["Cause", link("/ui/messages/", row.causation_id)], ["Trace", traceId(row.traceparent)]]);

const SIDE = 3; // neighbours before and after

const neighbours = (row, rows) => rows.length > 1 && [h("h2", null, "Beside it in ", streamLink(row.stream)), tale(rows.map((other) => ({ what: [other.version === row.version ? h("strong", null, `version ${other.version}, this one`) : h("a", { href: eventAddress(other.id, other.stream, other.version) }, `version ${other.version}`), ` ${other.type}`], at_ms: other.appended_ms, tone: other.version === row.version ? "good" : "calm" })))];

export function showEvent(view) {
  const stream = view.query.get("stream"), version = view.query.get("version");
  view.watch(view.box, async (read) => {
    const [found, receptors] = await Promise.all([
      stream && version ? read(withQuery("/v1/events", { stream, from: Math.max(1, version - SIDE), limit: 2 * SIDE + 1 })) : { items: [] },
      read(`/v1/events/${encodeURIComponent(view.id)}/receptors`)]);
    return { found: found.items.filter((row) => row.id === view.id), beside: found.items, receptors };
  }, ({ found, beside, receptors }) => [
    found.length > 0 ? found.map(place) : empty("The event is not where this address says. Its stream shows it.", h("a", { href: "/ui/events" }, "All events")),
    h("h2", null, "Receptors"),
    receptors.items.length > 0 ? noteTable(receptors.items) : h("p", { class: "quiet" }, "No receptor has ended with it yet."),
    found.map((row) => neighbours(row, beside)),
    found.map((row) => [row.metadata && [h("h2", null, "Metadata"), json(row.metadata, "Metadata")], h("h2", null, "Payload"), json(row.payload, "Payload")]),
  ], { names: ["messages", "dead"], every_ms: 5000 });
}
