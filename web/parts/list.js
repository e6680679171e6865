// A list page: filters kept in the address, a table, selection, and keyset paging that goes on by itself until it has
// a page of hits, or says how far it looked.
import { withQuery } from "../api.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { empty } from "../states.js";
import { bulkTools, selection } from "./bulk.js";
import { table } from "./table.js";

const ROWS = 50;
const SCANNED = 10000; // rows that the server looks at for one page
const LOOK_MS = 15000; // after so long the reader is asked
const HEAVY = 3; // pages from which a list is not read again by itself

function input(field, value) {
  const id = "filter-" + field.name;
  const control = field.choices
    ? h("select", { id, name: field.name },
        h("option", { value: "" }, field.none || "any"), field.choices.map((choice) => h("option", { value: choice, selected: choice === value }, choice)))
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

export function pager(view, path, filters, next, name = "Next page") {
  const cursor = view.query.get("cursor");
  if (!cursor && !next) return null;
  return h("nav", { class: "pager", "aria-label": "Pages", "data-key": "pager" },
    cursor && h("a", { href: withQuery(path, filters) }, "First page"),
    next && h("a", { href: withQuery(path, { ...filters, cursor: next }), rel: "next" }, name));
}

// Reads pages until there are enough rows, the list ends, or it takes too long.
async function gather(read, route, parameters, say) {
  const items = [], end_ms = Date.now() + LOOK_MS;
  let next = parameters.cursor, pages = 0;
  do {
    const data = await read(withQuery(route, { ...parameters, cursor: next }));
    items.push(...data.items);
    next = data.next;
    pages++;
    say(items.length, pages);
  } while (next && items.length < ROWS && Date.now() < end_ms);
  return { items, next, pages };
}

const looked = (pages) => `about ${number(pages * SCANNED)} rows`;

function nothing(list, data, filtered) {
  if (data.next) return empty(`Nothing fits among ${looked(data.pages)}; there are more.`);
  if (filtered) return empty("Nothing fits these filters.", h("a", { href: list.path }, "Clear filters"));
  return empty(...[].concat(list.none));
}

// list: {path, route, label, fields, fixed: more parameters, columns, keyOf, nameOf, verbs(filters), none: a text, or a
// text and a command, watch}. Gives a function that reads it again.
export function listPage(view, list) {
  const fields = list.fields || [], filters = filtersOf(view, fields);
  const sent = Object.fromEntries(fields.map((field) => [field.name, filters[field.name]]));
  const parameters = { limit: ROWS, ...list.fixed, ...sent, cursor: view.query.get("cursor") };
  const filtered = Object.values(filters).some(Boolean);
  const verbs = view.operator && list.verbs ? list.verbs(Object.fromEntries(Object.entries(sent).filter(([, value]) => value))) : [];
  const picked = selection(list.keyOf), far = h("p", { class: "quiet", role: "status" }), box = h("div");
  if (fields.length > 0) view.box.append(filterForm(view, list.path, fields));
  view.box.append(far, box);
  let heavy = null; // what took so long to find that it is kept
  const again = () => {
    heavy = null;
    reread();
  };
  const say = (hits, pages) => (far.textContent = pages > 1 ? `Looked at ${looked(pages)}: ${number(hits)} fit.` : "");
  const reread = view.watch(box, async (read) => {
    if (heavy) return heavy;
    const data = await gather(read, list.route, parameters, say);
    if (data.pages >= HEAVY) heavy = data;
    return data;
  }, (data) => [
    data.items.length === 0 ? nothing(list, data, filtered)
      : table(list.label, list.columns, data.items, list.keyOf,
              { nameOf: list.nameOf, picker: verbs.some((verb) => verb.one) && picked,
                tools: verbs.length > 0 && bulkTools(verbs, picked, list.after ? () => (again(), list.after()) : again) }),
    pager(view, list.path, filters, data.next, data.items.length < ROWS && filtered ? "Look further" : "Next page"),
    heavy && h("p", { class: "quiet" }, "This took many pages to find, so it does not follow changes. ", h("button", { type: "button", onclick: again }, "Read it again")),
  ], list.watch);
  return again;
}
