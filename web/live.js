// The page's event stream, and the truth about it: live means that a sample came within the last seconds.
import { get } from "./api.js";
import { clockOf } from "./time.js";

const LATE_MS = 5000, RETRY_MS = 3000;
const listeners = new Set();
let source = null, wanted = true, running = false;
let say = () => {};
let sample_ms = 0, trouble = null;

// What the indicator says: a word and its tone.
function state() {
  if (!running) return ["signed out", ""];
  if (!wanted) return ["paused", "warn"];
  if (trouble) return [trouble, "bad"];
  const age_ms = Date.now() - sample_ms;
  if (sample_ms === 0) return ["connecting", ""];
  return age_ms < LATE_MS ? ["live", "good"] : [`${Math.round(age_ms / 1000)} s old`, "warn"];
}

const tell = () => say(...state());

// A closed stream may mean that the session has ended: an ordinary request says so.
function lost() {
  const closed = source && source.readyState === EventSource.CLOSED;
  trouble = "no connection";
  tell();
  if (!closed) return;
  close();
  get("/v1/session").catch(() => {});
  setTimeout(open, RETRY_MS);
}

function open() {
  if (source || document.hidden || !wanted || !running) return;
  source = new EventSource("/v1/stream");
  source.addEventListener("overview", (event) => {
    const sample = JSON.parse(event.data);
    clockOf(sample.now_ms);
    sample_ms = Date.now();
    trouble = null;
    tell();
    for (const listener of [...listeners]) listener(sample);
  });
  source.addEventListener("unavailable", () => {
    trouble = "no database";
    tell();
  });
  source.onerror = lost;
}

function close() {
  if (source) source.close();
  source = null;
}

export function onLiveState(listener) {
  say = listener;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else open();
  });
  setInterval(tell, 1000);
}

export function startLive() {
  running = true;
  trouble = null;
  open();
  tell();
}

export function endLive() {
  running = false;
  close();
  tell();
}

export const isWanted = () => wanted;
export const isLive = () => running && wanted && !document.hidden;

export function setLive(on) {
  wanted = on;
  if (on) open();
  else close();
  tell();
}

// Calls listener with every sample until signal.
export function onSample(listener, signal) {
  listeners.add(listener);
  signal.addEventListener("abort", () => listeners.delete(listener));
}
