// Editing the payload of a dead letter, which is then retried with it.
import { post } from "../api.js";
import { h } from "../dom.js";
import { act, dialog } from "./dialog.js";

function problemOf(text) {
  try {
    JSON.parse(text);
    return "";
  } catch (problem) {
    return problem.message;
  }
}

export async function editPayload(row) {
  const text = h("textarea", { id: "payload", rows: 14, spellcheck: "false" }, JSON.stringify(row.payload, null, 2));
  const said = h("p", { class: "failure", role: "alert" }), go = h("button", { value: "yes", class: "primary" }, "Retry with this payload");
  text.addEventListener("input", () => {
    const wrong = problemOf(text.value);
    said.textContent = wrong && "That is not JSON: " + wrong;
    go.disabled = wrong !== "";
  });
  const content = [h("div", { class: "field broad" }, h("label", { for: "payload" }, "Payload"), text), said,
                   h("p", { class: "quiet" }, "The message keeps its id, stream and headers. The audit has the size and the hash of the payload before and after; the old payload is gone.")];
  if ((await dialog("Edit and retry", content, [h("button", { value: "no" }, "Leave it"), go])) !== "yes") return;
  await act(() => post(`/v1/messages/${row.id}/edit`, { payload: JSON.parse(text.value), kind: row.kind, reason: "edited on the dashboard" }), "The message gets another round with its new payload.");
}
