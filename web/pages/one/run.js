// One run: its partitions as a grid, how far it is, and what can be done with it.
import { post, withQuery } from "../../api.js";
import { act, confirm } from "../../parts/dialog.js";
import { h } from "../../dom.js";
import { counted, duration, number } from "../../format.js";
import { actionsOf, jobLink } from "../../parts/related.js";
import { deedsOf, tale } from "../../parts/tale.js";
import { advises, whyBox } from "../../parts/why.js";
import { badge, json, toneOf } from "../../states.js";
import { facts, table } from "../../parts/table.js";
import { instant, moment } from "../../time.js";
import { ENDED, progressOf, speedOf, timeLeft } from "../runs.js";

const SHOWN = 500; // partitions in the grid

function actions(run, why, again) {
  const path = "/v1/runs/" + run.id;
  const button = (name, danger, go) => h("button", { type: "button", class: danger ? "danger" : null, onclick: async () => {
    await go();
    again();
  } }, name);
  const cancel = async () => {
    if (await confirm("Cancel this run?", "It ends for good. What it has stored stays.", "Cancel the run"))
      await act(() => post(path + "/cancel"), "The run is cancelled.");
  };
  const retry = () => act(() => post(path + "/retry"), (answer) => `${number(answer.count)} tried again.`);
  const change = () => (run.paused ? act(() => post(path + "/resume"), "The run goes on.") : act(() => post(path + "/pause"), "The run is paused: pages on the way end."));
  return h("div", { class: "actions", "data-key": "actions" },
    !ENDED.includes(run.state) && button(run.paused ? "Resume" : "Pause", false, change),
    (run.failed > 0 || run.state === "failed") && !advises(why, "run retry", run.id) && button("Retry what failed", false, retry),
    !ENDED.includes(run.state) && button("Cancel", true, cancel));
}

function partActions(run, part, again) {
  const path = `/v1/runs/${run.id}/partitions/${encodeURIComponent(part.partition)}`;
  const retry = async () => {
    await act(() => post(`/v1/runs/${run.id}/retry`, { partition: part.partition }), `${part.partition} goes on.`);
    again();
  };
  const reset = async () => {
    if (await confirm("Begin this partition again?", `${part.partition} is fetched again from its first page.`, "Begin again"))
      await act(() => post(path + "/reset", {}), `${part.partition} begins again.`);
    again();
  };
  const again_name = part.state === "failed" ? "Retry" : "Enqueue again";
  return h("div", { class: "actions" },
    ["active", "failed"].includes(part.state) && h("button", { type: "button", "aria-label": `${again_name}: ${part.partition}`, onclick: retry }, again_name),
    h("button", { type: "button", class: "danger", "aria-label": "Begin again: " + part.partition, onclick: reset }, "Begin again"));
}

function phaseOf(part) {
  if (part.state === "active") return part.paused ? "paused" : part.pages > 0 ? "active" : "fresh";
  return part.state;
}

function textOf(part) {
  const far = part.total > 0 ? `${number(part.items)} of ${counted(part.total, "item")}` : counted(part.items, "item");
  return `${part.partition}: ${part.state}${part.paused && part.state === "active" ? ", paused" : ""}, ${far}`;
}

function grid(parts) {
  const tones = [["done", "done"], ["active", "under way"], ["fresh", "not begun"], ["paused", "paused"], ["failed", "failed"], ["cancelled", "cancelled"]];
  const count = (tone) => parts.filter((part) => phaseOf(part) === tone).length;
  return [
    h("ul", { class: "owners", "aria-label": "Legend", "data-key": "legend" }, tones.filter(([tone]) => count(tone) > 0).map(([tone, name]) =>
      h("li", { "data-key": tone }, h("span", { class: "number part-" + tone, "aria-hidden": "true" }, count(tone)), " ", h("span", { class: "hidden" }, number(count(tone)) + " "), name))),
    h("ul", { class: "parts", "aria-label": "Partitions", "data-key": "parts" }, parts.map((part) =>
      h("li", { class: "part-" + phaseOf(part), title: textOf(part), "data-key": part.partition },
        h("span", { class: "hidden" }, textOf(part)),
        h("span", { "aria-hidden": "true" }, part.total > 0 ? Math.floor(Math.min(1, part.items / part.total) * 100) + " %" : "\u00a0")))),
  ];
}

