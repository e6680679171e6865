// Perspectives: lag, failures, progress of rebuilds; pause, resume, rebuild. Also receptors on events.
import { post } from "../api.js";
import { act, confirm } from "../parts/dialog.js";
import { h } from "../dom.js";
import { counted, duration, number } from "../format.js";
import { operationList } from "../parts/operations.js";
import { receptorTable } from "../parts/receptors.js";
import { link } from "../parts/related.js";
import { badge, empty } from "../states.js";
import { table } from "../parts/table.js";

export function perspectiveActions(row, again) {
  const path = "/v1/perspectives/" + encodeURIComponent(row.perspective);
  const change = async () => {
    if (row.paused) await act(() => post(path + "/resume"), `${row.perspective} goes on.`);
    else if (await confirm("Pause this perspective?", `${row.perspective} will apply no events until it is resumed.`, "Pause", false))
      await act(() => post(path + "/pause"), `${row.perspective} is paused.`, async () => (await act(() => post(path + "/resume"), `${row.perspective} goes on.`), again()));
    again();
  };
  const rebuild = async () => {
    if (await confirm("Rebuild this perspective?", `${row.perspective} is built again from the first event. What it shows is incomplete until it is done.`, "Rebuild"))
      await act(() => post(path + "/rebuild"), `${row.perspective} is built again.`);
    again();
  };
  const reset = async () => {
    await act(() => post(path + "/reset", {}), (answer) => `${counted(answer.checkpoints, "stream is", "streams are")} tried again.`);
    again();
  };
  const button = (name, run, danger) => h("button", { type: "button", class: danger ? "danger" : null, "aria-label": `${name}: ${row.perspective}`, onclick: run }, name);
  return h("div", { class: "actions" }, button(row.paused ? "Resume" : "Pause", change),
    row.failed > 0 && button("Try failed again", reset), button("Rebuild", rebuild, true));
}

// Everything that matches is applied: nothing to show. Otherwise how far it is.
export function progress(row) {
  if (!(row.matched > 0)) return "–";
  const share = Math.min(1, row.applied / row.matched);
  return [h("progress", { max: "1", value: share.toFixed(3), "aria-label": "Applied by " + row.perspective }),
          h("span", { class: "quiet" }, ` ${Math.floor(share * 100)} %`, row.eta_ms !== null && share < 1 && `, ${duration(row.eta_ms)} left`)];
}

const columns = (view, again) => [
  { name: "Perspective", cell: (row) => link("/ui/perspectives/", row.perspective) },
  { name: "State", cell: (row) => badge(row.paused ? "paused" : row.state) },
  { name: "Lag", cell: (row) => (row.lag_events > 0 ? `${number(row.lag_events)} behind, ${row.lag_whole ? "" : "at most "}${duration(row.lag_ms)}` : "none"), right: true },
  { name: "Applied", cell: progress },
  { name: "Streams", cell: (row) => `${number(row.completed)} done, ${number(row.pending + row.processing)} open` },
  { name: "Failed", cell: (row) => number(row.failed), right: true },
  ...(view.operator ? [{ name: "Actions", cell: (row) => perspectiveActions(row, again) }] : []),
];

const errorColumns = [
  { name: "Perspective", cell: (row) => row.perspective },
  { name: "Streams", cell: (row) => number(row.count), right: true },
  { name: "Error", cell: (row) => row.sample_error || row.fingerprint },
];

function perspectives(view, { list, errors }, again) {
  if (list.items.length === 0) return empty("No perspective yet. A worker that has one registers it when it starts; or register a file:", "pawl perspective set order_totals.yaml");
  return [
    table("Perspectives", columns(view, again), list.items, (row) => row.perspective),
    h("h2", null, "Errors"),
    errors.items.length > 0 ? table("Errors", errorColumns, errors.items, (row) => row.perspective + row.fingerprint)
                            : h("p", { class: "quiet" }, "No stream of a perspective fails."),
  ];
}

export function showPerspectives(view) {
  const box = h("div");
  view.box.append(box);
  const again = view.watch(box, async (read) => {
    const [list, errors, receptors] = await Promise.all([read("/v1/perspectives"), read("/v1/perspectives/errors?limit=20"), read("/v1/receptors")]);
    return { list, errors, receptors };
  }, (data) => [
    perspectives(view, data, () => again()),
    h("h2", null, "Receptors on events"),
    data.receptors.items.length > 0 ? receptorTable(view, data.receptors.items, () => both())
                                    : h("p", { class: "quiet" }, "No receptor on events. A worker that has one registers it when it starts."),
  ], { names: ["messages", "dead"], every_ms: 3000 });
  const operations = operationList(view, "dead letters");
  const both = () => {
    again();
    operations();
  };
}
