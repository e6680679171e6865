// A table from rows and columns. On a narrow screen each row becomes a card, so every cell carries its heading.
import { h } from "./dom.js";

// A column: {name, cell(row), wide: only where there is room, right: a number}.
export function table(label, columns, rows, keyOf) {
  const kind = (column) => [column.right && "right", column.wide && "wide"].filter(Boolean).join(" ") || null;
  return h("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0", "data-key": "table " + label },
    h("table", null,
      h("caption", { class: "hidden" }, label),
      h("thead", null, h("tr", null, columns.map((column) => h("th", { scope: "col", class: kind(column) }, column.name)))),
      h("tbody", null, rows.map((row) =>
        h("tr", { "data-key": "r" + keyOf(row) }, columns.map((column) =>
          h("td", { class: kind(column), "data-name": column.name }, h("div", null, column.cell(row)))))))));
}

// The members of one thing, as pairs.
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== "")
    .map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
}
