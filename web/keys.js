// The keyboard: g and a letter opens a page, j and k go through the rows, x selects one, ? lists all keys.
import { h } from "./dom.js";
import { openFinder } from "./finder.js";
import { dialog } from "./parts/dialog.js";

const PLACES = { o: "", h: "history", m: "messages", s: "streams", d: "dead", j: "jobs", r: "runs", t: "tasks", e: "events", p: "perspectives", i: "instances", a: "alerts" };
const WAIT_MS = 1500; // between g and the letter

const KEYS = [["/ or Ctrl K", "find anything"], ["g, then o h m s d j r t e p i a", "open Overview, History, Messages, Streams, Dead letters, Jobs, Runs, Tasks, Events, Perspectives, Instances, Alerts"],
              ["j and k", "next and previous row"], ["Enter", "open the row"], ["x", "select the row"], ["← and →", "in a chart: the point before and after; Enter shows what happened then"], ["Esc", "close what is open"]];

const rowsOf = () => [...document.querySelectorAll("main tbody tr")];

function step(by) {
  const rows = rowsOf(), at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))];
  const target = row && (row.querySelector("a") || row.querySelector("input, button, summary"));
  if (target) target.focus();
}

function help() {
  dialog("Keys", h("dl", { class: "facts" }, KEYS.map(([keys, does]) => h("div", { class: "broad" }, h("dt", null, h("kbd", null, keys)), h("dd", null, does)))),
         [h("button", { value: "", autofocus: true }, "Close")]);
}

export function startKeys(go, ready) {
  let g_ms = 0;
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input:not([type=checkbox]), select, textarea, dialog");
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      openFinder();
      return;
    }
    if (event.key === "Escape") for (const open of document.querySelectorAll("details.popup[open]")) open.open = false;
    if (!ready() || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const place = PLACES[event.key];
    if (Date.now() - g_ms < WAIT_MS && place !== undefined) {
      g_ms = 0;
      go("/ui/" + place);
    } else if (event.key === "g") {
      g_ms = Date.now();
    } else if (event.key === "/") {
      openFinder();
    } else if (event.key === "?") {
      help();
    } else if (event.key === "j" || event.key === "k") {
      step(event.key === "j" ? 1 : -1);
    } else if (event.key === "x") {
      const row = rowsOf().find((one) => one.contains(document.activeElement)), box = row && row.querySelector(".pick input");
      if (box) box.click();
    } else {
      return;
    }
    event.preventDefault();
  });
}