const columns = (view, run, again) => [
  { name: "Partition", cell: (part) => part.partition },
  { name: "State", cell: (part) => badge(part.paused && part.state === "active" ? "paused" : part.state) },
  { name: "Items", cell: (part) => (part.total > 0 ? `${number(part.items)} of ${number(part.total)}` : number(part.items)), right: true },
  { name: "Pages", cell: (part) => number(part.pages), right: true },
  { name: "Last page", cell: (part) => duration(part.page_last_ms), right: true },
  { name: "Slowest", cell: (part) => duration(part.page_max_ms), right: true },
  { name: "Updated", cell: (part) => moment(part.updated_ms) },
  ...(view.operator && !["completed", "cancelled"].includes(run.state) ? [{ name: "Actions", cell: (part) => partActions(run, part, again) }] : []),
  { name: "Error", cell: (part) => part.error || "–" },
];

const TOLD = 20; // partitions that ended, the latest

function story(run, parts, deeds) {
  const over = parts.filter((part) => part.state !== "active").sort((a, b) => (b.state === "failed") - (a.state === "failed") || b.updated_ms - a.updated_ms);
  return tale([{ what: "Started", at_ms: run.started_ms, tone: "calm" },
    ...over.slice(0, TOLD).map((part) => ({ what: [h("strong", null, part.partition), " ", badge(part.state), ` after ${counted(part.pages, "page")}, ${counted(part.items, "item")}`], at_ms: part.updated_ms, tone: toneOf(part.state), more: part.error })),
    ...deeds, run.ended_ms && { what: badge(run.state), at_ms: run.ended_ms, tone: toneOf(run.state), more: run.error }]);
}

export function showRun(view) {
  const path = "/v1/runs/" + encodeURIComponent(view.id);
  const again = view.watch(view.box, async (read) => {
    const [run, parts, why, deeds] = await Promise.all([read(path), read(withQuery(path + "/partitions", { limit: SHOWN })), read(withQuery("/v1/why", { kind: "run", id: view.id })), actionsOf(read)]);
    return { run, parts, why, deeds: deeds.filter((deed) => deed.action.startsWith("run.")) };
  }, ({ run, parts, why, deeds }) => [
    view.operator && actions(run, why, () => again()),
    whyBox(view, why, view.id, () => again()),
    h("p", { class: "run-progress", "data-key": "progress" }, progressOf(run)),
    facts([["Name", run.name], ["Key", run.key], ["State", [badge(run.state), run.paused && [" ", badge("paused")]]],
           ["Partitions", `${number(run.done)} of ${number(run.partitions)} done`], ["Failed", run.failed > 0 && number(run.failed)],
           ["Items", run.total > 0 ? `${number(run.items)} of ${number(run.total)}` : number(run.items)], ["Speed", speedOf(run)],
           ["Time left", timeLeft(run)], ["Pages", number(run.pages)],
           ["Mean page", run.page_mean_ms !== null && duration(run.page_mean_ms)], ["Slow pages", run.slow_pages > 0 && number(run.slow_pages)],
           ["Started", instant(run.started_ms)], ["Updated", instant(run.updated_ms)], ["Ended", run.ended_ms && instant(run.ended_ms)],
           ["Parent", run.parent && h("a", { href: "/ui/runs/" + run.parent }, String(run.parent))],
           ["Open children", run.children_open > 0 && h("a", { href: "/ui/runs?parent=" + run.id }, number(run.children_open))],
           ["Queue", h("a", { href: "/ui/jobs?queue=" + encodeURIComponent(run.queue) }, run.queue)], ["Target", run.target], ["Job", jobLink(run.job)], ["Agent", run.agent], ["Error", run.error, true]]),
    h("h2", null, "Partitions"),
    parts.items.length > 0 ? grid(parts.items) : h("p", { class: "quiet" }, "This run has no partitions."),
    parts.next && h("p", { class: "quiet" }, `The first ${number(SHOWN)} of ${number(run.partitions)}; pawl run partitions ${run.id} lists all.`),
    parts.items.length > 0 && h("details", { "data-key": "every partition" }, h("summary", null, "Every partition, its pages and timings"),
      table("Every partition", columns(view, run, () => again()), parts.items, (part) => part.partition)),
    h("h2", null, "What happened"), story(run, parts.items, deedsOf(deeds, view.id, run.key)),
    h("h2", null, "Parameters"), json(run.params),
  ], { names: ["jobs"], every_ms: 2000 });
}
