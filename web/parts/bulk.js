// Acting on many: the rows that are selected, or all that fit a filter, counted before anything is done.
import { get, post } from "../api.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { redraw } from "../keep.js";
import { confirm, note } from "./dialog.js";
import { started } from "./operations.js";

const ENDED = ["done", "failed", "cancelled"];
const LOOK_MS = 300; // between two looks at a count
const SOME = 20; // after so many rows the progress is told

const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Counts what would be done; true when there is something. Ends the count when the reader leaves.
async function count(route, body, say, left) {
  let one = await post(route, { ...body, dry_run: true });
  while (!ENDED.includes(one.state)) {
    say(`Counting: ${number(one.seen)} so far.`);
    await later(LOOK_MS);
    if (left.aborted) {
      await post(`/v1/operations/${one.id}/cancel`).catch(() => {}); // it may have ended by itself
      return false;
    }
    one = await get("/v1/operations/" + one.id);
  }
  if (one.state !== "done") throw new Error(one.error || "The count was stopped.");
  say(one.seen === 0 ? "Nothing fits." : one.seen === 1 ? "1 fits." : `${number(one.seen)} fit.`);
  return one.seen > 0;
}

// verb: {name, what: "dead letters", warning, danger, route}. True when it was started.
export async function onAll(verb, body) {
  const said = h("strong", null, "Counting…"), left = new AbortController();
  const ready = count(verb.route, body, (text) => (said.textContent = text), left.signal)
    .catch((problem) => (said.textContent = problem.message) && false);
  const agreed = await confirm(`${verb.name} ${verb.what}?`, [said, " ", verb.warning], verb.name, verb.danger, ready);
  left.abort();
  return agreed && (await started(verb.route, body));
}

// True when it was done, as far as that was possible.
async function onRows(verb, rows, again) {
  if (verb.danger && !(await confirm(`${verb.name} ${number(rows.length)} ${verb.what}?`, verb.warning, verb.name))) return false;
  let done = 0;
  const failed = [], undone = [];
  for (const row of rows) {
    try {
      await verb.one(row);
      undone.push(row);
    } catch (problem) {
      failed.push(problem.message);
    }
    if (++done % SOME === 0 && done < rows.length) note(`${verb.name}: ${number(done)} of ${number(rows.length)}`);
  }
  const undo = verb.undo && undone.length > 0 ? () => onRows(verb.undo, undone, again).then(again) : null;
  note(`${number(undone.length)} ${verb.past}${failed.length > 0 ? `, ${number(failed.length)} not: ${failed[0]}` : "."}`, failed.length > 0, undo);
  return true;
}

// What is selected on a page: rows by their key. It stays selected while the list is read again.
export function selection(keyOf) {
  const chosen = new Map();
  return {
    rows: () => [...chosen.values()],
    has: (row) => chosen.has(keyOf(row)),
    set(rows, on) {
      for (const row of rows) {
        if (on) chosen.set(keyOf(row), row);
        else chosen.delete(keyOf(row));
      }
      redraw();
    },
    clear() {
      chosen.clear();
      redraw();
    },
  };
}

// The buttons above a table. A verb: {name, past, what, warning, danger, fits(row), one(row), undo: a verb, route,
// body: what the filters of the page are for the server, or null}.
export function bulkTools(verbs, picked, again) {
  const rows = picked.rows();
  const button = (verb, name, run) => h("button", { type: "button", class: verb.danger ? "danger" : null, onclick: run }, name);
  const some = verbs.map((verb) => {
    const mine = rows.filter(verb.fits);
    return mine.length > 0 && button(verb, `${verb.name} ${number(mine.length)}`, async () => {
      if (!(await onRows(verb, mine, again))) return;
      picked.clear();
      again();
    });
  });
  if (rows.length > 0)
    return [h("span", { role: "status" }, `${number(rows.length)} selected`), some, h("button", { type: "button", class: "plain", onclick: picked.clear }, "Clear selection")];
  return verbs.map((verb) => verb.body && button(verb, verb.name + " all that fit…", async () => {
    await onAll(verb, verb.body);
    again();
  }));
}
