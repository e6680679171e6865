// The dashboard: signs in, finds the page of the address, and leaves it again.
import { get, signIn, signOut } from "./api.js";
import { h, render } from "./dom.js";
import { setLive, startLive } from "./live.js";
import { pages } from "./pages.js";
import { failure } from "./states.js";
import { startTimes } from "./time.js";
import { View } from "./view.js";

const main = document.getElementById("main");
let session = null;
let view = null;

function pageOf(path) {
  const parts = path.replace(/^\/ui\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);
  const page = pages.find((one) => one.name === (parts[0] || "") && Boolean(one.one) === parts.length > 1);
  return { page: parts.length <= 2 ? page : undefined, id: parts[1] };
}

function drawNav(current) {
  render(document.getElementById("pages"), h("ul", null, pages.filter((page) => !page.one).map((page) =>
    h("li", null, h("a", { href: "/ui/" + page.name, "aria-current": current && page.name === current.name ? "page" : null }, page.title)))));
}

function show(focus) {
  if (view) view.end();
  const { page, id } = pageOf(location.pathname);
  const title = page ? page.title : "Not found";
  drawNav(page);
  document.title = title + " – pawl";
  const heading = h("h1", { tabindex: "-1" }, title, page && page.one && [" ", h("code", null, id)]);
  const box = h("div", { class: "page" });
  main.replaceChildren(heading, box);
  view = new View(box, new URLSearchParams(location.search), id, session);
  view.go = go;
  if (page) page.show(view);
  else box.append(failure(new Error("There is no such page. The pages stand at the top.")));
  if (focus) heading.focus();
}

function go(address) {
  history.pushState(null, "", address);
  scrollTo(0, 0);
  show(true);
}

function follow(event) {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.origin !== location.origin || !link.pathname.startsWith("/ui")) return;
  event.preventDefault();
  go(link.pathname + link.search);
}

// The token comes in the fragment, which no server sees; it is changed into a session at once.
function tokenOfAddress() {
  const match = location.hash.match(/^#token=([0-9a-zA-Z]+)$/);
  if (match) history.replaceState(null, "", location.pathname + location.search);
  return match && match[1];
}

function askToken(problem, tried) {
  document.title = "Sign in – pawl";
  document.getElementById("stream").textContent = "signed out";
  const submit = async (event) => {
    event.preventDefault();
    try {
      await signIn(event.target.elements.token.value.trim());
      await begin();
    } catch (refused) {
      askToken(refused, true);
    }
  };
  main.replaceChildren(h("h1", null, "Sign in"), h("form", { class: "sign-in", onsubmit: submit },
    (tried || problem.status !== 401) && h("p", { role: "alert", class: "failure" }, problem.message),
    h("p", null, "Open the address that ", h("code", null, "pawl server"), " printed at its first start, or give a token of its file ", h("code", null, "http-tokens"), "."),
    h("div", { class: "field" }, h("label", { for: "token" }, "Token"),
      h("input", { id: "token", name: "token", type: "password", autocomplete: "off", required: true })),
    h("button", { type: "submit", class: "primary" }, "Sign in")));
}

async function begin() {
  session = await get("/v1/session");
  const button = document.getElementById("live"), stream = document.getElementById("stream");
  button.onclick = () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    setLive(on);
  };
  startLive((state) => {
    if (stream.textContent === state) return;
    stream.textContent = state;
    stream.className = state;
  });
  const out = document.getElementById("sign-out");
  out.hidden = false;
  out.onclick = async () => {
    await signOut();
    location.assign("/ui/");
  };
  addEventListener("popstate", () => show(true));
  document.addEventListener("click", follow);
  show(false);
}

startTimes(document.getElementById("times"));
const token = tokenOfAddress();
try {
  if (token) await signIn(token);
  await begin();
} catch (problem) {
  askToken(problem);
}
