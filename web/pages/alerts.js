// Alerts: rules with their metrics and states, and past alerts; silence, test, enable, disable.
import { drop, post, put } from "../api.js";
import { act, confirm } from "../dialog.js";
import { h } from "../dom.js";
import { duration, number } from "../format.js";
import { badge, empty } from "../states.js";
import { table } from "../table.js";
import { moment } from "../time.js";

const HOUR_MS = 3600000;

// The end of a metric's name says what it is counted in.
export function valueOf(metric, value) {
  if (value === null) return "–";
  if (metric.endsWith("_s")) return duration(value * 1000);
  return metric.endsWith("_percent") ? number(value) + " %" : number(value);
}

function actions(row, again) {
  const path = "/v1/alerts/" + encodeURIComponent(row.name);
  const button = (name, run) => h("button", { type: "button", "aria-label": `${name}: ${row.name}`, onclick: async () => {
    await run();
    again();
  } }, name);
  const silence = async () => {
    if (await confirm("Silence this alert?", `No notifications about ${row.name} for an hour.`, "Silence", false))
      await act(() => post(path + "/silence", { for_ms: HOUR_MS, reason: "from the dashboard" }), `${row.name} is silent for an hour.`);
  };
  const toggle = () => act(() => put(path, { enabled: !row.enabled }), row.enabled ? `${row.name} is off.` : `${row.name} is on.`);
  return h("div", { class: "actions" },
    row.silence_until_ms ? button("End silence", () => act(() => drop(path + "/silence"), `${row.name} is no longer silent.`)) : button("Silence", silence),
    button("Test", () => act(() => post(path + "/test"), `A test of ${row.name} is on its way.`)),
    button(row.enabled ? "Switch off" : "Switch on", toggle));
}

const columns = (view, again) => [
  { name: "Rule", cell: (row) => row.name },
  { name: "State", cell: (row) => [badge(row.state), row.silence_until_ms && [row.state === "silenced" ? " until " : " silent until ", moment(row.silence_until_ms)]] },
  { name: "Severity", cell: (row) => row.severity, wide: true },
  { name: "Value", cell: (row) => valueOf(row.metric, row.value), right: true },
  { name: "Fires", cell: (row) => `${row.side} ${valueOf(row.metric, row.threshold)}${row.for_ms > 0 ? ` for ${duration(row.for_ms)}` : ""}` },
  { name: "Looks at", cell: (row) => [h("code", null, row.metric), row.summary && h("div", { class: "quiet" }, row.summary)], wide: true },
  { name: "Since", cell: (row) => moment(row.since_ms) },
  { name: "Notifies", cell: (row) => row.targets || "no one", wide: true },
  ...(view.operator ? [{ name: "Actions", cell: (row) => actions(row, again) }] : []),
];

const changeColumns = [
  { name: "At", cell: (row) => moment(row.at_ms) },
  { name: "Rule", cell: (row) => row.rule },
  { name: "Event", cell: (row) => badge(row.event) },
  { name: "Value", cell: (row) => number(row.value), right: true },
  { name: "Told", cell: (row) => `${number(row.delivered)} told, ${number(row.waiting)} waiting${row.failed > 0 ? `, ${number(row.failed)} failed` : ""}` },
  { name: "Error", cell: (row) => row.error || "–", wide: true },
];

const ORDER = { firing: 0, silenced: 1, pending: 2 };

export function showAlerts(view) {
  const again = view.watch(view.box, async (read) => {
    const [rules, changes] = await Promise.all([read("/v1/alerts"), read("/v1/alerts/history?limit=20")]);
    rules.items.sort((a, b) => (ORDER[a.state] ?? 3) - (ORDER[b.state] ?? 3) || a.name.localeCompare(b.name));
    return { rules: rules.items, changes: changes.items };
  }, ({ rules, changes }) => [
    rules.length > 0 ? table("Rules", columns(view, () => again()), rules, (row) => row.name) : empty("There is no rule. pawl alert set makes one."),
    h("h2", null, "What fired"),
    changes.length > 0 ? table("Changes", changeColumns, changes, (row) => row.number) : h("p", { class: "quiet" }, "Nothing has fired yet."),
  ], { every_ms: 3000 });
}
