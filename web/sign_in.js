// Signing in: a token becomes a session. The form is a page of its own, or comes over the page whose session ended.
import { signIn } from "./api.js";
import { h, render } from "./dom.js";
import { keep, recall } from "./keep.js";

let asking = false;

// begin: what goes on once one is signed in.
export function signInForm(begin, problem) {
  const submit = async (event) => {
    event.preventDefault();
    const { token, name } = event.target.elements;
    try {
      await signIn(token.value.trim());
      keep("name", name.value.trim());
      await begin();
    } catch (refused) {
      said.replaceChildren(h("p", { class: "failure" }, refused.status === 401 ? "That is not a token of this server." : refused.message));
    }
  };
  const said = h("div", { role: "alert" });
  if (problem) render(said, h("p", { class: "failure" }, problem.message));
  return h("form", { class: "sign-in", onsubmit: submit }, said,
    h("p", null, "Open the address that ", h("code", null, "pawl server"), " printed at its first start, or give a token of its file ", h("code", null, "http-tokens"), "."),
    h("div", { class: "field" }, h("label", { for: "token" }, "Token"),
      h("input", { id: "token", name: "token", type: "password", autocomplete: "off", required: true })),
    h("div", { class: "field" }, h("label", { for: "name" }, "Your name, for the audit (may be left out)"),
      h("input", { id: "name", name: "name", autocomplete: "username", value: recall("name", ""), maxlength: 60 })),
    h("button", { type: "submit", class: "primary" }, "Sign in"));
}

// Over the page, which stays as it was; the page goes on where it was.
export function askAgain(begin) {
  if (asking || document.getElementById("token")) return;
  asking = true;
  const box = h("dialog", { "aria-labelledby": "ended" }, h("h2", { id: "ended" }, "Your session has ended"),
    signInForm(async () => {
      asking = false;
      box.close();
      box.remove();
      await begin();
    }));
  box.addEventListener("cancel", (event) => event.preventDefault());
  document.body.append(box);
  box.showModal();
}
