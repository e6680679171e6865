// A line chart as SVG, with its lowest and highest value as text for accessibility.
import { svg } from "./dom.js";

const WIDTH = 240, HEIGHT = 48, EDGE = 3;

export function sparkline(label, values, show) {
  const known = values.filter((value) => value !== null && Number.isFinite(value));
  const most = Math.max(...known, 0), least = Math.min(...known, 0);
  const span = most - least || 1;
  const step = values.length > 1 ? WIDTH / (values.length - 1) : 0;
  const height = (value) => HEIGHT - EDGE - ((value - least) / span) * (HEIGHT - 2 * EDGE);
  const points = values.map((value, i) => `${(i * step).toFixed(1)},${height(value ?? 0).toFixed(1)}`);
  const text = known.length > 0 ? `${label}: from ${show(Math.min(...known))} to ${show(Math.max(...known))}, now ${show(known[known.length - 1])}`
                                : `${label}: nothing measured yet`;
  return svg("svg", { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": text, preserveAspectRatio: "none" },
    points.length > 1 && svg("polygon", { class: "under", points: `0,${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}` }),
    points.length > 1 && svg("polyline", { class: "line", points: points.join(" ") }));
}
