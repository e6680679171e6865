// Confirmation before irreversible actions, and notices about their results.
import { h } from "./dom.js";

let noted = 0;

// True when the reader agrees. Enter on the safe button, Escape and a click elsewhere do nothing.
export function confirm(title, text, verb, danger = true) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { "aria-labelledby": "dialog-title", "aria-describedby": "dialog-text" },
      h("form", { method: "dialog" },
        h("h2", { id: "dialog-title" }, title),
        h("p", { id: "dialog-text" }, text),
        h("div", { class: "actions" },
          h("button", { value: "no", autofocus: true }, "Leave it"),
          h("button", { value: "yes", class: danger ? "danger" : "primary" }, verb))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

export function note(text, bad = false) {
  const box = document.getElementById("notes");
  const mine = h("p", { class: bad ? "note bad" : "note", "data-note": ++noted }, text);
  box.append(mine);
  while (box.children.length > 3) box.firstChild.remove();
  setTimeout(() => mine.remove(), bad ? 12000 : 6000);
}

// Runs an action: a note says how it ended. True when it was done.
export async function act(run, done) {
  try {
    const answer = await run();
    note(typeof done === "function" ? done(answer) : done);
    return true;
  } catch (problem) {
    note(problem.message, true);
    return false;
  }
}
