// One event: its contents and the results of its receptors. The address contains its stream and version.
import { withQuery } from "../api.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { noteTable } from "../receptors.js";
import { empty, json } from "../states.js";
import { facts } from "../table.js";
import { moment } from "../time.js";

export const eventAddress = (id, stream, version) => withQuery("/ui/events/" + id, { stream, version });

const place = (row) => facts([
  ["Type", row.type], ["Stream", h("a", { href: "/ui/streams/" + encodeURIComponent(row.stream) }, row.stream)], ["Version", number(row.version)],
  ["Position", row.position && number(row.position)], ["Appended", moment(row.appended_ms)],
  ["Correlation", row.correlation_id], ["Cause", row.causation_id], ["Trace", row.traceparent]]);

export function showEvent(view) {
  const stream = view.query.get("stream"), version = view.query.get("version");
  view.watch(view.box, async (read) => {
    const [found, receptors] = await Promise.all([
      stream && version ? read(withQuery("/v1/events", { stream, from: version, limit: 1 })) : { items: [] },
      read(`/v1/events/${encodeURIComponent(view.id)}/receptors`)]);
    return { found: found.items.filter((row) => row.id === view.id), receptors };
  }, ({ found, receptors }) => [
    found.length > 0 ? found.map(place) : empty("The event is not where this address says. Its stream shows it.", h("a", { href: "/ui/events" }, "All events")),
    h("h2", null, "Receptors"),
    receptors.items.length > 0 ? noteTable(receptors.items) : h("p", { class: "quiet" }, "No receptor has ended with it yet."),
    found.map((row) => [row.metadata && [h("h2", null, "Metadata"), json(row.metadata)], h("h2", null, "Payload"), json(row.payload)]),
  ], { names: ["messages", "dead"], every_ms: 5000 });
}
