// Axes: where the ticks of a chart are, and what they say.
import { compact, fine, number, percent, rate } from "../format.js";
import { timesMode } from "../time.js";

const S = 1000, MIN = 60 * S, H = 60 * MIN, DAY = 24 * H;
const DURATIONS = [1, 2, 5, 10, 20, 50, 100, 200, 500, S, 2 * S, 5 * S, 10 * S, 30 * S, MIN, 2 * MIN, 5 * MIN, 10 * MIN, 30 * MIN, H, 2 * H, 6 * H, 12 * H, DAY, 2 * DAY, 7 * DAY, 30 * DAY];
const TIMES = [S, 2 * S, 5 * S, 10 * S, 30 * S, MIN, 2 * MIN, 5 * MIN, 10 * MIN, 30 * MIN, H, 3 * H, 6 * H, 12 * H, DAY, 2 * DAY, 7 * DAY];
const LINES = 3, TICKS = 5;

// What the values of a chart are: how they are shown, and the smallest step between lines.
export const UNITS = {
  rate: { show: rate, least: 0.1 },
  count: { show: (value) => (Number.isInteger(value) ? compact(value) : number(value)), least: 1 },
  ms: { show: fine, steps: DURATIONS },
  percent: { show: percent, least: 0.01 },
};

function decimal(wanted) {
  const ten = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((one) => one * ten).find((one) => one >= wanted * 0.999);
}

// The lines from 0 to at least most.
export function lines(most, unit) {
  const { steps, least } = UNITS[unit];
  const wanted = Math.max(most / LINES, least || 1);
  const step = steps ? steps.find((one) => one >= wanted) || decimal(wanted) : decimal(wanted);
  return Array.from({ length: Math.max(1, Math.ceil(most / step - 1e-9)) + 1 }, (_, i) => i * step);
}

const pad = (value) => String(value).padStart(2, "0");

// The round times between from and to: {at_ms, text}.
export function times(from_ms, to_ms) {
  const step = TIMES.find((one) => (to_ms - from_ms) / one <= TICKS) || 30 * DAY;
  const shift_ms = timesMode() === "utc" ? 0 : new Date(to_ms).getTimezoneOffset() * MIN;
  const ticks = [];
  for (let at = Math.ceil((from_ms - shift_ms) / step) * step + shift_ms; at <= to_ms; at += step) {
    const date = new Date(at - shift_ms); // read as UTC it says the reader's time
    const day = date.toLocaleDateString("en", { timeZone: "UTC", day: "numeric", month: "short" });
    const clock = `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}` + (step < MIN ? ":" + pad(date.getUTCSeconds()) : "");
    ticks.push({ at_ms: at, text: step >= DAY ? day : clock });
  }
  return ticks;
}
