// Alerts: the rules in plain words, the most urgent first, and past alerts; silence, test, switch on and off.
import { drop, post, put } from "../api.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { act, confirm } from "../parts/dialog.js";
import { table } from "../parts/table.js";
import { badge, empty } from "../states.js";
import { moment } from "../time.js";
import { alertSentence, byUrgency, firedValues, valueOf } from "../words.js";

const HOUR_MS = 3600000, CHANGES = 100;

function actions(row, again) {
  const path = "/v1/alerts/" + encodeURIComponent(row.name);
  const button = (name, run) => h("button", { type: "button", "aria-label": `${name}: ${row.name}`, onclick: async () => {
    await run();
    again();
  } }, name);
  const loud = () => act(() => drop(path + "/silence"), `${row.name} is no longer silent.`);
  const silence = async () => {
    if (await confirm("Silence this alert?", `No notifications about ${row.name} for an hour.`, "Silence", false))
      await act(() => post(path + "/silence", { for_ms: HOUR_MS, reason: "from the dashboard" }), `${row.name} is silent for an hour.`, async () => (await loud(), again()));
  };
  const toggle = () => act(() => put(path, { enabled: !row.enabled }), row.enabled ? `${row.name} is off.` : `${row.name} is on.`);
  return h("div", { class: "actions" },
    row.silence_until_ms ? button("End silence", loud) : button("Silence", silence),
    button("Test", () => act(() => post(path + "/test"), `A test of ${row.name} is on its way.`)),
    button(row.enabled ? "Switch off" : "Switch on", toggle));
}

const rule = (view, row, fired, again) => h("li", { class: "card rule " + row.state, "data-key": row.name },
  h("div", null, h("h2", null, row.name, " ", badge(row.enabled ? row.state : "off"), " ", row.state !== "ok" && row.since_ms && h("span", { class: "quiet" }, "since ", moment(row.since_ms))),
    h("p", null, alertSentence(row, row.state === "firing" ? fired.get(row.name) : null), "."),
    h("p", { class: "quiet" }, [row.summary, row.severity, row.targets ? `tells ${row.targets}` : "tells no one"].filter(Boolean).join(" · "),
      row.silence_until_ms && [" · silent until ", moment(row.silence_until_ms), row.silence_by && ` by ${row.silence_by}`])),
  view.operator && actions(row, again));

const changeColumns = (metrics) => [
  { name: "Rule", cell: (row) => row.rule },
  { name: "What", cell: (row) => badge(row.event) },
  { name: "Value", cell: (row) => (metrics.has(row.rule) ? valueOf(metrics.get(row.rule), row.value) : number(row.value)), right: true },
  { name: "When", cell: (row) => moment(row.at_ms) },
  { name: "Told", cell: (row) => `${number(row.delivered)} told, ${number(row.waiting)} waiting${row.failed > 0 ? `, ${number(row.failed)} failed` : ""}` },
  { name: "Error", cell: (row) => row.error || "–" },
  { name: "Then", cell: (row) => h("a", { href: "/ui/history?at=" + row.at_ms }, "What happened") },
];

export function showAlerts(view) {
  const again = view.watch(view.box, async (read) => {
    const [rules, changes] = await Promise.all([read("/v1/alerts"), read("/v1/alerts/history?limit=" + CHANGES)]);
    return { rules: rules.items.sort(byUrgency), changes: changes.items };
  }, ({ rules, changes }) => [
    rules.length > 0 ? h("ul", { class: "rules", "aria-label": "Rules" }, rules.map((row) => rule(view, row, firedValues(changes), () => again())))
                     : empty("There is no rule, so nothing will tell you.", "pawl alert set errors --metric error_rate_percent --threshold 20 --for 5m"),
    h("h2", null, "What fired"),
    changes.length > 0 ? table("What fired", changeColumns(new Map(rules.map((row) => [row.name, row.metric]))), changes, (row) => row.number)
                       : h("p", { class: "quiet" }, "Nothing has fired yet."),
  ], { every_ms: 3000 });
}
