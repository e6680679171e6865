// Times in UTC, local or relative, as the switch in the header says; all on the page change with it.
import { h } from "./dom.js";
import { duration } from "./format.js";

const MODES = ["relative", "utc", "local"];
const KEY = "pawl-times";
const SAME_MS = 2000; // what seems to come so soon has just happened: a sample is read every second
const SEEN = 30; // samples by which the clocks are compared
let ahead_ms = 0; // how far the database's clock is ahead of this one
const seen_ms = [];

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // no storage: the choice lasts as long as the page
  }
}

let mode = MODES.includes(stored()) ? stored() : MODES[0];

const pad = (value) => String(value).padStart(2, "0");

function local(date) {
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ` +
         `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

// The database's clock.
export const nowMs = () => Date.now() + ahead_ms;

function text(ms) {
  const date = new Date(ms);
  if (mode === "utc") return date.toISOString().slice(0, 19).replace("T", " ") + " UTC";
  if (mode === "local") return local(date);
  const past_ms = nowMs() - ms;
  if (past_ms < 1000 && past_ms > -SAME_MS) return "now";
  return past_ms > 0 ? duration(past_ms) + " ago" : "in " + duration(-past_ms);
}

export function moment(ms) {
  if (ms === null || ms === undefined) return "–";
  const date = new Date(ms);
  return h("time", { datetime: date.toISOString(), "data-ms": ms, title: date.toISOString() }, text(ms));
}

function again() {
  for (const node of document.querySelectorAll("time[data-ms]")) {
    const now = text(Number(node.dataset.ms));
    if (node.textContent !== now) node.textContent = now;
  }
}

// A sample is older than now by the time it was on its way: the freshest of the last ones tells the clock best.
export function clockOf(now_ms) {
  seen_ms.push(now_ms - Date.now());
  if (seen_ms.length > SEEN) seen_ms.shift();
  ahead_ms = Math.max(...seen_ms);
}

export function startTimes(select) {
  select.value = mode;
  select.onchange = () => {
    mode = select.value;
    try {
      localStorage.setItem(KEY, mode);
    } catch {
      // as above
    }
    again();
  };
  setInterval(() => {
    if (mode === "relative" && !document.hidden) again();
  }, 1000);
}
