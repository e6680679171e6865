// One perspective as a story: its versions, how far each is, which streams fail and with what, who did what.
import { withQuery } from "../../api.js";
import { h } from "../../dom.js";
import { duration, number } from "../../format.js";
import { actionsOf, streamLink } from "../../parts/related.js";
import { facts, table } from "../../parts/table.js";
import { deedsOf, tale } from "../../parts/tale.js";
import { whyBox } from "../../parts/why.js";
import { badge } from "../../states.js";
import { instant, moment } from "../../time.js";
import { perspectiveActions, progress } from "../perspectives.js";

const SHOWN = 50;

const checkpointColumns = [
  { name: "Stream", cell: (row) => streamLink(row.stream) },
  { name: "State", cell: (row) => badge(row.status) },
  { name: "Version", cell: (row) => `${number(row.version)} of ${number(row.head)}`, right: true },
  { name: "Failed at", cell: (row) => (row.failed_version > 0 ? number(row.failed_version) : "–"), right: true },
  { name: "Attempts", cell: (row) => number(row.attempts), right: true },
  { name: "Updated", cell: (row) => moment(row.updated_ms) },
  { name: "Error", cell: (row) => row.error || "–" },
];

const version = (view, row, again) => h("section", { "data-key": row.perspective, "aria-label": row.perspective },
  h("h2", null, row.perspective, " ", badge(row.paused ? "paused" : row.state)), view.operator && perspectiveActions(row, again),
  facts([["Applied", progress(row)], ["Lag", row.lag_events > 0 ? `${number(row.lag_events)} events, ${row.lag_whole ? "" : "at most "}${duration(row.lag_ms)}` : "none"],
         ["Streams done", number(row.completed)], ["Streams open", number(row.pending + row.processing)], ["Failed", number(row.failed)], ["Stopped", row.stopped > 0 && number(row.stopped)],
         ["Events", row.patterns && h("code", null, [].concat(row.patterns).join(", "))], ["Target", row.target && h("code", null, row.target), true], ["Batch", number(row.batch)], ["On a failure", row.policy],
         ["Runs as", row.run], ["Registered", instant(row.registered_ms)]]));

export function showPerspective(view) {
  const again = view.watch(view.box, async (read) => {
    const name = view.id;
    const [versions, why, errors, failed, deeds] = await Promise.all([read("/v1/perspectives/" + encodeURIComponent(name.split("@")[0])), read(withQuery("/v1/why", { kind: "perspective", id: name })),
      read("/v1/perspectives/errors?limit=100"), read(withQuery("/v1/perspectives/checkpoints", { perspective: name, state: "failed", limit: SHOWN })), actionsOf(read)]);
    return { versions: versions.items, why, errors: errors.items.filter((row) => row.perspective === name), failed: failed.items, deeds };
  }, ({ versions, why, errors, failed, deeds }) => [
    whyBox(view, why, view.id, () => again()),
    versions.map((row) => version(view, row, () => again())),
    failed.length > 0 && [h("h2", null, "Streams that fail"), table("Streams that fail", checkpointColumns, failed, (row) => row.stream)],
    h("h2", null, "What happened"),
    tale([...versions.map((row) => ({ what: [h("strong", null, row.perspective), " was registered"], at_ms: row.registered_ms, tone: "calm" })),
      ...errors.map((row) => ({ what: [`${number(row.count)} streams fail: `], at_ms: row.last_ms || row.first_ms, tone: "bad", more: row.sample_error })), ...deedsOf(deeds, view.id)]),
  ], { names: ["messages"], every_ms: 3000 });
}
