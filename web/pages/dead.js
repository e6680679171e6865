// Dead letters: groups by cause; retry and delete for a group or for all, counted first, as operations.
import { withQuery } from "../api.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { onAll } from "../parts/bulk.js";
import { operationList } from "../parts/operations.js";
import { table } from "../parts/table.js";
import { empty } from "../states.js";
import { moment } from "../time.js";

const LOSS = "This cannot be taken back.";
const MESSAGES = { what: "dead letters", route: "/v1/messages/", retry: "Each gets another round of attempts.", delete: "Their messages are lost. " + LOSS };
const JOBS = { what: "dead jobs", route: "/v1/jobs/", retry: "Each runs again.", delete: "They are given up. " + LOSS };

function buttons(of, body, about, again) {
  const button = (name, danger) => h("button", { type: "button", class: danger ? "danger" : null, "aria-label": about ? `${name}: ${about}` : null, onclick: async () => {
    await onAll({ name, what: of.what, warning: of[name.toLowerCase()], danger, route: of.route + name.toLowerCase() }, body);
    again();
  } }, name + (about ? "" : " all…"));
  return [button("Retry", false), button("Delete", true)];
}

const columns = (view, of, bodyOf, hrefOf, again) => [
  { name: "Error", cell: (row) => h("a", { href: hrefOf(row) }, row.sample_error || row.fingerprint) },
  { name: "Count", cell: (row) => number(row.count), right: true },
  { name: "First", cell: (row) => moment(row.first_ms) },
  { name: "Last", cell: (row) => moment(row.last_ms) },
  ...(of === MESSAGES ? [{ name: "Kind", cell: (row) => row.kind }] : []),
  { name: "Then", cell: (row) => h("a", { href: "/ui/history?at=" + row.first_ms }, "What happened"), extra: true },
  ...(view.operator ? [{ name: "Actions", cell: (row) => h("div", { class: "actions" }, buttons(of, bodyOf(row), row.sample_error || row.fingerprint, again)) }] : []),
];

function groups(view, data, of, bodyOf, hrefOf, again) {
  const tools = view.operator && data.items.length > 0 && buttons(of, { all: true }, null, again);
  return [table(`Groups of ${of.what}`, columns(view, of, bodyOf, hrefOf, again), data.items, (row) => (row.kind || "") + row.fingerprint, { tools }),
          data.more && h("p", { class: "quiet" }, `The ${number(data.items.length)} biggest groups; there may be more.`)];
}

export function showDead(view) {
  const box = h("div");
  view.box.append(box);
  const again = () => {
    reread();
    operations.forEach((read) => read());
  };
  const reread = view.watch(box, async (read) => {
    const [messages, jobs] = await Promise.all([read("/v1/messages/failures?limit=100"), read("/v1/jobs/failures?limit=100")]);
    return { messages, jobs };
  }, ({ messages, jobs }) => [
    messages.items.length === 0 ? empty("No dead letters: every message was handled or still has attempts left.")
      : groups(view, messages, MESSAGES, (row) => ({ kind: row.kind, fingerprint: row.fingerprint }),
               (row) => withQuery("/ui/messages", { state: "dead", kind: row.kind, fingerprint: row.fingerprint }), again),
    jobs.items.length > 0 && [h("h2", null, "Dead jobs"),
      groups(view, jobs, JOBS, (row) => ({ fingerprint: row.fingerprint }), (row) => withQuery("/ui/jobs", { state: "dead", fingerprint: row.fingerprint }), again)],
  ], { names: ["dead", "jobs"] });
  const operations = ["dead letters", "jobs"].map((word) => operationList(view, word));
}
