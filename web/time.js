// Times: how long ago, and when exactly. Which of the two a table shows is chosen in the menu of the account.
import { h } from "./dom.js";
import { duration } from "./format.js";
import { keep, recall } from "./keep.js";

export const MODES = { relative: "relative", local: "local", utc: "UTC" };
const SAME_MS = 2000; // what seems to come so soon has just happened: a sample is read every second
const SEEN = 30; // samples by which the clocks are compared
let ahead_ms = 0; // how far the database's clock is ahead of this one
const seen_ms = [];
let mode = recall("times", "relative");

const pad = (value) => String(value).padStart(2, "0");

function local(date) {
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ` +
         `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

// The database's clock.
export const nowMs = () => Date.now() + ahead_ms;

function relative(ms) {
  const past_ms = nowMs() - ms;
  if (past_ms < 1000 && past_ms > -SAME_MS) return "now";
  return past_ms > 0 ? duration(past_ms) + " ago" : "in " + duration(-past_ms);
}

const absolute = (date) => (mode === "utc" ? date.toISOString().slice(0, 19).replace("T", " ") + " UTC" : local(date));

const text = (ms) => (mode === "relative" ? relative(ms) : absolute(new Date(ms)));

// The time of day, with the date when it is not today's.
export function clock(ms) {
  const shown = absolute(new Date(ms));
  return absolute(new Date(nowMs())).slice(0, 10) === shown.slice(0, 10) ? shown.slice(11, 16) : shown.slice(0, 16);
}

export function moment(ms) {
  if (ms === null || ms === undefined) return "–";
  const date = new Date(ms);
  return h("time", { datetime: date.toISOString(), "data-ms": ms, title: local(date) + "\n" + date.toISOString() }, text(ms));
}

// Both at once, where there is room: in a story, among the facts.
export function instant(ms) {
  if (ms === null || ms === undefined) return "–";
  const date = new Date(ms), iso = date.toISOString();
  return h("time", { datetime: iso, title: iso }, absolute(date), " ", h("span", { class: "quiet", "data-ago": ms }, `(${relative(ms)})`));
}

function again() {
  for (const node of document.querySelectorAll("time[data-ms], [data-ago]")) {
    const now = node.dataset.ago ? `(${relative(Number(node.dataset.ago))})` : text(Number(node.dataset.ms));
    if (node.textContent !== now) node.textContent = now;
  }
}

// A sample is older than now by the time it was on its way: the freshest of the last ones tells the clock best.
export function clockOf(now_ms) {
  seen_ms.push(now_ms - Date.now());
  if (seen_ms.length > SEEN) seen_ms.shift();
  ahead_ms = Math.max(...seen_ms);
}

export const timesMode = () => mode;

export function setTimesMode(chosen) {
  mode = chosen;
  keep("times", mode);
  again();
}

setInterval(() => {
  if (!document.hidden) again();
}, 1000);
