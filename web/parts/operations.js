// Bulk operations that run on the server: progress, speed, time left, stopping.
import { post } from "../api.js";
import { h } from "../dom.js";
import { duration, number } from "../format.js";
import { badge } from "../states.js";
import { moment } from "../time.js";
import { act, confirm } from "./dialog.js";

const ENDED = ["done", "failed", "cancelled"];
const SHOWN = 5;

function line(view, operation, again) {
  const total = operation.total >= 0 ? operation.total : null;
  const name = operation.verb[0].toUpperCase() + operation.verb.slice(1);
  const ended = ENDED.includes(operation.state);
  const stop = async () => {
    if (await confirm("Stop it?", "What it has done stays done.", "Stop", false))
      await act(() => post(`/v1/operations/${operation.id}/cancel`), "It stops after the page it is at.");
    again();
  };
  return h("li", { class: "card", "data-key": operation.id },
    h("div", { class: "spread" }, h("strong", null, name), badge(operation.state)),
    h("progress", { "aria-label": "Progress of: " + name, max: ended || total ? "1" : null,
                    value: ended ? "1" : total ? String(Math.min(1, operation.seen / total)) : null }),
    h("p", { class: "quiet" }, `${number(operation.applied)} done`,
      operation.refused > 0 && `, ${number(operation.refused)} refused`, total !== null && ` of ${number(total)}`,
      !ended && operation.per_second > 0 && `, ${number(operation.per_second)} per second`,
      !ended && operation.eta_ms !== null && `, ${duration(operation.eta_ms)} left`,
      ", started ", moment(operation.made_ms), operation.error && `: ${operation.error}`),
    view.operator && !ended && h("button", { type: "button", onclick: stop }, "Stop"));
}

// The operations whose verb says word; gives a function that reads them again.
export function operationList(view, word) {
  const box = h("section", { "aria-label": "Operations on " + word });
  view.box.append(box);
  const again = view.watch(box, (read) => read("/v1/operations"), (data) => {
    const mine = data.items.filter((operation) => operation.verb.includes(word) && !operation.dry_run).slice(0, SHOWN);
    return mine.length > 0 ? [h("h2", null, "Operations on " + word), h("ul", { class: "operations" }, mine.map((one) => line(view, one, () => again())))]
                           : h("span", { "data-key": "no operations" });
  }, { every_ms: 1500 });
  return again;
}

// Starts an operation; true when the server took it.
export function started(path, body) {
  return act(() => post(path, body), "Started; this page shows its progress.");
}
