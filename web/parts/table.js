// A table from rows and columns. It keeps its columns at every width and scrolls in its own box; which columns are
// shown is chosen above it, and remembered.
import { h } from "../dom.js";
import { keep, recall, redraw } from "../keep.js";

const CHOICE_MIN = 6; // columns from which choosing is offered
const TITLE_MIN = 24; // characters from which a cell may be cut off

function chooser(label, columns, hidden) {
  const toggle = (name) => () => {
    if (!hidden.delete(name)) hidden.add(name);
    keep("columns " + label, [...hidden]);
    redraw();
  };
  return h("details", { class: "popup columns" }, h("summary", { "aria-label": "Columns of " + label }, "Columns"),
    h("div", null, columns.slice(1).filter((column) => column.name).map((column) =>
      h("label", null, h("input", { type: "checkbox", checked: !hidden.has(column.name), onchange: toggle(column.name) }), column.name))));
}

function pickCell(name, checked, onchange, label) {
  return h(name, { class: "pick", scope: name === "th" ? "col" : null }, h("input", { type: "checkbox", "aria-label": label, checked, onchange }));
}

function cell(column, row) {
  const content = column.cell(row);
  return h("td", { class: [column.right && "right", column.wide && "wide"].filter(Boolean).join(" ") || null },
    h("div", { title: typeof content === "string" && content.length >= TITLE_MIN ? content : null }, content));
}

// A column: {name, cell(row), right: a number, wide: a long text, extra: shown only when chosen}.
// options: tools: elements above the table; picker: {has(row), set(rows, on)}; nameOf(row) for the labels of its boxes;
// fixed: its columns are not chosen.
export function table(label, columns, rows, keyOf, { tools, picker, nameOf = keyOf, fixed } = {}) {
  const extra = columns.filter((column) => column.extra).map((column) => column.name);
  const hidden = new Set(recall("columns " + label, extra));
  const shown = columns.filter((column, i) => i === 0 || !hidden.has(column.name));
  const all = picker && rows.length > 0 && rows.every((row) => picker.has(row));
  const choose = !fixed && columns.length >= CHOICE_MIN;
  return h("div", { "data-key": "table " + label },
    (tools || choose) && h("div", { class: "table-tools" }, tools && h("div", { class: "left actions" }, tools), choose && chooser(label, columns, hidden)),
    h("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" },
      h("table", null,
        h("caption", { class: "hidden" }, label),
        h("thead", null, h("tr", null,
          picker && pickCell("th", all, () => picker.set(rows, !all), "Select all rows of this page"),
          shown.map((column) => h("th", { scope: "col", class: column.right ? "right" : null }, column.name)))),
        h("tbody", null, rows.map((row) =>
          h("tr", { "data-key": "r" + keyOf(row), class: picker && picker.has(row) ? "chosen" : null },
            picker && pickCell("td", picker.has(row), () => picker.set([row], !picker.has(row)), "Select " + nameOf(row)),
            shown.map((column) => cell(column, row))))))));
}

// The members of one thing, as pairs. A third member says that it takes the whole width.
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter((pair) => pair && pair[1] !== null && pair[1] !== undefined && pair[1] !== false && pair[1] !== "")
    .map(([name, value, broad]) => h("div", { class: broad ? "broad" : null }, h("dt", null, name), h("dd", null, value))));
}
