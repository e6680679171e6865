// A chart of lines over time: axes with units, a cursor that tells the values (pointer or arrow keys), marks for what
// happened, a range chosen by dragging. It has no size of its own: places are shares of its width and height.
import { h, patch, svg } from "../dom.js";
import { clock } from "../time.js";
import { UNITS, lines, times } from "./scale.js";

const WIDTH = 1000, HEIGHT = 100, FOOT = 12; // FOOT: percent of the height, for the times
const DRAG_MIN = 0.02; // share of the width from which a drag is a range

const cursors = new Map(); // by title: the index that the reader looks at; a new drawing keeps it
const drags = new Map();

const share = (part) => (part * 100).toFixed(2) + "%";

// Lines between neighbours that are known; what is not known is a gap.
function stretches(at, values, placeOf) {
  const out = [];
  let open = null;
  values.forEach((value, i) => {
    if (value === null || value === undefined || !Number.isFinite(value)) {
      open = null;
      return;
    }
    if (!open) out.push((open = []));
    open.push(placeOf(at[i], value));
  });
  return out;
}

function line(spec, one, i, top) {
  const placeOf = (at_ms, value) => `${(((at_ms - spec.from_ms) / (spec.to_ms - spec.from_ms)) * WIDTH).toFixed(1)},${(HEIGHT - (value / top) * HEIGHT).toFixed(1)}`;
  return stretches(spec.at, one.values, placeOf).map((points) => [
    spec.lines.length === 1 && points.length > 1 && svg("polygon", { class: "area line" + i, points: `${points[0].split(",")[0]},${HEIGHT} ${points.join(" ")} ${points[points.length - 1].split(",")[0]},${HEIGHT}` }),
    svg("polyline", { class: "line line" + i, fill: "none", "vector-effect": "non-scaling-stroke", points: points.length > 1 ? points.join(" ") : `${points[0]} ${points[0]}` })]);
}

const textAt = (spec, index) => spec.lines.map((one) => `${one.name} ${UNITS[spec.unit].show(one.values[index] ?? null)}`).join(", ");

function tip(spec, index, place) {
  const at_ms = spec.at[index], near = spec.marks.filter((mark) => Math.abs(mark.at_ms - at_ms) <= (spec.to_ms - spec.from_ms) / 60);
  const box = h("div", { class: "tip " + (place < 0.5 ? "on-right" : "on-left") },
    h("p", null, h("strong", null, clock(at_ms)), spec.hrefOf && h("span", { class: "quiet" }, " click: what happened")),
    spec.lines.map((one, i) => h("p", null, h("span", { class: "key line" + i }), `${one.name}: ${UNITS[spec.unit].show(one.values[index] ?? null)}`)),
    near.map((mark) => h("p", { class: "quiet" }, mark.text)));
  return box;
}

function nearest(spec, part) {
  const at_ms = spec.from_ms + part * (spec.to_ms - spec.from_ms);
  let best = 0;
  for (let i = 1; i < spec.at.length; i++) if (Math.abs(spec.at[i] - at_ms) < Math.abs(spec.at[best] - at_ms)) best = i;
  return best;
}

// What the pointer and the keys do to the chart that shows spec.
function handlers(spec) {
  const again = (event) => patch(event.currentTarget.closest("figure"), chart(spec));
  const partOf = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const open = (index) => spec.hrefOf && spec.go(spec.hrefOf(spec.at[index]));
  return {
    onpointermove: (event) => {
      cursors.set(spec.title, nearest(spec, partOf(event)));
      const drag = drags.get(spec.title);
      if (drag) drag.to = partOf(event);
      again(event);
    },
    onpointerleave: (event) => {
      cursors.delete(spec.title);
      drags.delete(spec.title);
      again(event);
    },
    onpointerdown: (event) => {
      if (event.button === 0) drags.set(spec.title, { from: partOf(event), to: partOf(event) });
    },
    onpointerup: (event) => {
      const drag = drags.get(spec.title);
      drags.delete(spec.title);
      if (!drag) return;
      const [low, high] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)], span_ms = spec.to_ms - spec.from_ms;
      if (high - low < DRAG_MIN) open(nearest(spec, high));
      else if (spec.onRange) spec.onRange(Math.round(spec.from_ms + low * span_ms), Math.round(spec.from_ms + high * span_ms));
    },
    onkeydown: (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }[event.key];
      const at = cursors.get(spec.title) ?? spec.at.length;
      if (event.key === "Enter" && cursors.has(spec.title)) open(at);
      if (step === undefined || event.ctrlKey || event.altKey) return;
      event.preventDefault();
      cursors.set(spec.title, Math.min(spec.at.length - 1, Math.max(0, at + step)));
      again(event);
    },
    onblur: (event) => {
      cursors.delete(spec.title);
      again(event);
    },
  };
}

