// The page's event stream. It pauses while the page is hidden or Live is off.
import { clockOf } from "./time.js";

const listeners = new Set();
let source = null;
let wanted = true;
let say = () => {};

function open() {
  if (source || document.hidden || !wanted) return;
  say("connecting");
  source = new EventSource("/v1/stream");
  source.addEventListener("overview", (event) => {
    const sample = JSON.parse(event.data);
    clockOf(sample.now_ms);
    say("live");
    for (const listener of [...listeners]) listener(sample);
  });
  source.addEventListener("unavailable", () => say("unavailable"));
  source.onerror = () => {
    say("connecting");
    if (source && source.readyState === EventSource.CLOSED) {
      close();
      setTimeout(open, 3000);
    }
  };
}

function close() {
  if (source) source.close();
  source = null;
}

export function startLive(onState) {
  say = onState;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else open();
  });
  open();
}

export const isLive = () => wanted && !document.hidden;

export function setLive(on) {
  wanted = on;
  if (on) {
    open();
  } else {
    close();
    say("paused");
  }
}

// Calls listener with every sample until signal.
export function onSample(listener, signal) {
  listeners.add(listener);
  signal.addEventListener("abort", () => listeners.delete(listener));
}
