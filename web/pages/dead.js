// Dead letters: groups by cause; redrive and discard for a group or for all, as operations.
import { confirm } from "../dialog.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { operationList, started } from "../operations.js";
import { empty } from "../states.js";
import { table } from "../table.js";
import { moment } from "../time.js";

const letters = (count, more) => (count === 1 ? "1 dead letter" : `${number(count)} dead letters`) + (more ? " or more" : "");

async function redrive(filter, count, again, more) {
  if (await confirm("Retry?", `About ${letters(count, more)} will get another round of attempts.`, "Retry", false))
    await started("/v1/messages/retry", filter);
  again();
}

async function discard(filter, count, again, more) {
  if (await confirm("Delete?", `About ${letters(count, more)} will be given up: their messages are lost. This cannot be taken back.`, "Delete"))
    await started("/v1/messages/delete", filter);
  again();
}

function columns(view, again) {
  const filterOf = (row) => ({ kind: row.kind, fingerprint: row.fingerprint });
  return [
    { name: "Error", cell: (row) => h("a", { href: `/ui/messages?state=dead&kind=${row.kind}&fingerprint=${encodeURIComponent(row.fingerprint)}` },
                                      row.sample_error || row.fingerprint) },
    { name: "Count", cell: (row) => number(row.count), right: true },
    { name: "Kind", cell: (row) => row.kind },
    { name: "First", cell: (row) => moment(row.first_ms), wide: true },
    { name: "Last", cell: (row) => moment(row.last_ms) },
    ...(view.operator ? [{ name: "Actions", cell: (row) => h("div", { class: "actions" },
        h("button", { type: "button", "aria-label": "Retry: " + row.sample_error, onclick: () => redrive(filterOf(row), row.count, again) }, "Retry"),
        h("button", { type: "button", class: "danger", "aria-label": "Delete: " + row.sample_error, onclick: () => discard(filterOf(row), row.count, again) }, "Delete")) }] : []),
  ];
}

const jobColumns = [
  { name: "Error", cell: (row) => row.sample_error || row.fingerprint },
  { name: "Count", cell: (row) => number(row.count), right: true },
  { name: "First", cell: (row) => moment(row.first_ms), wide: true },
  { name: "Last", cell: (row) => moment(row.last_ms) },
];

// The overview counts them together, so this page shows both.
function deadJobs(view) {
  const box = h("section", { "aria-label": "Jobs" });
  view.box.append(box);
  view.watch(box, (read) => read("/v1/jobs/failures?limit=100"), (data) => data.items.length > 0 && [
    h("h2", null, "Dead jobs"),
    table("Groups of dead jobs", jobColumns, data.items, (row) => row.fingerprint),
    data.more && h("p", { class: "quiet" }, `The ${number(data.items.length)} biggest groups; there may be more.`),
    h("p", { "data-key": "where" }, h("a", { href: "/ui/jobs?state=dead" }, "Jobs that are dead"), ": retry or discard them there."),
  ], { names: ["dead", "jobs"] });
}

export function showDead(view) {
  const box = h("section", { "aria-label": "Groups" });
  view.box.append(box);
  const both = () => {
    groups();
    operations();
  };
  const groups = view.watch(box, (read) => read("/v1/messages/failures?limit=100"), (data) => {
    const total = data.items.reduce((sum, row) => sum + row.count, 0);
    if (data.items.length === 0) return empty("No dead letters: every message was handled or still has attempts left.");
    return [
      view.operator && h("div", { class: "actions", "data-key": "all" },
        h("button", { type: "button", onclick: () => redrive({ all: true }, total, both, data.more) }, "Retry all"),
        h("button", { type: "button", class: "danger", onclick: () => discard({ all: true }, total, both, data.more) }, "Delete all")),
      table("Groups of dead letters", columns(view, both), data.items, (row) => row.kind + row.fingerprint),
      data.more && h("p", { class: "quiet" }, `The ${number(data.items.length)} biggest groups; there may be more.`),
    ];
  }, { names: ["dead"] });
  deadJobs(view);
  const operations = operationList(view, "dead letters");
}