// spec: {title, unit: of scale.js, at: times, lines: [{name, values}], from_ms, to_ms, marks: [{at_ms, tone, text}],
// hrefOf(at_ms): what happened then, go(address), onRange(from_ms, to_ms)}.
export function chart(spec) {
  const known = spec.lines.flatMap((one) => one.values.filter(Number.isFinite));
  const levels = lines(Math.max(...known, 0), spec.unit), top = levels[levels.length - 1];
  const x = (at_ms) => (at_ms - spec.from_ms) / (spec.to_ms - spec.from_ms), y = (value) => share(((top - value) / top) * (1 - FOOT / 100));
  const index = Math.min(cursors.get(spec.title) ?? spec.at.length - 1, spec.at.length - 1), seen = cursors.has(spec.title) && index >= 0;
  const marks = spec.marks.filter((mark) => mark.at_ms >= spec.from_ms && mark.at_ms <= spec.to_ms), drag = drags.get(spec.title);
  const floor = share(1 - FOOT / 100);
  const plot = svg("svg", { class: "plot", role: "slider", tabindex: "0", "aria-label": spec.title, "aria-valuemin": 0, "aria-valuemax": Math.max(0, spec.at.length - 1),
                            "aria-valuenow": Math.max(0, index), "aria-valuetext": index >= 0 ? `${clock(spec.at[index])}: ${textAt(spec, index)}` : "nothing measured yet", ...handlers(spec) },
    levels.map((level) => svg("line", { class: "grid", x1: 0, x2: "100%", y1: y(level), y2: y(level) })),
    times(spec.from_ms, spec.to_ms).map((tick) => [svg("line", { class: "grid", x1: share(x(tick.at_ms)), x2: share(x(tick.at_ms)), y1: 0, y2: floor }),
      svg("text", { class: "tick", x: share(x(tick.at_ms)), y: "99%", "text-anchor": x(tick.at_ms) < 0.06 ? "start" : x(tick.at_ms) > 0.94 ? "end" : "middle" }, tick.text)]),
    drag && svg("rect", { class: "brush", x: share(Math.min(drag.from, drag.to)), width: share(Math.abs(drag.to - drag.from)), y: 0, height: floor }),
    svg("svg", { x: 0, y: 0, width: "100%", height: floor, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", overflow: "visible" }, spec.lines.map((one, i) => line(spec, one, i, top))),
    marks.map((mark) => [svg("line", { class: "mark " + mark.tone, x1: share(x(mark.at_ms)), x2: share(x(mark.at_ms)), y1: 0, y2: floor }),
      svg("circle", { class: "flag " + mark.tone, cx: share(x(mark.at_ms)), cy: 4, r: 4 }, svg("title", null, mark.text))]),
    levels.slice(1).map((level) => svg("text", { class: "tick level", x: 8, y: y(level), dy: 11 }, UNITS[spec.unit].show(level))),
    seen && svg("line", { class: "cross", x1: share(x(spec.at[index])), x2: share(x(spec.at[index])), y1: 0, y2: floor }));
  return h("figure", { class: "chart", "data-key": "chart " + spec.title },
    h("figcaption", null, h("span", null, spec.title),
      h("span", { class: "legend" }, spec.lines.map((one, i) => h("span", null, h("span", { class: "key line" + i }), one.name)))),
    plot, seen && tip(spec, index, x(spec.at[index])));
}
