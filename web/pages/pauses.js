// Pauses: topics, streams and handlers whose messages wait until they are resumed.
import { drop } from "../api.js";
import { act } from "../dialog.js";
import { h } from "../dom.js";
import { listPage } from "../list.js";
import { moment } from "../time.js";

export function showPauses(view) {
  const resume = async (row) => {
    await act(() => drop(`/v1/pauses/${row.scope}/${encodeURIComponent(row.name)}`), `${row.name} goes on.`);
    again();
  };
  const again = listPage(view, {
    path: "/ui/pauses",
    route: "/v1/pauses",
    label: "Pauses",
    fixed: { limit: null }, // they are few: the list is whole
    columns: [
      { name: "What", cell: (row) => row.scope },
      { name: "Name", cell: (row) => (row.scope === "stream" ? h("a", { href: "/ui/streams/" + encodeURIComponent(row.name) }, row.name) : row.name) },
      { name: "Since", cell: (row) => moment(row.since_ms) },
      { name: "By", cell: (row) => row.actor },
      { name: "Reason", cell: (row) => row.reason || "–" },
      ...(view.operator ? [{ name: "Actions", cell: (row) =>
        h("button", { type: "button", "aria-label": `Resume: ${row.scope} ${row.name}`, onclick: () => resume(row) }, "Resume") }] : []),
    ],
    keyOf: (row) => row.scope + row.name,
    none: "Nothing is paused. A stream can be paused on its page; pawl pause does it for topics and handlers too.",
    watch: { every_ms: 5000 },
  });
}
