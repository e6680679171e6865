// Alerts in plain words.
import { duration, number } from "./format.js";
import { clock } from "./time.js";

// The end of a metric's name says what it is counted in.
export function valueOf(metric, value) {
  if (value === null || value === undefined) return "–";
  if (metric.endsWith("_s")) return value < 1 ? "0 s" : duration(value * 1000);
  return metric.endsWith("_percent") ? number(value) + " %" : number(value);
}

export const metricName = (metric) => metric.replace(/_(s|percent)$/, "").replaceAll("_", " ");

export const firesWhen = (rule) => `fires ${rule.side} ${valueOf(rule.metric, rule.threshold)}${rule.for_ms > 0 ? ` for ${duration(rule.for_ms)}` : ""}`;

// "error rate was 34 % at 20:14, is 13 % now; fires above 20 %". fired: the value that fired, if it is known.
export function alertSentence(rule, fired) {
  const name = metricName(rule.metric), now = valueOf(rule.metric, rule.value);
  const was = fired !== undefined && fired !== null && fired !== rule.value && rule.since_ms;
  return (was ? `${name} was ${valueOf(rule.metric, fired)} at ${clock(rule.since_ms)}, is ${now} now` : `${name} is ${now}`) + `; ${firesWhen(rule)}`;
}

// The value with which each rule fired last: changes are the latest first.
export const firedValues = (changes) => new Map([...changes].reverse().filter((change) => change.event === "fired").map((change) => [change.rule, change.value]));

const STATES = { firing: 0, pending: 1, silenced: 2, ok: 3 }, SEVERITIES = { critical: 0, error: 1, warning: 2, info: 3 };

// What fires first, the most severe first, the newest first.
export const byUrgency = (a, b) => (STATES[a.state] ?? 4) - (STATES[b.state] ?? 4) || (SEVERITIES[a.severity] ?? 4) - (SEVERITIES[b.severity] ?? 4) ||
  (b.since_ms || 0) - (a.since_ms || 0) || a.name.localeCompare(b.name);
