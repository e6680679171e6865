// What a reader sees while there is nothing to see: loading, nothing there, a failure.
import { h } from "./dom.js";

export const loading = () => h("p", { class: "state", role: "status", "data-key": "loading" }, "Loading…");

export const empty = (text, ...more) => h("div", { class: "state", "data-key": "empty" }, h("p", null, text), more);

export function failure(problem, retry) {
  return h("div", { class: "state failure", role: "alert", "data-key": "failure" },
           h("p", null, problem.message),
           retry && h("button", { type: "button", onclick: retry }, "Try again"));
}

// The states of a job, in the order in which they are shown.
export const JOB_STATES = ["ready", "running", "later", "waiting", "dead"];

const TONES = { begun: "calm", "failed, tried again": "warn", "failed for good": "bad",
                dead: "bad", failed: "bad", evicted: "bad", silent: "warn", stopped: "bad", lost: "bad", blocked: "warn",
                scheduled: "calm", later: "calm", waiting: "calm", paused: "warn", leased: "good", running: "good",
                active: "good", done: "good", completed: "good", live: "good", success: "good", succeeded: "good", cancelled: "warn",
                fault: "bad", firing: "bad", fired: "bad", pending: "warn", silenced: "warn", ok: "good", resolved: "good", warning: "warn", "repair": "warn", consolidating: "calm", nested: "calm" };

export const badge = (state) => (state ? h("span", { class: "badge " + (TONES[state] || "plain") }, state) : "–");

export const json = (value) => h("pre", { tabindex: "0", role: "region", "aria-label": "JSON" }, JSON.stringify(value, null, 2));
