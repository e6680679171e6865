// Confirmation before irreversible actions, and notices about their results.
import { h } from "../dom.js";

let noted = 0;

// Shows content in a dialog; gives what its form was closed with, "" for Escape.
export function dialog(title, content, buttons, attributes = {}) {
  return new Promise((resolve) => {
    const box = h("dialog", { "aria-labelledby": "dialog-title", ...attributes },
      h("form", { method: "dialog" }, h("h2", { id: "dialog-title" }, title), content, h("div", { class: "actions" }, buttons)));
    box.addEventListener("close", () => {
      box.remove();
      resolve(box.returnValue);
    });
    document.body.append(box);
    box.showModal();
  });
}

// True when the reader agrees. Enter on the safe button, Escape and a click elsewhere do nothing.
// ready: a promise; until it is true, there is nothing to agree to.
export async function confirm(title, text, verb, danger = true, ready = null) {
  const yes = h("button", { value: "yes", class: danger ? "danger" : "primary", disabled: ready !== null }, verb);
  if (ready) ready.then((go) => (yes.disabled = !go), () => {});
  return (await dialog(title, h("p", { role: "status" }, text), [h("button", { value: "no", autofocus: true }, "Leave it"), yes])) === "yes";
}

// undo: takes it back, when that is possible.
export function note(text, bad = false, undo = null) {
  const box = document.getElementById("notes");
  const mine = h("p", { class: bad ? "note bad" : "note", "data-note": ++noted }, h("span", null, text),
    undo && h("button", { type: "button", onclick: () => {
      mine.remove();
      undo();
    } }, "Undo"));
  box.append(mine);
  while (box.children.length > 3) box.firstChild.remove();
  setTimeout(() => mine.remove(), bad || undo ? 12000 : 6000);
}

// Runs an action: a note says how it ended. True when it was done.
export async function act(run, done, undo = null) {
  try {
    const answer = await run();
    note(typeof done === "function" ? done(answer) : done, false, undo);
    return true;
  } catch (problem) {
    note(problem.message, true);
    return false;
  }
}
