// Doctor: what endangers the work, why it matters, and what to do.
import { post } from "../api.js";
import { act } from "../parts/dialog.js";
import { h } from "../dom.js";
import { duration, number } from "../format.js";
import { badge, failure, loading } from "../states.js";
import { facts, table } from "../parts/table.js";
import { moment } from "../time.js";

const columns = [
  { name: "Check", cell: (row) => h("code", null, row.check) },
  { name: "Severity", cell: (row) => badge(row.severity) },
  { name: "Stores", cell: (row) => row.stores },
  { name: "Why it matters", cell: (row) => row.why },
];

function finding(row) {
  return h("li", { class: "card finding " + row.severity, "data-key": row.check },
    h("h3", null, badge(row.severity), " ", h("code", null, row.check)),
    h("p", null, row.found), h("p", { class: "quiet" }, row.why), h("p", null, h("strong", null, "What to do: "), row.next));
}

function verdict(report, findings) {
  if (report.state === "never") return loading();
  if (report.state === "failed") return failure(new Error("The doctor could not look: " + report.error));
  if (findings.length === 0) return h("p", { class: "state good", "data-key": "healthy" }, `Healthy: none of ${number(report.checks)} checks found anything.`);
  return h("ul", { class: "findings", "aria-label": "Findings", "data-key": "findings" }, findings.map(finding));
}

export function showDoctor(view) {
  const again = view.watch(view.box, async (read) => {
    const report = await read("/v1/doctor");
    const [findings, checks] = await Promise.all([read("/v1/doctor/findings"), read("/v1/doctor/checks")]);
    return { report, findings: findings.items, checks: checks.items };
  }, ({ report, findings, checks }) => [
    view.operator && h("div", { class: "actions", "data-key": "actions" }, h("button", { type: "button", onclick: async () => {
      await act(() => post("/v1/doctor"), "The doctor looks again.");
      again();
    } }, "Look again")),
    facts([["Looked", report.looked_ms ? moment(report.looked_ms) : "not yet"], ["Took", report.took_ms !== null && duration(report.took_ms)],
           ["Checks", number(report.checks)], ["Faults", number(report.faults)], ["Warnings", number(report.warnings)],
           ["Now", report.looking && "looking"]]),
    h("h2", null, "Findings"), verdict(report, findings),
    h("details", { "data-key": "checks" }, h("summary", null, "What the doctor looks at"), table("Checks", columns, checks, (row) => row.check)),
  ], { every_ms: 3000 });
}
