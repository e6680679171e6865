// What a reader sees while there is nothing to see: a skeleton, nothing there and what to do next, a failure.
import { h } from "./dom.js";

export const loading = () => h("div", { class: "skeleton", role: "status", "data-key": "loading" }, h("span", { class: "hidden" }, "Loading"),
  Array.from({ length: 6 }, () => h("i", { "aria-hidden": "true" })));

// A command to run in a terminal, with a button that copies it.
export function command(text) {
  const copy = async (event) => {
    const button = event.target;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button.previousSibling); // the browser does not allow it: at least it is selected
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  };
  return h("span", { class: "command" }, h("code", null, text), h("button", { type: "button", "aria-label": "Copy: " + text, onclick: copy }, "Copy"));
}

// more: elements, or a command that would change it.
export const empty = (text, ...more) => h("div", { class: "state", "data-key": "empty" }, h("p", null, text),
  more.filter(Boolean).map((one) => h("p", null, typeof one === "string" ? command(one) : one)));

export function failure(problem, retry) {
  return h("div", { class: "state failure", role: "alert", "data-key": "failure" },
           h("p", null, problem.message),
           retry && h("button", { type: "button", onclick: () => retry() }, "Try again"));
}

// The states of a job, in the order in which they are shown.
export const JOB_STATES = ["ready", "running", "later", "waiting", "dead"];

// What each state means, as a colour. Waiting and running are calm: they are as they should be.
const STATES = {
  good: ["active", "done", "completed", "live", "success", "succeeded", "ok", "resolved", "owned", "complete"],
  calm: ["begun", "scheduled", "later", "waiting", "leased", "running", "ready", "consolidating", "nested", "filling", "skipped"],
  warn: ["failed, tried again", "silent", "blocked", "paused", "pending", "cancelled", "silenced", "warning", "repair", "draining", "evicted"],
  bad: ["failed for good", "dead", "failed", "stopped", "lost", "fault", "firing", "fired"],
};
const TONES = new Map(Object.entries(STATES).flatMap(([tone, names]) => names.map((name) => [name, tone])));

export const toneOf = (state) => TONES.get(state) || "plain";
export const badge = (state) => (state ? h("span", { class: "badge " + toneOf(state) }, state) : "–");

export const json = (value, label = "JSON") => h("pre", { tabindex: "0", role: "region", "aria-label": label }, JSON.stringify(value, null, 2));
