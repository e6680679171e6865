// The menu of the account: who one is and may do, how times are shown, whether the page follows, signing out.
import { signOut } from "./api.js";
import { h } from "./dom.js";
import { keep, recall } from "./keep.js";
import { isWanted, setLive } from "./live.js";
import { MODES, setTimesMode, timesMode } from "./time.js";

const MAY = { viewer: "sees everything but contents", operator: "sees and does everything", worker: "works" };

export function drawAccount(session) {
  const box = document.getElementById("account"), name = recall("name", "");
  const times = h("select", { id: "times", onchange: (event) => setTimesMode(event.target.value) },
    Object.entries(MODES).map(([mode, word]) => h("option", { value: mode, selected: mode === timesMode() }, word)));
  const live = h("button", { id: "live", type: "button", "aria-pressed": String(isWanted()), onclick: () => {
    const on = live.getAttribute("aria-pressed") !== "true";
    live.setAttribute("aria-pressed", String(on));
    setLive(on);
  } }, "Live");
  const who = h("input", { id: "who", value: name, maxlength: 60, autocomplete: "username", onchange: (event) => {
    keep("name", event.target.value.trim());
    drawAccount(session);
  } });
  box.hidden = false;
  box.firstElementChild.textContent = name || session.role;
  box.lastElementChild.replaceChildren(
    h("p", null, h("strong", null, session.role), h("br"), h("span", { class: "quiet" }, MAY[session.role])),
    ...(session.role === "operator" ? [h("div", { class: "field" }, h("label", { for: "who" }, "Your name, for the audit"), who)] : []),
    h("div", { class: "field" }, h("label", { for: "times" }, "Times"), times), live,
    h("p", { class: "quiet" }, "pawl ", session.version, ", ", h("kbd", null, "?"), " lists the keys"),
    h("button", { id: "sign-out", type: "button", onclick: async () => {
      await signOut();
      location.assign("/ui/");
    } }, "Sign out"));
}
