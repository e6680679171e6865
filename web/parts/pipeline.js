// A pipeline as a graph whose boxes say how long each step took.
import { h } from "../dom.js";
import { counted, duration } from "../format.js";
import { toneOf } from "../states.js";
import { graph } from "./graph.js";

// What the items of each step took together in one execution, and how it ended.
function timesOf(steps) {
  const times = new Map();
  for (const one of steps || []) {
    const known = times.get(one.step) || { ms: 0, items: 0, state: one.state };
    known.ms += one.duration_ms;
    known.items++;
    if (one.state === "failed") known.state = "failed";
    times.set(one.step, known);
  }
  return times;
}

function textOf(last, before) {
  if (!last && before.length === 0) return "not measured yet";
  const mean = before.length > 1 ? "mean " + duration(before.reduce((sum, one) => sum + one.ms, 0) / before.length) : "";
  if (!last) return mean || "did not run last";
  return [duration(last.ms), last.items > 1 && counted(last.items, "item"), mean].filter(Boolean).join(", ");
}

// What is said of a task that has no execution yet: an execution is there only when it has ended. jobs: its unfinished ones.
export function noExecution(jobs) {
  const first = jobs.find((job) => job.state === "running") || jobs[0];
  if (!first) return "It has not run yet.";
  return [first.state === "running" ? "It runs now, and no execution has ended yet: " : `No execution has ended yet; its first job is ${first.state}: `,
          h("a", { href: "/ui/jobs/" + first.id }, "job " + first.id)];
}

// pipeline: the answer of a task's pipeline. executions: each with its steps, the latest first.
export function pipelineGraph(pipeline, executions) {
  const each = executions.map((one) => timesOf(one.steps));
  const steps = pipeline.items.map((step) => {
    const last = each.length > 0 ? each[0].get(step.step) : undefined;
    const before = each.map((times) => times.get(step.step)).filter(Boolean);
    return { ...step, needs: step.needs || [], time: textOf(last, before), tone: last && "step-" + toneOf(last.state) };
  });
  return h("div", { class: "scroll graph-box", role: "region", "aria-label": "Pipeline", tabindex: "0" }, graph("Pipeline", steps));
}
