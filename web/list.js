// A list page: filters kept in the address, a table, and keyset paging.
import { withQuery } from "./api.js";
import { h } from "./dom.js";
import { empty } from "./states.js";
import { table } from "./table.js";

const ROWS = 50;

function input(field, value) {
  const id = "filter-" + field.name;
  const control = field.choices
    ? h("select", { id, name: field.name },
        h("option", { value: "" }, "any"), field.choices.map((choice) => h("option", { value: choice, selected: choice === value }, choice)))
    : h("input", { id, name: field.name, value, type: field.number ? "number" : "text", min: field.number ? "0" : null,
                   autocomplete: "off", spellcheck: "false" });
  return h("div", { class: "field" }, h("label", { for: id }, field.label), control);
}

export function filtersOf(view, fields) {
  return Object.fromEntries(fields.map((field) => [field.name, view.query.get(field.name) || ""]));
}

export function filterForm(view, path, fields) {
  const values = filtersOf(view, fields);
  const submit = (event) => {
    event.preventDefault();
    const chosen = Object.fromEntries(new FormData(event.target).entries());
    view.go(withQuery(path, chosen));
  };
  return h("form", { class: "filters", role: "search", "aria-label": "Filters", onsubmit: submit },
    fields.map((field) => input(field, values[field.name])),
    h("div", { class: "field buttons" },
      h("button", { type: "submit" }, "Filter"),
      Object.values(values).some(Boolean) && h("a", { href: path }, "Clear filters")));
}

export function pager(view, path, filters, next) {
  const cursor = view.query.get("cursor");
  if (!cursor && !next) return null;
  return h("nav", { class: "pager", "aria-label": "Pages", "data-key": "pager" },
    cursor && h("a", { href: withQuery(path, filters) }, "First page"),
    next && h("a", { href: withQuery(path, { ...filters, cursor: next }), rel: "next" }, "Next page"));
}

// list: {path, route, label, fields, actions: an element, fixed: more parameters, columns, keyOf, none, watch}.
// A local field is in the address only: the page has made its route with it.
export function listPage(view, list) {
  const fields = list.fields || [];
  const filters = filtersOf(view, fields);
  const box = h("div");
  if (fields.length > 0) view.box.append(filterForm(view, list.path, fields));
  if (list.actions) view.box.append(list.actions);
  view.box.append(box);
  const sent = Object.fromEntries(fields.filter((field) => !field.local).map((field) => [field.name, filters[field.name]]));
  const parameters = { limit: ROWS, ...list.fixed, ...sent, cursor: view.query.get("cursor") };
  const filtered = Object.values(filters).some(Boolean);
  return view.watch(box, (read) => read(withQuery(list.route, parameters)), (data) => [
    data.items.length > 0
      ? table(list.label, list.columns, data.items, list.keyOf)
      : empty(data.next ? "Nothing fits so far: the next page looks further." : filtered ? "Nothing fits these filters." : list.none, filtered && h("a", { href: list.path }, "Clear filters")),
    pager(view, list.path, filters, data.next),
  ], list.watch);
}
